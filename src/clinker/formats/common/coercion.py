"""Raw values as values of their declared types.

A column of text is converted in two parts: what is written plainly goes through Arrow's casts, and
all else (signs, other date formats, words) one distinct text at a time. What cannot be converted is
marked, since it rejects its record and not the file.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.builtins.conversion import try_float, try_int
from clinker.cxl.run import strftime
from clinker.cxl.run.tagged import encode
from clinker.cxl.types import NUMERIC, Kind, Type
from clinker.cxl.values import MAX_INT, MIN_INT, WrittenFloat
from clinker.formats.common.column_types import arrow_type
from clinker.formats.common.json_numbers import MALFORMED, dumps, loads
from clinker.formats.common.tagging import (
    Unfit,
    tag,
    tag_column,
    tag_lists,
)
from clinker.frozen import frozen

Mask = npt.NDArray[np.bool_]

_ISO_DATE = "%Y-%m-%d"
_DATE_FORMATS = (_ISO_DATE, "%m/%d/%Y", "%Y/%m/%d", "%m-%d-%Y")
_DATETIME_FORMATS = ("%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M")
_BOOLS = {"true": True, "yes": True, "1": True, "on": True} | {
    "false": False,
    "no": False,
    "0": False,
    "off": False,
}

# Texts that are their own tagged form, the latter up to zeros at the end: so few digits always
# come back from a float unchanged.
_CANONICAL_INT = r"^(0|-?[1-9][0-9]{0,17})$"
_CANONICAL_FLOAT = r"^-?(0|[1-9][0-9]{0,6})\.[0-9]{1,8}$"

_LONGEST_PLAIN_INT = 18


@frozen
class Coerced:
    """A converted column; `unfit` marks what could not be converted, None if nothing."""

    values: pa.Array
    unfit: Mask | None = None


class Coercion:
    """The conversion of raw values into values of one declared type."""

    def __init__(self, to: Type, date_formats: Sequence[strftime.Pattern] = ()) -> None:
        self._kinds = to.without_null().kinds
        self._held_type = arrow_type(to)
        self._patterns = tuple(date_formats)
        self._hold = self._holding()

    @property
    def reads_text(self) -> bool:
        """Whether JSON has its values as texts."""
        return self._kinds in (Kind.DATE, Kind.DATETIME)

    def column_from_text(self, cells: pa.Array) -> Coerced:
        """A column of texts."""
        match self._kinds:
            case Kind.STRING:
                return Coerced(cells)
            case Kind.INT:
                return self._by_cast(null_empty(cells), _PLAIN_INT)
            case Kind.FLOAT:
                return self._by_cast(null_empty(cells), _PLAIN_FLOAT)
            case Kind.DATE if self._date_patterns[0].text == _ISO_DATE:
                return self._by_cast(null_empty(cells), _PLAIN_DATE)
            case Kind.DATETIME if not any(p.gives_datetime for p in self._patterns):
                return self._by_cast(null_empty(cells), _PLAIN_DATETIME)
            case NUMERIC.kinds:
                return self._numbers(null_empty(cells))
            case Kind.BOOL | Kind.DATE | Kind.DATETIME | Kind.ARRAY | Kind.MAP:
                return self._by_distinct(null_empty(cells))
            case _:
                texts = null_empty(cells)
                return Coerced(pc.binary_join_element_wise('"', texts, ""))

    def _by_cast(self, texts: pa.Array, plain: _Plain) -> Coerced:
        """Arrow's cast, on all texts but the odd ones."""
        for odd in plain.odd_ones(texts):
            values = plain.cast(texts if odd is None else pc.if_else(odd, None, texts))
            if values is not None:
                return Coerced(values) if odd is None else self._with_odd(values, texts, odd)
        return self._by_distinct(texts)  # the 31st of February, for instance

    def _with_odd(self, values: pa.Array, texts: pa.Array, odd: Mask) -> Coerced:
        rest = self._by_distinct(texts.filter(odd))
        values = pc.replace_with_mask(values, odd, rest.values)
        if rest.unfit is None:
            return Coerced(values)
        unfit = odd.copy()
        unfit[odd] = rest.unfit
        return Coerced(values, unfit)

    def _numbers(self, texts: pa.Array) -> Coerced:
        is_int = pc.match_substring_regex(texts, _CANONICAL_INT)
        is_float = pc.match_substring_regex(texts, _CANONICAL_FLOAT)
        trimmed = pc.ascii_rtrim(texts, "0")
        whole = pc.ends_with(trimmed, ".")
        floats = pc.if_else(whole, pc.binary_join_element_wise(trimmed, "0", ""), trimmed)
        values = pc.if_else(is_int, texts, pc.if_else(is_float, floats, None))
        rest = self._by_distinct(pc.if_else(pc.or_(is_int, is_float), None, texts))
        return Coerced(pc.coalesce(values, rest.values), rest.unfit)

    def _by_distinct(self, texts: pa.Array) -> Coerced:
        """Every distinct text converted on its own."""
        encoded = texts.dictionary_encode()
        coerced = self.one_by_one(encoded.dictionary.to_pylist())
        values = coerced.values.take(encoded.indices)
        if coerced.unfit is None:
            return Coerced(values)
        unfit = pa.array(coerced.unfit).take(encoded.indices)
        return Coerced(values, np.asarray(unfit.fill_null(False)))

    def column_from_values(self, values: Sequence[Any]) -> Coerced:
        """A column of raw values as JSON has them; None is null."""
        kinds = set(map(type, values)) - {type(None)}
        if kinds <= _AS_THEY_ARE.get(self._kinds, set()) and _fits(values, kinds):
            return Coerced(pa.array(values, self._held_type))
        if kinds == {str} and self._kinds in _READ_FROM_TEXT:
            return self.column_from_text(pa.array(values, pa.string()))
        try:
            return self._at_once(values, kinds)
        except Unfit:  # nested too deeply
            return self.one_by_one(values)

    def _at_once(self, values: Sequence[Any], kinds: set[type]) -> Coerced:
        """Tagged texts as one column, all else one by one."""
        if self._hold is tag:
            return Coerced(tag_column(values))
        if self._kinds not in _NESTED:
            return self.one_by_one(values)
        kind, convert = _NESTED[self._kinds]
        if kinds <= {kind}:
            return Coerced(convert(values))
        fitting = convert([value if type(value) is kind else None for value in values])
        others = self.one_by_one([None if type(value) is kind else value for value in values])
        return Coerced(pc.coalesce(fitting, others.values), others.unfit)

    def one_by_one(self, values: Sequence[Any]) -> Coerced:
        """A column of raw values, dates among them, each converted on its own; None is null."""
        hold = self._hold
        converted: list[Any] = [None] * len(values)
        unfit: Mask | None = None
        for at, value in enumerate(values):
            if value is None:
                continue
            try:
                converted[at] = hold(value)
            except Unfit:
                if unfit is None:
                    unfit = np.zeros(len(values), np.bool_)
                unfit[at] = True
        return Coerced(pa.array(converted, self._held_type), unfit)

    def _holding(self) -> Callable[[Any], Any]:
        """What makes of a raw value that is not null the value its column holds.

        It raises Unfit if it cannot.
        """
        match self._kinds:
            case Kind.STRING:
                return to_json_text
            case Kind.INT:
                return _null_if_empty(_to_int)
            case Kind.FLOAT:
                return _null_if_empty(_to_float)
            case Kind.BOOL:
                return _null_if_empty(_to_bool)
            case Kind.DATE:
                return _null_if_empty(partial(_to_moment, self._parse_date))
            case Kind.DATETIME:
                return _null_if_empty(partial(_to_moment, self._parse_datetime))
            case NUMERIC.kinds:
                return _null_if_empty(_to_number)
            case Kind.ARRAY:
                return _null_if_empty(_to_array)
            case Kind.MAP:
                return _null_if_empty(_to_map)
            case _:
                return tag

    @property
    def _date_patterns(self) -> Sequence[strftime.Pattern]:
        own = [p for p in self._patterns if p.gives_date and not p.needs_time]
        return own + [strftime.compile_pattern(text) for text in _DATE_FORMATS]

    def _parse_date(self, text: str) -> dt.date | None:
        dates = (strftime.parse_date(text, pattern) for pattern in self._date_patterns)
        return next((date for date in dates if date), None)

    def _parse_datetime(self, text: str) -> dt.datetime | None:
        moments = chain(
            (strftime.parse_datetime(text, pattern) for pattern in self._patterns),
            (strftime.parse_iso_datetime(text) for _ in (1,)),
            (
                strftime.parse_datetime(text, strftime.compile_pattern(format))
                for format in _DATETIME_FORMATS
            ),
        )
        return next((moment for moment in moments if moment), None)


_AS_THEY_ARE: dict[Kind, set[type]] = {
    Kind.STRING: {str},
    Kind.INT: {int},
    Kind.FLOAT: {float, WrittenFloat},
    Kind.BOOL: {bool},
}
_NESTED: dict[Kind, tuple[type, Callable[[Sequence[Any]], pa.Array]]] = {
    Kind.ARRAY: (list, tag_lists),
    Kind.MAP: (dict, tag_column),
}
_READ_FROM_TEXT = {Kind.INT, Kind.FLOAT, Kind.BOOL, Kind.DATE, Kind.DATETIME, NUMERIC.kinds}


def _fits(values: Sequence[Any], kinds: set[type]) -> bool:
    if int in kinds:
        return max(filter(None, values), default=0) <= MAX_INT
    return WrittenFloat not in kinds or all(map(math.isfinite, filter(None, values)))


# Columns of text


def null_empty(cells: pa.Array) -> pa.Array:
    """Empty cells as null, which they are in all columns that are not of strings."""
    lengths = pc.binary_length(cells)
    shortest = pc.min(lengths).as_py()
    return pc.if_else(pc.equal(lengths, 0), None, cells) if shortest == 0 else cells


@frozen(eq=False)
class _Plain:
    """What Arrow reads as we do."""

    cast: Callable[[pa.Array], pa.Array | None]
    pattern: str
    characters: bytes = b""
    """If there are any, all that Arrow reads of texts of these characters, it reads as we do."""

    def odd_ones(self, texts: pa.Array) -> Iterator[Mask | None]:
        """Where texts are written in another way, None if nowhere; a quick look comes first."""
        if self.characters:
            yield _mark_others(texts, self.characters)
        is_plain = pc.match_substring_regex(texts, self.pattern)
        odd = ~np.asarray(is_plain.fill_null(True))
        yield odd if odd.any() else None


def _cast_ints(texts: pa.Array) -> pa.Array | None:
    longest = pc.max(pc.binary_length(texts)).as_py() or 0
    return _cast(texts, pa.int64()) if longest <= _LONGEST_PLAIN_INT else None


def _cast_floats(texts: pa.Array) -> pa.Array | None:
    return _cast(texts, pa.float64())


def _cast_dates(texts: pa.Array) -> pa.Array | None:
    dates = _cast(texts, pa.date32())
    if dates is None:
        return None
    first = pc.min(dates).as_py
    try:
        first()
    except (ValueError, OverflowError):  # the year 0
        return None
    return dates


def _cast_datetimes(texts: pa.Array) -> pa.Array | None:
    return _cast(pc.ascii_rtrim(texts, "Z"), pa.timestamp("us"))


def _cast(texts: pa.Array, target: pa.DataType) -> pa.Array | None:
    try:
        return pc.cast(texts, target)
    except pa.ArrowInvalid:
        return None


def _mark_others(texts: pa.Array, characters: bytes) -> Mask | None:
    """Where a text has other characters than these, None if nowhere: a look at its bytes."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return None
    bounds = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    is_other = np.ones(256, np.bool_)
    is_other[list(characters)] = False
    others = np.flatnonzero(is_other[np.frombuffer(data, np.uint8)[bounds[0] : bounds[-1]]])
    if not len(others):
        return None
    is_odd = np.zeros(len(texts), np.bool_)
    is_odd[np.searchsorted(bounds, bounds[0] + others, side="right") - 1] = True
    return is_odd


# Years below 1000 and numbers of 19 digits need a closer look. Arrow also reads hexadecimal
# numbers and `nan(1)`, and our words for infinity are many.
_PLAIN_INT = _Plain(_cast_ints, r"^-?[0-9]{1,18}$", b"-0123456789")
_PLAIN_FLOAT = _Plain(
    _cast_floats,
    r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$",
    b"+-.0123456789Ee",
)
_PLAIN_DATE = _Plain(_cast_dates, r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$", b"-0123456789")
_PLAIN_DATETIME = _Plain(
    _cast_datetimes,
    r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?Z?$",
)


# Single values


def _null_if_empty(hold: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An empty text is null in all columns that are not of strings."""
    return lambda value: None if value == "" else hold(value)


def to_json_text(value: Any) -> str:
    """A text as it is, all else as JSON."""
    return value if isinstance(value, str) else dumps(value).decode()


def _to_int(value: Any) -> int:
    match value:
        case bool():
            return int(value)
        case int():
            number: int | None = value
        case float() if value.is_integer():
            number = int(value)
        case str():
            number = try_int(value)
        case _:
            number = None
    if number is None or not MIN_INT <= number <= MAX_INT:
        raise Unfit
    return number


def _to_float(value: Any) -> float:
    match value:
        case WrittenFloat():
            number: float | None = float(value) if math.isfinite(value) else None
        case int() | float():
            return float(value)
        case str():
            number = try_float(value)
        case _:
            number = None
    if number is None:
        raise Unfit
    return number


def _to_number(value: Any) -> str | None:
    """The tagged text of a number; an int stays one."""
    match value:
        case bool():
            return encode(int(value))
        case int() if MIN_INT <= value <= MAX_INT:
            return encode(value)
        case int() | float():
            return encode(_to_float(value))
        case str():
            number = try_int(value)
            return encode(_to_float(value) if number is None else number)
        case _:
            raise Unfit


def _to_bool(value: Any) -> bool:
    match value:
        case int():
            return value != 0
        case str() if value.lower() in _BOOLS:
            return _BOOLS[value.lower()]
        case _:
            raise Unfit


def _to_moment(parse: Callable[[str], dt.date | None], value: Any) -> dt.date:
    moment = parse(value) if isinstance(value, str) else None
    if moment is None:
        raise Unfit
    return moment


def _to_array(value: Any) -> list[str | None]:
    return [tag(item) for item in _to_nested(value, list)]


def _to_map(value: Any) -> str | None:
    return tag(_to_nested(value, dict))


def _to_nested(value: Any, kind: type) -> Any:
    """An array or a map, which a text holds as JSON."""
    if isinstance(value, str):
        try:
            value = loads(value.encode())
        except MALFORMED:
            raise Unfit from None
    if not isinstance(value, kind):
        raise Unfit
    return value
