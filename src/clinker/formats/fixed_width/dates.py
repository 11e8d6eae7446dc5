"""Dates of a given format, read from whole columns of digits."""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.run.strftime import Pattern, parse_date, parse_datetime
from clinker.formats.common.coercion import Coerced
from clinker.formats.common.texts import join_bytes

_WIDTHS = {"%Y": 4, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%S": 2}
_ZERO = ord("0")
Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def parse_digits(texts: pa.StringArray, pattern: Pattern, to: pa.DataType) -> Coerced:
    """Texts as dates or datetimes; what does not have the format is unfit."""
    moments = _at_once(texts, pattern.text)
    if moments is not None:
        days = pa.array(moments, mask=np.asarray(texts.is_null()))
        return Coerced(pc.cast(days, to))
    return _one_by_one(texts, pattern, to)


def _at_once(texts: pa.StringArray, format: str) -> npt.NDArray[np.datetime64] | None:
    """The moments if all texts are of the format and consist of digits, else None; those of nulls
    are anything."""
    places = _places(format)
    if places is None:
        return None
    width = sum(_WIDTHS[name] for name, _ in places)
    present = texts.drop_null() if texts.null_count else texts
    data = join_bytes(present)
    lengths = pc.min_max(pc.binary_length(present)).as_py()
    if len(data) != width * len(present) or {*lengths.values()} - {width, None}:
        return None
    digits = np.frombuffer(data, np.uint8).reshape(-1, width) - np.uint8(_ZERO)
    if (digits > 9).any():
        return None
    moments = _moments({name: _number(digits[:, at : at + _WIDTHS[name]]) for name, at in places})
    if moments is None or not texts.null_count:
        return moments
    every = np.zeros(len(texts), moments.dtype)
    every[np.asarray(texts.is_valid())] = moments
    return every


@lru_cache(maxsize=64)
def _places(format: str) -> tuple[tuple[str, int], ...] | None:
    """The parts of a format that has nothing but digits, and where each begins."""
    names = [format[at : at + 2] for at in range(0, len(format), 2)]
    is_plain = len(set(names)) == len(names) and set(names) <= _WIDTHS.keys()
    if not is_plain or not {"%Y", "%m", "%d"} <= set(names):
        return None
    ends = np.cumsum([0, *(_WIDTHS[name] for name in names)]).tolist()
    return tuple((name, start) for name, (start, _) in zip(names, pairwise(ends), strict=True))


def _number(digits: npt.NDArray[np.uint8]) -> Numbers:
    number = np.zeros(len(digits), np.int64)
    for column in digits.T:
        number = number * 10 + column
    return number


def _moments(parts: dict[str, Numbers]) -> npt.NDArray[np.datetime64] | None:
    """The moments, None if one of them does not exist."""
    year, month, day = parts["%Y"], parts["%m"], parts["%d"]
    hour, minute, second = (parts.get(name, np.int64(0)) for name in ("%H", "%M", "%S"))
    in_range = (year >= 1) & (month >= 1) & (month <= 12) & (day >= 1)
    in_range &= (hour < 24) & (minute < 60) & (second < 60)
    months = ((year - 1970) * 12 + month - 1).astype("M8[M]")
    days = months.astype("M8[D]") + (day - 1)
    if not (in_range & (days.astype("M8[M]") == months)).all():
        return None
    seconds = (hour * 60 + minute) * 60 + second
    moments: npt.NDArray[np.datetime64] = days.astype("M8[s]") + np.asarray(seconds).astype("m8[s]")
    return moments


def _one_by_one(texts: pa.StringArray, pattern: Pattern, to: pa.DataType) -> Coerced:
    encoded = texts.dictionary_encode()
    parse = partial(parse_date if pa.types.is_date(to) else _parse_moment, pattern=pattern)
    moments = [parse(text) for text in encoded.dictionary.to_pylist()]
    values = pa.array(moments, to).take(encoded.indices)
    unfit = np.asarray(values.is_null()) & np.asarray(texts.is_valid())
    return Coerced(values, unfit if unfit.any() else None)


def _parse_moment(text: str, pattern: Pattern) -> object:
    """A datetime; a format without a time of day gives the beginning of the day."""
    return parse_datetime(text, pattern) or parse_date(text, pattern)
