"""YAML 1.2 text to a tree that knows where everything was written.

Scalars follow the core schema: `on`, `yes` and `2024-01-31` are strings. No input makes this
raise: what cannot be read becomes a diagnostic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
)
from ruamel.yaml.scanner import Scanner, ScannerError

from clinker.config.core_schema import resolve
from clinker.config.interpolate import Expanded
from clinker.config.scalar_offsets import Style
from clinker.config.syntax_errors import at_offset, diagnostic, syntax_error
from clinker.config.tree import Entry, MappingNode, Node, ScalarNode, SequenceNode
from clinker.diagnostics import Diagnostic, Label, Span

MAX_DEPTH = 256
MAX_NODES = 40_000
_MAX_TAG = 1000

_CORE = "tag:yaml.org,2002:"
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*\s+)+")


def parse_yaml(text: Expanded) -> tuple[Node | None, list[Diagnostic]]:
    """The tree of the only document in `text`, or None with the reasons."""
    builder = _Builder(text)
    try:
        for event in _events(text):
            builder.add(event)
    except _UnreadableError as unreadable:
        return None, [*builder.problems, unreadable.diagnostic]
    if builder.root is None:
        builder.problems.append(diagnostic(text, "E000", "the file is empty", Span(0, 0)))
    return builder.root, builder.problems


# What ruamel's scanner is known to raise on malformed input that it fails to report properly.
_PARSER_FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


class _Scanner(Scanner):
    """Refuses long tags, over which the parser takes a time that grows with their square."""

    def scan_tag_uri(self, name: Any, start_mark: Any) -> Any:
        found = super().scan_tag_uri(name, start_mark)
        if len(found) > _MAX_TAG:
            raise ScannerError("in a tag", start_mark, "the tag is too long", start_mark)
        return found


def _events(text: Expanded) -> Iterator[Any]:
    position = 0
    try:
        yaml = YAML(typ="safe", pure=True)
        yaml.Scanner = _Scanner
        for event in yaml.parse(text.text):
            position = event.end_mark.index
            yield event
    except YAMLError as error:
        raise _UnreadableError(syntax_error(text, error)) from None
    except _PARSER_FAULTS:
        reason = at_offset(text, position, "what follows is not YAML", None)
        raise _UnreadableError(reason) from None


class _UnreadableError(Exception):
    """Nothing more can be read."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@dataclass
class _Open:
    """A sequence or mapping whose end has not been read yet."""

    event: Any
    counted: int
    items: list[Node] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    key: Node | None = None


@dataclass
class _Builder:
    """Builds the tree from parser events, without recursion and within the limits."""

    origin: Expanded
    problems: list[Diagnostic] = field(default_factory=list)
    root: Node | None = None
    _documents: int = 0
    _count: int = 0
    _open: list[_Open] = field(default_factory=list)
    _anchors: dict[str, tuple[Node, int]] = field(default_factory=dict)

    def add(self, event: Any) -> None:
        if isinstance(event, ScalarEvent):
            self._counted(1, event)
            self._place(self._scalar(event), event, 1)
        elif isinstance(event, CollectionStartEvent):
            self._start(event)
        elif isinstance(event, CollectionEndEvent):
            self._end(event)
        elif isinstance(event, AliasEvent):
            self._alias(event)
        elif isinstance(event, DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._refuse(
                    event, "E000", "a file holds one document; '---' starts a second one here"
                )

    def _start(self, event: Any) -> None:
        if len(self._open) == MAX_DEPTH:
            self._refuse(event, "E009", f"nested more than {MAX_DEPTH} levels deep")
        expected = "map" if isinstance(event, MappingStartEvent) else "seq"
        if event.tag not in (None, "!", _CORE + expected):
            self._unknown_tag(event)
        self._counted(1, event)
        self._open.append(_Open(event, self._count))

    def _end(self, event: Any) -> None:
        opened = self._open.pop()
        place = self._collection_place(opened, event)
        node: Node
        if isinstance(opened.event, MappingStartEvent):
            node = MappingNode(self.origin, place, opened.entries)
        else:
            node = SequenceNode(self.origin, place, tuple(opened.items))
        self._place(node, opened.event, self._count - opened.counted + 1)

    def _collection_place(self, opened: _Open, event: Any) -> Span:
        start = self._content_start(opened.event)
        if opened.event.flow_style:
            return Span(start, event.end_mark.index)
        if opened.entries:
            last: Node = next(reversed(opened.entries.values())).value
        elif opened.items:
            last = opened.items[-1]
        else:
            return Span(start, start)
        # An alias stands where its anchor is, which may be earlier.
        return Span(start, max(start, last.place.end))

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            inside = any(opened.event.anchor == event.anchor for opened in self._open)
            what = "refers to the value it is part of" if inside else "refers to nothing above it"
            self._refuse(event, "E000", f"'*{event.anchor}' {what}")
        node, size = self._anchors[event.anchor]
        self._counted(size, event)
        self._place(node, None, size)

    def _place(self, node: Node, event: NodeEvent | None, size: int) -> None:
        if event is not None and event.anchor is not None:
            self._anchors[event.anchor] = (node, size)
        if not self._open:
            self.root = node
            return
        parent = self._open[-1]
        if not isinstance(parent.event, MappingStartEvent):
            parent.items.append(node)
        elif parent.key is None:
            parent.key = node
        else:
            self._enter(parent, parent.key, node)
            parent.key = None

    def _enter(self, parent: _Open, key: Node, value: Node) -> None:
        if not isinstance(key, ScalarNode) or not isinstance(key.value, str):
            self.problems.append(_not_a_key(key))
        elif key.value in parent.entries:
            first = parent.entries[key.value].key
            self.problems.append(
                Diagnostic(
                    "E012",
                    f"key '{key.value}' appears twice in the same mapping",
                    Label(key.location, "again here"),
                    (Label(first.location, "first written here"),),
                    help="keep one of them",
                )
            )
        else:
            parent.entries[key.value] = Entry(key, _beside_its_key(key, value))

    def _content_start(self, event: Any) -> int:
        """Where the value itself starts, after its anchor and tag."""
        start = _index(event)
        if event.anchor or event.tag:
            properties = _PROPERTIES.match(self.origin.text, start)
            return properties.end() if properties else start
        return start

    def _scalar(self, event: Any) -> ScalarNode:
        start, end = self._content_start(event), event.end_mark.index
        text = self.origin.text
        style: Style = event.style or "plain"
        if style in "|>":
            end = _last_text_line(text, start, end)
        place = Span(start, max(start, end))
        value = event.value if style != "plain" else resolve(event.value)
        if style == '"' and _SURROGATE.search(event.value):
            self._refuse(event, "E000", "this text escapes half a character")
        if event.tag is not None:
            value = self._tagged(event)
        return ScalarNode(self.origin, place, value, style)

    def _tagged(self, event: Any) -> Any:
        if event.tag in ("!", _CORE + "str"):
            return event.value
        value = resolve(event.value)
        kinds = {"null": type(None), "bool": bool, "int": int, "float": (int, float)}
        kind: Any = kinds.get(event.tag.removeprefix(_CORE))
        if kind is None:
            self._unknown_tag(event)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            self._refuse(event, "E000", f"this value does not fit its tag '{event.tag}'")
        return value

    def _unknown_tag(self, event: Any) -> NoReturn:
        self._refuse(
            event, "E000", f"unknown tag '{event.tag}'", "remove the tag or quote the value"
        )

    def _counted(self, nodes: int, event: Any) -> None:
        self._count += nodes
        if self._count > MAX_NODES:
            self._refuse(event, "E009", f"more than {MAX_NODES} values, aliases spelled out")

    def _refuse(self, event: Any, code: str, message: str, help: str | None = None) -> NoReturn:
        place = Span(_index(event), max(_index(event), event.end_mark.index))
        raise _UnreadableError(diagnostic(self.origin, code, message, place, help))


def _beside_its_key(key: ScalarNode, value: Node) -> Node:
    """A value that was left out stands where its key does."""
    if (
        isinstance(value, ScalarNode)
        and value.value is None
        and value.place.start == value.place.end
    ):
        return ScalarNode(key.origin, key.place, None)
    return value


def _last_text_line(text: str, start: int, end: int) -> int:
    """The end of a block scalar without the blank lines after it."""
    last = start + len(text[start:end].rstrip(" \r\n"))
    line_end = text.find("\n", last, end)
    if line_end < 0:
        return end
    return line_end - 1 if text[line_end - 1] == "\r" else line_end


def _index(event: Any) -> int:
    index: int = event.start_mark.index
    return index


def _not_a_key(key: Node) -> Diagnostic:
    if isinstance(key, ScalarNode):
        written = key.source.text[key.span.start : key.span.end]
        found = f"'{written}'" if written else "an empty key"
        return Diagnostic(
            "E013",
            f"a key must be a string, found {found}",
            Label(key.location),
            help=f'put it in quotes: "{written}"' if written else "name the key",
        )
    kind = "a list" if isinstance(key, SequenceNode) else "a mapping"
    return Diagnostic("E013", f"a key must be a string, found {kind}", Label(key.location))
