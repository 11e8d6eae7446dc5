"""State nodes: records pass, and from then on carry the values of variables as of themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from clinker.cxl.check import typed
from clinker.cxl.run.grouping import aggregate_calls
from clinker.cxl.sql.dialect import current_dialect
from clinker.cxl.sql.operand import Operand, Sql
from clinker.cxl.types import BOOL, FLOAT, Kind, Type
from clinker.engine.expressions import Compiler, literal, representation
from clinker.engine.expressions.conditions import either
from clinker.engine.expressions.dispatch import write_by_kind
from clinker.engine.expressions.foreign import shown_value
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.building import Building, FlowInputs
from clinker.engine.flow.flow import POSITION, SOURCE, Flow, file_number
from clinker.engine.flow.frame import quoted, selection
from clinker.engine.flow.hidden import Hidden
from clinker.engine.nodes.folding import Early, Windows
from clinker.engine.nodes.stepping import Stepping
from clinker.engine.rejects.mark import (
    demand_sql,
    mark,
    origin_sql,
    read_expressions,
    reject_sql,
    rejection,
)
from clinker.engine.rejects.sites import Demand
from clinker.engine.rejects.state_reasons import steps_explainer, told_explainer
from clinker.frozen import frozen
from clinker.plan.analyses.folds import Running, Step, fold_steps, has_windows
from clinker.plan.nodes import PlannedState

_KEPT, _SLOT, _WRITTEN, _FAILED = "$kept", "$slot", "$written", "$failed"
_MOST_PARTS = 32


def state(building: Building, planned: PlannedState, flow: Flow) -> Flow:
    """The same records with what the node writes; those rejected for which it cannot."""
    steps = fold_steps(building.plan.graph, building.plan.nodes, planned)
    assigning = _Assigning(building, planned, flow)
    if steps is None:
        return assigning.step_by_step()
    if not any(map(has_windows, steps)):
        return assigning.at_once(steps)
    if Demand.SINGLE_STEPS in building.demands:
        return assigning.step_by_step()
    return assigning.over_windows(steps)


@frozen(eq=False)
class _StateInputs(FlowInputs):
    """What assignments find: variables that were assigned before have their new values."""

    own: dict[tuple[str, str], str] = field(default_factory=dict)

    def system(self, namespace: str, path: tuple[str, ...], type_: Type) -> str:
        if len(path) == 1 and (namespace, path[0]) in self.own:
            return self.own[namespace, path[0]]
        return super().system(namespace, path, type_)


@dataclass
class _Assigning:
    building: Building
    planned: PlannedState
    flow: Flow

    def __post_init__(self) -> None:
        self.scope = self.planned.node.config.scope
        known = self.building.plan.registry.types(self.scope)
        self.types = {name: known[name].nullable() for name in self.planned.assignments}

    def _inputs(self, flow: Flow) -> _StateInputs:
        return _StateInputs(flow, self.planned.unit, self.building.system)

    # Without folds

    def at_once(self, steps: Sequence[Step]) -> Flow:
        """Every record has all that its values are made of."""
        flow = self.flow
        inputs = self._inputs(flow)
        early = Early(Compiler(inputs, flow.scope, self.building.overrides))
        values = {step.name: self._assigned(early, step, inputs) for step in steps}
        if early.fails:
            flow = mark(flow, early.fails, self._rejection(flow, steps))
        return self._with_variables(flow, values)

    def _assigned(self, early: Early, step: Step, inputs: _StateInputs) -> str:
        """A value in the form of its variable, which has it from now on."""
        sql = _fitted(early.compiler, early.operand(step.value), self.types[step.name])
        early.fail(sql.fails)
        inputs.own[self.scope, step.name] = text = early.compiler.scope.bind(sql.text)
        return text

    def _rejection(self, flow: Flow, steps: Sequence[Step]) -> str:
        plain = self.building.compiler(self.planned.unit, flow)
        expressions = [part for step in steps for part in _early_parts(step)]
        return rejection(
            self.building,
            self.planned.unit,
            flow,
            plain,
            read_expressions(expressions),
            lambda reads, known: steps_explainer(self.scope, steps, self.types, reads, known),
            expressions=expressions,
        )

    def _with_variables(self, flow: Flow, values: Mapping[str, str]) -> Flow:
        columns: list[tuple[Hidden, str]] = []
        for name, text in values.items():
            key = f"{self.scope}.{name}"
            columns.append((Hidden(kinds.VARIABLE, key, self.types[name]), text))
            columns.append((Hidden(kinds.PASSED, key, BOOL.nullable()), literal(True, BOOL)))
        return flow.with_hidden(columns)

    # Over windows

    def over_windows(self, steps: Sequence[Step]) -> Flow:
        """What records are made of first, then what the records up to each of them leave."""
        flow = self.flow.built()
        inputs = self._inputs(flow)
        compiler = Compiler(inputs, flow.scope, self.building.overrides)
        early = Early(compiler)
        is_wide = Demand.WIDE_SUMS in self.building.demands
        windows = Windows(flow.scope, selection(flow.order), is_wide=is_wide)
        late: list[str | None] = []
        wide: list[str | None] = []
        values: dict[str, str] = {}
        results: dict[typed.Expr, Sql] = {}
        compiler.results = results
        for step in steps:
            if isinstance(step, Running):
                start = inputs.system(self.scope, (step.name,), self.types[step.name])
                sql = windows.fold(early.elements(step.fold, flow.scope.bind(start)))
            elif step.is_late:
                for call in aggregate_calls(step.value):
                    found = windows.aggregate(call, early.arguments(call))
                    results[call] = Sql(found.text, found.fails)
                    wide.append(found.needs_wide)
                operand, fails = compiler.operand(step.value)
                late.append(fails)
                sql = _fitted(compiler, operand, self.types[step.name])
            else:
                values[step.name] = self._assigned(early, step, inputs)
                continue
            late.append(sql.fails)
            values[step.name] = text = flow.scope.bind(sql.text)
            inputs.own[self.scope, step.name] = text
        flow = windows.added_to(flow, self._over(flow, early.fails))
        if early.fails:
            flow = mark(flow, early.fails, self._rejection(flow, steps))
        flow = mark(flow, either(*wide), demand_sql(Demand.WIDE_SUMS))
        flow = mark(flow, either(*late), demand_sql(Demand.SINGLE_STEPS))
        return self._with_variables(flow, values)

    def _over(self, flow: Flow, fails: str | None) -> str:
        """The records that a variable has come through when it reaches one of them."""
        order = ", ".join(selection(flow.order))
        if self.scope == "record":
            if current_dialect().sliding_frames:
                return f"ORDER BY {order} ROWS BETWEEN CURRENT ROW AND CURRENT ROW"
            return f"PARTITION BY {order} ORDER BY {order} ROWS UNBOUNDED PRECEDING"
        apart = self._slots(flow)
        if fails or flow.has_rejects:
            counts = f"({flow.is_kept} AND NOT (({fails or 'FALSE'}) <=> TRUE))"
            apart.append(flow.scope.bind(counts))
        partition = f"PARTITION BY {', '.join(apart)} " if apart else ""
        return f"{partition}ORDER BY {order} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"

    def _slots(self, flow: Flow) -> list[str]:
        """What tells apart the records that go on with values of their own."""
        files = sum(len(self.building.system.files[name]) for name in flow.sources)
        if self.scope != "source" or (files <= 1 and not flow.has_groups):
            return []
        return [flow.value(SOURCE), flow.scope.bind(file_number(flow.value(POSITION)))]

    # In single steps

    def step_by_step(self) -> Flow:
        """The interpreter takes one record after the other."""
        flow = self.flow.built()
        compiler = self.building.compiler(self.planned.unit, flow)
        assignments = self.planned.assignments
        reads = tuple(compiler.reads(self._read_first()))
        slots = self._slots(flow)
        added = {f"{_SLOT}{n}": text for n, text in enumerate(slots)}
        passed = {
            name: kinds.PASSED.column(f"{self.scope}.{name}")
            for name in assignments
            if kinds.PASSED.column(f"{self.scope}.{name}") in flow.hidden
        }
        stepping = Stepping(
            scope=self.scope,
            values=assignments,
            types=self.types,
            reads=reads,
            is_kept=_KEPT,
            slots=tuple(added),
            passed=passed,
            now=self.building.system.now,
            written={name: f"{_WRITTEN}{n}" for n, name in enumerate(assignments)},
            failed=_FAILED,
        )
        flow = flow.prepared(*(read.column for read in reads), *slots)
        frame = flow.frame.extend([*added.items(), (_KEPT, flow.is_kept)])
        files = sum(len(self.building.system.files[name]) for name in flow.sources)
        parts = min(files, _MOST_PARTS) if slots and not flow.is_small else 1
        number = f"pmod(hash({', '.join(slots)}), {parts})" if parts > 1 else "0"
        frame = frame.cut(number, parts, selection(flow.order))
        ddl = {stepping.written[n]: representation(self.types[n]).ddl for n in assignments}
        work = "; ".join(f"${self.scope}.{n} = {shown_value(v)}" for n, v in assignments.items())
        frame = frame.run_in_arrow(stepping.run, {**ddl, _FAILED: "STRING"}, work)
        flow = replace(flow, frame=frame, is_ordered=parts == 1 and self.building.keeps_order)
        explain = told_explainer([*assignments.values()])
        site = self.building.site(self.planned.unit, explain)
        reject = reject_sql(site, quoted(_FAILED), origin_sql(flow))
        flow = mark(flow, f"{quoted(_FAILED)} IS NOT NULL", reject)
        values = {name: quoted(column) for name, column in stepping.written.items()}
        return self._with_variables(flow, values)

    def _read_first(self) -> list[typed.Expr]:
        """What assignments read of records and variables, aggregates included."""
        return [
            part
            for value in self.planned.assignments.values()
            for part in value.walk()
            if isinstance(part, typed.Field | typed.System)
        ]


def _early_parts(step: Step) -> list[typed.Expr]:
    """What an assignment evaluates on a record alone."""
    if isinstance(step, Running):
        return [*(guard for guard, _ in step.fold.guards), step.fold.element]
    if step.is_late:
        return [arg for call in aggregate_calls(step.value) for arg in call.args]
    return [step.value]


def _fitted(compiler: Compiler, value: Operand, declared: Type) -> Sql:
    """A value in the form of a variable; it fails if it is of another kind."""

    def write(operands: Sequence[Operand]) -> tuple[Sql, Type] | None:
        (operand,) = operands
        kind = operand.type.kinds & ~Kind.NULL
        if operand.type.is_null:
            return Sql(literal(None, declared)), declared
        if kind == declared.without_null().kinds:
            return Sql(operand.text), declared
        if kind == Kind.INT and declared.maybe(Kind.FLOAT):
            return Sql(f"CAST({operand.text} AS DOUBLE)"), FLOAT.nullable()
        return None

    return write_by_kind(compiler.scope, [value], write, representation(declared))
