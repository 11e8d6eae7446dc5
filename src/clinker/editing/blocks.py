"""The CXL inside YAML: which texts of a pipeline or composition are programs or conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clinker.config.nodes.transform import CHECKS
from clinker.config.tree import MappingNode, Node, ScalarNode, SequenceNode, find
from clinker.frozen import frozen

_PROGRAMS = ("cxl",)
_ANY = "*"

_PLACES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "transform": (
        ("cxl",),
        ("validations", _ANY, "check"),
        ("log", _ANY, "condition"),
    ),
    "aggregate": (("cxl",),),
    "combine": (("where",), ("cxl",)),
    "route": (("conditions", _ANY), ("routes", _ANY)),
    "state": (("set", _ANY, "cxl"),),
}
"""By kind of node, where CXL stands in its settings."""


@frozen(eq=False)
class Block:
    """A text in CXL."""

    node: str
    """The name of the node it belongs to."""
    kind: str
    """The kind of the node."""
    path: tuple[str | int, ...]
    """Where in the node's settings it stands."""
    is_program: bool
    """Whether it holds statements; otherwise it is one expression."""
    scalar: ScalarNode


def find_blocks(tree: Node) -> Iterator[Block]:
    """All CXL of a file, in its order as far as a node goes."""
    nodes = tree.get("nodes") if isinstance(tree, MappingNode) else None
    for node in nodes.items if isinstance(nodes, SequenceNode) else ():
        kind, name = _text(node, "type"), _text(node, "name")
        settings = find(node, "config") or node
        for place in _PLACES.get(kind, ()):
            for path, scalar in _scalars(settings, place, ()):
                is_named_check = path[-1] == "check" and scalar.value in CHECKS
                if isinstance(scalar.value, str) and not is_named_check:
                    is_program = kind != "state" and path[-1] in _PROGRAMS
                    yield Block(name, kind, path, is_program, scalar)


def _text(node: Node, key: str) -> str:
    found = find(node, key)
    return found.value if isinstance(found, ScalarNode) and isinstance(found.value, str) else ""


def _scalars(
    node: Node | None, place: tuple[str, ...], path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], ScalarNode]]:
    if not place:
        if isinstance(node, ScalarNode):
            yield path, node
    elif place[0] != _ANY:
        if isinstance(node, MappingNode):
            yield from _scalars(node.get(place[0]), place[1:], (*path, place[0]))
    elif isinstance(node, MappingNode):
        for key, entry in node.entries.items():
            yield from _scalars(entry.value, place[1:], (*path, key))
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            yield from _scalars(item, place[1:], (*path, index))
