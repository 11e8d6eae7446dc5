"""JSON as a format."""

from __future__ import annotations

from clinker.formats.format import Format
from clinker.formats.json.dialect import read_dialect, write_dialect
from clinker.formats.json.reader import count_records, read_origins, read_split
from clinker.formats.json.survey import take_inventory
from clinker.formats.json.writer import JsonRenderer

FORMAT = Format(
    read_dialect=read_dialect,
    write_dialect=write_dialect,
    take_inventory=take_inventory,
    read_split=read_split,
    read_origins=read_origins,
    count_records=count_records,
    make_renderer=JsonRenderer,
    has_texts=False,
    has_arrays=True,
    names_columns_first=False,
)
