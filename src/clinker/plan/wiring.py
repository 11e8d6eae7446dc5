"""From the nodes of a pipeline to a graph: names, references and cycles checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clinker.config.nodes import CombineNode, CompositionNode, NodeBase, RouteNode
from clinker.config.reference import Ref
from clinker.diagnostics import Diagnostic, Label, Location, Severity
from clinker.diagnostics.suggest import did_you_mean
from clinker.plan.graph import CallScope, Edge, Graph, Unit, in_planning_order


def wire(nodes: Sequence[NodeBase]) -> tuple[Graph, list[Diagnostic]]:
    """The graph of all nodes that can be placed, and everything wrong with the wiring."""
    problems = [*_name_problems(nodes)]
    by_name = {node.name: node for node in reversed(nodes)}
    units: list[Unit] = []
    scope = CallScope()
    for node in by_name.values():
        edges = tuple(_edges(node, by_name, problems))
        units.append(Unit(node.name, node, edges, scope))
    units.sort(key=lambda unit: unit.node.location.span.start)
    ordered, cycles = in_planning_order(units)
    problems += (_cycle_problem(cycle) for cycle in cycles)
    return Graph({unit.name: unit for unit in ordered}), problems


def _name_problems(nodes: Sequence[NodeBase]) -> Iterator[Diagnostic]:
    first: dict[str, NodeBase] = {}
    for node in nodes:
        same = first.get(node.name)
        if same:
            yield node.problem(
                "E001",
                f"two nodes are named '{node.name}'",
                "name",
                also=(Label(same.at("name"), "first used here"),),
                help="rename one of them",
            )
            continue
        alike = next((n for n in first if n.lower() == node.name.lower()), None)
        if alike:
            yield node.problem(
                "W002",
                f"'{node.name}' and '{alike}' differ only in upper and lower case",
                "name",
                also=(Label(first[alike].at("name"), "the other one"),),
                help="rename one of them",
                warning=True,
            )
        first[node.name] = node


def _edges(
    node: NodeBase, by_name: Mapping[str, NodeBase], problems: list[Diagnostic]
) -> Iterator[Edge]:
    for ref, path in node.references:
        location = node.at(str(path[0]), *path[1:])
        problem = _reference_problem(node, ref, location, by_name)
        if problem:
            problems.append(problem)
        if problem is None or problem.code == "E002":
            label = str(path[-1]) if isinstance(node, CombineNode) else ""
            yield Edge(label, ref.node, ref.port, location)
        else:
            yield Edge("", UNKNOWN, None, location)


UNKNOWN = "?"
"""Upstream of an input that names no node: nothing is ever bound under it."""


def _reference_problem(
    node: NodeBase, ref: Ref, location: Location, by_name: Mapping[str, NodeBase]
) -> Diagnostic | None:
    if ref.node == node.name:
        message = f"'{node.name}' reads from itself"
        return Diagnostic("E002", message, Label(location), help="name the node before it")
    upstream = by_name.get(ref.node)
    if upstream is None:
        return Diagnostic(
            "E004",
            f"'{node.name}' reads from unknown node '{ref.node}'",
            Label(location),
            help=did_you_mean(ref.node, by_name) or f"known nodes: {', '.join(by_name)}",
        )
    return _port_problem(node, ref, location, upstream)


def _port_problem(
    node: NodeBase, ref: Ref, location: Location, upstream: NodeBase
) -> Diagnostic | None:
    ports = upstream.config.branches if isinstance(upstream, RouteNode) else ()
    if isinstance(upstream, CompositionNode) or ref.port in ports:
        return None
    if ref.port is not None:
        known = f"its branches are: {', '.join(ports)}" if ports else "remove the port"
        return Diagnostic(
            "E036",
            f"'{ref.node}' has no port '{ref.port}'",
            Label(location),
            (Label(upstream.at("name"), f"a {getattr(upstream, 'type', 'node')}"),),
            help=did_you_mean(ref.port, ports) or known,
        )
    if ports and node.name not in ports:
        return Diagnostic(
            "E036",
            f"'{node.name}' does not say which branch of '{ref.node}' it reads",
            Label(location),
            help=f"write one of: {', '.join(f'{ref.node}.{port}' for port in ports)}",
        )
    return None


def _cycle_problem(cycle: list[Unit]) -> Diagnostic:
    names = [unit.name for unit in cycle]
    path = " → ".join([*reversed(names), names[-1]])
    first, *others = cycle
    return Diagnostic(
        "E003",
        f"these nodes read from each other in a circle: {path}",
        Label(first.inputs[0].location),
        tuple(Label(unit.inputs[0].location, "and here") for unit in others),
        help="remove one of these inputs",
        severity=Severity.ERROR,
    )
