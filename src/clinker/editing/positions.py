"""Places in texts: as editors count them, and in a text that has changed since it was looked at."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property, lru_cache

from clinker.diagnostics import Span
from clinker.frozen import frozen

_LINE_END = re.compile(r"\r\n|\n|\r")

UTF_16 = "utf-16"
_WIDTHS = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
_CODECS = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


@lru_cache(maxsize=16)
def lines_of(text: str, encoding: str = UTF_16) -> Lines:
    """The lines of a text, which are looked for once."""
    return Lines(text, encoding)


@frozen(eq=False)
class Lines:
    """The lines of a text, in which editors count units of an encoding, both from 0."""

    text: str
    encoding: str = UTF_16

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    def offset(self, line: int, unit: int) -> int:
        """The character at a place; beyond a line its end, beyond the text the end of it."""
        if line >= len(self._starts):
            return len(self.text)
        start = self._starts[line]
        end = self._starts[line + 1] if line + 1 < len(self._starts) else len(self.text)
        content = self.text[start:end].rstrip("\r\n")
        encoded = content.encode(_CODECS[self.encoding], "surrogatepass")
        width = _WIDTHS[self.encoding]
        before = encoded[: unit * width].decode(_CODECS[self.encoding], "ignore")
        return start + len(before)

    def place(self, offset: int) -> tuple[int, int]:
        """The line of a character and its unit in it."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset) - 1
        before = self.text[self._starts[line] : offset]
        encoded = before.encode(_CODECS[self.encoding], "surrogatepass")
        return line, len(encoded) // _WIDTHS[self.encoding]


def _common_start(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@frozen(eq=False)
class Shift:
    """The way between a text and an earlier one, of which one stretch was replaced since."""

    old: str
    new: str

    @cached_property
    def _same(self) -> tuple[int, int]:
        """How many characters at the start and at the end are the same."""
        if self.old == self.new:
            return len(self.old), 0
        start = _common_start(self.old, self.new)
        most = min(len(self.old), len(self.new)) - start
        old, new = self.old[::-1][:most], self.new[::-1][:most]
        return start, _common_start(old, new)

    def to_old(self, offset: int) -> int | None:
        """Where a character of the new text stands in the old one, if it was there."""
        return self._moved(offset, len(self.new), len(self.old))

    def to_new(self, span: Span) -> Span | None:
        """Where a stretch of the old text stands in the new one, if it is unchanged."""
        start = self._moved(span.start, len(self.old), len(self.new))
        end = self._moved(span.end, len(self.old), len(self.new))
        if start is None or end is None or end - start != span.end - span.start:
            return None
        return Span(start, end)

    def _moved(self, offset: int, here: int, there: int) -> int | None:
        start, end = self._same
        if offset <= start:
            return offset
        return offset - here + there if offset >= here - end else None
