"""Values as JSON has them as tagged texts, a column at a time.

The tagged text of an array or a map is its JSON with two more characters for every text and every
float in it, `"abc"` as `"\\"abc"` and `1.5` as `"1.5"`. So a whole column is written as JSON at
once, and these characters are put in wherever they belong. A number that keeps the text it has in a
file is marked when it is written, `1.10` as `#1.10`, and gets its quotes like the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, compress
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.run.tagged import WRITTEN, encode
from clinker.cxl.values import MAX_INT, MIN_INT, Value, WrittenFloat
from clinker.formats.common.json_numbers import Codes, Mask, Places, find_long_runs, is_digit
from clinker.frozen import frozen

_QUOTE, _BACKSLASH, _COLON, _POINT, _LF, _MARK = b'"\\:.\n' + WRITTEN.encode()
_EXPONENT, _UNICODE = b"eu"
_IN_NUMBERS = np.zeros(256, np.bool_)
_IN_NUMBERS[list(b"+-.0123456789Ee")] = True
_END = orjson.Fragment(b"\n")
"""What no JSON of a value has, so it tells where a value ends; a comma stands on either side."""
_LONG_INT = 19
"""The fewest digits that may be more than 64 bits."""


class Unfit(Exception):
    """A value that has no counterpart in the declared type."""


# Single values


def tag(value: Any) -> str | None:
    """The tagged text of a value as JSON has it.

    An int outside 64 bits is a float. Unfit if it is nested too deeply to be written again.
    """
    try:
        return encode(_with_floats(value))
    except (RecursionError, orjson.JSONEncodeError):
        raise Unfit from None


def _with_floats(value: Any) -> Value:
    match value:
        case int() if not MIN_INT <= value <= MAX_INT:
            return WrittenFloat(str(value))
        case list():
            return [_with_floats(item) for item in value]
        case dict():
            return {key: _with_floats(item) for key, item in value.items()}
        case _:
            return value  # type: ignore[no-any-return]


# Columns


def tag_column(values: Sequence[Any]) -> pa.StringArray:
    """The tagged text of each value; Unfit if one is nested too deeply."""
    kinds = set(map(type, values))
    if kinds <= {str, type(None)}:
        return pc.binary_join_element_wise('"', pa.array(values, pa.string()), "")
    if kinds <= {dict, list}:
        return _tag_nested(values)
    nested = [type(value) in (dict, list) for value in values]
    texts = [
        None if is_nested or value is None else tag(value)
        for value, is_nested in zip(values, nested, strict=True)
    ]
    return pc.replace_with_mask(
        pa.array(texts, pa.string()),
        pa.array(nested, pa.bool_()),
        _tag_nested(list(compress(values, nested))),
    )


def tag_lists(values: Sequence[list[Any] | None]) -> pa.ListArray:
    """Arrays of tagged texts; Unfit if a value is nested too deeply."""
    arrays = [value or () for value in values]
    items = tag_column(list(chain.from_iterable(arrays)))
    lengths = np.fromiter(map(len, arrays), np.int32, len(arrays))
    offsets = pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32))
    missing = pa.array([value is None for value in values], pa.bool_())
    return pa.ListArray.from_arrays(offsets, items, mask=missing)


def _tag_nested(values: Sequence[Any]) -> pa.StringArray:
    """The tagged texts of arrays and maps."""
    try:
        json = _Json.of(values)
    except orjson.JSONEncodeError:  # one of them is nested too deeply, or almost
        return pa.array([tag(value) for value in values], pa.string())
    is_odd = np.zeros(len(values), np.bool_)
    is_odd[np.searchsorted(json.ends, json.odd_places(), side="right")] = True
    texts = json.tagged()
    if not is_odd.any():
        return texts
    one_by_one = pa.array([tag(value) for value in compress(values, is_odd)], pa.string())
    return pc.replace_with_mask(texts, pa.array(is_odd), one_by_one)


def _mark_number(value: Any) -> Any:
    """The JSON of a number that keeps its text."""
    if isinstance(value, WrittenFloat):
        return orjson.Fragment(WRITTEN + value.text)
    raise TypeError


@frozen(eq=False)
class _Json:
    """The JSON of many arrays and maps, one after the other without blanks."""

    codes: Codes
    ends: Places
    """Where each of them ends."""
    quotes: Places
    """The quotes around texts, in pairs."""

    @classmethod
    def of(cls, values: Sequence[Any]) -> _Json:
        separated = [_END] * (2 * len(values))
        separated[::2] = values
        codes = np.frombuffer(orjson.dumps(separated, _mark_number), np.uint8)
        separators = np.flatnonzero(codes == _LF)
        kept = np.ones(len(codes), np.bool_)
        kept[0] = False
        for offset in (-1, 0, 1):
            kept[separators + offset] = False
        codes = codes[kept]
        ends = separators - 2 - 3 * np.arange(len(separators))
        return cls(codes, ends, np.flatnonzero(_is_quote(codes)))

    def tagged(self) -> pa.StringArray:
        """Each of them with two more characters for every text and every float in it."""
        codes, ends = self.codes, self.ends
        opening, closing = self.quotes[::2], self.quotes[1::2]
        texts = opening[codes[closing + 1] != _COLON]
        points = self._outside_texts(np.flatnonzero(codes == _POINT))
        starts = _find_end_of_number(codes, points, -1)
        stops = _find_end_of_number(codes, points, 1)
        plain = codes[starts - 1] != _MARK
        marks = self._marks
        floats = np.sort(np.concatenate((starts[plain], marks)))
        stops = np.concatenate((stops[plain], _find_end_of_number(codes, marks, 1)))
        places = np.concatenate((texts, texts, floats, stops + 1))
        added = np.full(len(places), _QUOTE, np.uint8)
        added[len(texts) : 2 * len(texts)] = _BACKSLASH
        moved = ends + 2 * (np.searchsorted(texts, ends) + np.searchsorted(floats, ends))
        return pa.StringArray.from_buffers(
            len(ends),
            pa.py_buffer(np.append(0, moved).astype(np.int32)),
            pa.py_buffer(np.insert(codes, places, added)),
        )

    def odd_places(self) -> Places:
        """Where something stands that tagged texts write in another way.

        Numbers with an exponent, ints that may be too large, and control characters.
        """
        codes = self.codes
        digits = is_digit(codes)
        exponents = np.flatnonzero(digits[:-1] & (codes[1:] == _EXPONENT))
        places = np.concatenate((exponents, find_long_runs(digits, _LONG_INT)))
        numbers = self._outside_texts(places)
        numbers = numbers[codes[_find_end_of_number(codes, numbers, -1) - 1] != _MARK]
        slashes = np.flatnonzero(codes == _BACKSLASH)
        return np.concatenate((numbers, slashes[codes[slashes + 1] == _UNICODE]))

    @property
    def _marks(self) -> Places:
        """What stands before numbers that keep their text."""
        return self._outside_texts(np.flatnonzero(self.codes == _MARK))

    def _outside_texts(self, places: Places) -> Places:
        outside: Places = places[np.searchsorted(self.quotes, places) % 2 == 0]
        return outside


def _is_quote(codes: Codes) -> Mask:
    """Where a quote begins or ends a text."""
    is_quote: Mask = codes == _QUOTE
    slashes = np.flatnonzero(codes == _BACKSLASH)
    if len(slashes):
        numbers = np.arange(len(slashes))
        first_in_row = np.diff(slashes, prepend=-2) > 1
        before_in_row = numbers - np.maximum.accumulate(np.where(first_in_row, numbers, 0))
        is_quote[slashes[before_in_row % 2 == 0] + 1] = False
    return is_quote


def _find_end_of_number(codes: Codes, points: Places, step: int) -> Places:
    """Where the numbers at these places have their last character in one direction."""
    places = points
    while True:
        goes_on = _IN_NUMBERS[codes[places + step]]
        if not goes_on.any():
            return places
        places = places + step * goes_on
