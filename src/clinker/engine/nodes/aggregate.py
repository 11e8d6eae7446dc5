"""Aggregates: one record per group, in the order in which groups first appear.

Rejected records take part in the grouping as groups of their own, so that they pass the shuffle
together with the others and the input is read once.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from clinker.cxl.builtins.aggregates import Aggregate
from clinker.cxl.check import typed
from clinker.cxl.failure import FailureKind
from clinker.cxl.run.evaluate import Surroundings
from clinker.cxl.run.grouping import aggregate_calls, group_parts
from clinker.cxl.sql.aggregates import AggregateSql
from clinker.cxl.sql.operand import Operand, Sql
from clinker.cxl.types import ANY, BOOL, INT, Kind, Type
from clinker.engine.expressions import (
    Compiler,
    Scope,
    literal,
    recast,
    representation,
)
from clinker.engine.expressions.conditions import either
from clinker.engine.expressions.representation import is_of_kind
from clinker.engine.expressions.rows import compile_row_program
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import IS_REJECTED, POSITION, REJECT, SOURCE, Flow, order_column
from clinker.engine.flow.frame import Frame, quoted, selection
from clinker.engine.flow.hidden import (
    FIRST_POSITION,
    FIRST_SOURCE,
    IS_MERGED,
    LINEAGE_COLUMN,
    MARK,
    Hidden,
    InGroups,
)
from clinker.engine.flow.identity import identity_sql
from clinker.engine.nodes.partials import MANY, MANY_OF_MUCH, Partials, wrong_kind
from clinker.engine.nodes.time_windows import (
    ARRIVED,
    TIME,
    WATERMARK,
    WINDOW,
    in_windows,
    with_arrivals,
    with_watermark,
)
from clinker.engine.rejects.aggregate_reasons import (
    EXAMPLE_KINDS,
    group_explainer,
    record_explainer,
)
from clinker.engine.rejects.mark import (
    demand_sql,
    mark,
    nan_sql,
    read_expressions,
    reject_sql,
    rejection,
)
from clinker.engine.rejects.payload import payload_sql
from clinker.engine.rejects.sites import Demand
from clinker.engine.run.system import SystemValues
from clinker.engine.settling.keys import lineage_sql, with_membership
from clinker.engine.settling.taking import at_aggregate
from clinker.frozen import frozen
from clinker.plan.analyses.correlation import Atomicity
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes import PlannedAggregate

_KEY, _ARGUMENT = "$key", "$argument"
_SELF = "$self"
"""Of a rejected record, all that it goes on with; null for records that are grouped."""
_NOBODY = "CAST(NULL AS BOOLEAN)"
"""The same where no record is rejected."""
_IS_GROUP = "$is_group"


def aggregate(building: Building, planned: PlannedAggregate, flow: Flow) -> Flow:
    """The groups of a flow."""
    return _Aggregation(building, planned, flow).run()


@frozen(eq=False)
class _Key:
    """A field that groups are formed by."""

    name: str
    type: Type
    identity: str
    """The column that is equal for records of one group."""
    value: str
    """The column with the value itself; the same if nothing else can be equal to it."""


class _Aggregation:
    def __init__(self, building: Building, planned: PlannedAggregate, flow: Flow) -> None:
        config = planned.node.config
        self.building = building
        self.planned = planned
        self.unit = planned.unit
        self.has_windows = config.time_window is not None
        flow = with_watermark(building, self.unit, flow) if self.has_windows else flow
        flow = at_aggregate(building, planned, flow)
        self.flow = with_arrivals(flow) if self.has_windows else flow
        self.keys = [self._key(n, name) for n, name in enumerate(config.group_by)]
        statements = planned.program.statements
        self.emits = [s for s in statements if isinstance(s, typed.Emit)]
        self.steps = typed.Program(tuple(s for s in statements if not isinstance(s, typed.Emit)))
        self.calls = [call for emit in self.emits for call in aggregate_calls(emit.value)]
        correlation = building.plan.correlation
        self.key_fields = correlation.visible[planned.name].fields
        atomicity = correlation.aggregates[planned.name].atomicity
        self.is_relaxed = atomicity is Atomicity.RELAXED
        is_correlated = atomicity is not Atomicity.UNCORRELATED
        self.knows_records = is_correlated and Demand.LINEAGE in building.demands

    def _key(self, number: int, name: str) -> _Key:
        type_ = self.flow.columns.get(name, ANY)
        form = representation(type_)
        is_unique = form.kind is not None and form.kind is not Kind.FLOAT
        identity = f"{_KEY}{number}"
        return _Key(name, type_, identity, identity if is_unique else f"{identity}.value")

    def run(self) -> Flow:
        records = self._records()
        if self.has_windows:
            identities = [key.identity for key in self.keys]
            records = in_windows(self.building, self.planned, records, identities)
            # Those who come too late fall with their groups like all others.
            records = with_membership(self.building, records).on_whole_frame()
        groups = self._groups(records)
        return self._numbered(groups) if self._is_numbered else groups

    # Records

    def _records(self) -> Flow:
        """The records that count, with their keys and the arguments of all aggregates."""
        flow = self.flow
        if flow.is_small and len(self.calls) > MANY:
            # Spark would compute with records that it holds already while it still plans, and many
            # columns in its slowest way.
            flow = replace(flow, frame=flow.frame.in_one_part())
        compiler = self.building.compiler(self.unit, flow)
        scope = compiler.scope
        (steps,) = compile_row_program(self.steps, compiler).steps
        failures = [steps.fails]
        columns: dict[str, str] = {}
        for key in self.keys:
            value = compiler.inputs.field(None, key.name)
            columns[key.value] = value
            columns[key.identity] = identity_sql(scope, value, key.type)
        for number, (call, position, arg) in enumerate(self._arguments()):
            sql = compiler.expression(arg)
            columns[f"{_ARGUMENT}{number}"] = text = scope.bind(sql.text)
            wanted = call.function.param(position).type
            fails = either(sql.fails, wrong_kind(Operand(text, arg.type), wanted))
            if fails:
                failures.append(f"{steps.keeps} AND ({fails})" if steps.keeps else fails)
        fails = either(*failures)
        if fails:
            flow = mark(flow, fails, self._record_rejection(compiler))
        if steps.keeps:
            flow = flow.where(steps.keeps)
        flow = with_membership(self.building, flow)
        if self.knows_records:
            flow = flow.with_hidden([(LINEAGE_COLUMN, lineage_sql(self.building, flow))])
        hidden = {name: each for name, each in flow.hidden.items() if self._is_carried(each)}
        working = [TIME, WATERMARK, ARRIVED] if self.has_windows else []
        carried = {name: flow.text(name) for name in (*hidden, *working)}
        frame = flow.selected(columns | carried)
        return replace(flow, columns={}, hidden=hidden).standing_on(frame)

    def _is_carried(self, column: Hidden) -> bool:
        """Whether records keep a hidden column: time windows and rejected records may need it."""
        needed = (SOURCE, POSITION, REJECT, *self.flow.order)
        if self.has_windows or column.name in needed or column.kind is kinds.FIRST:
            return True
        if column.kind is kinds.CORRELATION_KEY:
            return column.key in self.key_fields
        if column.kind in (kinds.MEMBERSHIP, kinds.LINEAGE):
            return True
        return column.kind.in_groups is InGroups.FIRST

    def _arguments(self) -> Iterator[tuple[typed.Aggregate, int, typed.Expr]]:
        for call in self.calls:
            for position, arg in enumerate(call.args):
                yield call, position, arg

    def _record_rejection(self, compiler: Compiler) -> str:
        evaluated = [*self.steps.expressions(), *(arg for _, _, arg in self._arguments())]
        return rejection(
            self.building,
            self.unit,
            self.flow,
            compiler,
            read_expressions(evaluated),
            lambda reads, known: record_explainer(self.steps, self.calls, reads, known),
            expressions=evaluated,
        )

    # Groups

    def _groups(self, records: Flow) -> Flow:
        shown: dict[str, str] = {}
        inputs = _GroupInputs(self.unit, self.building.system, self.flow, shown)
        compiler = Compiler(inputs, overrides=self.building.overrides)
        order = selection(records.kept_order)
        partials = Partials(
            Scope(records.frame.names),
            compiler.scope,
            order,
            is_wide=Demand.WIDE_SUMS in self.building.demands,
            takes_apart=self._has_many_sums,
        )
        first = partials.name(f"min({_one(order)})")
        shown.update({key.name: _shown(partials, key, first) for key in self.keys})
        results = self._results(partials)
        compiler.results = {call: Sql(sql.text, sql.fails) for call, sql in results.items()}
        how_failed = self._how_failed(partials, results)
        hidden = self._hidden(records, partials, first)
        count = partials.name("count(*)") if self.is_relaxed and not self.keys else None
        frame = self._grouped(records, partials)
        columns, failures = self._emitted(compiler, shown)
        origin = {name: compiler.scope.bind(text) for name, text in columns.items()}
        types = self.planned.row.columns
        hidden += [(Hidden(kinds.ORIGIN, n, type_), origin[n]) for n, type_ in types.items()]
        ordering = [name for name, _ in self._ordering(records, first)]
        flow = Flow(
            frame=frame,
            columns=types,
            hidden={},
            order=tuple(each.name for each in ordering),
            is_ordered=False,
            aside=records.aside if records.has_rejects else (),
            sources=records.sources,
            is_small=records.is_small,
            borders=() if self.has_windows else records.borders,
            scope=compiler.scope,
        )
        flow = flow.with_values(columns).with_hidden(hidden)
        if count:
            # What all records were taken back from is no group any more.
            flow = flow.where(f"{count} > 0")
        wide = [sql.needs_wide for sql in results.values() if sql.needs_wide]
        flow = mark(flow, " OR ".join(wide) or None, demand_sql(Demand.WIDE_SUMS))
        fails = either(*failures.values())
        if fails is None:
            return flow
        read = [(shown[key.name], key.type) for key in self.keys]
        read += [(sql.text, call.type) for call, sql in results.items()]
        read += [(text, INT) for text in how_failed]
        read += [(quoted(WINDOW), INT)] if self.has_windows else []
        fields = [(n, _unless(failures.get(n), origin[n]), type_) for n, type_ in types.items()]
        fields += [(e.name, text, e.type) for e, text in hidden if e.kind is kinds.FIRST]
        return mark(flow, fails, self._group_rejection(read, payload_sql(fields)))

    @property
    def _is_numbered(self) -> bool:
        """Whether an output shows the numbers of its groups."""
        number = kinds.CORRELATION_KEY.column(f"aggregate.{self.unit.name}")
        columns = (c for shown in self.building.plan.projections.values() for c in shown)
        return any(column.field == number for column in columns)

    def _numbered(self, flow: Flow) -> Flow:
        """The groups with their numbers, from 0 on in the order of the groups."""
        flow = flow.built()
        order = ", ".join(selection(flow.order))
        kept = f"CASE WHEN {flow.is_kept} THEN 1 END"
        number = f"count({kept}) OVER (ORDER BY {order} ROWS UNBOUNDED PRECEDING) - 1"
        column = Hidden(kinds.CORRELATION_KEY, f"aggregate.{self.unit.name}", INT.nullable())
        return replace(
            flow,
            frame=flow.frame.extend([(column.name, number)]),
            hidden={**flow.hidden, column.name: column},
        )

    def _hidden(self, records: Flow, partials: Partials, first: str) -> list[tuple[Hidden, str]]:
        """The hidden columns of groups, and of rejected records, which are groups of their own."""
        columns = [*self._first_place(records, partials, first), *self._ordering(records, first)]
        for each in records.hidden.values():
            match each.kind.in_groups:
                case InGroups.NULL:
                    columns.append((each, _of_self(each) if records.has_rejects else each.null))
                case InGroups.FIRST:
                    least = f"min_by({quoted(each.name)}, {_one(partials.order)})"
                    columns.append((each, partials.name(least)))
                case InGroups.NONE | InGroups.OWN:
                    pass
            if each.kind is kinds.CORRELATION_KEY and each.key in self.key_fields:
                least = f"min_by({quoted(each.name)}, {_one(partials.order)})"
                columns.append((each, partials.name(least)))
            elif each.kind is kinds.LINEAGE:
                every = partials.name(f"collect_list({quoted(each.name)})")
                columns.append((each, f"array_distinct(flatten({every}))"))
        if records.has_rejects:
            columns.append((MARK, _of_self(MARK)))
        return columns

    def _ordering(self, records: Flow, first: str) -> list[tuple[Hidden, str]]:
        """The order columns of groups: those of the first record of each."""
        order = selection(records.kept_order)
        columns = [(order_column("window"), quoted(WINDOW))] if self.has_windows else []
        if len(order) == 1:
            columns.append((order_column("first"), first))
        else:
            columns += [
                (order_column(f"first{n}"), f"{first}.{name}") for n, name in enumerate(order)
            ]
        if records.has_rejects:
            asides = (records.hidden[name] for name in records.aside)
            columns += [(each, f"ifnull({_of_self(each)}, 0L)") for each in asides]
        return columns

    def _first_place(
        self, records: Flow, partials: Partials, first: str
    ) -> list[tuple[Hidden, str]]:
        """Where the first record of a group comes from; of a group of groups, that of its first."""
        sources = records.sources
        number = list(self.building.system.files).index(sources[0])
        is_merged = literal(len(sources) > 1, BOOL)
        if len(sources) == 1 and not records.has_groups and records.kept_order == (POSITION,):
            source, position = literal(number, INT), first
        else:
            order = _one(partials.order)
            found, position = (partials.name(f"min_by({t}, {order})") for t in records.place)
            source = f"ifnull({found}, {number})"
        return [(FIRST_SOURCE, source), (FIRST_POSITION, position), (IS_MERGED, is_merged)]

    def _results(self, partials: Partials) -> dict[typed.Aggregate, AggregateSql]:
        """The SQL of every call, over the partial results of a group."""
        found = self._added(partials)
        bind = partials.groups.bind
        return {call: replace(sql, text=bind(sql.text)) for call, sql in found.items()}

    @cached_property
    def _has_many_sums(self) -> bool:
        """Whether so many Floats are added up that they are taken apart."""
        trial = Partials(Scope(), Scope(), ())
        self._added(trial)
        is_wide = Demand.WIDE_SUMS in self.building.demands
        return len(trial.sums) > (MANY if self.flow.is_small or is_wide else MANY_OF_MUCH)

    def _added(self, partials: Partials) -> dict[typed.Aggregate, AggregateSql]:
        results: dict[typed.Aggregate, AggregateSql] = {}
        number = 0
        for call in self.calls:
            assert isinstance(call.function, Aggregate)
            operands = []
            for arg in call.args:
                operands.append(Operand(quoted(f"{_ARGUMENT}{number}"), arg.type))
                number += 1
            results[call] = partials.add(call.function, operands, call.type)
        return results

    def _how_failed(
        self, partials: Partials, results: Mapping[typed.Aggregate, AggregateSql]
    ) -> list[str]:
        """For each call, null or how it failed: the kinds it could not compare, else 0."""
        found: list[str] = []
        number = 0
        for call, sql in results.items():
            how = "0"
            if FailureKind.AGGREGATE_TYPE in call.function.fails and sql.fails:
                met = kinds_met(quoted(f"{_ARGUMENT}{number}"), call.args[0].type)
                how = partials.name(f"bit_or({met})")
            found.append(f"if({sql.fails}, {how}, NULL)" if sql.fails else literal(None, INT))
            number += len(call.args)
        return found

    def _grouped(self, records: Flow, partials: Partials) -> Frame:
        """One record per group, and one per rejected record, with all partial results."""
        by = [key.identity for key in self.keys]
        if self.has_windows:
            by.append(WINDOW)
        frame = partials.prepared(records.frame)
        if not records.has_rejects and (by or not partials.takes_apart):
            return partials.grouped(frame, by)
        of_records = (n for n, each in records.hidden.items() if each.kind is kinds.MEMBERSHIP)
        names = dict.fromkeys((SOURCE, POSITION, *records.order, REJECT, *of_records))
        carried = ", ".join(f"'{name}', {quoted(name)}" for name in names)
        itself = f"if({IS_REJECTED}, named_struct({carried}), NULL)"
        frame = frame.extend([(_SELF, itself if records.has_rejects else _NOBODY)])
        if by:
            return partials.grouped(frame, [*by, _SELF])
        return _with_default(frame, partials)

    def _emitted(
        self, compiler: Compiler, keys: Mapping[str, str]
    ) -> tuple[dict[str, str], dict[str, str | None]]:
        """The columns of the records that groups become, and where they cannot be computed."""
        wanted = self.planned.row.columns
        columns = {
            key.name: recast(compiler.scope, keys[key.name], key.type, wanted[key.name])
            for key in self.keys
            if not any(emit.name == key.name for emit in self.emits)
        }
        failures: dict[str, str | None] = {}
        for emit in self.emits:
            operand, fails = compiler.operand(emit.value)
            compiler.symbols[emit.symbol] = operand.text
            own = emit.value.type
            columns[emit.name] = recast(compiler.scope, operand.text, own, wanted[emit.name])
            failed = (failures.get(emit.name), fails, nan_sql(operand.text, own))
            failures[emit.name] = either(*failed)
        return {name: columns[name] for name in wanted}, failures

    def _surroundings(self) -> Surroundings:
        """What the interpreter needs to compute the emits again."""
        known = self.building.surroundings(self.unit, (e.value for e in self.emits))
        keys = {
            (part.namespace, part.path)
            for emit in self.emits
            for part in group_parts(emit.value)
            if isinstance(part, typed.System)
        }
        system = self.building.system
        of_group = {key: system.of_group(self.unit, self.flow, key) for key in keys}
        return replace(known, system={**known.system, **of_group})

    def _group_rejection(self, read: Sequence[tuple[str, Type]], origin: str) -> str:
        known = self._surroundings()
        names = [key.name for key in self.keys]
        explain = group_explainer(self.emits, names, self.calls, known)
        inputs = payload_sql((str(place), *value) for place, value in enumerate(read))
        site = self.building.site(self.unit, explain, is_behind=True)
        return reject_sql(site, inputs, origin)


def _of_self(column: Hidden) -> str:
    """What a rejected record has in a column; null for groups."""
    return f"{quoted(_SELF)}.{quoted(column.name)}"


def _unless(fails: str | None, text: str) -> str:
    """A value, or null where it could not be computed."""
    return f"if(({fails}) <=> TRUE, NULL, {text})" if fails else text


def _shown(partials: Partials, key: _Key, first: str) -> str:
    """A key as the first record of the group has it."""
    if key.value == key.identity:
        return quoted(key.identity)
    if representation(key.type).kind is Kind.FLOAT:
        # Of values that are one, only the zeros look different.
        value = quoted(key.value)
        is_negative = f"{value} = 0 AND power({value}, -1D) < 0"
        negative = partials.name(f"min(if({is_negative}, {_one(partials.order)}, NULL))")
        found = quoted(key.identity)
        return f"if({negative} <=> {first}, -abs({found}), {found})"
    return partials.name(f"min_by({quoted(key.value)}, {_one(partials.order)})")


def _one(order: Sequence[str]) -> str:
    """The place of a record as one value."""
    return order[0] if len(order) == 1 else f"struct({', '.join(order)})"


def _with_default(frame: Frame, partials: Partials) -> Frame:
    """The groups of rejected records alone, with the one of all others even if there are none."""
    groups = partials.grouped(frame, [_SELF])
    no_self = (_SELF, f"any_value({quoted(_SELF)})")
    default = partials.of_nothing(frame, no_self)
    every = groups.extend([(_IS_GROUP, "TRUE")]).union([default.extend([(_IS_GROUP, "FALSE")])])
    record = f"struct({', '.join(selection(groups.names))})"
    chosen = every.group([_SELF], [(_IS_GROUP, f"max_by({record}, {quoted(_IS_GROUP)})")])
    return chosen.select((name, f"{quoted(_IS_GROUP)}.{quoted(name)}") for name in groups.names)


def kinds_met(text: str, type_: Type) -> str:
    """The kind of a value as a bit."""
    cases = [
        f"WHEN {is_of_kind(text, kind, type_)} THEN {1 << bit}"
        for bit, kind in enumerate(EXAMPLE_KINDS)
        if type_.maybe(kind)
    ]
    return f"CASE {' '.join(cases)} END"


@frozen(eq=False)
class _GroupInputs:
    """What expressions find in a group: its keys, and what is the same for all records."""

    unit: Unit
    values: SystemValues
    flow: Flow
    keys: dict[str, str]

    @property
    def now(self) -> dt.datetime:
        return self.values.now

    def field(self, qualifier: str | None, name: str) -> str:
        return self.keys[name]

    def system(self, namespace: str, path: tuple[str, ...], type_: Type) -> str:
        return literal(self.values.of_group(self.unit, self.flow, (namespace, path)), type_)
