"""XML as a format."""

from __future__ import annotations

from clinker.formats.format import Format
from clinker.formats.xml.dialect import read_dialect, write_dialect
from clinker.formats.xml.reader import read_origins, read_split
from clinker.formats.xml.survey import take_inventory
from clinker.formats.xml.writer import XmlRenderer

FORMAT = Format(
    read_dialect=read_dialect,
    write_dialect=write_dialect,
    take_inventory=take_inventory,
    read_split=read_split,
    read_origins=read_origins,
    make_renderer=XmlRenderer,
    has_texts=False,
    has_arrays=False,
    names_columns_first=False,
)
