"""Reading the files of a source: first an inventory of what is there, then each split by itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from clinker.formats.common.read_spec import (
    ArrayPath,
    Column,
    CsvDialect,
    FileLayout,
    FormatError,
    InputFile,
    Inventory,
    JsonDialect,
    ReadSpec,
    Split,
    delivered_schema,
)
from clinker.formats.csv import reader as csv_reader
from clinker.formats.csv import survey as csv_survey
from clinker.formats.files.unchanged import check_count, check_unchanged, input_file, reading
from clinker.formats.json import reader as json_reader
from clinker.formats.json import survey as json_survey

__all__ = [
    "ArrayPath",
    "Column",
    "CsvDialect",
    "FileLayout",
    "FormatError",
    "InputFile",
    "Inventory",
    "JsonDialect",
    "ReadSpec",
    "Split",
    "check_unchanged",
    "count_records",
    "delivered_schema",
    "input_file",
    "read_origins",
    "read_split",
    "take_inventory",
]


def take_inventory(spec: ReadSpec, files: Sequence[InputFile], split_bytes: int) -> Inventory:
    """Open the files and cut those larger than `split_bytes`; FormatError if one is unreadable."""
    with reading(files):
        if isinstance(spec.dialect, CsvDialect):
            return csv_survey.take_inventory(spec, spec.dialect, files, split_bytes)
        return json_survey.take_inventory(spec, spec.dialect, files, split_bytes)


def read_split(spec: ReadSpec, inventory: Inventory, split: Split) -> Iterator[pa.RecordBatch]:
    """The records of a split in their order, the rejected ones among them.

    FormatError if the file is no longer the one that the inventory was taken of.
    """
    records = 0
    with reading([split.file]):
        for batch in _batches(spec, inventory, split):
            records += batch.num_rows
            yield batch
    # A record that is unlike what was guessed is the last one of its split.
    if not (inventory.members and records < (split.records or 0)):
        check_count(split, records)


def _batches(spec: ReadSpec, inventory: Inventory, split: Split) -> Iterator[pa.RecordBatch]:
    if isinstance(spec.dialect, CsvDialect):
        return csv_reader.read_split(spec, spec.dialect, inventory, split)
    return json_reader.read_split(spec, spec.dialect, inventory, split)


def read_origins(
    spec: ReadSpec, inventory: Inventory, split: Split, rows: Sequence[int]
) -> pa.StringArray:
    """What the file holds for some records of a split, as tagged maps: texts of CSV files, values
    of others. `rows` are the numbers of the records in the file, in order."""
    with reading([split.file]):
        if isinstance(spec.dialect, CsvDialect):
            return csv_reader.read_origins(spec, spec.dialect, inventory, split, rows)
        return json_reader.read_origins(spec, spec.dialect, inventory, split, rows)


def count_records(spec: ReadSpec, inventory: Inventory, split: Split) -> int:
    """How many records a split has, rejected ones included."""
    if split.records is not None:
        return split.records
    assert isinstance(spec.dialect, JsonDialect)
    with reading([split.file]):
        return json_reader.count_records(spec, spec.dialect, inventory, split)
