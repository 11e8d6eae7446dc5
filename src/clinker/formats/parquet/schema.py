"""The columns of a Parquet file, as a source declares them."""

from __future__ import annotations

from clinker.cxl.types import Type
from clinker.formats.parquet.content import opened
from clinker.formats.parquet.survey import unreadable_column
from clinker.formats.parquet.types import type_of


def read_schema(path: str) -> dict[str, Type]:
    """The types of all columns by their names; FormatError if there are others than CXL has."""
    with opened(path) as content:
        schema = content.schema
    columns: dict[str, Type] = {}
    for field in schema:
        type_ = type_of(field.type)
        if type_ is None:
            way_out = "declare a 'schema' without it, and set 'on_unmapped: {mode: drop}'"
            raise unreadable_column(field.name, field.type, path, way_out)
        columns[field.name] = type_
    return columns
