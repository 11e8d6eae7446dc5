"""What the interpreter computes of each node, since it has no form in SQL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from clinker.config.nodes import TransformNode
from clinker.cxl.check import typed
from clinker.cxl.run.grouping import aggregate_calls
from clinker.cxl.sql.operand import Sql
from clinker.cxl.types import Type
from clinker.engine.expressions import Compiler
from clinker.engine.expressions.foreign import shown_value
from clinker.engine.expressions.rows import compile_row_program
from clinker.engine.expressions.scope import ForeignColumns
from clinker.frozen import frozen
from clinker.plan.analyses.folds import fold_steps
from clinker.plan.analyses.windows import window_calls
from clinker.plan.compile import Plan
from clinker.plan.nodes import (
    Planned,
    PlannedAggregate,
    PlannedCombine,
    PlannedRoute,
    PlannedState,
    PlannedTransform,
)
from clinker.plan.nodes.checks import CHECKED_VALUE


def interpreted(plan: Plan) -> dict[str, tuple[str, ...]]:
    """By node, the expressions that the interpreter computes, record by record."""
    return {
        name: tuple(_NodeTexts(plan).interpreted(planned)) for name, planned in plan.nodes.items()
    }


@frozen
class _Names:
    """Fields and variables under their own names."""

    now: dt.datetime
    checked: str | None = None
    """The field that a named check reads as its value."""

    def field(self, qualifier: str | None, name: str) -> str:
        if name == CHECKED_VALUE and self.checked:
            name = self.checked
        own = f"`{name.replace('`', '``')}`"
        return f"`{qualifier}`.{own}" if qualifier else own

    def system(self, namespace: str, path: tuple[str, ...], type_: Type) -> str:
        return f"`${'.'.join([namespace, *path])}`"


class _NodeTexts:
    """The SQL of a node, made as a run makes it, for what it leaves to the interpreter."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.now = dt.datetime(1, 1, 1)
        self.compiler = Compiler(_Names(self.now))

    def interpreted(self, planned: Planned) -> Iterator[str]:
        if isinstance(planned, PlannedState):
            steps = fold_steps(self.plan.graph, self.plan.nodes, planned)
            if steps is None:
                yield from map(shown_value, planned.assignments.values())
                return
        for layer in self.compiler.scope.layers(*self._texts(planned)):
            if isinstance(layer, ForeignColumns):
                yield from (work.cxl for work in layer.work)

    def _texts(self, planned: Planned) -> Iterator[str]:
        match planned:
            case PlannedTransform():
                node = planned.unit.node
                assert isinstance(node, TransformNode)
                yield from self._windows(planned.program)
                yield from self._program(planned.program, node.config.max_expansion)
                yield from self._checks(planned)
            case PlannedRoute(conditions=conditions):
                for condition in conditions.values():
                    yield self.compiler.is_true(condition).text
            case PlannedAggregate():
                yield from self._aggregate(planned)
            case PlannedState(assignments=assignments):
                for value in assignments.values():
                    yield from self._state(value)
            case PlannedCombine(where=where, program=program):
                yield self.compiler.is_true(where).text
                if program:
                    yield from self._program(program, 1)

    def _windows(self, program: typed.Program) -> Iterator[str]:
        """Window functions, which are there before the program runs."""
        results: dict[typed.Expr, Sql] = {}
        for number, call in enumerate(window_calls(program), 1):
            assert isinstance(call, typed.Window)
            results[call] = Sql(f"`$window{number}`", "false" if call.fails else None)
            if call.argument:
                yield self.compiler.expression(call.argument).text
        self.compiler.results = results

    def _program(self, program: typed.Program, max_expansion: int) -> Iterator[str]:
        row = compile_row_program(program, self.compiler, max_expansion, takes_apart=True)
        for step in row.steps:
            yield from filter(None, (step.keeps, step.fails))
            if step.distinct and step.distinct.keys:
                yield from (text for text, _ in step.distinct.keys)
        if row.records:
            yield row.records
        values, meta = row.values, row.meta
        if block := row.block:
            yield block.elements
            yield from block.columns()
            if block.fails:
                yield block.fails
            values, meta = block.values, block.meta
        yield from values.values()
        yield from meta.values()

    def _state(self, value: typed.Expr) -> Iterator[str]:
        calls = aggregate_calls(value)
        for call in calls:
            yield from (self.compiler.expression(arg).text for arg in call.args)
        fails = {call: "false" if call.fails else None for call in calls}
        self.compiler.results = {
            call: Sql(f"`$group{n}`", fails[call]) for n, call in enumerate(calls)
        }
        yield self.compiler.expression(value).text

    def _checks(self, planned: PlannedTransform) -> Iterator[str]:
        for check in planned.validations:
            if check.condition:
                names = _Names(self.now, check.field)
                yield Compiler(names, self.compiler.scope).is_true(check.condition).text

    def _aggregate(self, planned: PlannedAggregate) -> Iterator[str]:
        for statement in planned.program.statements:
            match statement:
                case typed.Let(symbol=symbol, value=value):
                    self.compiler.symbols[symbol] = self.compiler.operand(value)[0].text
                case typed.Filter(condition=condition):
                    yield self.compiler.is_true(condition).text
                case typed.Emit(value=value):
                    for call in aggregate_calls(value):
                        yield from (self.compiler.expression(arg).text for arg in call.args)
