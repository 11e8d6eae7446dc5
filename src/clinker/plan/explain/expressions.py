"""CXL as it is shown in a plan: conditions on one line, and what programs read, write and risk."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from clinker.config.nodes import StateNode
from clinker.cxl.check import typed
from clinker.cxl.check.resolve import Row
from clinker.cxl.failure import FailureKind
from clinker.cxl.syntax.format import format_expression
from clinker.cxl.syntax.parser import parse_expression
from clinker.cxl.types import Type
from clinker.diagnostics import EmbeddedSource, Location, Source
from clinker.plan.compile import Plan
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes.planned import (
    PlannedAggregate,
    PlannedCombine,
    PlannedRoute,
    PlannedState,
    PlannedTransform,
)

Inputs = Mapping[str | None, Row]
"""The records a program reads, by qualifier; None where there is a single input."""


@dataclass(frozen=True)
class Cxl:
    """What the CXL of a node does."""

    reads: Mapping[str, Type]
    """Fields, by input where there are several."""
    variables: tuple[str, ...]
    writes: Mapping[str, Type]
    failures: tuple[str, ...]
    """How it can fail on a record."""


def cxl(plan: Plan, unit: Unit) -> Cxl | None:
    """The CXL of a node; None if it has none."""
    match plan.nodes[unit.name]:
        case PlannedTransform() as planned:
            inputs = _incoming(plan, unit)
            outgoing = [
                *(check.condition for check in planned.validations if check.condition),
                *(condition for condition in planned.log_conditions if condition),
            ]
            return _program(planned.program, inputs, outgoing)
        case PlannedAggregate() as planned:
            return _program(planned.program, _incoming(plan, unit))
        case PlannedCombine() as planned:
            rows: Inputs = dict(planned.inputs.items())
            if planned.program:
                return _program(planned.program, rows, [planned.where])
            return _expressions([planned.where], rows, {})
        case PlannedRoute() as planned:
            return _expressions(planned.conditions.values(), _incoming(plan, unit), {})
        case PlannedState() as planned:
            assert isinstance(unit.node, StateNode)
            scope = unit.node.config.scope
            writes = {f"${scope}.{name}": e.type for name, e in planned.assignments.items()}
            return _expressions(planned.assignments.values(), _incoming(plan, unit), writes)
        case _:
            return None


def _incoming(plan: Plan, unit: Unit) -> Inputs:
    return {None: plan.nodes[unit.inputs[0].upstream].row}


def _program(
    program: typed.Program,
    inputs: Inputs,
    besides: Iterable[typed.Expr] = (),
) -> Cxl:
    meta = {f"$meta.{name}": type_ for name, type_ in program.meta_written.items()}
    expressions = [*program.expressions(), *besides]
    return _expressions(expressions, inputs, {**program.fields_written, **meta}, program.fails)


def _expressions(
    expressions: Iterable[typed.Expr],
    inputs: Inputs,
    writes: Mapping[str, Type],
    fails: Iterable[FailureKind] = (),
) -> Cxl:
    expressions = list(expressions)
    read = {field for e in expressions for field in e.fields_read}
    variables = {
        ".".join([f"${part.namespace}", *part.path])
        for e in expressions
        for part in e.walk()
        if isinstance(part, typed.System)
    }
    failures = {kind for e in expressions for kind in e.fails}.union(fails)
    return Cxl(
        dict(_reads(read, inputs)),
        tuple(sorted(variables)),
        writes,
        tuple(kind.value for kind in FailureKind if kind in failures),
    )


def _reads(read: set[tuple[str | None, str]], inputs: Inputs) -> Iterator[tuple[str, Type]]:
    """The fields in the order of the columns; those a row does not name come last."""
    for qualifier, row in inputs.items():
        names = [name for other, name in read if other == qualifier]
        position = {name: index for index, name in enumerate(row.columns)}
        for name in sorted(names, key=lambda name: (position.get(name, len(position)), name)):
            type_ = row.get(name)
            if type_:
                yield f"{qualifier}.{name}" if qualifier else name, type_


def shown(written: EmbeddedSource, place: Location | None = None) -> str:
    """An expression, or the part of it at `place`, on one line."""
    text = written.text
    if place:
        start = bisect_left(written.offsets, place.span.start)
        text = text[start : bisect_left(written.offsets, place.span.end)]
    parsed = parse_expression(Source("", text))
    if parsed.expression and not parsed.diagnostics:
        return format_expression(parsed.expression)
    return " ".join(text.split())
