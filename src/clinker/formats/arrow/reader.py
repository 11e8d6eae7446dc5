"""The records of a frame, as if they were objects of JSON: the same values give the same fields."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NoReturn

import pyarrow as pa

from clinker.cxl.failure import printable
from clinker.formats.arrow.values import has_json_form, json_values
from clinker.formats.common.missing import describe_missing
from clinker.formats.common.read_spec import (
    WIDENED,
    FormatError,
    InputFile,
    Inventory,
    MemberTypes,
    ReadSpec,
    Split,
    delivered_schema,
)
from clinker.formats.common.rejecting import tag_maps
from clinker.formats.common.unfolding import Record, find
from clinker.formats.common.writing import Renderer, WriteSpec
from clinker.formats.files.local import open_file
from clinker.formats.format import Format
from clinker.formats.json.reader import Conversion
from clinker.formats.json.records import Records, Unreadable, WholeRecords, make_unfolding

_RECORDS = 1 << 12
"""How many records are converted at a time."""


def take_inventory(
    spec: ReadSpec, dialect: None, files: Sequence[InputFile], split_bytes: int
) -> Inventory:
    """Find out which columns there are, and where in its copy a frame can be cut."""
    (file,) = files
    schema, splits = _survey(spec, file)
    readable = _readable(spec, schema, file.path)
    return Inventory(
        schema=delivered_schema(spec, [WIDENED]),
        undeclared=(),
        layouts=(readable,),
        splits=splits,
        task_bytes=split_bytes,
        document_schema=spec.document_schema,
        documents=({},),
        warnings=tuple(_warnings(spec, set(schema.names))),
    )


def _survey(spec: ReadSpec, file: InputFile) -> tuple[pa.Schema, tuple[Split, ...]]:
    splits: list[Split] = []
    row = 1
    with open_file(file.path) as stream, pa.memory_map(file.path) as source:
        assert stream
        schema = None
        while (start := source.tell()) < file.size:
            with pa.ipc.open_stream(source) as reader:
                schema = schema or reader.schema
                records = sum(batch.num_rows for batch in reader)
            if records:
                known = None if spec.array_paths else records
                splits.append(Split(file, start, source.tell(), row, known))
                row += records
    assert schema is not None
    return schema, tuple(splits)


def _readable(spec: ReadSpec, schema: pa.Schema, path: str) -> tuple[str, ...]:
    """The columns that records are made of; FormatError if another one is asked for."""
    wanted = {name.partition(".")[0] for name in (column.name for column in spec.columns)}
    readable: list[str] = []
    for field in schema:
        if has_json_form(field.type):
            readable.append(field.name)
        elif field.name in wanted or spec.undeclared != "drop":
            shown = f"the column '{printable(field.name)}' is of type {field.type}"
            help = "convert it to text or numbers, or leave it out"
            raise FormatError(f"{shown}, which records have no place for", path, help)
    return tuple(readable)


def _warnings(spec: ReadSpec, names: set[str]) -> Iterator[str]:
    missing = [
        column.name
        for column in spec.columns
        if column.name not in names and column.name.partition(".")[0] not in names
    ]
    if missing:
        yield describe_missing(spec.source_name, missing, "the frame does")
    if spec.sections:
        yield f"source '{spec.source_name}' declares sections, which frames do not have: null"


def read_split(
    spec: ReadSpec, dialect: None, inventory: Inventory, split: Split
) -> Iterator[pa.RecordBatch]:
    """The records of a split in their order, the rejected ones among them."""
    conversion = Conversion(spec, inventory, split.file)
    row = split.first_row
    for records in _read(spec, inventory, split):
        yield conversion.batch(records, row)
        row += len(records)


def read_origins(
    spec: ReadSpec, dialect: None, inventory: Inventory, split: Split, rows: Sequence[int]
) -> pa.StringArray:
    """The values of some records of a split, as tagged maps."""
    conversion = Conversion(spec, inventory, split.file)
    wanted = {row - split.first_row for row in rows}
    found: list[Record] = []
    before = 0
    for records in _read(spec, inventory, split):
        at_hand = (at for at in range(len(records)) if before + at in wanted)
        found += (conversion.fields(records.whole(at)) for at in at_hand)
        before += len(records)
    return tag_maps(found)


def count_records(spec: ReadSpec, dialect: None, inventory: Inventory, split: Split) -> int:
    """How many records a split has when arrays in them are unfolded."""
    return sum(map(len, _read(spec, inventory, split)))


def _read(spec: ReadSpec, inventory: Inventory, split: Split) -> Iterator[Records]:
    unfold = make_unfolding(spec.array_paths)
    readable = list(inventory.layouts[split.file.index])
    with open_file(split.file.path) as file:
        file.seek(split.start)
        content = file.read(split.end - split.start)
    with pa.ipc.open_stream(content) as stream:
        for batch in stream:
            chosen = batch.select(readable)
            for begin in range(0, len(chosen), _RECORDS):
                rows = _Rows(chosen.slice(begin, _RECORDS))
                yield WholeRecords(list(chain.from_iterable(map(unfold, rows)))) if unfold else rows


class _Rows:
    """Some rows of a frame."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.unreadable: dict[int, Unreadable] = {}
        self._batch = batch
        self._columns: dict[str, list[Any]] = {}

    def __len__(self) -> int:
        return len(self._batch)

    def __iter__(self) -> Iterator[Record]:
        return map(self.whole, range(len(self)))

    def values(self, column: str) -> Sequence[Any]:
        if column in self._batch.schema.names:
            return self._column(column)
        steps = column.split(".")
        return [find({steps[0]: value}, steps) for value in self._column(steps[0])]

    def taken_apart(self, column: str, types: MemberTypes) -> NoReturn:
        raise AssertionError("arrays of frames are whole")

    def whole(self, at: int) -> Record:
        return {name: self._column(name)[at] for name in self._batch.schema.names}

    def _column(self, name: str) -> list[Any]:
        if name not in self._columns:
            is_there = name in self._batch.schema.names
            found = json_values(self._batch.column(name)) if is_there else [None] * len(self)
            self._columns[name] = found
        return self._columns[name]


def _not_written(spec: WriteSpec, dialect: None) -> Renderer:
    raise AssertionError("nothing is written as a frame")


FORMAT = Format[None, None](
    read_dialect=lambda config, layout: None,
    write_dialect=lambda config, layout: None,
    take_inventory=take_inventory,
    read_split=read_split,
    read_origins=read_origins,
    count_records=count_records,
    make_renderer=_not_written,
    has_texts=False,
    has_arrays=False,
    names_columns_first=False,
)
