"""Columns of any type as values of CXL, one by one.

A value that CXL cannot have, such as a date after the year 9999, is an `Odd` one, and stays to be
told from the others.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from clinker.cxl.values import MAX_INT, MIN_INT, WrittenFloat
from clinker.formats.parquet.types import is_array, is_text, is_uuid
from clinker.frozen import frozen

Mask: TypeAlias = npt.NDArray[np.bool_]
_Numbers: TypeAlias = npt.NDArray[np.int64]

_EPOCH = dt.date(1970, 1, 1)
_FIRST_DAY, _LAST_DAY = (dt.date.min - _EPOCH).days, (dt.date.max - _EPOCH).days
_MICROS_OF_DAY = 24 * 60 * 60 * 10**6
_FIRST_MOMENT, _LAST_MOMENT = _FIRST_DAY * _MICROS_OF_DAY, (_LAST_DAY + 1) * _MICROS_OF_DAY - 1
_MICROS = {"s": 10**6, "ms": 10**3, "us": 1}
_NANOS_OF_MICRO = 1000


@frozen
class Odd:
    """What a file holds that is no value of CXL."""

    text: str


@frozen(eq=False)
class Moments:
    """Dates or moments in the form that columns of them have; `unfit` marks those that are null
    since no year has them."""

    values: pa.Array
    unfit: Mask | None


def plain(values: pa.Array) -> pa.Array:
    """The same values, without what Arrow adds for its own purposes; long texts are texts."""
    if pt.is_dictionary(values.type):
        return plain(values.dictionary_decode())
    if isinstance(values.type, pa.BaseExtensionType):
        return _uuid_texts(values) if is_uuid(values.type) else plain(values.storage)
    if pt.is_large_string(values.type) or pt.is_string_view(values.type):
        return pc.cast(values, pa.string(), safe=False)
    if pt.is_float16(values.type):
        return pa.array(
            values.to_numpy(zero_copy_only=False).astype(np.float64), mask=_nulls(values)
        )
    return values


def take_dates(values: pa.Array) -> Moments:
    """Dates of any unit."""
    days = pc.cast(values, pa.date32(), safe=False)
    return _within(days, pc.cast(days, pa.int32()), _FIRST_DAY, _LAST_DAY)


def take_moments(values: pa.Array) -> Moments:
    """Timestamps of any unit and zone in UTC, what is less than a microsecond cut off."""
    numbers = values.view(pa.int64())
    if values.type.unit == "ns":
        held = np.asarray(numbers.fill_null(0)) // _NANOS_OF_MICRO
        numbers = pa.array(held, mask=_nulls(values))
        first, last, factor = _FIRST_MOMENT, _LAST_MOMENT, 1
    else:
        factor = _MICROS[values.type.unit]
        first, last = -(-_FIRST_MOMENT // factor), _LAST_MOMENT // factor
    inside = _within(numbers, numbers, first, last)
    micros = pc.multiply(inside.values, pa.scalar(factor, pa.int64()))
    return Moments(micros.view(pa.timestamp("us")), inside.unfit)


def take_texts(values: pa.Array) -> tuple[pa.StringArray, Mask | None]:
    """Texts; those that are no UTF-8 are null, and marked."""
    raw = values.view(pa.binary())
    try:
        return pc.cast(raw, pa.string()), None
    except pa.ArrowInvalid:
        texts = [None if data is None else _decode(data) for data in raw.to_pylist()]
        unfit = np.array([isinstance(text, Odd) for text in texts], np.bool_)
        kept = [None if isinstance(text, Odd) else text for text in texts]
        return pa.array(kept, pa.string()), unfit


def list_values(values: pa.Array) -> list[Any]:
    """The values of a column of any type that `type_of` knows."""
    values = plain(values)
    arrow = values.type
    if pt.is_struct(arrow):
        return _list_structs(values)
    if pt.is_map(arrow):
        return _list_maps(values)
    if is_array(arrow):
        return _list_arrays(values)
    if is_text(arrow):
        return [
            None if data is None else _decode(data) for data in values.view(pa.binary()).to_pylist()
        ]
    if pt.is_decimal(arrow):
        return [None if number is None else _number(f"{number:f}") for number in values.to_pylist()]
    if pt.is_date(arrow):
        return _with_odd(values, take_dates(values))
    if pt.is_timestamp(arrow):
        return _with_odd(values, take_moments(values))
    if pt.is_time(arrow):
        return show_times(values).to_pylist()  # type: ignore[no-any-return]
    if pt.is_uint64(arrow):
        return [None if n is None else _number(str(n)) for n in values.to_pylist()]
    return values.to_pylist()  # type: ignore[no-any-return]


def show_times(values: pa.Array) -> pa.StringArray:
    """Times of a day as ISO writes them, with a fraction if there is one."""
    texts = pc.cast(values, pa.string())
    return pc.replace_substring_regex(texts, r"(\.[0-9]*[1-9])0+$|\.0*$", r"\1")


def _number(text: str) -> int | WrittenFloat:
    """An Int if the text is one, else the Float that keeps all digits that it has there."""
    if "." not in text and MIN_INT <= int(text) <= MAX_INT:
        return int(text)
    return WrittenFloat(text)


def _decode(data: bytes) -> str | Odd:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return Odd(data.decode(errors="replace"))


def _within(values: pa.Array, numbers: pa.Array, first: int, last: int) -> Moments:
    """Values whose numbers are inside of some borders, others null."""
    held = np.asarray(numbers.fill_null(first), np.int64)
    unfit = (held < first) | (held > last)
    if not unfit.any():
        return Moments(values, None)
    return Moments(pc.if_else(pa.array(unfit), None, values), unfit)


def _with_odd(values: pa.Array, moments: Moments) -> list[Any]:
    found: list[Any] = moments.values.to_pylist()
    if moments.unfit is not None:
        for at in np.flatnonzero(moments.unfit).tolist():
            found[at] = Odd(str(pc.cast(values.slice(at, 1), pa.string())[0]))
    return found


def _list_structs(values: pa.StructArray) -> list[Any]:
    names = [field.name for field in values.type]
    members = [list_values(each) for each in values.flatten()]
    records = zip(*members, strict=True) if members else ((),) * len(values)
    return [
        dict(zip(names, record, strict=True)) if is_valid else None
        for record, is_valid in zip(records, values.is_valid().to_pylist(), strict=True)
    ]


def _list_arrays(values: pa.Array) -> list[Any]:
    elements = list_values(values.flatten())
    lengths = pc.list_value_length(values).to_pylist()
    return _cut(elements, lengths)


def _list_maps(values: pa.MapArray) -> list[Any]:
    offsets: _Numbers = np.asarray(values.offsets)
    first, size = int(offsets[0]), int(offsets[-1] - offsets[0])
    keys = map(_show_key, list_values(values.keys.slice(first, size)))
    pairs = list(zip(keys, list_values(values.items.slice(first, size)), strict=True))
    lengths = np.diff(offsets).tolist()
    is_valid = values.is_valid().to_pylist()
    starts = (offsets[:-1] - first).tolist()
    return [
        dict(pairs[start : start + length]) if valid else None
        for start, length, valid in zip(starts, lengths, is_valid, strict=True)
    ]


def _cut(elements: Sequence[Any], lengths: Sequence[int | None]) -> list[Any]:
    arrays: list[Any] = []
    begin = 0
    for length in lengths:
        arrays.append(None if length is None else list(elements[begin : begin + length]))
        begin += length or 0
    return arrays


def _show_key(key: Any) -> str:
    if isinstance(key, Odd):
        return key.text
    return key if isinstance(key, str) else str(key)


def _uuid_texts(values: pa.Array) -> pa.StringArray:
    raw = values.storage.to_pylist()
    return pa.array(
        [None if each is None else str(uuid.UUID(bytes=each)) for each in raw], pa.string()
    )


def _nulls(values: pa.Array) -> Mask | None:
    return np.asarray(values.is_null()) if values.null_count else None
