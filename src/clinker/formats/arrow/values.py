"""The values of Arrow as JSON has them: times as texts, decimals as numbers with their digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.values import MAX_INT, WrittenFloat
from clinker.formats.common.json_numbers import loads

_Finish: TypeAlias = Callable[[Any], Any]

_IS_AS_IN_JSON = (
    pa.types.is_null,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_decimal,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
)
_IS_MOMENT = (pa.types.is_date, pa.types.is_time)
_IS_LIST = (
    pa.types.is_list,
    pa.types.is_large_list,
    pa.types.is_fixed_size_list,
    pa.types.is_list_view,
    pa.types.is_large_list_view,
)
_DAY_AND_TIME = r"^(-?[0-9]+-[0-9]{2}-[0-9]{2}) "
_DIGITS_TOO_MANY, _ZEROS = r"(\.[0-9]{6})[0-9]+$", r"\.?0+$"


def json_values(column: pa.Array) -> list[Any]:
    """What a JSON text would hold in place of these values; NaN, which it cannot hold, is null."""
    values: list[Any] = _plain(column).to_pylist()
    finish = _finishing(column.type)
    if finish is None:
        return values
    return [None if value is None else finish(value) for value in values]


def has_json_form(type_: pa.DataType) -> bool:
    """Whether JSON has a place for the values of a type."""
    if pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_):
        return has_json_form(type_.value_type)
    if any(is_list(type_) for is_list in _IS_LIST):
        return has_json_form(type_.value_type)
    if pa.types.is_struct(type_):
        names = type_.names
        inner = all(has_json_form(field.type) for field in type_.fields)
        return inner and len(set(names)) == len(names)
    if pa.types.is_map(type_):
        return _is_text(type_.key_type) and has_json_form(type_.item_type)
    is_known = (*_IS_AS_IN_JSON, *_IS_MOMENT, pa.types.is_timestamp, pa.types.is_floating)
    return any(is_kind(type_) for is_kind in is_known)


def _is_text(type_: pa.DataType) -> bool:
    return any(is_text(type_) for is_text in (pa.types.is_string, pa.types.is_large_string))


# What Arrow can do by itself


def _plain(array: pa.Array) -> pa.Array:
    """The same values without times, dictionaries and NaN."""
    type_ = array.type
    if pa.types.is_dictionary(type_):
        return _plain(array.dictionary_decode())
    if pa.types.is_run_end_encoded(type_):
        return _plain(pc.run_end_decode(array))
    if pa.types.is_floating(type_):
        numbers = pc.cast(array, pa.float64())
        return pc.if_else(pc.is_nan(numbers), None, numbers)
    if any(is_moment(type_) for is_moment in _IS_MOMENT):
        return _without_zeros(pc.cast(array, pa.string()))
    if pa.types.is_timestamp(type_):
        return _moments(array)
    if pa.types.is_struct(type_):
        parts = [_plain(part) for part in array.flatten()]
        return pa.StructArray.from_arrays(parts, type_.names, mask=array.is_null())
    if pa.types.is_map(type_):
        pairs = pa.list_(pa.struct([("key", type_.key_type), ("value", type_.item_type)]))
        return _plain_items(pc.cast(array, pairs))
    if any(is_list(type_) for is_list in _IS_LIST):
        return _plain_items(array)
    return array


def _plain_items(array: pa.Array) -> pa.ListArray:
    lengths = np.asarray(pc.fill_null(pc.list_value_length(array), 0), np.int64)
    offsets = pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, _plain(pc.list_flatten(array)), mask=array.is_null())


def _moments(array: pa.TimestampArray) -> pa.StringArray:
    """Moments as ISO 8601 has them; those of a zone in UTC, which their `Z` says."""
    unit, zone = array.type.unit, array.type.tz
    texts = pc.cast(pc.cast(array, pa.int64()).cast(pa.timestamp(unit)), pa.string())
    texts = _without_zeros(pc.replace_substring_regex(texts, _DAY_AND_TIME, r"\1T"))
    return pc.binary_join_element_wise(texts, "Z", "") if zone else texts


def _without_zeros(texts: pa.StringArray) -> pa.StringArray:
    """Times with no more digits of a second than they need, and than we keep."""
    texts = pc.replace_substring_regex(texts, _DIGITS_TOO_MANY, r"\1")
    has_fraction = pc.match_substring(texts, ".")
    return pc.if_else(has_fraction, pc.replace_substring_regex(texts, _ZEROS, ""), texts)


# What is left to Python


def _finishing(type_: pa.DataType) -> _Finish | None:
    """What makes of a plain value the one that JSON has; None if they are the same."""
    if pa.types.is_dictionary(type_) or pa.types.is_run_end_encoded(type_):
        return _finishing(type_.value_type)
    if pa.types.is_decimal(type_):
        return _decimal
    if pa.types.is_floating(type_):
        return _float
    if pa.types.is_uint64(type_):
        return _large_int
    if pa.types.is_map(type_):
        return _pairs(_finishing(type_.item_type))
    if pa.types.is_struct(type_):
        return _fields({field.name: _finishing(field.type) for field in type_.fields})
    if any(is_list(type_) for is_list in _IS_LIST):
        return _items(_finishing(type_.value_type))
    return None


def _decimal(value: Decimal) -> Any:
    return loads(f"{value:f}".encode())


def _float(value: float) -> Any:
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _large_int(value: int) -> Any:
    return value if value <= MAX_INT else WrittenFloat(str(value))


def _finished(finish: _Finish | None, value: Any) -> Any:
    return value if finish is None or value is None else finish(value)


def _pairs(finish: _Finish | None) -> _Finish:
    return lambda pairs: {pair["key"]: _finished(finish, pair["value"]) for pair in pairs}


def _fields(finishing: dict[str, _Finish | None]) -> _Finish:
    return lambda value: {
        name: _finished(finish, value[name]) for name, finish in finishing.items()
    }


def _items(finish: _Finish | None) -> _Finish | None:
    return (lambda items: [_finished(finish, item) for item in items]) if finish else None
