"""Columns of a file as values of the declared types.

What has a form in the column it goes to is converted all at once, other values one by one, as those
of JSON are.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from clinker.cxl.run.strftime import Pattern
from clinker.cxl.run.tagged import encode
from clinker.cxl.types import NUMERIC, Kind, Type
from clinker.cxl.values import MAX_INT, WrittenFloat
from clinker.formats.common.coercion import Coerced, Coercion
from clinker.formats.common.column_types import arrow_type, is_tagged
from clinker.formats.common.texts import show_column
from clinker.formats.parquet.types import is_array, is_text
from clinker.formats.parquet.values import (
    list_values,
    plain,
    show_times,
    take_dates,
    take_moments,
    take_texts,
)

Mask: TypeAlias = npt.NDArray[np.bool_]

_MOMENT = pa.timestamp("us")


def coerce(values: pa.Array, to: Type, date_formats: Sequence[Pattern]) -> Coerced:
    """A column of any type that `type_of` knows as one of the declared type."""
    values = plain(values)
    kinds = to.without_null().kinds
    found = _coerce_scalars(values, kinds)
    if found is None and kinds is Kind.ARRAY and not is_tagged(to.element_type):
        found = _coerce_arrays(values, to, date_formats)
    if found is None and is_text(values.type) and kinds is not Kind.STRING:
        texts, unfit = take_texts(values)
        found = _with(Coercion(to, date_formats).column_from_text(texts), unfit)
    if found is None:
        found = _coerce_each(values, to, date_formats)
    return found


def _coerce_scalars(values: pa.Array, kinds: Kind) -> Coerced | None:
    """None if it is not to be done all at once."""
    held = values.type
    if pt.is_null(held):
        return None
    match kinds:
        case Kind.STRING:
            return _to_texts(values)
        case Kind.INT if pt.is_uint64(held):
            unfit = np.asarray(pc.greater(values, pa.scalar(MAX_INT, pa.uint64())).fill_null(False))
            fitting = pc.if_else(pa.array(unfit), None, values)
            return Coerced(pc.cast(fitting, pa.int64()), unfit if unfit.any() else None)
        case Kind.INT if pt.is_integer(held):
            return Coerced(pc.cast(values, pa.int64()))
        case Kind.FLOAT if pt.is_floating(held) or pt.is_integer(held):
            return Coerced(pc.cast(values, pa.float64(), safe=False))
        case Kind.FLOAT if pt.is_decimal(held):
            return Coerced(pc.cast(pc.cast(values, pa.string()), pa.float64()))
        case Kind.BOOL if pt.is_boolean(held):
            return Coerced(values)
        case Kind.DATE | Kind.DATETIME if pt.is_date(held) or pt.is_timestamp(held):
            moments = take_dates(values) if pt.is_date(held) else take_moments(values)
            return Coerced(_as(moments.values, kinds), moments.unfit)
    return None


def _as(moments: pa.Array, kinds: Kind) -> pa.Array:
    """Of a moment its date, of a date its midnight."""
    return pc.cast(moments, pa.date32() if kinds is Kind.DATE else _MOMENT, safe=False)


def _to_texts(values: pa.Array) -> Coerced | None:
    held = values.type
    if is_text(held):
        return Coerced(*take_texts(values))
    if pt.is_time(held):
        return Coerced(show_times(values))
    if pt.is_date(held) or pt.is_timestamp(held):
        moments = take_dates(values) if pt.is_date(held) else take_moments(values)
        return Coerced(show_column(moments.values), moments.unfit)
    if pt.is_floating(held):
        return Coerced(show_column(pc.cast(values, pa.float64())))
    if pt.is_integer(held) or pt.is_boolean(held):
        return Coerced(pc.cast(values, pa.string()))
    return None


def _coerce_arrays(values: pa.Array, to: Type, date_formats: Sequence[Pattern]) -> Coerced | None:
    """Arrays whose elements have a type of their own; one that has an unfit element is unfit."""
    if not is_array(values.type):
        return None
    elements = coerce(values.flatten(), to.element_type, date_formats)
    lengths = np.asarray(pc.fill_null(pc.list_value_length(values), 0), np.int64)
    ends = np.cumsum(lengths)
    offsets = pa.array(np.append(0, ends).astype(np.int32))
    missing = values.is_null() if values.null_count else None
    arrays = pa.ListArray.from_arrays(offsets, elements.values, mask=missing)
    arrays = arrays.cast(arrow_type(to))
    if elements.unfit is None:
        return Coerced(arrays)
    before = np.append(0, np.cumsum(elements.unfit))
    unfit = before[ends] > before[ends - lengths]
    return Coerced(pc.if_else(pa.array(unfit), None, arrays), unfit)


def _coerce_each(values: pa.Array, to: Type, date_formats: Sequence[Pattern]) -> Coerced:
    raw = list_values(values)
    kinds = to.without_null().kinds
    if kinds is Kind.INT:
        raw = list(map(_exact_int, raw))
    if kinds is NUMERIC.kinds and pt.is_decimal(values.type):
        return Coerced(pa.array(map(encode, raw), pa.string()))  # with all their digits
    return Coercion(to, date_formats).one_by_one(raw)


def _exact_int(value: Any) -> Any:
    """Of a number with more digits than a Float has an Int, or what cannot become one."""
    if not isinstance(value, WrittenFloat):
        return value
    number = Decimal(value.text)
    return int(number) if number == number.to_integral_value() else value.text


def _with(coerced: Coerced, unfit: Mask | None) -> Coerced:
    if unfit is None:
        return coerced
    return Coerced(coerced.values, unfit if coerced.unfit is None else unfit | coerced.unfit)
