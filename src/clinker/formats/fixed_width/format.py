"""Fixed width as a format."""

from __future__ import annotations

from clinker.formats.fixed_width.dialect import read_dialect, write_dialect
from clinker.formats.fixed_width.reader import read_origins, read_split
from clinker.formats.fixed_width.survey import take_inventory
from clinker.formats.fixed_width.writer import FixedWidthRenderer
from clinker.formats.format import Format

FORMAT = Format(
    read_dialect=read_dialect,
    write_dialect=write_dialect,
    take_inventory=take_inventory,
    read_split=read_split,
    read_origins=read_origins,
    make_renderer=FixedWidthRenderer,
    has_texts=True,
    has_arrays=False,
    names_columns_first=False,
)
