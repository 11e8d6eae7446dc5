"""Optional ports: what a composition does without when nothing is connected to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from clinker.diagnostics import Diagnostic
from clinker.plan.graph.graph import Edge, Unit
from clinker.plan.graph.places import UNCONNECTED, UNKNOWN


def leave_out_unconnected(units: list[Unit]) -> tuple[list[Unit], list[Diagnostic]]:
    """Without what an unconnected optional port would feed, inside its composition."""
    absent: dict[str, str] = {}
    size = -1
    while len(absent) > size:
        size = len(absent)
        for unit in units:
            calls = [call for edge in unit.inputs if (call := _absent_in(edge, absent))]
            inside = [call for call in calls if unit.scope.prefix.startswith(call)]
            if inside and _ends_without(unit, absent):
                absent.setdefault(unit.name, inside[0])
    problems: list[Diagnostic] = []
    kept: list[Unit] = []
    for unit in units:
        if unit.name in absent:
            continue
        edges: list[Edge] = []
        for edge in unit.inputs:
            call = _absent_in(edge, absent)
            if call is None:
                edges.append(edge)
            elif not unit.node.goes_on_without_inputs or not unit.scope.prefix.startswith(call):
                problems.append(_needs_port(unit, edge, call))
                edges.append(Edge(edge.label, UNKNOWN, None, edge.location))
        kept.append(replace(unit, inputs=tuple(edges)))
    return kept, problems


def _absent_in(edge: Edge, absent: Mapping[str, str]) -> str | None:
    """The call whose unconnected port leaves this input without records."""
    if edge.upstream == UNCONNECTED:
        return edge.through[-1].call
    return absent.get(edge.upstream)


def _ends_without(unit: Unit, absent: Mapping[str, str]) -> bool:
    """Whether a node has nothing to do now that some of its inputs are absent."""
    return all(_absent_in(edge, absent) for edge in unit.passed_on)


def _needs_port(unit: Unit, edge: Edge, call: str) -> Diagnostic:
    return unit.problem(
        "E104",
        f"'{unit.node.name}' reads what an unconnected port of '{call[:-1]}' would deliver",
        edge.location,
        help="connect the port under 'inputs' of the call",
    )
