"""Diagnostics as people and programs read them."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO
from unicodedata import combining, east_asian_width

from clinker.diagnostics.diagnostic import Diagnostic, Label, Severity

Fragment = tuple[str, str]
"""A piece of text and its style, in the style language of rich."""

_SEVERITY_STYLE = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow"}
_TAB = "    "
_MAX_LINE = 160
_ELLIPSIS = "…"


def render_text(diagnostics: Iterable[Diagnostic]) -> str:
    """Plain text, for pipes and files."""
    return "".join(text for d in diagnostics for text, _ in _fragments(d))


def render_json(diagnostics: Iterable[Diagnostic]) -> str:
    """One JSON array, for editors and scripts."""
    return json.dumps([as_object(d) for d in diagnostics], ensure_ascii=False, indent=2) + "\n"


def print_diagnostics(diagnostics: Iterable[Diagnostic], stream: TextIO | None = None) -> None:
    """Write to `stream` (standard error by default), in colour when it is a terminal."""
    stream = stream or sys.stderr
    if not takes_colour(stream):
        stream.write(render_text(diagnostics))
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(file=stream, soft_wrap=True, highlight=False)
    for diagnostic in diagnostics:
        console.print(Text.assemble(*_fragments(diagnostic)), end="")


def takes_colour(stream: TextIO) -> bool:
    """Whether whoever reads a stream wants more than plain text."""
    return stream.isatty() or bool(os.environ.get("FORCE_COLOR"))


def _fragments(diagnostic: Diagnostic) -> Iterator[Fragment]:
    style = _SEVERITY_STYLE[diagnostic.severity]
    yield f"{diagnostic.severity}[{diagnostic.code}]", style
    yield f": {diagnostic.message}", "bold"
    if diagnostic.primary:
        location = diagnostic.primary.location
        yield f" (at {location.source.name}:{location.start.line})", ""
    yield "\n", ""
    if diagnostic.primary:
        yield from _snippet(diagnostic.primary, "^", style)
    for label in diagnostic.secondary:
        yield from _snippet(label, "-", "blue", named=True)
    if diagnostic.help:
        yield "  help", "bold cyan"
        yield f": {diagnostic.help}\n", ""


def _snippet(label: Label, mark: str, style: str, named: bool = False) -> Iterator[Fragment]:
    location = label.location
    start, end = location.start, location.end
    line = location.source.line(start.line)
    stop = end.column if end.line == start.line else len(line) + 1
    before, marked, after = _window(line, start.column - 1, stop - 1)
    gutter = f"{start.line:>5}"
    if named:
        yield f"{'':5} :: {location.source.name}:{start.line}:{start.column}\n", "blue"
    yield f"{gutter} | ", "blue"
    yield f"{before}{marked}{after}\n", ""
    yield f"{'':5} | ", "blue"
    yield " " * _width(before) + mark * max(1, _width(marked)), style
    yield (f" {label.text}\n" if label.text else "\n"), style


def _window(line: str, start: int, stop: int) -> tuple[str, str, str]:
    """The line cut into before, marked and after, shortened when it is very long."""
    before, marked, after = line[:start], line[start:stop], line[stop:]
    if len(line) > _MAX_LINE:
        marked = marked if len(marked) <= 80 else marked[:79] + _ELLIPSIS
        before = before if len(before) <= 40 else _ELLIPSIS + before[-39:]
        after = after if len(after) <= 40 else after[:39] + _ELLIPSIS
    return _printable(before), _printable(marked), _printable(after)


def _printable(text: str) -> str:
    shown = (_TAB if c == "\t" else c if c.isprintable() else "\ufffd" for c in text)
    return "".join(shown)


def _width(text: str) -> int:
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def as_object(diagnostic: Diagnostic) -> dict[str, object]:
    """What `json.dumps` makes the object of."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "primary": _label_as_json(diagnostic.primary) if diagnostic.primary else None,
        "secondary": [_label_as_json(label) for label in diagnostic.secondary],
        "help": diagnostic.help,
    }


def _label_as_json(label: Label) -> dict[str, object]:
    location = label.location
    start, end = location.start, location.end
    return {
        "file": location.source.name,
        "start": {"line": start.line, "column": start.column, "offset": location.span.start},
        "end": {"line": end.line, "column": end.column, "offset": location.span.end},
        "text": label.text,
    }
