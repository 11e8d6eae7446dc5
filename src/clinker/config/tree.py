"""A parsed file as a tree whose every part knows where it was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from clinker.config.interpolate import Expanded
from clinker.config.scalar_offsets import Style, character_offsets
from clinker.diagnostics import EmbeddedSource, Location, Source, Span
from clinker.frozen import frozen


@frozen(eq=False)
class _Written:
    """Something in a file; `place` is a span of the text that was parsed."""

    origin: Expanded
    place: Span

    @property
    def source(self) -> Source:
        return self.origin.source

    @property
    def span(self) -> Span:
        """Where this stands in the file."""
        return self.origin.written(self.place)

    @property
    def location(self) -> Location:
        return self.source.at(self.span)


@frozen(eq=False)
class ScalarNode(_Written):
    value: Any
    """str, int, float, bool or None; in a TOML file also a date or a time."""
    style: Style = "plain"

    def embedded(self) -> EmbeddedSource:
        """The text as a source of its own, each character of which points into the file."""
        text = str(self.value)
        start, end = self.place
        offsets = character_offsets(self.origin.text[start:end], self.style, text)
        places = [self._written_offset(start + offset) for offset in offsets]
        return EmbeddedSource(self.source.name, text, host=self.source, offsets=places)

    def _written_offset(self, offset: int) -> int:
        return self.origin.written(Span(offset, offset)).start


@frozen(eq=False)
class SequenceNode(_Written):
    items: tuple[Node, ...]


@frozen(eq=False)
class Entry:
    key: ScalarNode
    value: Node


@frozen(eq=False)
class MappingNode(_Written):
    entries: Mapping[str, Entry]

    def get(self, key: str) -> Node | None:
        entry = self.entries.get(key)
        return entry.value if entry else None

    @property
    def head(self) -> Location:
        """Its first key, to point at the whole."""
        for entry in self.entries.values():
            return entry.key.location
        return self.location


Node: TypeAlias = ScalarNode | SequenceNode | MappingNode


class Located(dict[str, Any]):
    """The plain data of a mapping, with the mapping it was made from."""

    __slots__ = ("node",)

    node: MappingNode


def plain(node: Node) -> Any:
    """The data of a tree as dictionaries, tuples and scalars."""
    if isinstance(node, ScalarNode):
        return node.value
    if isinstance(node, SequenceNode):
        return tuple(plain(item) for item in node.items)
    data = Located((key, plain(entry.value)) for key, entry in node.entries.items())
    data.node = node
    return data


def find(node: Node, *path: str | int) -> Node | None:
    """The node at the end of `path`, if there is one."""
    found: Node | None = node
    for part in path:
        if isinstance(found, MappingNode) and isinstance(part, str):
            found = found.get(part)
        elif isinstance(found, SequenceNode) and isinstance(part, int):
            found = found.items[part] if 0 <= part < len(found.items) else None
        else:
            return None
    return found
