"""Texts a user wrote, and places inside them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import NamedTuple

from clinker.frozen import frozen


class Span(NamedTuple):
    """A half-open range of character offsets in some source."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other`."""
        return Span(self.start, other.end)


class Position(NamedTuple):
    """A place as editors count it: line and column, both from 1."""

    line: int
    column: int


@frozen(eq=False)
class Source:
    """A named text: a file, or an expression given on the command line."""

    name: str
    text: str = field(repr=False)

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(i + 1 for i, char in enumerate(self.text) if char == "\n")]

    def position(self, offset: int) -> Position:
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """The text of one line, without its line end."""
        start = self._line_starts[number - 1]
        if number < len(self._line_starts):
            return self.text[start : self._line_starts[number] - 1].removesuffix("\r")
        return self.text[start:]

    def at(self, span: Span) -> Location:
        """The place of `span` in the file the user edits."""
        return Location(self, span)


@frozen(eq=False)
class EmbeddedSource(Source):
    """A text that stands inside another file, such as a CXL block in a YAML pipeline.

    `offsets[i]` is where character `i` of this text stands in `host`, so that every diagnostic
    about the block points into the file the user edits. One extra entry maps the end of the text.
    """

    host: Source = field(repr=False, kw_only=True)
    offsets: Sequence[int] = field(repr=False, kw_only=True)

    def at(self, span: Span) -> Location:
        start = self.offsets[min(span.start, len(self.offsets) - 1)]
        last = max(span.start, min(span.end, len(self.text)) - 1)
        end = self.offsets[min(last, len(self.offsets) - 1)] + (1 if span.end > span.start else 0)
        return self.host.at(Span(start, max(start, end)))


@frozen
class Location:
    """A span in a file, resolved to where the user sees it."""

    source: Source
    span: Span

    @property
    def start(self) -> Position:
        return self.source.position(self.span.start)

    @property
    def end(self) -> Position:
        return self.source.position(self.span.end)
