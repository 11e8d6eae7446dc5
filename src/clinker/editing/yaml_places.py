"""Scalars of a parsed file: where in the file their text stands, without quotes."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.config.tree import MappingNode, Node, ScalarNode, SequenceNode
from clinker.diagnostics import Location, Span

ANY = "*"


def inside(scalar: ScalarNode) -> Location:
    """The place of the text itself."""
    embedded = scalar.embedded()
    return embedded.at(Span(0, len(embedded.text)))


def scalars_at(node: Node | None, place: tuple[str, ...]) -> Iterator[ScalarNode]:
    """The scalars below a node at a path in which `*` stands for every key or position."""
    if not place:
        if isinstance(node, ScalarNode):
            yield node
    elif place[0] != ANY:
        if isinstance(node, MappingNode):
            yield from scalars_at(node.get(place[0]), place[1:])
    elif isinstance(node, MappingNode):
        for entry in node.entries.values():
            yield from scalars_at(entry.value, place[1:])
    elif isinstance(node, SequenceNode):
        for item in node.items:
            yield from scalars_at(item, place[1:])
