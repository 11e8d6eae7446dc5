"""Text cut into segments and elements.

All that is known of a text is where its delimiters stand. One list of their places, in order, tells
where every element begins and ends; the places of terminators in that list tell how many elements a
segment has. So whole columns are computed at once, and no segment is looked at by itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clinker.formats.common.encodings import is_one_byte, is_utf8
from clinker.formats.interchange.grammar import Elements
from clinker.formats.interchange.header import Delimiters

Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

BLANKS = b" \t\n\v\f\r"
"""What may stand between segments."""
_NOTHING = np.empty(0, np.int64)
_FEW_BLANKS = 3
_WORD_BYTES = 4


class Segments:
    """Whole segments that follow one another in a text."""

    def __init__(
        self,
        text: bytes,
        offset: int,
        delimiters: Delimiters,
        encoding: str,
        marks: Places,
        releases: Places,
    ) -> None:
        self.text = text
        self.offset = offset
        """Where in its file the text begins."""
        self.delimiters = delimiters
        self._encoding = encoding
        codes = np.frombuffer(text, np.uint8)
        closing = np.flatnonzero(codes[marks] == ord(delimiters.terminator))
        self.end = int(marks[closing[-1]]) + 1 if len(closing) else 0
        """Where the last of them ends in the text."""
        self._marks = marks[: int(closing[-1]) + 1 if len(closing) else 0]
        """The places of all delimiters that separate or terminate something."""
        self._releases = releases[: np.searchsorted(releases, self.end)]
        """The places of characters that say that the next one is no delimiter."""
        ends = self._marks[closing]
        starts = _skip_blanks(text, codes, np.append(0, ends[:-1] + 1)[: len(ends)], delimiters)
        first = np.append(0, closing[:-1] + 1)[: len(closing)]
        if (starts == ends).any():
            is_segment = starts < ends
            starts, first, closing = starts[is_segment], first[is_segment], closing[is_segment]
        self.starts = starts
        self._first = first
        """Which of the marks stands behind the tag of each segment."""
        self.counts = closing - first
        """How many elements each segment has."""

    def __len__(self) -> int:
        return len(self.starts)

    def head(self, count: int) -> Segments:
        """The first ones."""
        last = self._first[count - 1] + self.counts[count - 1]
        return Segments(
            self.text,
            self.offset,
            self.delimiters,
            self._encoding,
            self._marks[: last + 1],
            self._releases,
        )

    def find_tags(self, tags: Sequence[str]) -> list[tuple[int, str]]:
        """The segments that have one of these tags of two or three letters, in their order."""
        words = self._words
        by_word = {
            int.from_bytes(tag.encode() + mark.encode(), "little"): tag
            for tag in tags
            for mark in (self.delimiters.element, self.delimiters.terminator)
        }
        short = 1 << 24
        cut_words = self._cut_words
        is_one = np.zeros(len(words), np.bool_)
        for word in by_word:
            is_one |= (words if word >= short else cut_words) == word
        found = np.flatnonzero(is_one)
        return [
            (at, by_word.get(word) or by_word[word & (short - 1)])
            for at, word in zip(found.tolist(), words[found].tolist(), strict=True)
        ]

    @cached_property
    def _words(self) -> npt.NDArray[np.uint32]:
        """The first bytes of every segment."""
        padded = self.text + b"\0" * _WORD_BYTES
        return np.ndarray((len(self.text),), "<u4", padded, strides=(1,))[self.starts]

    @cached_property
    def _cut_words(self) -> npt.NDArray[np.uint32]:
        return self._words & np.uint32((1 << 24) - 1)

    def tag(self, at: int) -> str:
        return self._text(int(self.starts[at]), int(self._marks[self._first[at]]))

    def elements(self, at: int) -> Elements:
        """The elements of one segment."""
        first = int(self._first[at])
        marks = self._marks[first : first + int(self.counts[at]) + 1].tolist()
        if len(self._releases) == 0:
            data = self.text[marks[0] + 1 : marks[-1]]
            if data.count(self.delimiters.element.encode()) == len(marks) - 2:
                text = data.decode(self._encoding, "replace")
                return tuple(text.split(self.delimiters.element))
        return tuple(self._text(mark + 1, end) for mark, end in pairwise(marks))

    def _text(self, start: int, end: int) -> str:
        text = self.text[start:end].decode(self._encoding, "replace")
        release = self.delimiters.release
        if release and release in text:
            return re.sub(f"{re.escape(release)}(.)", r"\1", text, flags=re.DOTALL)
        return text

    def holds(self, number: int, rows: Places) -> bool:
        """Whether the element with a number is not empty in any of some segments."""
        places = self._first[rows[self.counts[rows] >= number]] + number
        return bool((self._marks[places] - self._marks[places - 1] > 1).any())

    def tags(self, rows: Places) -> pa.StringArray:
        """The tags of some segments."""
        tags = self._pieces.take(pa.array(self._first[rows]))
        tags = pc.ascii_ltrim(tags, BLANKS.decode())
        # A blank that is released is one of the tag.
        is_released = np.isin(self.starts[rows], self._releases)
        if not is_released.any():
            return tags
        exact = pa.array(map(self.tag, rows[is_released].tolist()), pa.string())
        return pc.replace_with_mask(tags, is_released, exact)

    def column(self, number: int, rows: Places) -> pa.StringArray:
        """The element with a number of some segments, null where it is empty or not there."""
        has_it = self.counts[rows] >= number
        places = self._first[rows] + number
        places[~has_it] = 0
        has_it &= self._lengths[places] > 0
        return _take(self._pieces, places, self._lengths, has_it)

    @cached_property
    def _lengths(self) -> Places:
        offsets = np.frombuffer(self._pieces.buffers()[1], np.int32, len(self._marks) + 1)
        return np.diff(offsets)

    @cached_property
    def _pieces(self) -> pa.StringArray:
        """What stands between delimiters, tags included."""
        marks = self._marks
        offsets = np.zeros(len(marks) + 1, np.int64)
        offsets[1:] = marks - np.arange(len(marks))
        is_kept = np.ones(self.end, np.bool_)
        is_kept[marks] = False
        if len(self._releases):
            offsets[1:] -= np.searchsorted(self._releases, marks)
            is_kept[self._releases] = False
        data = np.frombuffer(self.text, np.uint8, self.end)[is_kept]
        if not is_utf8(self._encoding) and not data.tobytes().isascii():
            data, offsets = _recode(data, offsets, self._encoding)
        return pa.StringArray.from_buffers(
            len(marks), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)
        )


def keeps_positions(encoding: str) -> bool:
    """Whether segments can be found in the bytes of a file, without decoding them."""
    return is_utf8(encoding) or is_one_byte(encoding)


def cut(
    text: bytes, offset: int, delimiters: Delimiters, encoding: str, kept: Sequence[slice] = ()
) -> Segments:
    """The whole segments of a text; parts that are kept have no delimiters."""
    codes = np.frombuffer(text, np.uint8)
    is_mark = codes == ord(delimiters.element)
    is_mark |= codes == ord(delimiters.terminator)
    releases = _find_releases(text, codes, delimiters.release)
    is_mark[releases[: np.searchsorted(releases, len(text) - 1)] + 1] = False
    for part in kept:
        is_mark[part] = False
    return Segments(text, offset, delimiters, encoding, np.flatnonzero(is_mark), releases)


def _find_releases(text: bytes, codes: npt.NDArray[np.uint8], release: str) -> Places:
    """The release characters that are not released themselves."""
    if not release or release.encode() not in text:
        return _NOTHING
    places = np.flatnonzero(codes == ord(release))
    numbers = np.arange(len(places))
    first_in_row = np.diff(places, prepend=-2) > 1
    before_in_row = numbers - np.maximum.accumulate(np.where(first_in_row, numbers, 0))
    releases: Places = places[before_in_row % 2 == 0]
    return releases


def _skip_blanks(
    text: bytes, codes: npt.NDArray[np.uint8], starts: Places, delimiters: Delimiters
) -> Places:
    """Where segments begin, behind the blanks that may stand before each."""
    blanks = bytes(set(BLANKS) - {ord(delimiters.element), ord(delimiters.terminator)})
    is_blank = np.zeros(256, np.bool_)
    is_blank[list(blanks)] = True
    begun = is_blank[codes[starts]]
    if not begun.any():
        return starts
    starts = starts.copy()
    left = np.flatnonzero(begun)
    for _ in range(_FEW_BLANKS):
        starts[left] += 1
        left = left[is_blank[codes[starts[left]]]]
        if not len(left):
            return starts
    behind = re.compile(b"[" + re.escape(blanks) + b"]*")
    for at in left.tolist():
        found = behind.match(text, int(starts[at]))
        starts[at] = found.end() if found else starts[at]
    return starts


def _take(pieces: pa.StringArray, places: Places, lengths: Places, has_it: Mask) -> pa.StringArray:
    """The pieces at some places, null where there is nothing."""
    chosen = places[has_it]
    taken = pieces.take(pa.array(chosen))
    if len(chosen) == len(places):
        return taken
    ends = np.zeros(len(places) + 1, np.int32)
    ends[1:][has_it] = lengths[chosen]
    return pa.StringArray.from_buffers(
        len(places),
        pa.py_buffer(np.cumsum(ends, dtype=np.int32)),
        taken.buffers()[2] or pa.py_buffer(b""),
        pa.py_buffer(np.packbits(has_it, bitorder="little")),
    )


def _recode(
    data: npt.NDArray[np.uint8], offsets: Places, encoding: str
) -> tuple[npt.NDArray[np.uint8], Places]:
    """Pieces of text in an encoding of one byte per character, as UTF-8."""
    sizes = np.array(
        [len(character.encode()) for character in bytes(range(256)).decode(encoding, "replace")]
    )
    ends = np.append(0, np.cumsum(sizes[data]))
    text = data.tobytes().decode(encoding, "replace").encode()
    return np.frombuffer(text, np.uint8), ends[offsets]
