"""CSV as a format."""

from __future__ import annotations

from clinker.formats.csv.dialect import read_dialect, write_dialect
from clinker.formats.csv.reader import read_origins, read_split
from clinker.formats.csv.survey import take_inventory
from clinker.formats.csv.writer import CsvRenderer
from clinker.formats.format import Format

FORMAT = Format(
    read_dialect=read_dialect,
    write_dialect=write_dialect,
    take_inventory=take_inventory,
    read_split=read_split,
    read_origins=read_origins,
    make_renderer=CsvRenderer,
    has_texts=True,
    has_arrays=False,
    names_columns_first=True,
)
