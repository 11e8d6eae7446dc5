"""Aggregates: one record per group, in the order in which groups first appear.

Rejected records take part in the grouping as groups of their own, so that they pass the shuffle
together with the others and the input is read once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from clinker.config.nodes import AggregateNode
from clinker.cxl import typed
from clinker.cxl.aggregate_sql import AggregateSql
from clinker.cxl.builtins.aggregates import Aggregate, check_argument
from clinker.cxl.evaluate import Frame, RowProgram, Surroundings, compile_expression, for_field
from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.grouping import aggregate_calls
from clinker.cxl.sql import Operand, Sql
from clinker.cxl.types import Kind, Type
from clinker.cxl.values import Value
from clinker.engine.building import Building, FlowInputs, computed, recast
from clinker.engine.explaining import Reads, nan_reason
from clinker.engine.expressions import Compiler, representation
from clinker.engine.expressions.representation import is_of_kind
from clinker.engine.flow import POSITION, REJECT, SOURCE, Flow, quoted
from clinker.engine.identity import identity_sql
from clinker.engine.partials import Partials
from clinker.engine.rejecting import (
    NO_REJECT,
    array_sql,
    either,
    inputs_sql,
    read_expressions,
    reads_of,
    reject_sql,
    rejecting,
)
from clinker.engine.stages import WIDE_SUMS, Explain, Reason, reason_of
from clinker.plan.planned import PlannedAggregate

_KEY, _FIRST, _VALUE, _WIDE = "$key", "$first", "$argument", "$needs_wide"


def aggregate(building: Building, planned: PlannedAggregate, flow: Flow) -> Flow:
    """The groups of a flow."""
    return _Aggregation(building, planned, flow).run()


class _Aggregation:
    def __init__(self, building: Building, planned: PlannedAggregate, flow: Flow) -> None:
        node = planned.unit.node
        assert isinstance(node, AggregateNode)
        self.building = building
        self.planned = planned
        self.unit = planned.unit
        self.flow = flow
        self.group_by = node.config.group_by
        statements = planned.program.statements
        self.emits = [s for s in statements if isinstance(s, typed.Emit)]
        self.steps = [s for s in statements if not isinstance(s, typed.Emit)]
        self.calls = [call for emit in self.emits for call in aggregate_calls(emit.value)]

    def run(self) -> Flow:
        prepared = self._prepared()
        if not self.group_by and prepared.has_rejects:
            return self._beside_rejects(prepared)
        return self._grouped(prepared)

    def _beside_rejects(self, prepared: Flow) -> Flow:
        """One group of all records, which exists even without any; rejects go past it."""
        if not prepared.is_small:
            prepared = prepared.with_frame(prepared.frame.persist())
        group = self._grouped(prepared.without_rejects())
        marks = {SOURCE: quoted(SOURCE), POSITION: quoted(POSITION), REJECT: quoted(REJECT)}
        columns = dict.fromkeys((*group.columns, *group.order), "null") | marks
        rejected = prepared.frame.where(f"{quoted(REJECT)} is not null").selectExpr(
            *(f"{text} as {quoted(name)}" for name, text in columns.items())
        )
        kept = group.frame
        if not group.has_rejects:
            kept = kept.selectExpr("*", f"{NO_REJECT} as {quoted(REJECT)}")
        return replace(group, frame=kept.unionByName(rejected), has_rejects=True)

    # Records

    def _prepared(self) -> Flow:
        """The records that count, with their keys and the arguments of all aggregates."""
        compiler = self.building.compiler(self.unit, self.flow)
        scope = compiler.scope
        keeps: list[str] = []
        failures: list[str] = []

        def note(fails: str | None) -> None:
            if fails:
                asked = " and ".join(keeps)
                failures.append(f"({asked} and {fails})" if asked else f"({fails})")

        for step in self.steps:
            match step:
                case typed.Let(symbol=symbol, value=value):
                    operand, fails = compiler.operand(value)
                    compiler.symbols[symbol] = operand.text
                    note(fails)
                case typed.Filter(condition=condition):
                    sql = compiler.is_true(condition)
                    note(sql.fails)
                    keeps.append(scope.bind(sql.text))
                case typed.Trace(guard=guard, message=message):
                    note(_traced(compiler, guard, message))
        columns = {name: quoted(name) for name in self.flow.hidden if name != REJECT}
        for number, name in enumerate(self.group_by):
            columns[name] = compiler.inputs.field(None, name)
            type_ = self._key_type(name)
            columns[f"{_KEY}{number}"] = identity_sql(scope, columns[name], type_)
        for number, arg in enumerate(self._arguments()):
            sql = compiler.expression(arg.expr)
            note(sql.fails)
            text = scope.bind(sql.text)
            note(arg.refused(text))
            columns[f"{_VALUE}{number}"] = text
        has_rejects = self.flow.has_rejects or bool(failures)
        if has_rejects:
            columns[REJECT] = self._reject(compiler, failures)
        frame = computed(self.flow.frame, scope, list(columns.items()), *keeps)
        if keeps:
            frame = self._filtered(compiler, columns, keeps)
        return replace(
            self.flow,
            frame=frame,
            columns={name: self._key_type(name) for name in self.group_by},
            has_rejects=has_rejects,
        )

    def _filtered(
        self, compiler: Compiler, columns: Mapping[str, str], keeps: list[str]
    ) -> DataFrame:
        marked = {**columns, "$keeps": " and ".join(keeps)}
        frame = computed(self.flow.frame, compiler.scope, list(marked.items()))
        test = quoted("$keeps")
        if REJECT in columns:
            test = f"({quoted(REJECT)} is not null or {test})"
        return frame.where(test).drop("$keeps")

    def _key_type(self, name: str) -> Type:
        return self.planned.row.columns.get(name) or Type(Kind.NULL)

    def _reject(self, compiler: Compiler, failures: Sequence[str]) -> str:
        if not failures:
            return quoted(REJECT)
        evaluated = [*_expressions(self.steps), *(arg.expr for arg in self._arguments())]
        read = read_expressions(evaluated)
        known = self.building.surroundings(self.unit, evaluated)
        explain = self._row_explainer(reads_of(read), known)
        stage = self.building.stage(self.unit, explain)
        mark = reject_sql(self.flow, compiler.scope, stage, inputs_sql(compiler, read))
        return rejecting(self.flow, " or ".join(failures), mark)

    def _arguments(self) -> list[_Argument]:
        return [
            _Argument(call.function, position, arg)
            for call in self.calls
            for position, arg in enumerate(call.args)
        ]

    def _row_explainer(self, reads: Reads, known: Surroundings) -> Explain:
        evaluators = [
            (arg.function, arg.position, compile_expression(arg.expr)) for arg in self._arguments()
        ]

        steps = RowProgram(typed.Program(tuple(self.steps)), known)

        def explain(values: list[Value]) -> Reason | None:
            frame = reads.restored(values, known)
            steps.surroundings = frame.surroundings
            try:
                steps.run(frame.record, frame.meta)
                for function, position, evaluate in evaluators:
                    check_argument(function, position, evaluate(frame))
            except Failure as failure:
                return reason_of(failure)
            return None

        return explain

    # Groups

    def _grouped(self, prepared: Flow) -> Flow:
        order = tuple(map(quoted, prepared.order))
        partials = Partials(order, is_wide=self.building.wide_sums)
        results = self._results(partials)
        first = partials.over_group.name(_first(order))
        keys = [f"{_KEY}{number}" for number in range(len(self.group_by))]
        shown = {name: self._shown_key(partials, n, name) for n, name in enumerate(self.group_by)}
        records = prepared.frame
        for layer in partials.records:
            records = records.selectExpr("*", *layer)
        grouping = [*keys]
        if prepared.has_rejects:
            rejected = f"{quoted(REJECT)} is not null"
            kept = [name for name in records.columns if name not in (SOURCE, POSITION)]
            records = records.selectExpr(
                *map(quoted, kept),
                *(f"if({rejected}, {quoted(n)}, null) as {quoted(n)}" for n in (SOURCE, POSITION)),
            )
            grouping += [SOURCE, POSITION, REJECT]
        groups = records.groupBy(*map(quoted, grouping)).agg(*map(f.expr, partials.aggregates))
        for layer in partials.results:
            groups = groups.selectExpr("*", *layer)
        return self._finished(prepared, groups, results, shown, first)

    def _results(self, partials: Partials) -> dict[typed.Expr, AggregateSql]:
        """The SQL of every call, over the partial results of a group."""
        results: dict[typed.Expr, AggregateSql] = {}
        number = 0
        for call in self.calls:
            assert isinstance(call.function, Aggregate)
            operands = []
            for arg in call.args:
                operands.append(Operand(quoted(f"{_VALUE}{number}"), arg.type))
                number += 1
            results[call] = partials.add(call.function, operands, call.type)
        return results

    def _shown_key(self, partials: Partials, number: int, name: str) -> str:
        """A key as its first record has it; only keys of several kinds can differ from that."""
        if not representation(self._key_type(name)).is_tagged:
            return quoted(f"{_KEY}{number}")
        order = (
            partials.order[0]
            if len(partials.order) == 1
            else f"struct({', '.join(partials.order)})"
        )
        return partials.over_group.name(f"min_by({quoted(name)}, {order})")

    def _finished(
        self,
        prepared: Flow,
        groups: DataFrame,
        results: Mapping[typed.Expr, AggregateSql],
        keys: Mapping[str, str],
        first: str,
    ) -> Flow:
        """The records that groups become."""
        group_flow = replace(
            prepared,
            frame=groups,
            origin={},
            widened=(),
            has_widened_map=False,
            meta={},
        )
        compiler = _GroupCompiler(FlowInputs(group_flow, self.unit, self.building.system))
        compiler.results = {c: Sql(r.text, r.fails) for c, r in results.items()}
        compiler.keys = keys
        scope = compiler.scope
        columns = {name: keys[name] for name in self.group_by}
        failures: list[str | None] = []
        for emit in self.emits:
            operand, fails = compiler.operand(emit.value)
            compiler.symbols[emit.symbol] = operand.text
            wanted = self.planned.row.columns[emit.name]
            columns[emit.name] = recast(scope, operand.text, emit.value.type, wanted)
            failures.append(fails)
            failures.append(nan_sql(operand.text, emit.value.type))
        wide = [r.needs_wide for r in results.values() if r.needs_wide]
        order = _unpacked(first, len(prepared.order))
        hidden = {
            SOURCE: quoted(SOURCE) if prepared.has_rejects else "cast(null as int)",
            POSITION: quoted(POSITION) if prepared.has_rejects else "cast(null as bigint)",
            **order,
        }
        fails = either(*failures)
        has_rejects = prepared.has_rejects or fails is not None or bool(wide)
        if has_rejects:
            hidden[REJECT] = self._group_reject(
                replace(group_flow, columns={}), compiler, results, fails, wide
            )
        frame = computed(groups, scope, [*columns.items(), *hidden.items()])
        return Flow(
            frame=frame,
            columns=self.planned.row.columns,
            order=tuple(order),
            is_ordered=False,
            sources=prepared.sources,
            is_small=prepared.is_small,
            has_rejects=has_rejects,
        )

    def _group_reject(
        self,
        flow: Flow,
        compiler: _GroupCompiler,
        results: Mapping[typed.Expr, AggregateSql],
        fails: str | None,
        wide: Sequence[str],
    ) -> str:
        mark = NO_REJECT
        if fails:
            values = [
                (text, representation(self._key_type(n))) for n, text in compiler.keys.items()
            ]
            values += [(r.text, representation(c.type)) for c, r in results.items()]
            values += [
                (r.fails or "false", representation(Type(Kind.BOOL))) for r in results.values()
            ]
            explain = self._group_explainer(list(results))
            stage = self.building.stage(self.unit, explain)
            reject = reject_sql(flow, compiler.scope, stage, array_sql(compiler.scope, values))
            mark = f"if(({fails}) <=> true, {reject}, {NO_REJECT})"
        if wide:
            stage = WIDE_SUMS
            again = (
                f"named_struct('stage', {stage}, 'inputs', '[]', 'origin', cast(null as string))"
            )
            mark = f"if(({' or '.join(wide)}) <=> true, {again}, {mark})"
        return f"coalesce({quoted(REJECT)}, {mark})" if flow.has_rejects else mark

    def _group_explainer(self, calls: Sequence[typed.Expr]) -> Explain:
        """Why the emits of a group fail, given its keys and the results of its aggregates."""
        evaluators = [for_field(e.name, compile_expression(e.value)) for e in self.emits]
        known = self.building.surroundings(self.unit, (e.value for e in self.emits))

        def explain(values: list[Value]) -> Reason | None:
            keys = dict(zip(self.group_by, values, strict=False))
            at = len(self.group_by)
            found = dict[typed.Expr, Value | Failure](
                zip(calls, values[at : at + len(calls)], strict=True)
            )
            for call, failed in zip(calls, values[at + len(calls) :], strict=True):
                if failed is True:
                    found[call] = _overflow(call)
            frame = Frame(keys, known, results=found)
            emitted: dict[str, Value] = {}
            try:
                for emit, evaluate in zip(self.emits, evaluators, strict=True):
                    frame.locals[emit.symbol] = emitted[emit.name] = evaluate(frame)
            except Failure as failure:
                return reason_of(failure)
            return nan_reason(emitted)

        return explain


class _GroupCompiler(Compiler):
    """Compiles what is emitted of a group: aggregates are there already, fields are its keys."""

    results: Mapping[typed.Expr, Sql]
    keys: Mapping[str, str]

    def _native(self, expr: typed.Expr) -> Sql:
        if isinstance(expr, typed.Aggregate):
            found = self.results[expr]
            return Sql(self.scope.bind(found.text), found.fails)
        if isinstance(expr, typed.Field):
            return Sql(self.keys[expr.name])
        return super()._native(expr)


class _Argument:
    """One argument of an aggregate."""

    def __init__(self, function: object, position: int, expr: typed.Expr) -> None:
        assert isinstance(function, Aggregate)
        self.function = function
        self.position = position
        self.expr = expr

    @cached_property
    def _accepted(self) -> Kind:
        return self.function.param(self.position).type.kinds

    def refused(self, text: str) -> str | None:
        """Where the value is of a kind that the function does not take."""
        given = self.expr.type.kinds & ~Kind.NULL
        refused = given & ~self._accepted
        if not refused:
            return None
        if len(given) <= 1:
            return f"{text} is not null"
        return " or ".join(is_of_kind(text, kind, self.expr.type) for kind in refused)


def nan_sql(text: str, type_: Type) -> str | None:
    """Where an emitted value is NaN."""
    if not type_.maybe(Kind.FLOAT):
        return None
    if representation(type_).is_tagged:
        return f"({text} <=> 'NaN')"
    return f"(isnan({text}))"


def _overflow(call: typed.Expr) -> Failure:
    assert isinstance(call, typed.Aggregate)
    detail = f"integer overflow in {call.function.name}"
    failure = Failure(FailureKind.INTEGER_OVERFLOW, detail)
    failure.location = call.location
    return failure


def _first(order: Sequence[str]) -> str:
    return f"min({order[0]})" if len(order) == 1 else f"min(struct({', '.join(order)}))"


def _unpacked(first: str, width: int) -> dict[str, str]:
    """The order columns of groups: those of the first record of each."""
    if width == 1:
        return {_FIRST: first}
    return {f"{_FIRST}{n}": f"{first}.col{n + 1}" for n in range(width)}


def _traced(compiler: Compiler, guard: typed.Expr | None, message: typed.Expr) -> str | None:
    """Where a trace fails: its message is only looked at if its guard holds."""
    shown = compiler.expression(message).fails
    if guard is None:
        return shown
    asked = compiler.is_true(guard)
    return either(asked.fails, f"({asked.text} and {shown})" if shown else None)


def _expressions(statements: Iterable[typed.Statement]) -> Iterator[typed.Expr]:
    return typed.Program(tuple(statements)).expressions()
