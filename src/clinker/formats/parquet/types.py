"""Which types of Parquet hold values of which types of CXL."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from clinker.cxl.types import (
    ANY,
    BOOL,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    MAP,
    NUMERIC,
    STRING,
    Type,
    array_of,
)

_MOST_DIGITS_OF_INTS, _MOST_DIGITS_OF_FLOATS = 18, 15
"""With so many digits two numbers never become the same one."""


def type_of(arrow: pa.DataType) -> Type | None:
    """The type of the values in a column; None if no value of CXL is like them."""
    arrow = stored_type(arrow)
    if pt.is_struct(arrow):
        is_map = 0 < len(set(arrow.names)) == arrow.num_fields
        return MAP if is_map and all(type_of(field.type) for field in arrow) else None
    if pt.is_map(arrow):
        return MAP if _is_key(arrow.key_type) and type_of(arrow.item_type) else None
    if is_array(arrow):
        element = type_of(arrow.value_type)
        return array_of(element.nullable()) if element else None
    return _type_of_scalars(arrow)


def _type_of_scalars(arrow: pa.DataType) -> Type | None:
    if pt.is_null(arrow):
        return ANY
    if pt.is_boolean(arrow):
        return BOOL
    if pt.is_integer(arrow):
        return INT
    if pt.is_floating(arrow):
        return FLOAT
    if pt.is_decimal(arrow):
        if arrow.scale < 0:
            return None  # files have none
        if arrow.scale == 0 and arrow.precision <= _MOST_DIGITS_OF_INTS:
            return INT
        return FLOAT if arrow.precision <= _MOST_DIGITS_OF_FLOATS else NUMERIC
    if is_text(arrow) or pt.is_time(arrow) or is_uuid(arrow):
        return STRING
    if pt.is_date(arrow):
        return DATE
    if pt.is_timestamp(arrow):
        return DATETIME
    return None


def stored_type(arrow: pa.DataType) -> pa.DataType:
    """The type without what Arrow adds for its own purposes."""
    if pt.is_dictionary(arrow):
        return stored_type(arrow.value_type)
    if isinstance(arrow, pa.BaseExtensionType) and not is_uuid(arrow):
        return stored_type(arrow.storage_type)
    return arrow


def is_text(arrow: pa.DataType) -> bool:
    return bool(pt.is_string(arrow) or pt.is_large_string(arrow) or pt.is_string_view(arrow))


def is_uuid(arrow: pa.DataType) -> bool:
    return isinstance(arrow, pa.UuidType)


def is_array(arrow: pa.DataType) -> bool:
    return bool(pt.is_list(arrow) or pt.is_large_list(arrow) or pt.is_fixed_size_list(arrow))


def _is_key(arrow: pa.DataType) -> bool:
    """Whether the keys of a map can be texts, as those of our maps are."""
    arrow = stored_type(arrow)
    return is_text(arrow) or is_uuid(arrow) or bool(pt.is_integer(arrow) or pt.is_date(arrow))
