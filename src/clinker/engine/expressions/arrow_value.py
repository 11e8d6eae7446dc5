"""Values in Arrow columns, in the form that columns hold them in."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from clinker.cxl.run import tagged
from clinker.cxl.types import Type
from clinker.cxl.values import Value
from clinker.formats.common.column_types import Representation, representation


def to_values(column: pa.Array | pa.ChunkedArray, type_: Type) -> list[Value]:
    """The values a column of this type holds."""
    form = representation(type_)
    items: list[Value] = column.to_pylist()
    if _is_plain(form):
        return items
    return [_read_value(item, form) for item in items]


def from_values(values: Sequence[Value], type_: Type) -> pa.Array:
    """A column of this type that holds the values."""
    form = representation(type_)
    items = values if _is_plain(form) else [_hold(value, form) for value in values]
    return pa.array(items, form.arrow_type)


def _is_plain(form: Representation) -> bool:
    """Whether Arrow's own objects are the values."""
    return _is_plain(form.element) if form.element else not form.is_tagged


def _read_value(item: Value, form: Representation) -> Value:
    if item is None:
        return None
    if form.element:
        assert isinstance(item, list)
        return [_read_value(part, form.element) for part in item]
    if form.is_tagged:
        assert isinstance(item, str)
        return tagged.decode(item)
    return item


def _hold(value: Value, form: Representation) -> Value:
    if form.element and isinstance(value, list):
        return [_hold(part, form.element) for part in value]
    return tagged.encode(value) if form.is_tagged else value
