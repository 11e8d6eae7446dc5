"""What the ports of compositions let through: the columns that bodies may name and promise.

Columns that a port does not declare pass through a body unnamed, so what it may name is checked
once all columns are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

from clinker.config.columns import Column
from clinker.cxl.check import typed
from clinker.cxl.check.resolve import Row
from clinker.cxl.types import Type
from clinker.diagnostics import Diagnostic, Label, Location, Severity
from clinker.diagnostics.suggest import did_you_mean
from clinker.plan.graph.graph import Call, Edge, Graph, Unit
from clinker.plan.nodes import Planned, PlannedCombine, Shape

Names = frozenset[str] | None
"""Columns that may be named; None for all."""


def check_ports(graph: Graph, nodes: Mapping[str, Planned]) -> list[Diagnostic]:
    """Whether ports get and give the columns they declare, and bodies name only those."""
    sights = {"": _Sight(graph, nodes, "", [])}
    sights |= {p: _Sight(graph, nodes, p, within) for p, within in _by_call(graph).items()}
    problems: list[Diagnostic] = []
    for prefix, call in graph.calls.items():
        problems += _input_problems(call, sights[call.outer.prefix])
        problems += _output_problems(call, nodes)
        for unit in sights[prefix].units:
            if unit.scope.prefix == prefix:
                problems += _hidden_reads(call, unit, sights[prefix])
                problems += _replaced_columns(unit, sights[prefix])
    return problems


def _by_call(graph: Graph) -> dict[str, list[Unit]]:
    """The units in the body of each call, those of calls inside it included."""
    within: dict[str, list[Unit]] = {prefix: [] for prefix in graph.calls}
    for unit in graph:
        call = graph.calls.get(unit.scope.prefix)
        while call:
            within[call.scope.prefix].append(unit)
            call = graph.calls.get(call.outer.prefix)
    return within


def _input_problems(call: Call, sight: _Sight) -> Iterator[Diagnostic]:
    for port, edge in call.inputs.items():
        upstream = sight.nodes.get(edge.upstream)
        if upstream is None:
            continue
        row, names = upstream.row, sight.arriving(edge)
        known = Row({n: t for n, t in row.columns.items() if _sees(names, n)}, row.is_open)
        for column in call.signature.inputs[port].columns or ():
            misfit = _misfit(column, known.get(column.name))
            if misfit:
                yield call.outer.problem(
                    "E102",
                    f"port '{port}' of '{call.name}' needs column '{column.name}': "
                    f"'{edge.upstream}' {misfit}",
                    edge.location,
                    help=_way_out(column, known),
                    also=(Label(column.at("name"), "declared here"),),
                )


def _output_problems(call: Call, nodes: Mapping[str, Planned]) -> Iterator[Diagnostic]:
    for port, edge in call.outputs.items():
        behind = nodes.get(edge.upstream)
        for column in call.signature.outputs[port].columns or ():
            misfit = behind and _misfit(column, behind.row.get(column.name))
            if misfit:
                yield call.scope.problem(
                    "E056",
                    f"port '{port}' promises column '{column.name}', but '{edge.upstream}' "
                    f"{misfit}",
                    column.at("name"),
                    help="emit it in the body, or correct what the port declares",
                    also=(Label(edge.location, "the node behind the port"),),
                )


def _misfit(column: Column, actual: Type | None) -> str | None:
    """What keeps a column from being the declared one."""
    if actual is None:
        return "has none of that name"
    if actual.is_any or not actual.kinds & ~column.type.nullable().kinds:
        return None
    return f"has it as {actual.noun}, not as {column.type.noun}"


def _way_out(column: Column, known: Row) -> str:
    if column.name in known.columns:
        return "convert it in a transform before the call"
    close = did_you_mean(column.name, known.columns)
    return close or f"emit it before the call; known here: {', '.join(known.columns)}"


@dataclass
class _Sight:
    """Which columns the nodes in a scope, and in the calls inside it, may name."""

    graph: Graph
    nodes: Mapping[str, Planned]
    prefix: str
    units: list[Unit]
    """Those whose view is limited: none in the pipeline itself."""
    leaving: dict[str, Names] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for unit in self.units:
            self.leaving[unit.name] = self._leaving(unit)

    def arriving(self, edge: Edge) -> Names:
        """What is visible of the records on an edge."""
        for crossing in edge.through:
            if crossing.call == self.prefix:
                port = self.graph.calls[self.prefix].signature.inputs[crossing.port]
                declared = port.columns
                return None if declared is None else frozenset(c.name for c in declared)
        return self.leaving.get(edge.upstream)

    def hides(self, name: str, edge: Edge) -> bool:
        """Whether the records on an edge have a column that must not be named."""
        upstream = self.nodes.get(edge.upstream)
        has = upstream is not None and name in upstream.row.columns
        return has and not _sees(self.arriving(edge), name)

    def _leaving(self, unit: Unit) -> Names:
        planned = self.nodes[unit.name]
        match planned.shape:
            case Shape.READS | Shape.GROUPS:
                return None
            case Shape.JOINS:
                return self._joined(planned)
            case Shape.PASSES | Shape.MERGES | Shape.WRITES:
                seen = _union([self.arriving(edge) for edge in unit.inputs])
                written = planned.body.fields_written if planned.body else ()
                return None if seen is None else seen | frozenset(written)
            case other:
                assert_never(other)

    def _joined(self, planned: PlannedCombine) -> Names:
        """A join shows what it emits; one that collects, the driver's record and the others."""
        if planned.program is not None:
            return None
        (driver,) = (self.arriving(edge) for edge in planned.passed_on)
        return None if driver is None else driver | frozenset(planned.inputs)


def _sees(names: Names, name: str) -> bool:
    return names is None or name in names


def _union(several: list[Names]) -> Names:
    union: frozenset[str] = frozenset()
    for names in several:
        if names is None:
            return None
        union |= names
    return union


def _hidden_reads(call: Call, unit: Unit, sight: _Sight) -> Iterator[Diagnostic]:
    """E058: columns that reach the body although no port declares them."""
    reported: set[tuple[str, int]] = set()
    for name, location in _hidden_names(unit, sight):
        key = (name, location.span.start)
        if key in reported:
            continue
        reported.add(key)
        ports = [port for port, declared in call.signature.inputs.items() if declared.columns]
        listed = " or ".join(f"'{port}'" for port in ports)
        yield unit.problem(
            "E058",
            f"'{name}' is a column of the caller that no input port declares",
            location,
            help=f"add it to the schema of port {listed}",
            also=tuple(Label(call.signature.key_at("inputs", port), "the port") for port in ports),
        )


def _hidden_names(unit: Unit, sight: _Sight) -> Iterator[tuple[str, Location]]:
    planned = sight.nodes[unit.name]
    leaving = sight.leaving[unit.name]
    if planned.cxl:
        for part in _fields(planned.cxl.incoming, planned.cxl.looks_elsewhere):
            edge = _edge_of(unit, part.qualifier)
            if edge and sight.hides(part.name, edge):
                yield part.name, part.location
        for part in _fields(planned.cxl.outgoing):
            if not _sees(leaving, part.name) and part.name in planned.row.columns:
                yield part.name, part.location
    for name, location in planned.named_fields.incoming:
        if sight.hides(name, unit.inputs[0]):
            yield name, location
    for name, location in planned.named_fields.outgoing:
        if sight.hides(name, unit.inputs[0]) and not _sees(leaving, name):
            yield name, location


def _fields(expressions: Iterable[typed.Expr], skip_windows: bool = False) -> Iterator[typed.Field]:
    todo = list(expressions)
    while todo:
        expr = todo.pop()
        if isinstance(expr, typed.Field):
            yield expr
        if not (skip_windows and isinstance(expr, typed.Window)):
            todo.extend(expr.children())


def _edge_of(unit: Unit, qualifier: str | None) -> Edge | None:
    edges = (edge for edge in unit.inputs if qualifier is None or edge.label == qualifier)
    return next(edges, None)


def _replaced_columns(unit: Unit, sight: _Sight) -> Iterator[Diagnostic]:
    """W101: what a body emits over a column of the caller that it does not know of."""
    planned = sight.nodes[unit.name]
    if planned.shape is not Shape.PASSES or planned.body is None:
        return
    for statement in planned.body.every_statement():
        if isinstance(statement, typed.Emit) and sight.hides(statement.name, unit.inputs[0]):
            yield unit.scope.problem(
                "W101",
                f"this replaces column '{statement.name}' of the caller, "
                "which no input port declares",
                statement.location,
                help="emit another name, or declare the column in the schema of the port",
                severity=Severity.WARNING,
            )
