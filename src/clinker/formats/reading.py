"""Reading the files of a source: first an inventory of what is there, then each split by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

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
    "limit_records",
    "read_origins",
    "read_split",
    "take_inventory",
]


def take_inventory(spec: ReadSpec, files: Sequence[InputFile], split_bytes: int) -> Inventory:
    """Open the files and cut those larger than `split_bytes`; FormatError if one is unreadable."""
    with reading(files):
        format = load_format(spec.format)
        inventory = format.take_inventory(spec, spec.dialect, files, split_bytes)
    return _number_pages(spec, inventory)


def _number_pages(spec: ReadSpec, inventory: Inventory) -> Inventory:
    """Records are numbered through over all pages of a file, as if it were one."""
    if all(split.file.page_of is None for split in inventory.splits):
        return inventory
    first_rows: dict[int | None, int] = {}
    splits: list[Split] = []
    for split in inventory.splits:
        first_row = first_rows.setdefault(split.file.page_of, 1)
        splits.append(replace(split, first_row=first_row))
        first_rows[split.file.page_of] = first_row + count_records(spec, inventory, split)
    return replace(inventory, splits=tuple(splits))


def limit_records(spec: ReadSpec, inventory: Inventory, most: int) -> Inventory:
    """An inventory of the first so many records."""
    splits: list[Split] = []
    left = most
    for split in inventory.splits:
        records = count_records(spec, inventory, split)
        if left:
            splits.append(split if records <= left else replace(split, most=left))
        left -= min(left, records)
    return replace(inventory, splits=tuple(splits))


def read_split(spec: ReadSpec, inventory: Inventory, split: Split) -> Iterator[pa.RecordBatch]:
    """The records of a split in their order, the rejected ones among them.

    FormatError if the file is no longer the one that the inventory was taken of.
    """
    format = load_format(spec.format)
    records = 0
    with reading([split.file]):
        for batch in format.read_split(spec, spec.dialect, inventory, split):
            if split.most is not None:
                batch = batch.slice(0, split.most - records)
            records += batch.num_rows
            yield with_document(batch, inventory, split.file.index)
            if records == split.most:
                return
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
    """How many records of a split are read, rejected ones included."""
    records = split.records
    if records is None:
        count = load_format(spec.format).count_records
        assert count, f"{spec.format} has not counted the records of a split"
        with reading([split.file]):
            records = count(spec, spec.dialect, inventory, split)
    return records if split.most is None else min(records, split.most)
