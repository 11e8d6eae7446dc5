"""Every place that names a node of a file."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.config.nodes import CombineNode, CompositionNode, MergeNode, TransformNode
from clinker.config.tree import MappingNode, Node, ScalarNode, find
from clinker.cxl.check import typed
from clinker.diagnostics import Location, Span
from clinker.editing.cxl_parts import expressions_of, walk
from clinker.editing.model import Model
from clinker.editing.yaml_places import ANY, inside, scalars_at
from clinker.frozen import frozen


@frozen
class NodeMention:
    """A place that names a node."""

    name: str
    location: Location
    defines: bool = False


def node_mentions(model: Model) -> Iterator[NodeMention]:
    """All of them in a file: names, references of other nodes, dead-letter queues of sources."""
    for node in model.nodes:
        yield from _name(node.node, node.name)
        for ref, path in node.references:
            scalar = find(node.node, *path)
            if isinstance(scalar, ScalarNode) and isinstance(scalar.value, str):
                yield NodeMention(ref.node, _start(inside(scalar), ref.node))
        match node:
            case TransformNode():
                window = node.config.analytic_window
                scalar = find(window.node, "source") if window and window.source else None
                if window and window.source and isinstance(scalar, ScalarNode):
                    yield NodeMention(window.source, inside(scalar))
            case CompositionNode():
                for scalar in scalars_at(node.node.get("outputs"), (ANY,)):
                    yield NodeMention(str(scalar.value), inside(scalar))
    yield from _elsewhere(model.tree)
    yield from _in_cxl(model)


def _name(tree: Node, name: str) -> Iterator[NodeMention]:
    scalar = find(tree, "name")
    if isinstance(scalar, ScalarNode):
        yield NodeMention(name, inside(scalar), defines=True)


def _elsewhere(tree: Node | None) -> Iterator[NodeMention]:
    if tree is None:
        return
    queues = find(tree, "error_handling", "dlq", "per_source")
    if isinstance(queues, MappingNode):
        for name, entry in queues.entries.items():
            yield NodeMention(name, inside(entry.key))
    for scalar in scalars_at(find(tree, "_compose", "outputs"), (ANY, "ref")):
        name = str(scalar.value).partition(".")[0]
        yield NodeMention(name, _start(inside(scalar), name))


def _in_cxl(model: Model) -> Iterator[NodeMention]:
    """`$source.<input>.<key>`, where the inputs of a merge go by the names of their nodes."""
    merged = {r.node for n in model.nodes if isinstance(n, MergeNode) for r, _ in n.references}
    merged -= {name for n in model.nodes if isinstance(n, CombineNode) for name in n.input}
    if not merged:
        return
    for _, reading in model.readings:
        for expression in expressions_of(reading.sketch):
            for part, _ in walk(expression):
                if isinstance(part, typed.System) and part.path[0] in merged:
                    name, span = part.path[0], part.location.span
                    start = span.start + len(f"${part.namespace}.")
                    place = Location(part.location.source, Span(start, start + len(name)))
                    if part.namespace == "source" and len(part.path) > 1:
                        yield NodeMention(name, place)


def _start(location: Location, name: str) -> Location:
    """The node of `node.port`."""
    start = location.span.start
    return Location(location.source, Span(start, min(start + len(name), location.span.end)))


def ports_of(model: Model) -> dict[str, tuple[str, ...]]:
    """By node, the ports by which records leave it, as far as they have names."""
    ports = {node.name: node.ports for node in model.nodes}
    for call in model.draft.graph.calls.values() if model.draft else ():
        if call.outer.prefix == model.prefix:
            ports[call.node.name] = tuple(call.outputs)
    return ports


def input_ports(model: Model) -> list[str]:
    """The input ports of a composition file, which its nodes name like nodes."""
    ports = find(model.tree, "_compose", "inputs") if model.tree else None
    return list(ports.entries) if isinstance(ports, MappingNode) else []
