"""Columns as a Parquet file holds them: their types follow from the plan, never from the data.

Values of one kind, and arrays of such, have a type of their own. What may be of several kinds, maps
among it, is written as JSON; numbers that may be Int or Float are doubles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.failure import printable
from clinker.cxl.run.tagged import decode
from clinker.cxl.types import NUMERIC, Kind, Type
from clinker.formats.common.cell_texts import show_cells
from clinker.formats.common.column_types import NATIVE, representation
from clinker.formats.common.json_texts import write_json
from clinker.formats.common.writing import Offsets, OutputColumn, WriteError

_MOMENT = pa.timestamp("us", "UTC")
_OF_TEXT = 4
"""What the length of a text or of an array takes, in bytes."""


def written_type(type_: Type) -> pa.DataType:
    """The type of a column in a file."""
    if type_.only(NUMERIC.kinds) and type_.maybe(Kind.INT) and type_.maybe(Kind.FLOAT):
        return pa.float64()
    return _native_type(type_) or pa.string()


def write_column(values: pa.Array, column: OutputColumn) -> pa.Array:
    """The values of a column as a file holds them."""
    type_ = column.type
    if type_.only(NUMERIC.kinds) and representation(type_).is_tagged:
        return _write_numbers(values, column)
    native = _native_type(type_)
    if native is None:
        return write_json(values, type_)
    return values if values.type == native else pc.cast(values, native)


def write_decimals(values: pa.Array, column: OutputColumn, to: pa.DataType) -> pa.Array:
    """Numbers as decimals that are equal to them; WriteError if there is none."""
    texts = show_cells(values, column, "parquet")
    written = _cast(texts, to)
    if written is None:
        first = next(at for at in range(len(texts)) if _cast(texts.slice(at, 1), to) is None)
        raise WriteError(
            f"'{printable(column.name)}' is {to.precision} digits in the file, {to.scale} of them "
            f"behind the point, and {texts[first]} has others",
            record=first + 1,
            help=f"round it with round_to({to.scale}), or give 'decimals' more digits",
        )
    return written


def _cast(texts: pa.StringArray, to: pa.DataType) -> pa.Array | None:
    try:
        return pc.cast(texts, to)
    except pa.ArrowInvalid:
        return None


def measure(values: pa.Array) -> Offsets:
    """How many bytes each value takes; the same wherever it stands."""
    if pa.types.is_string(values.type):
        lengths = pc.fill_null(pc.binary_length(values), 0)
        return np.asarray(lengths, np.int64) + _OF_TEXT
    if pa.types.is_list(values.type):
        lengths = np.asarray(pc.fill_null(pc.list_value_length(values), 0), np.int64)
        before = np.concatenate(([0], np.cumsum(measure(values.flatten()))))
        ends = np.cumsum(lengths)
        sizes: Offsets = before[ends] - before[ends - lengths] + _OF_TEXT
        return sizes
    return np.full(len(values), max(1, values.type.bit_width // 8), np.int64)


def _native_type(type_: Type) -> pa.DataType | None:
    """None if values are of several kinds."""
    form = representation(type_)
    if form.element:
        element = _native_type(type_.element_type)
        return pa.list_(pa.field("element", element)) if element else None
    if form.kind is None:
        return None
    return _MOMENT if form.kind is Kind.DATETIME else NATIVE[form.kind].arrow


def _write_numbers(tagged: pa.StringArray, column: OutputColumn) -> pa.Array:
    encoded = tagged.dictionary_encode()
    numbers = [decode(text) for text in encoded.dictionary.to_pylist()]
    doubles = pa.array(map(_as_double, numbers), pa.float64())
    inexact = pa.array([_is_inexact(number) for number in numbers], pa.bool_())
    first = pc.index(inexact.take(encoded.indices), True).as_py()
    if first >= 0:
        raise WriteError(
            f"'{printable(column.name)}' is written as doubles, since it may be Int or Float, and "
            f"none is {decode(tagged[first].as_py())}",
            record=first + 1,
            help="make the column an Int or a String before it is written",
        )
    return doubles.take(encoded.indices)


def _as_double(number: Any) -> float | None:
    return None if number is None else float(number)


def _is_inexact(number: Any) -> bool:
    return type(number) is int and int(float(number)) != number
