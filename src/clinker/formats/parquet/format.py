"""Parquet as a format."""

from __future__ import annotations

from clinker.formats.format import Format
from clinker.formats.parquet.dialect import read_dialect, write_dialect
from clinker.formats.parquet.reader import read_origins, read_split
from clinker.formats.parquet.schema import read_schema
from clinker.formats.parquet.survey import take_inventory
from clinker.formats.parquet.writer import ParquetRenderer

FORMAT = Format(
    read_dialect=read_dialect,
    write_dialect=write_dialect,
    take_inventory=take_inventory,
    read_split=read_split,
    read_origins=read_origins,
    read_schema=read_schema,
    make_renderer=ParquetRenderer,
    has_texts=False,
    has_arrays=False,
    names_columns_first=True,
)
