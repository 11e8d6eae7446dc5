"""Bytes to lines, and fields cut out of them.

Lines of one length are rows of a matrix, and a field is some of its columns; all others are slices
of one Arrow array. Either way nothing is done line by line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clinker.frozen import frozen

Codes: TypeAlias = npt.NDArray[np.uint8]
Positions: TypeAlias = npt.NDArray[np.int64]

CHUNK_BYTES = 4 << 20
"""How much is cut at a time."""
_CR = 13
_NOTHING, _ONLY_CR, MORE = range(3)
"""How much of a line there is."""


class Lines(Protocol):
    """Some lines of a file, none of them blank, without what ends them."""

    @property
    def count(self) -> int: ...

    def lengths(self) -> Positions: ...

    def cut(self, start: int, end: int) -> pa.BinaryArray:
        """The bytes between two places of every line, fewer where a line ends before."""
        ...

    def take(self, rows: Positions) -> Lines: ...


@frozen(eq=False)
class EqualLines:
    """Lines of one length: the rows of a matrix of bytes."""

    codes: npt.NDArray[np.uint8]

    @property
    def count(self) -> int:
        return len(self.codes)

    def lengths(self) -> Positions:
        return np.full(self.count, self.codes.shape[1], np.int64)

    def cut(self, start: int, end: int) -> pa.BinaryArray:
        part = np.ascontiguousarray(self.codes[:, start:end])
        offsets = np.arange(self.count + 1, dtype=np.int32) * np.int32(part.shape[1])
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(part)]
        return pa.Array.from_buffers(pa.binary(), self.count, buffers)

    def take(self, rows: Positions) -> EqualLines:
        return EqualLines(self.codes[rows])


@frozen(eq=False)
class UnequalLines:
    """Lines of any length, one after the other."""

    texts: pa.BinaryArray

    @property
    def count(self) -> int:
        return len(self.texts)

    def lengths(self) -> Positions:
        return np.asarray(pc.binary_length(self.texts)).astype(np.int64)

    def cut(self, start: int, end: int) -> pa.BinaryArray:
        return pc.binary_slice(self.texts, start, end)

    def take(self, rows: Positions) -> UnequalLines:
        return UnequalLines(self.texts.take(pa.array(rows)))


def split_lines(data: bytes, end: int) -> Lines:
    """The lines of whole records; the byte `end` ends each of them, but perhaps not the last."""
    if not data:
        return UnequalLines(pa.array([], pa.binary()))
    mark = bytes((end,))
    if not data.endswith(mark):
        data += mark
    codes = np.frombuffer(data, np.uint8)
    step = data.index(mark) + 1
    count, rest = divmod(len(data), step)
    if not rest and step > 1:
        rows = codes.reshape(count, step)
        if (rows[:, -1] == end).all() and data.count(mark) == count:
            ends_in_cr = rows[:, -2] == _CR
            if not ends_in_cr.any():
                return EqualLines(rows[:, :-1])
            if ends_in_cr.all() and step > 2:
                return EqualLines(rows[:, :-2])
    return _split_unequal(codes, end)


def _split_unequal(codes: Codes, end: int) -> UnequalLines:
    is_text = codes != end
    ends = np.flatnonzero(~is_text)
    starts = np.concatenate(([0], ends[:-1] + 1))
    before_cr = ends[(ends > starts) & (codes[ends - 1] == _CR)] - 1
    is_text[before_cr] = False
    lengths = ends - starts
    lengths[np.searchsorted(ends, before_cr)] -= 1
    offsets = np.concatenate(([0], np.cumsum(lengths[lengths > 0]))).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(codes[is_text])]
    return UnequalLines(pa.Array.from_buffers(pa.binary(), len(offsets) - 1, buffers))


def count_lines(codes: Codes, end: int, unfinished: int) -> tuple[Positions, int]:
    """Where lines that are not blank end in a block of bytes, and what is left of the last one.

    `unfinished` is how much of a line lies before the block.
    """
    ends = np.flatnonzero(codes == end)
    if not len(ends):
        return ends, _amount(codes, unfinished)
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts
    is_blank = (lengths == 0) | ((lengths == 1) & (codes[starts] == _CR))
    is_blank[0] = _amount(codes[: ends[0]], unfinished) < MORE
    return ends[~is_blank], _amount(codes[ends[-1] + 1 :], _NOTHING)


def _amount(codes: Codes, unfinished: int) -> int:
    """How much of a line there is, these bytes included."""
    if not len(codes):
        return unfinished
    is_cr = unfinished == _NOTHING and len(codes) == 1 and codes[0] == _CR
    return _ONLY_CR if is_cr else MORE


def read_lines(stream: BinaryIO, start: int, stop: int, end: int) -> Iterator[Lines]:
    """The lines between two places of a file, some at a time."""
    stream.seek(start)
    left = stop - start
    pending: list[bytes] = []
    mark = bytes((end,))
    while left and (block := stream.read(min(left, CHUNK_BYTES))):
        left -= len(block)
        cut = block.rfind(mark) + 1
        if cut and left:
            yield split_lines(b"".join([*pending, block[:cut]]), end)
            pending, block = [], block[cut:]
        pending.append(block)
    yield split_lines(b"".join(pending), end)


def read_rows(stream: BinaryIO, start: int, stop: int, length: int) -> Iterator[Lines]:
    """Records of one length that nothing separates, some at a time."""
    stream.seek(start)
    left = stop - start
    at_once = max(1, CHUNK_BYTES // length) * length
    while left and (block := stream.read(min(left, at_once))):
        left -= len(block)
        whole = len(block) // length
        codes = np.frombuffer(block, np.uint8)[: whole * length]
        yield EqualLines(codes.reshape(whole, length))
