"""Where the records of a CSV file end.

A newline inside quotes ends nothing, so finding record boundaries needs all that comes before. One
pass over the bytes counts quotes: where an odd number of them lies behind, we are inside. That is
exact as long as every opening quote stands at the start of a cell; a stray quote inside an unquoted
cell is a character like any other, and blocks that have one are walked through quote by quote.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_LF, _CR = 10, 13
_WORD_BITS = 64
Codes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
Positions = npt.NDArray[np.int64]


class RecordScanner:
    """Finds the ends of records in consecutive blocks of bytes."""

    def __init__(self, delimiter: int, quote: int) -> None:
        self._delimiter = delimiter
        self._quote = quote
        self._last = _LF
        self._last_closes = False
        """Whether the last byte is a quote that closed a quoted part."""
        self.in_quotes = False

    @property
    def in_record(self) -> bool:
        """Whether a record has begun that has not ended yet."""
        return self.in_quotes or self._last not in (_LF, _CR)

    def record_ends(self, block: bytes) -> Positions:
        """The positions of the newlines that end a record; those of blank lines do not."""
        if not block:
            return np.empty(0, np.int64)
        codes = np.frombuffer(block, np.uint8)
        newlines = codes == _LF
        if b"\r" in block:
            newlines |= codes == _CR
        ends = np.flatnonzero(newlines)
        before = -1 if self._last in (_LF, _CR) else -2
        ends = ends[np.diff(ends, prepend=before) > 1]
        if bytes((self._quote,)) in block:
            ends = ends[~self._inside(codes, newlines)[ends]]
        else:
            self._last_closes = False
            ends = ends[:0] if self.in_quotes else ends
        self._last = block[-1]
        return ends

    def skim(self, block: bytes) -> int | None:
        """How many records end in a block, unless it has quotes or blank lines: then nothing is
        done, and None tells so."""
        if not block or self.in_quotes or bytes((self._quote,)) in block or b"\r" in block:
            return None
        newlines = np.frombuffer(block, np.uint8) == _LF
        follows_one = newlines[0] and self._last in (_LF, _CR)
        if follows_one or (newlines[1:] & newlines[:-1]).any():
            return None
        self._last = block[-1]
        self._last_closes = False
        return int(np.count_nonzero(newlines))

    def _inside(self, codes: Codes, newlines: Mask) -> Mask:
        """The bytes inside quotes, the opening quote being one of them and the closing one not."""
        toggles = codes == self._quote
        inside = _odd_so_far(toggles) ^ self.in_quotes
        if not self._is_regular(codes, newlines, toggles, inside):
            toggles = self._walk(codes, np.flatnonzero(toggles).tolist())
            inside = _odd_so_far(toggles) ^ self.in_quotes
        self.in_quotes = bool(inside[-1])
        self._last_closes = bool(toggles[-1]) and not self.in_quotes
        return inside

    def _is_regular(self, codes: Codes, newlines: Mask, quotes: Mask, inside: Mask) -> bool:
        """Whether all quotes that would open stand at the start of a cell or right behind a quote,
        which makes the two of them a quote inside quotes."""
        opening = quotes & inside
        if opening[0] and not (self._last_closes or self._starts_cell(self._last)):
            return False
        before = newlines | quotes
        before |= codes == self._delimiter
        return not (opening[1:] & ~before[:-1]).any()

    def _walk(self, codes: Codes, quotes: list[int]) -> Mask:
        toggles = np.zeros(len(codes), np.bool_)
        in_quotes = self.in_quotes
        closed = -1 if self._last_closes else None
        for position in quotes:
            before = int(codes[position - 1]) if position else self._last
            if in_quotes:
                closed = position
            elif closed != position - 1 and not self._starts_cell(before):
                continue
            toggles[position] = True
            in_quotes = not in_quotes
        return toggles

    def _starts_cell(self, before: int) -> bool:
        return before in (self._delimiter, _LF, _CR)


def _odd_so_far(mask: Mask) -> Mask:
    """Where an odd number of places of the mask, the current one included, is set.

    Words of 64 bits at once: ten times as fast as counting.
    """
    padded = np.zeros(-(-len(mask) // _WORD_BITS) * _WORD_BITS, np.bool_)
    padded[: len(mask)] = mask
    words = np.packbits(padded, bitorder="little").view("<u8")
    for distance in (1, 2, 4, 8, 16, 32):
        words ^= words << np.uint64(distance)
    totals = np.bitwise_xor.accumulate(words >> np.uint64(_WORD_BITS - 1))
    words[1:] ^= np.uint64(0) - totals[:-1]
    return np.unpackbits(words.view(np.uint8), count=len(mask), bitorder="little").view(np.bool_)
