"""The elements of an array in a JSON document, found block by block without parsing it.

Brackets that are not part of a text tell how deep every comma stands. What is found is whole
elements, good or bad, and all that stands outside of them: whoever parses both has parsed the
document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import orjson

from clinker.formats.common.json_numbers import Codes, Mask, Places
from clinker.frozen import frozen

_QUOTE, _BACKSLASH, _COMMA, _COLON, _OPENS_ARRAY, _OPENS_OBJECT = b'"\\,:[{'
_STEPS = np.zeros(256, np.int8)
"""How a character changes the depth of what comes behind it."""
_STEPS[list(b"[{")] = 1
_STEPS[list(b"]}")] = -1
_MARKS = np.zeros(256, np.bool_)
_MARKS[list(b"[]{},:")] = True


@frozen(eq=False)
class Marks:
    """The brackets, commas and colons of a block that stand outside of texts."""

    places: Places
    codes: Codes
    depths: Places
    """How deep it is behind each of them."""
    quotes: Places
    """The quotes around texts."""

    @property
    def separators(self) -> Mask:
        is_comma: Mask = self.codes == _COMMA
        return is_comma


class Structure:
    """Finds brackets, commas and colons in blocks that follow each other."""

    def __init__(self) -> None:
        self._depth = 0
        self._in_text = False
        self._is_escaped = False

    def marks(self, block: bytes) -> Marks:
        codes = np.frombuffer(block, np.uint8)
        is_quote = self._quotes(codes)
        in_text = np.bitwise_xor.accumulate(is_quote.view(np.uint8)) ^ np.uint8(self._in_text)
        places = np.flatnonzero(_MARKS[codes] & (in_text == 0))
        marked = codes[places]
        depths = self._depth + np.cumsum(_STEPS[marked], dtype=np.int64)
        if len(codes):
            self._in_text = bool(in_text[-1])
        if len(depths):
            self._depth = int(depths[-1])
        return Marks(places, marked, depths, np.flatnonzero(is_quote))

    def _quotes(self, codes: Codes) -> Mask:
        """Where a quote begins or ends a text."""
        is_quote: Mask = codes == _QUOTE
        slashes = np.flatnonzero(codes == _BACKSLASH)
        escapes = self._is_escaped
        self._is_escaped = False
        if escapes and len(codes):
            is_quote[0] = False
            slashes = slashes[slashes > 0]
        if len(slashes):
            numbers = np.arange(len(slashes))
            first_in_row = np.diff(slashes, prepend=-2) > 1
            before_in_row = numbers - np.maximum.accumulate(np.where(first_in_row, numbers, 0))
            escaped = slashes[before_in_row % 2 == 0] + 1
            self._is_escaped = bool(escaped[-1] == len(codes))
            is_quote[escaped[escaped < len(codes)]] = False
        return is_quote


def element_blocks(data: bytes, block_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Whole elements, hardly more of them than asked for, and where they begin.

    `data` is what stands between the brackets of an array, or some elements of it.
    """
    structure = Structure()
    begin = 0
    for offset in range(0, len(data), block_bytes):
        marks = structure.marks(data[offset : offset + block_bytes])
        ends = marks.places[marks.separators & (marks.depths == 0)]
        if len(ends):
            end = offset + int(ends[-1])
            yield begin, data[begin:end]
            begin = end + 1
    yield begin, data[begin:]


class RepeatedPath(Exception):
    """A path that leads to more than one array."""


@frozen(eq=False)
class Elements:
    """A part of the elements of an array, where it begins, and the commas between them."""

    text: bytes
    start: int
    separators: Places
    """By their places in the text."""


class ElementSearch:
    """Looks for the elements of the array at a path, in blocks that follow each other."""

    def __init__(self, steps: Sequence[str], start: int = 0) -> None:
        self._steps = steps
        self._structure = Structure()
        self._offset = start
        self._taken = 0
        """How many steps of the path lead to where the last block ended."""
        self._leads_on = not steps
        """Whether the path leads through the value that comes next."""
        self._is_inside = False
        self.begin: int | None = None
        """Where the elements begin, once that is known."""
        self.end: int | None = None
        """Where they end."""
        self.outside = bytearray()
        """All that has been seen outside of the elements."""

    def look(self, block: bytes) -> Elements:
        """The elements in the next block."""
        marks = self._structure.marks(block)
        elements = Elements(b"", self._offset, np.zeros(0, np.int64))
        mark = place = 0
        while place < len(block):
            if not self._is_inside:
                mark, place = self._follow(block, marks, mark, place)
                continue
            until = self._end(marks, mark)
            end = int(marks.places[until]) if until < len(marks.places) else len(block)
            among = slice(mark, until)
            is_between = marks.separators[among] & (marks.depths[among] == self._depth)
            separators = marks.places[among][is_between] - place
            elements = Elements(block[place:end], self._offset + place, separators)
            mark, place = until, end
        self._offset += len(block)
        return elements

    @property
    def _depth(self) -> int:
        """How deep the elements are."""
        return len(self._steps) + 1

    def _end(self, marks: Marks, mark: int) -> int:
        """The mark that ends the elements; the one behind the last if none does."""
        ends = np.flatnonzero(marks.depths[mark:] < self._depth)
        if not len(ends):
            return len(marks.places)
        until = mark + int(ends[0])
        self._is_inside = False
        self.end = self._offset + int(marks.places[until])
        return until

    def _follow(self, block: bytes, marks: Marks, mark: int, place: int) -> tuple[int, int]:
        """Follow the path up to the first element: the mark and the place to go on from."""
        steps = _STEPS[marks.codes[mark:]]
        levels = marks.depths[mark:] - (steps > 0)
        for at in (mark + np.flatnonzero(levels <= len(self._steps))).tolist():
            behind = int(marks.places[at]) + 1
            self.outside += block[place:behind]
            place = behind
            if self._enters(int(marks.codes[at]), int(marks.depths[at])):
                if self.begin is not None:
                    raise RepeatedPath
                self.begin = self._offset + place
                self._is_inside = True
                return at + 1, place
        self.outside += block[place:]
        return len(marks.places), len(block)

    def _enters(self, code: int, depth: int) -> bool:
        """Whether the array at the path begins with this mark; `depth` is that behind it."""
        is_last = self._taken == len(self._steps)
        if code in b"[{" and depth == self._taken + 1:
            leads_on, self._leads_on = self._leads_on, False
            if leads_on and is_last:
                return code == _OPENS_ARRAY
            if code == _OPENS_OBJECT and (leads_on or not depth - 1):
                self._taken += 1
        elif code in b"]}" and depth == self._taken - 1:
            self._taken -= 1
        elif code == _COLON and depth == self._taken > 0:
            self._leads_on = self._key() == self._steps[self._taken - 1]
        elif code == _COMMA and depth == self._taken:
            self._leads_on = False
        return False

    def _key(self) -> str | None:
        """The text that ends what has been seen so far, but for a colon."""
        seen = self.outside
        start = end = seen.rfind(b'"')
        while start > 0:
            start = seen.rfind(b'"', 0, start)
            if not _is_escaped(seen, start):
                break
        try:
            key = orjson.loads(bytes(seen[max(start, 0) : end + 1]))
        except orjson.JSONDecodeError:  # for whoever parses all this to complain about
            return None
        return key if isinstance(key, str) else None


def _is_escaped(text: bytearray, place: int) -> bool:
    first = place
    while first and text[first - 1] == _BACKSLASH:
        first -= 1
    return (place - first) % 2 == 1
