"""Names and references: what is wrong with them where they stand."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.config.nodes import CompositionNode, PipelineNode
from clinker.config.reference import Ref
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.diagnostics.suggest import did_you_mean
from clinker.plan.graph.places import Place


def check_names(place: Place) -> Iterator[Diagnostic]:
    first: dict[str, PipelineNode] = {}
    trail = place.scope.trail
    for node in place.body.nodes:
        same = first.get(node.name)
        if same:
            yield node.problem(
                "E001",
                f"two nodes are named '{node.name}'",
                "name",
                also=(Label(same.at("name"), "first used here"), *trail),
                help="rename one of them",
            )
            continue
        if place.call and node.name in place.ports:
            port = Label(place.call.signature.key_at("inputs", node.name), "the port")
            yield node.problem(
                "E053",
                f"an input port is named '{node.name}' as well",
                "name",
                also=(port, *trail),
                help="rename the node",
            )
        alike = next((n for n in first if n.lower() == node.name.lower()), None)
        if alike:
            yield node.problem(
                "W002",
                f"'{node.name}' and '{alike}' differ only in upper and lower case",
                "name",
                also=(Label(first[alike].at("name"), "the other one"), *trail),
                help="rename one of them",
                warning=True,
            )
        first[node.name] = node


def check_reference(
    place: Place, ref: Ref, location: Location, shown: str, reader: str
) -> Diagnostic | None:
    """What is wrong with a reference where it stands, whatever lies behind a port."""
    if ref.node == reader and reader not in place.ports:
        message = f"{shown} reads from itself"
        return place.scope.problem("E002", message, location, help="name the node before it")
    if ref.node in place.ports:
        return _port_of_port(place, ref, location)
    upstream = place.nodes.get(ref.node)
    if upstream is None:
        return _unknown_node(place, ref, location, shown)
    return _port_problem(place, ref, location, shown, reader, upstream)


def _port_of_port(place: Place, ref: Ref, location: Location) -> Diagnostic | None:
    if ref.port is None:
        return None
    message = f"input port '{ref.node}' has no port '{ref.port}'"
    return place.scope.problem("E036", message, location, help=f"write '{ref.node}'")


def _unknown_node(place: Place, ref: Ref, location: Location, shown: str) -> Diagnostic:
    known = [*place.ports, *place.nodes]
    outer = place.outer
    while outer:
        if ref.node in outer.nodes:
            return place.scope.problem(
                "E108",
                f"{shown} reads '{ref.node}', which is outside the composition",
                location,
                help="declare an input port and connect it in the call",
                also=(Label(outer.nodes[ref.node].at("name"), "the node"),),
            )
        outer = outer.outer
    return place.scope.problem(
        "E004",
        f"{shown} reads from unknown node '{ref.node}'",
        location,
        help=did_you_mean(ref.node, known) or f"known nodes: {', '.join(known)}",
    )


def _port_problem(
    place: Place, ref: Ref, location: Location, shown: str, reader: str, upstream: PipelineNode
) -> Diagnostic | None:
    if isinstance(upstream, CompositionNode):
        return _exit_problem(place, ref, location, shown)
    ports = upstream.ports
    if ref.port in ports:
        return None
    if ref.port is not None:
        known = f"its branches are: {', '.join(ports)}" if ports else "remove the port"
        return place.scope.problem(
            "E036",
            f"'{ref.node}' has no port '{ref.port}'",
            location,
            also=(Label(upstream.at("name"), f"a {upstream.type}"),),
            help=did_you_mean(ref.port, ports) or known,
        )
    if ports and reader not in ports:
        return place.scope.problem(
            "E036",
            f"{shown} does not say which branch of '{ref.node}' it reads",
            location,
            help=f"write one of: {', '.join(f'{ref.node}.{port}' for port in ports)}",
        )
    return None


def _exit_problem(place: Place, ref: Ref, location: Location, shown: str) -> Diagnostic | None:
    inner = place.inner.get(ref.node)
    if inner is None or ref.port in inner.exits or (ref.port is None and inner.exits):
        return None
    assert inner.call is not None
    called = Label(inner.call.signature.at("name"), "the composition")
    if ref.port is None or not inner.exits:
        return place.scope.problem(
            "E036",
            f"{shown} reads from '{ref.node}', which has no output port",
            location,
            also=(called,),
            help="declare what it delivers under 'outputs' of the composition",
        )
    return place.scope.problem(
        "E036",
        f"'{ref.node}' has no port '{ref.port}'",
        location,
        also=(called,),
        help=did_you_mean(ref.port, inner.exits) or f"its ports are: {', '.join(inner.exits)}",
    )


def check_handed_on(place: Place, node: CompositionNode) -> Iterator[Diagnostic]:
    """`outputs` of a call names the nodes that read its ports: they must do so."""
    for port, name in node.outputs.items():
        reader = place.nodes.get(name)
        if reader is None:
            message = f"port '{port}' is handed to unknown node '{name}'"
            help = did_you_mean(name, place.nodes) or f"known nodes: {', '.join(place.nodes)}"
            yield place.scope.problem("E004", message, node.at("outputs", port), help=help)
        elif not any(ref.node == node.name for ref, _ in reader.references):
            yield place.scope.problem(
                "E054",
                f"'{name}' does not read from '{node.name}'",
                node.at("outputs", port),
                help=f"write 'input: {node.name}.{port}' in '{name}'",
                also=(Label(reader.at("name"), "the node"),),
            )
