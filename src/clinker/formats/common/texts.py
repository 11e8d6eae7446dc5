"""Columns as texts, as cells show them.

Whole columns are converted at once. Only values that Arrow shows in another way than we do (floats
with an exponent, tagged arrays) are taken out, converted one by one and put back.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.values import float_text

_NOT_PLAIN_FLOAT = "[en]"
"""Arrow writes `1e+20`, `nan`, `inf`."""
_SECONDS = len("2024-01-15T10:30:00")
_MILLISECONDS = len("2024-01-15T10:30:00.250")
_MICROS_PER_SECOND = 1_000_000


def show_column(values: pa.Array) -> pa.StringArray:
    """The texts of a column of a native type other than arrays; null stays null."""
    if pa.types.is_string(values.type):
        return values
    if pa.types.is_floating(values.type):
        return show_floats(values)
    if pa.types.is_timestamp(values.type):
        return show_datetimes(values)
    return pc.cast(values, pa.string())


def show_floats(values: pa.Array) -> pa.StringArray:
    texts = pc.cast(values, pa.string())
    if not contains_any(texts, b"en"):
        return texts
    odd = pc.match_substring_regex(texts, _NOT_PLAIN_FLOAT)
    return replace_where(texts, odd, lambda _: map(float_text, pc.filter(values, odd).to_pylist()))


def show_datetimes(values: pa.Array) -> pa.StringArray:
    """With a `T`; the fraction, three or six digits, only when there is one."""
    texts = pc.binary_replace_slice(pc.cast(values, pa.string()), 10, 11, "T")
    seconds = pc.utf8_slice_codeunits(texts, 0, _SECONDS)
    fractions = np.asarray(pc.fill_null(pc.cast(values, pa.int64()), 0)) % _MICROS_PER_SECOND
    if not fractions.any():
        return seconds
    millis = pc.utf8_slice_codeunits(texts, 0, _MILLISECONDS)
    texts = pc.if_else(pa.array(fractions % 1000 == 0), millis, texts)
    return pc.if_else(pa.array(fractions == 0), seconds, texts)


def contains_any(texts: pa.StringArray, characters: bytes) -> bool:
    """Whether one of these ASCII characters occurs in the column: a look at its bytes."""
    data = join_bytes(texts)
    return any(character in data for character in characters)


def join_bytes(texts: pa.StringArray) -> bytes:
    """The texts of a column, one after the other."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return b""
    bounds = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    used: pa.Buffer = data.slice(int(bounds[0]), int(bounds[-1] - bounds[0]))
    return used.to_pybytes()  # type: ignore[no-any-return]


def take_first_bytes(texts: pa.StringArray) -> npt.NDArray[np.uint8]:
    """The first byte of each text, 0 where there is no text."""
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    first = np.zeros(len(texts), np.uint8)
    some = (bounds[1:] > bounds[:-1]) & np.asarray(texts.is_valid())
    if some.any():
        first[some] = np.frombuffer(data, np.uint8)[bounds[:-1][some]]
    return first


def replace_where(
    texts: pa.StringArray,
    where: pa.BooleanArray,
    convert: Callable[[pa.StringArray], object],
) -> pa.StringArray:
    """`texts`, with the texts at `where` converted."""
    chosen = pc.filter(texts, where)
    if not len(chosen):
        return texts
    converted = convert(chosen)
    if not isinstance(converted, pa.Array):
        converted = pa.array(converted, pa.string())
    return pc.replace_with_mask(texts, where, converted)
