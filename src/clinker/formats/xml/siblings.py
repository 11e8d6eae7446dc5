"""Elements of one name that follow each other with the same blanks between, counted unseen.

If every tag that begins such an element, but the first, stands right behind one that ends such an
element, and the document is well-formed, then all of them are siblings, and none is inside of
another. That takes counting two strings; what is inside of the elements is not looked at.
"""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np

from clinker.formats.common.json_numbers import Places
from clinker.formats.xml.scan import DEEPEST
from clinker.frozen import frozen

_ENDS_NAME = b" >/\t\r\n"
_BLANKS = re.compile(rb"[ \t\r\n]*")
_SMALLEST = len("<a></a>")


@frozen(eq=False)
class Siblings:
    """Some elements in a text: from `start` to `end`, with `gap` between each two."""

    text: bytes
    start: int
    end: int
    closing: bytes
    """The tag that ends each of them."""
    gap: bytes
    opening: bytes
    """How each of them begins: `<`, the name, and what ends the name."""
    count: int

    def __len__(self) -> int:
        return self.count

    @property
    def outside(self) -> bytes:
        """The text without the elements."""
        return self.text[: self.start] + self.gap * (self.count - 1)

    @cached_property
    def ends(self) -> Places:
        between = re.compile(re.escape(self.closing + self.gap + self.opening))
        found = between.finditer(self.text, self.start, self.end)
        ends = [match.start() + len(self.closing) for match in found]
        return np.array([*ends, self.end], np.int64)

    @cached_property
    def starts(self) -> Places:
        return np.append(self.start, self.ends[:-1] + len(self.gap))


def find_siblings(text: bytes, start: int, name: bytes, depth: int) -> Siblings | None:
    """The elements from one on to the last whole one; None if they need a closer look.

    The first begins at `start`, inside of `depth` others, none of which has its name.
    """
    closing, prefix = b"</" + name + b">", b"<" + name
    last = text.rfind(closing, start)
    first = text.find(closing, start, last)
    if first < 0 or _has_markup(text):
        return None
    gap = _blanks_at(text, first + len(closing))
    opening = text[start : start + len(prefix) + 1]
    between = closing + gap + opening
    end = last + len(closing)
    count = 1 + text.count(between, start, end)
    if not _begin(text, start, end, prefix, count):
        return None
    if not _are_flat(text, start, end, between, DEEPEST - depth):
        return None
    return Siblings(text, start, end, closing, gap, opening, count)


def _has_markup(text: bytes) -> bool:
    """Whether there are comments, CDATA sections or processing instructions; mostly not."""
    return (b"!" in text and b"<!" in text) or (b"?" in text and b"<?" in text)


def _blanks_at(text: bytes, place: int) -> bytes:
    blanks = _BLANKS.match(text, place)
    return blanks[0] if blanks else b""


def _begin(text: bytes, start: int, end: int, prefix: bytes, count: int) -> bool:
    """Whether so many elements of a name begin; there may be others with longer names."""
    if text.count(prefix, start, end) == count:
        return True
    return sum(text.count(prefix + bytes([code]), start, end) for code in _ENDS_NAME) == count


def _are_flat(text: bytes, start: int, end: int, between: bytes, levels: int) -> bool:
    """Whether none of the elements can have more than so many levels.

    One that is short cannot; it is enough to see that there is always a border within reach.
    """
    reach = _SMALLEST * (levels - 2) - len(between)
    while end - start > reach:
        border = text.rfind(between, start + 1, start + reach)
        if border < 0:
            border = text.find(between, start + 1, end)
            border = end if border < 0 else border
            if text.count(b"</", start, border) > levels - 2:
                return False
        start = border
    return True
