"""Reading the files of a source: first an inventory of what is there, then each split by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from clinker.formats.common.documents import with_document
from clinker.formats.common.read_spec import (
    ArrayPath,
    Column,
    FormatError,
    InputFile,
    Inventory,
    ReadSpec,
    Section,
    Split,
)
from clinker.formats.files.local import check_count, check_unchanged, input_file, reading
from clinker.formats.registry import load_format

__all__ = [
    "ArrayPath",
    "Column",
    "FormatError",
    "InputFile",
    "Inventory",
    "ReadSpec",
    "Section",
    "Split",
    "check_unchanged",
    "count_records",
    "input_file",
    "read_origins",
    "read_split",
    "take_inventory",
]


def take_inventory(spec: ReadSpec, files: Sequence[InputFile], split_bytes: int) -> Inventory:
    """Open the files and cut those larger than `split_bytes`; FormatError if one is unreadable."""
    with reading(files):
        format = load_format(spec.format)
        return format.take_inventory(spec, spec.dialect, files, split_bytes)


def read_split(spec: ReadSpec, inventory: Inventory, split: Split) -> Iterator[pa.RecordBatch]:
    """The records of a split in their order, the rejected ones among them.

    FormatError if the file is no longer the one that the inventory was taken of.
    """
    format = load_format(spec.format)
    records = 0
    with reading([split.file]):
        for batch in format.read_split(spec, spec.dialect, inventory, split):
            records += batch.num_rows
            yield with_document(batch, inventory, split.file.index)
    # A record that is unlike what was guessed is the last one of its split.
    if not (inventory.members and records < (split.records or 0)):
        check_count(split, records)


def read_origins(
    spec: ReadSpec, inventory: Inventory, split: Split, rows: Sequence[int]
) -> pa.StringArray:
    """What the file holds for some records of a split, as tagged maps.

    `rows` are the numbers of the records in the file, in order.
    """
    with reading([split.file]):
        format = load_format(spec.format)
        return format.read_origins(spec, spec.dialect, inventory, split, rows)


def count_records(spec: ReadSpec, inventory: Inventory, split: Split) -> int:
    """How many records a split has, rejected ones included."""
    if split.records is not None:
        return split.records
    count = load_format(spec.format).count_records
    assert count, f"{spec.format} has not counted the records of a split"
    with reading([split.file]):
        return count(spec, spec.dialect, inventory, split)
