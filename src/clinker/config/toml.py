"""TOML text to the same kind of tree that YAML gives.

The standard parser tells no positions, so the keys are found again by their lines; a value is
located by the rest of its line.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from clinker.config.interpolate import Expanded
from clinker.config.tree import Entry, MappingNode, Node, ScalarNode, SequenceNode
from clinker.diagnostics import Diagnostic, Label, Span

_WORD = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_KEY = rf"{_WORD}(?:[ \t]*\.[ \t]*{_WORD})*"
_LINE = re.compile(
    rf"^[ \t]*(?:\[\[?[ \t]*(?P<table>{_KEY})[ \t]*\]\]?"
    rf"|(?P<key>{_KEY})[ \t]*=[ \t]*(?P<value>[^\n#]*))",
    re.M,
)
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)|\(at end of document\)")

_Places = dict[tuple[str, ...], tuple[Span, Span]]


def parse_toml(text: Expanded) -> tuple[Node | None, list[Diagnostic]]:
    try:
        data = tomllib.loads(text.text)
        return _node(data, (), _places(text.text), text, Span(0, 0)), []
    except tomllib.TOMLDecodeError as error:
        return None, [_syntax_error(text, str(error))]
    except RecursionError:
        label = Label(text.source.at(Span(0, 0)))
        return None, [Diagnostic("E009", "nested too deeply", label)]


def _places(text: str) -> _Places:
    """Where each key and its value are written."""
    places: _Places = {}
    table: tuple[str, ...] = ()
    for match in _LINE.finditer(text):
        if match["table"]:
            table = _words(match["table"])
            span = Span(*match.span("table"))
            for end in range(1, len(table) + 1):
                places.setdefault(table[:end], (span, span))
        else:
            start, end = match.span("value")
            value = Span(start, start + len(text[start:end].rstrip()))
            places.setdefault((*table, *_words(match["key"])), (Span(*match.span("key")), value))
    return places


def last_table(text: str) -> tuple[str, ...]:
    """The table that the end of a text is in."""
    headers = [match["table"] for match in _LINE.finditer(text) if match["table"]]
    return _words(headers[-1]) if headers else ()


def _words(dotted: str) -> tuple[str, ...]:
    return tuple(word.strip("\"'") for word in re.findall(_WORD, dotted))


def _node(
    data: Any, path: tuple[str, ...], places: _Places, origin: Expanded, around: Span
) -> Node:
    if isinstance(data, dict):
        entries = {}
        for key, value in data.items():
            inside = (*path, key)
            key_place, place = places.get(inside, (around, around))
            entries[key] = Entry(
                ScalarNode(origin, key_place, key), _node(value, inside, places, origin, place)
            )
        return MappingNode(origin, around, entries)
    if isinstance(data, list):
        items = tuple(_node(item, path, places, origin, around) for item in data)
        return SequenceNode(origin, around, items)
    return ScalarNode(origin, around, data)


def _syntax_error(text: Expanded, message: str) -> Diagnostic:
    place = _PLACE.search(message)
    offset = len(text.text)
    if place and place[1]:
        lines = text.text.split("\n")[: int(place[1]) - 1]
        offset = min(offset, sum(len(line) + 1 for line in lines) + int(place[2]) - 1)
    said = _PLACE.sub("", message).strip()
    said = said[:1].lower() + said[1:]
    label = Label(text.source.at(Span(offset, offset)))
    return Diagnostic("E000", f"this is not TOML: {said}", label)
