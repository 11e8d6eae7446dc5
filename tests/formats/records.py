"""Records for the tests of writers: values in the form the engine hands them over."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from clinker.cxl import types
from clinker.cxl.run.tagged import encode
from clinker.cxl.types import Kind, Type
from clinker.cxl.values import Value
from clinker.formats import FORMATS
from clinker.formats.common.column_types import is_tagged
from clinker.formats.common.read_spec import WIDENED
from clinker.formats.common.rendering import render_all
from clinker.formats.common.writing import OutputColumn, Split, Widened, WriteSpec
from clinker.formats.csv.dialect import CsvWriteDialect
from clinker.formats.files.assembly import write_document
from clinker.formats.json.dialect import JsonWriteDialect
from clinker.formats.renderer import renderer
from clinker.formats.xml.dialect import XmlWriteDialect

Columns: TypeAlias = Mapping[str, tuple[Type, Sequence[Value]]]

_ARROW_TYPES = {
    Kind.BOOL: pa.bool_(),
    Kind.INT: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.STRING: pa.string(),
    Kind.DATE: pa.date32(),
    Kind.DATETIME: pa.timestamp("us"),
}


_DIALECTS = {"csv": CsvWriteDialect, "json": JsonWriteDialect, "xml": XmlWriteDialect}


def spec(
    columns: Columns,
    *,
    format: str = "csv",
    widened: Widened | None = None,
    split: Split | None = None,
    **dialect: Any,
) -> WriteSpec:
    return WriteSpec(
        format=FORMATS[format],
        dialect=_DIALECTS[format](**dialect),
        columns=tuple(OutputColumn(name, kind) for name, (kind, _) in columns.items()),
        widened=widened,
        split=split,
    )


def batch(columns: Columns, widened: Sequence[Value] | None = None) -> pa.RecordBatch:
    arrays = {name: _array(values, kind) for name, (kind, values) in columns.items()}
    if widened is not None:
        arrays[WIDENED] = _array(widened, types.MAP)
    return pa.RecordBatch.from_pydict(arrays)


def document(
    columns: Columns, *, widened_values: Sequence[Value] | None = None, **options: Any
) -> str:
    """The whole file."""
    form = renderer(spec(columns, **options))
    file = io.BytesIO()
    write_document(file, form, render_all(form, [batch(columns, widened_values)]))
    return file.getvalue().decode()


def csv_text(columns: Columns, **options: Any) -> str:
    return document(columns, format="csv", **options)


def json_text(columns: Columns, **options: Any) -> str:
    return document(columns, format="json", **options)


def xml_text(columns: Columns, **options: Any) -> str:
    return document(columns, format="xml", **options)


def _array(values: Sequence[Value], kind: Type) -> pa.Array:
    return pa.array([_held(value, kind) for value in values], _arrow_type(kind))


def _held(value: Value, kind: Type) -> Any:
    if is_tagged(kind):
        return encode(value)
    if isinstance(value, list):
        return [_held(item, kind.element_type) for item in value]
    return value


def _arrow_type(kind: Type) -> pa.DataType:
    if is_tagged(kind):
        return pa.string()
    if kind.only(Kind.ARRAY):
        return pa.list_(_arrow_type(kind.element_type))
    return _ARROW_TYPES[kind.without_null().kinds]
