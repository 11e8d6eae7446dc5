"""EDIFACT as a format."""

from __future__ import annotations

from functools import partial

from clinker.formats.edifact.grammar import GRAMMAR
from clinker.formats.edifact.writer import EdifactRenderer, write_dialect
from clinker.formats.format import Format
from clinker.formats.interchange.dialect import read_dialect
from clinker.formats.interchange.reader import read_origins, read_split
from clinker.formats.interchange.survey import take_inventory

FORMAT = Format(
    read_dialect=read_dialect,
    write_dialect=write_dialect,
    take_inventory=partial(take_inventory, GRAMMAR),
    read_split=partial(read_split, GRAMMAR),
    read_origins=partial(read_origins, GRAMMAR),
    make_renderer=EdifactRenderer,
    has_texts=True,
    has_arrays=False,
    names_columns_first=False,
)
