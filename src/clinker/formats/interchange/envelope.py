"""Envelopes checked: levels inside levels, and what their closing segments declare."""

from __future__ import annotations

from clinker.cxl.failure import shown
from clinker.formats.common.read_spec import FormatError
from clinker.formats.interchange.grammar import Elements, Grammar, Level, element_at
from clinker.formats.interchange.header import Delimiters
from clinker.formats.interchange.segments import BLANKS, Segments
from clinker.frozen import frozen

_COUNT, _REFERENCE = 1, 2
"""The elements of closing segments."""
_HELP = "the file is damaged or incomplete; ask whoever made it for a sound one"


@frozen
class Context:
    """Where in an interchange a segment stands."""

    delimiters: Delimiters | None = None
    """None before the first interchange."""
    opened: tuple[Elements, ...] = ()
    """The elements of the segments that opened the levels around it, the outermost first."""


class _Opened:
    """A level that has been opened and not been closed yet."""

    def __init__(self, level: Level, elements: Elements, number: int) -> None:
        self.level = level
        self.elements = elements
        self.number = number
        """The number of the segment that opened it."""
        self.parts = 0
        """How many levels stood in it so far."""


class Envelope:
    """Follows the levels of a file; FormatError if they are not as they should be."""

    def __init__(self, grammar: Grammar, path: str) -> None:
        self._path = path
        self._levels = grammar.levels
        self._refused = grammar.refused
        self._depths = {level.opening: depth for depth, level in enumerate(grammar.levels)}
        self._closing = {level.closing: depth for depth, level in enumerate(grammar.levels)}
        self._stack: list[_Opened] = []
        self._number = 0
        """How many segments stand before those that are looked at."""

    def context(self, delimiters: Delimiters) -> Context:
        """Where the next segment stands."""
        return Context(delimiters, tuple(opened.elements for opened in self._stack))

    def pass_segments(self, segments: Segments, begin: int, end: int) -> None:
        """Segments that are only records."""
        if begin < end and len(self._stack) < len(self._levels):
            innermost = self._levels[-1]
            tag = shown(segments.tag(begin))
            raise self._error(
                begin,
                f"{tag} stands outside of a {innermost.name}, between no {innermost.opening} and "
                f"{innermost.closing}",
            )

    def pass_tag(self, segments: Segments, at: int, tag: str) -> None:
        """A segment that opens or closes a level, or may not be there."""
        if tag in self._refused:
            raise self._error(at, f"{tag}: {self._refused[tag]}")
        depth = self._depths.get(tag)
        if depth is not None:
            self._open(segments, at, depth)
        else:
            self._close(segments, at, self._closing[tag])

    def pass_run(self, segments: Segments) -> None:
        """A run has been looked at to its end."""
        self._number += len(segments)

    def finish(self) -> None:
        """The file ends here."""
        if self._stack:
            opened = self._stack[-1]
            raise FormatError(
                f"the file ends without {opened.level.closing}: the {opened.level.name} that "
                f"segment {opened.number} opened is not closed",
                self._path,
                _HELP,
            )

    def _open(self, segments: Segments, at: int, depth: int) -> None:
        level = self._levels[depth]
        if depth < len(self._stack):
            opened = self._stack[-1]
            raise self._error(
                at,
                f"{level.opening} stands where {opened.level.closing} is expected: the "
                f"{opened.level.name} that segment {opened.number} opened is not closed",
            )
        if depth > len(self._stack):
            outer = self._levels[depth - 1]
            raise self._error(
                at, f"{level.opening} stands outside of a {outer.name}: no {outer.opening} opens it"
            )
        elements = segments.elements(at)
        if level.elements not in (None, len(elements)):
            raise self._error(
                at,
                f"the {level.opening} header has {len(elements)} elements, not {level.elements}",
            )
        if self._stack:
            self._stack[-1].parts += 1
        self._stack.append(_Opened(level, elements, self._number + at + 1))

    def _close(self, segments: Segments, at: int, depth: int) -> None:
        level = self._levels[depth]
        if depth >= len(self._stack):
            raise self._error(
                at, f"{level.closing} closes a {level.name}, but no {level.opening} opened one"
            )
        opened = self._stack[-1]
        if opened.level is not level:
            raise self._error(
                at,
                f"{level.closing} stands where {opened.level.closing} is expected: the "
                f"{opened.level.name} that segment {opened.number} opened is not closed",
            )
        elements = segments.elements(at)
        is_innermost = level is self._levels[-1]
        count = self._number + at + 2 - opened.number if is_innermost else opened.parts
        self._check_count(at, level, element_at(elements, _COUNT), count)
        expected = level.find_reference(opened.elements)
        self._check_reference(at, level, element_at(elements, _REFERENCE), expected)
        self._stack.pop()

    def _check_count(self, at: int, level: Level, declared: str, count: int) -> None:
        digits = declared.strip(BLANKS.decode())
        # Digits of any number are compared as text: there may be too many for an int.
        is_number = digits.isascii() and digits.isdigit()
        if not is_number or (digits.lstrip("0") or "0") != str(count):
            raise self._error(
                at,
                f"{level.closing}{_COUNT:02} declares '{shown(declared)}' {level.counted}, "
                f"the {level.name} has {count}",
            )

    def _check_reference(self, at: int, level: Level, declared: str, expected: str) -> None:
        blanks = BLANKS.decode()
        if declared.strip(blanks) != expected.strip(blanks):
            raise self._error(
                at,
                f"{level.closing}{_REFERENCE:02} is '{shown(declared)}', but the {level.name} "
                f"was opened as '{shown(expected)}'",
            )

    def _error(self, at: int, message: str) -> FormatError:
        return FormatError(f"segment {self._number + at + 1}: {message}", self._path, _HELP)
