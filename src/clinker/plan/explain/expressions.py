"""CXL as it is shown in a plan: conditions on one line, and what programs read, write and risk."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clinker.cxl.check import typed
from clinker.cxl.check.resolve import Row
from clinker.cxl.failure import FailureKind
from clinker.cxl.syntax.format import format_expression
from clinker.cxl.syntax.parser import parse_expression
from clinker.cxl.types import Type
from clinker.diagnostics import EmbeddedSource, Location, Source
from clinker.plan.compile import Plan
from clinker.plan.graph.graph import Unit

Inputs = Mapping[str | None, Row]
"""The records a program reads, by qualifier; None where there is a single input."""


@dataclass(frozen=True)
class CxlFacts:
    """What the CXL of a node does."""

    reads: Mapping[str, Type]
    """Fields, by input where there are several."""
    variables: tuple[str, ...]
    writes: Mapping[str, Type]
    failures: tuple[str, ...]
    """How it can fail on a record."""


def describe_cxl(plan: Plan, unit: Unit) -> CxlFacts | None:
    """The CXL of a node; None if it has none."""
    cxl = plan.nodes[unit.name].cxl
    if cxl is None:
        return None
    single: Inputs = {None: plan.nodes[unit.inputs[0].upstream].row}
    inputs: Inputs = dict(cxl.inputs.items()) or single
    expressions = (*cxl.incoming, *cxl.outgoing)
    read = {field for expression in expressions for field in expression.fields_read}
    variables = {
        ".".join([f"${part.namespace}", *part.path])
        for expression in expressions
        for part in expression.walk()
        if isinstance(part, typed.System)
    }
    failures = {kind for expression in expressions for kind in expression.fails}
    if cxl.program:
        failures |= cxl.program.fails
    return CxlFacts(
        dict(_reads(read, inputs)),
        tuple(sorted(variables)),
        cxl.writes,
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
