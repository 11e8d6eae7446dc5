"""Aggregates: one record per group, in the order in which groups first appear.

Rejected records take part in the grouping as groups of their own, so that they pass the shuffle
together with the others and the input is read once.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from clinker.config.nodes import AggregateNode
from clinker.cxl.builtins.aggregates import Aggregate
from clinker.cxl.check import typed
from clinker.cxl.failure import FailureKind
from clinker.cxl.run.evaluate import Surroundings
from clinker.cxl.run.grouping import aggregate_calls
from clinker.cxl.sql.aggregates import AggregateSql
from clinker.cxl.sql.operand import Operand, Sql
from clinker.cxl.types import ANY, BOOL, INT, Kind, Type
from clinker.engine.expressions import (
    Columns,
    Compiler,
    Scope,
    literal,
    representation,
)
from clinker.engine.expressions.conditions import either
from clinker.engine.expressions.frames import with_layers
from clinker.engine.expressions.representation import is_of_kind
from clinker.engine.expressions.rows import compile_row_program
from clinker.engine.flow.building import Building, computed, recast
from clinker.engine.flow.flow import (
    FIRST_POSITION,
    FIRST_SOURCE,
    IS_MERGED,
    POSITION,
    REJECT,
    SOURCE,
    Flow,
    origin_column,
    quoted,
    selection,
)
from clinker.engine.flow.identity import identity_sql
from clinker.engine.nodes.partials import Partials, wrong_kind
from clinker.engine.nodes.time_windows import (
    ARRIVED,
    TIME,
    WATERMARK,
    WINDOW,
    in_windows,
    with_watermark,
)
from clinker.engine.rejects.aggregate_reasons import (
    EXAMPLE_KINDS,
    group_explainer,
    record_explainer,
)
from clinker.engine.rejects.mark import (
    NO_REJECT,
    demand_sql,
    inputs_sql,
    mark_sql,
    nan_sql,
    read_expressions,
    reads_of,
    reject_sql,
    rejecting,
    unless_rejected,
)
from clinker.engine.rejects.payload import carried_sql
from clinker.engine.rejects.sites import Demand
from clinker.engine.run.system import SOURCE_COUNT, SystemValues
from clinker.frozen import frozen
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes.planned import PlannedAggregate

_KEY, _ARGUMENT, _FIRST = "$key", "$argument", "$first"
_SELF = "$self"
"""Of a rejected record, all that it goes on with; null for records that are grouped."""
_KEEPS, _IS_GROUP = "$keeps", "$is_group"


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
        node = planned.unit.node
        assert isinstance(node, AggregateNode)
        self.building = building
        self.planned = planned
        self.unit = planned.unit
        self.has_windows = node.config.time_window is not None
        self.flow = with_watermark(building, self.unit, flow) if self.has_windows else flow
        self.keys = [self._key(n, name) for n, name in enumerate(node.config.group_by)]
        statements = planned.program.statements
        self.emits = [s for s in statements if isinstance(s, typed.Emit)]
        self.steps = typed.Program(tuple(s for s in statements if not isinstance(s, typed.Emit)))
        self.calls = [call for emit in self.emits for call in aggregate_calls(emit.value)]

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
            records = in_windows(self.building, self.unit, records, identities)
        return self._groups(records)

    # Records

    def _records(self) -> Flow:
        """The records that count, with their keys and the arguments of all aggregates."""
        compiler = self.building.compiler(self.unit, self.flow)
        scope = compiler.scope
        (steps,) = compile_row_program(self.steps, compiler).steps
        failures = [steps.fails]
        columns = {name: quoted(name) for name in self._carried()}
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
                failures.append(f"{steps.keeps} and ({fails})" if steps.keeps else fails)
        fails = either(*failures)
        has_rejects = self.flow.has_rejects or fails is not None
        if has_rejects:
            columns[REJECT] = self._reject(compiler, fails)
        if steps.keeps:
            columns[_KEEPS] = steps.keeps
        frame = computed(self.flow.frame, scope, list(columns.items()))
        if steps.keeps:
            frame = frame.where(unless_rejected(quoted(_KEEPS), has_rejects)).drop(_KEEPS)
        return replace(self.flow, frame=frame, columns={}, has_rejects=has_rejects)

    def _carried(self) -> list[str]:
        """The columns that records keep: what time windows and rejected records need."""
        flow = self.flow
        carried = [SOURCE, POSITION, *flow.order, *self._places()]
        if self.has_windows:
            carried += [TIME, WATERMARK, ARRIVED]
            carried += (name for name in flow.hidden if name != REJECT)
        return list(dict.fromkeys(carried))

    def _places(self) -> list[str]:
        """The columns that tell where groups of which groups are made come from."""
        if not self.flow.has_groups:
            return []
        return [self.flow.origin[name][0] for name in (FIRST_SOURCE, FIRST_POSITION)]

    def _arguments(self) -> Iterator[tuple[typed.Aggregate, int, typed.Expr]]:
        for call in self.calls:
            for position, arg in enumerate(call.args):
                yield call, position, arg

    def _reject(self, compiler: Compiler, fails: str | None) -> str:
        if fails is None:
            return quoted(REJECT)
        evaluated = [*self.steps.expressions(), *(arg for _, _, arg in self._arguments())]
        read = read_expressions(evaluated)
        known = self.building.surroundings(self.unit, evaluated)
        explain = record_explainer(self.steps, self.calls, reads_of(read), known)
        site = self.building.site(self.unit, explain)
        mark = reject_sql(self.flow, site, inputs_sql(compiler, read))
        return rejecting(self.flow, fails, mark)

    # Groups

    def _groups(self, records: Flow) -> Flow:
        shown: dict[str, str] = {}
        compiler = Compiler(_GroupInputs(self.unit, self.building.system, self.flow, shown))
        order = selection(records.kept_order)
        is_wide = Demand.WIDE_SUMS in self.building.demands
        partials = Partials(Scope(), compiler.scope, order, is_wide=is_wide)
        first = partials.name(f"min({_one(order)})")
        shown.update({key.name: _shown(partials, key, first) for key in self.keys})
        results = self._results(partials)
        compiler.results = {call: Sql(sql.text, sql.fails) for call, sql in results.items()}
        how_failed = self._how_failed(partials, results)
        place = self._first_place(records, partials, first)
        groups = self._grouped(records, partials)
        columns, failures = self._emitted(compiler, shown)
        fails = either(*failures.values())
        order_columns = _order_columns(first, order)
        hidden = {SOURCE: "cast(null as int)", POSITION: "cast(null as bigint)"}
        asides: dict[str, str] = {}
        if records.has_rejects:
            hidden = {name: f"{quoted(_SELF)}.{quoted(name)}" for name in hidden}
            asides = {name: f"ifnull({quoted(_SELF)}.{quoted(name)}, 0L)" for name in records.aside}
        if self.has_windows:
            hidden[WINDOW] = quoted(WINDOW)
        needs_wide = [sql.needs_wide for sql in results.values() if sql.needs_wide]
        mark: str | None = None
        if fails:
            read = [(shown[key.name], key.type) for key in self.keys]
            read += [(sql.text, call.type) for call, sql in results.items()]
            read += [(text, INT) for text in how_failed]
            read += [(quoted(WINDOW), INT)] if self.has_windows else []
            origin = [
                (name, _unless(failures.get(name), columns[name]), type_)
                for name, type_ in self.planned.row.columns.items()
            ]
            origin += [(name, text, type_) for name, (text, type_) in place.items()]
            mark = self._group_reject(fails, read, carried_sql(origin))
        if needs_wide:
            wide = demand_sql(Demand.WIDE_SUMS)
            mark = f"if(({' or '.join(needs_wide)}) <=> true, {wide}, {mark or NO_REJECT})"
        if records.has_rejects:
            own = f"{quoted(_SELF)}.{quoted(REJECT)}"
            mark = f"coalesce({own}, {mark})" if mark else own
        if mark:
            hidden[REJECT] = mark
        hidden |= {origin_column(name): text for name, (text, _) in place.items()}
        origins = {name: (name, type_) for name, type_ in self.planned.row.columns.items()}
        origins |= {name: (origin_column(name), type_) for name, (_, type_) in place.items()}
        every = [*columns.items(), *hidden.items(), *order_columns.items(), *asides.items()]
        return Flow(
            frame=computed(groups, compiler.scope, every),
            columns=self.planned.row.columns,
            order=(*((WINDOW,) if self.has_windows else ()), *order_columns, *asides),
            is_ordered=False,
            aside=tuple(asides),
            sources=records.sources,
            is_small=records.is_small,
            origin=origins,
            has_rejects=mark is not None,
            borders=() if self.has_windows else records.borders,
        )

    def _first_place(
        self, records: Flow, partials: Partials, first: str
    ) -> dict[str, tuple[str, Type]]:
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
        return {
            FIRST_SOURCE: (source, INT),
            FIRST_POSITION: (position, INT.nullable()),
            IS_MERGED: (is_merged, BOOL),
        }

    def _results(self, partials: Partials) -> dict[typed.Aggregate, AggregateSql]:
        """The SQL of every call, over the partial results of a group."""
        results: dict[typed.Aggregate, AggregateSql] = {}
        number = 0
        for call in self.calls:
            assert isinstance(call.function, Aggregate)
            operands = []
            for arg in call.args:
                operands.append(Operand(quoted(f"{_ARGUMENT}{number}"), arg.type))
                number += 1
            found = partials.add(call.function, operands, call.type)
            results[call] = replace(found, text=partials.groups.bind(found.text))
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
            found.append(f"if({sql.fails}, {how}, null)" if sql.fails else literal(None, INT))
            number += len(call.args)
        return found

    def _grouped(self, records: Flow, partials: Partials) -> DataFrame:
        """One record per group, and one per rejected record, with all partial results."""
        by = [key.identity for key in self.keys]
        if self.has_windows:
            by.append(WINDOW)
        layers = partials.records.layers(*partials.selections)
        if records.has_rejects:
            names = dict.fromkeys((SOURCE, POSITION, *records.order, REJECT))
            carried = ", ".join(f"'{name}', {quoted(name)}" for name in names)
            itself = f"if({quoted(REJECT)} is null, null, named_struct({carried}))"
            layers.append(Columns({quoted(_SELF): itself}))
        frame = with_layers(records.frame, layers)
        functions = [f.expr(text) for text in partials.selections]
        if by or not records.has_rejects:
            by += [_SELF] if records.has_rejects else []
            return frame.groupBy(*selection(by)).agg(*functions)
        groups = frame.groupBy(quoted(_SELF)).agg(*functions)
        of_nothing = frame.where("false").agg(*functions)
        return _with_default(groups, of_nothing)

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
        count = self.building.system.of_group(self.unit, self.flow, SOURCE_COUNT)
        return replace(known, system={**known.system, SOURCE_COUNT: count})

    def _group_reject(self, fails: str, read: Sequence[tuple[str, Type]], origin: str) -> str:
        known = self._surroundings()
        names = [key.name for key in self.keys]
        explain = group_explainer(self.emits, names, self.calls, known)
        site = self.building.site(self.unit, explain)
        inputs = carried_sql((str(place), *given) for place, given in enumerate(read))
        reject = mark_sql(site, inputs, origin)
        return f"if(({fails}) <=> true, {reject}, {NO_REJECT})"


def _unless(fails: str | None, text: str) -> str:
    """A value, or null where it could not be computed."""
    return f"if(({fails}) <=> true, null, {text})" if fails else text


def _shown(partials: Partials, key: _Key, first: str) -> str:
    """A key as the first record of the group has it."""
    if key.value == key.identity:
        return quoted(key.identity)
    if representation(key.type).kind is Kind.FLOAT:
        # Of values that are one, only the zeros look different.
        value = quoted(key.value)
        is_negative = f"{value} = 0 and power({value}, -1D) < 0"
        negative = partials.name(f"min(if({is_negative}, {_one(partials.order)}, null))")
        found = quoted(key.identity)
        return f"if({negative} <=> {first}, -abs({found}), {found})"
    return partials.name(f"min_by({quoted(key.value)}, {_one(partials.order)})")


def _one(order: Sequence[str]) -> str:
    """The place of a record as one value."""
    return order[0] if len(order) == 1 else f"struct({', '.join(order)})"


def _order_columns(first: str, order: Sequence[str]) -> dict[str, str]:
    """The order columns of groups: those of the first record of each."""
    if len(order) == 1:
        return {_FIRST: first}
    return {f"{_FIRST}{n}": f"{first}.{name}" for n, name in enumerate(order)}


def _with_default(groups: DataFrame, default: DataFrame) -> DataFrame:
    """The groups, with the default one if there is none besides rejected records."""
    marked = groups.selectExpr("*", f"true as {quoted(_IS_GROUP)}")
    other = default.selectExpr("*", f"false as {quoted(_IS_GROUP)}")
    every = marked.unionByName(other, allowMissingColumns=True)
    record = f"struct({', '.join(selection(groups.columns))})"
    chosen = every.groupBy(quoted(_SELF)).agg(
        f.expr(f"max_by({record}, {quoted(_IS_GROUP)}) as {quoted(_IS_GROUP)}")
    )
    return chosen.selectExpr(f"{quoted(_IS_GROUP)}.*")


def kinds_met(text: str, type_: Type) -> str:
    """The kind of a value as a bit."""
    cases = [
        f"when {is_of_kind(text, kind, type_)} then {1 << bit}"
        for bit, kind in enumerate(EXAMPLE_KINDS)
        if type_.maybe(kind)
    ]
    return f"case {' '.join(cases)} end"


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
