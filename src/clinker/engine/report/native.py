"""The Spark SQL of a plan, for reading: what each node asks of the engine.

It is made without the engine, of the same texts that a run hands to it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import assert_never

from clinker.cxl.check import typed
from clinker.cxl.run.grouping import aggregate_calls
from clinker.cxl.sql.operand import Sql
from clinker.cxl.types import Type
from clinker.engine.expressions import Columns, Compiler, Layer
from clinker.engine.expressions.foreign import Foreign, ForeignExpression, ForeignRecords
from clinker.engine.expressions.rows import compile_row_program
from clinker.frozen import frozen
from clinker.plan.analyses.windows import window_calls
from clinker.plan.compile import Plan
from clinker.plan.explain.facts import NodeSql
from clinker.plan.nodes import (
    Planned,
    PlannedAggregate,
    PlannedCombine,
    PlannedMerge,
    PlannedOutput,
    PlannedRoute,
    PlannedSource,
    PlannedState,
    PlannedTransform,
)
from clinker.plan.nodes.checks import CHECKED_VALUE


def native_sql(plan: Plan) -> dict[str, NodeSql]:
    """The SQL of every node that computes something."""
    found: dict[str, NodeSql] = {}
    for name, planned in plan.nodes.items():
        node = _NodeText()
        lines = tuple(node.lines(planned))
        if lines:
            found[name] = NodeSql(tuple(node.shared), lines, tuple(node.interpreted))
    return found


def _written(work: Foreign) -> str:
    """The CXL that the interpreter computes, on one line."""
    if isinstance(work, ForeignRecords):
        return "emit each"
    assert isinstance(work, ForeignExpression)
    place = work.expression.location
    return " ".join(place.source.text[place.span.start : place.span.end].split())


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


class _NodeText:
    def __init__(self) -> None:
        self.now = dt.datetime(1, 1, 1)
        self.compiler = Compiler(_Names(self.now))
        self.shared: list[str] = []
        self.interpreted: list[str] = []

    def lines(self, planned: Planned) -> Iterator[str]:
        texts = list(self._texts(planned))
        for layer in self.compiler.scope.layers(*(text for _, text in texts)):
            self._add(layer)
        yield from (f"{what}: {text}" for what, text in texts)

    def _add(self, layer: Layer) -> None:
        if isinstance(layer, Columns):
            self.shared.extend(f"{text} AS {name}" for name, text in layer.definitions.items())
        else:
            self.interpreted.extend(map(_written, layer.work))

    def _texts(self, planned: Planned) -> Iterator[tuple[str, str]]:
        match planned:
            case PlannedTransform():
                yield from self._windows(planned.program)
                yield from self._program(planned.program, planned.node.config.max_expansion)
                yield from self._checks(planned)
            case PlannedRoute(conditions=conditions):
                for branch, condition in conditions.items():
                    yield f"branch {branch}", self.compiler.is_true(condition).text
            case PlannedAggregate():
                yield from self._aggregate(planned)
            case PlannedCombine(where=where, program=program):
                yield "where", self.compiler.is_true(where).text
                if program:
                    yield from self._program(program, 1)
            case PlannedSource() | PlannedMerge() | PlannedState() | PlannedOutput():
                return
            case other:
                assert_never(other)

    def _windows(self, program: typed.Program) -> Iterator[tuple[str, str]]:
        """Window functions, which are there before the program runs."""
        results: dict[typed.Expr, Sql] = {}
        for number, call in enumerate(window_calls(program), 1):
            assert isinstance(call, typed.Window)
            name = f"`$window{number}`"
            results[call] = Sql(name, "false" if call.fails else None)
            argument = self.compiler.expression(call.argument).text if call.argument else ""
            yield f"window {name}", f"{call.function.name}({argument})"
        self.compiler.results = results

    def _program(self, program: typed.Program, max_expansion: int) -> Iterator[tuple[str, str]]:
        row = compile_row_program(program, self.compiler, max_expansion, takes_apart=True)
        for step in row.steps:
            if step.keeps:
                yield "keep", step.keeps
            if step.fails:
                yield "reject", step.fails
            if step.distinct and step.distinct.keys:
                yield "distinct by", ", ".join(text for text, _ in step.distinct.keys)
        if row.records:
            yield "emit each", row.records
        values, meta = row.values, row.meta
        if block := row.block:
            yield "emit each", f"{block.elements} AS {block.element}"
            yield from (("with", selection) for selection in block.columns())
            if block.fails:
                yield "reject", block.fails
            values, meta = block.values, block.meta
        for name, text in values.items():
            yield f"emit {name}", text
        for name, text in meta.items():
            yield f"emit meta {name}", text

    def _checks(self, planned: PlannedTransform) -> Iterator[tuple[str, str]]:
        for check in planned.validations:
            if check.condition:
                names = _Names(self.now, check.field)
                sql = Compiler(names, self.compiler.scope).is_true(check.condition)
                yield f"check {check.rule}", sql.text

    def _aggregate(self, planned: PlannedAggregate) -> Iterator[tuple[str, str]]:
        if keys := planned.node.config.group_by:
            yield "group by", ", ".join(f"`{name}`" for name in keys)
        for statement in planned.program.statements:
            match statement:
                case typed.Let(symbol=symbol, value=value):
                    self.compiler.symbols[symbol] = self.compiler.operand(value)[0].text
                case typed.Filter(condition=condition):
                    yield "keep", self.compiler.is_true(condition).text
                case typed.Emit(value=value):
                    for call in aggregate_calls(value):
                        yield from self._arguments(call)

    def _arguments(self, call: typed.Aggregate) -> Iterator[tuple[str, str]]:
        for arg in call.args:
            yield f"{call.function.name} of", self.compiler.expression(arg).text
