"""Parquet files looked through before they are read: their columns, their groups of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import pyarrow as pa
import pyarrow.parquet as pq

from clinker.cxl.failure import shown
from clinker.formats.common.missing import describe_missing_in
from clinker.formats.common.read_spec import (
    WIDENED,
    FormatError,
    InputFile,
    Inventory,
    ReadSpec,
    Split,
    delivered_schema,
)
from clinker.formats.common.undeclared import refuse_undeclared
from clinker.formats.parquet.content import opened
from clinker.formats.parquet.dialect import ParquetDialect
from clinker.formats.parquet.types import type_of
from clinker.frozen import frozen

_LEAST_PER_VALUE = 8
"""What a value takes at least once it is decoded, in bytes."""


def take_inventory(
    spec: ReadSpec, dialect: ParquetDialect, files: Sequence[InputFile], split_bytes: int
) -> Inventory:
    """Read the footers."""
    surveys = [_survey(file, spec, split_bytes) for file in files]
    splits = tuple(split for survey in surveys for split in survey.splits)
    return Inventory(
        schema=delivered_schema(spec, [WIDENED]),
        undeclared=(),
        layouts=(),
        splits=splits,
        task_bytes=split_bytes,
        record_bytes=max((survey.record_bytes for survey in surveys), default=0),
        decoded_bytes=sum(split.size for split in splits),
        document_schema=spec.document_schema,
        documents=({},) * len(files),
        warnings=tuple(_warnings(spec, files, [survey.names for survey in surveys])),
    )


def _warnings(
    spec: ReadSpec, files: Sequence[InputFile], names: Sequence[Sequence[str]]
) -> Iterator[str]:
    yield from describe_missing_in(spec, files, names)
    if spec.sections:  # of the format that a frame is given in place of
        yield f"source '{spec.source_name}' declares sections, which frames do not have: null"


@frozen
class _Survey:
    """The columns of a file, and its splits."""

    names: tuple[str, ...]
    splits: tuple[Split, ...]
    record_bytes: int


def _survey(file: InputFile, spec: ReadSpec, split_bytes: int) -> _Survey:
    with opened(file.path) as content:
        schema = content.schema
        declared = {column.name for column in spec.columns}
        if spec.undeclared == "reject":
            refuse_undeclared(file, schema.names, declared)
        wanted = choose_columns(spec, schema)
        _check_types(file, schema, wanted, declared)
        counts = content.group_records
        sizes = [_measure(content.metadata.row_group(at), len(wanted)) for at in range(len(counts))]
    record_bytes = max(
        (-(-size // count) for size, count in zip(sizes, counts, strict=True) if count), default=0
    )
    return _Survey(tuple(schema.names), tuple(_cut(file, sizes, counts, split_bytes)), record_bytes)


def choose_columns(spec: ReadSpec, schema: pa.Schema) -> list[str]:
    """The columns of a file that are read."""
    declared = {column.name for column in spec.columns}
    converted = {column.name for column in spec.converted_columns}
    return [
        name
        for name in schema.names
        if name in converted or (spec.undeclared == "keep" and name not in declared)
    ]


def _check_types(
    file: InputFile, schema: pa.Schema, wanted: Sequence[str], declared: set[str]
) -> None:
    for name in wanted:
        if type_of(schema.field(name).type) is None:
            raise unreadable_field(schema.field(name), file.path, declared)


def unreadable_field(column: pa.Field, path: str, declared: Set[str]) -> FormatError:
    """The refusal of a column that a source would read, since it declares or keeps it."""
    drop = "set 'on_unmapped: {mode: drop}'"
    way_out = f"leave it out of the schema, and {drop}" if column.name in declared else drop
    return unreadable_column(column.name, column.type, path, way_out)


def unreadable_column(name: str, held: pa.DataType, path: str, way_out: str) -> FormatError:
    """The refusal of a column whose values no type of CXL has."""
    message = f"column '{shown(name)}' is of the type {shown(str(held))}, which cannot be read"
    return FormatError(message, path, f"{way_out}, or convert it to another type first")


def _measure(facts: pq.RowGroupMetaData, wanted: int) -> int:
    """How many bytes a group of rows takes when some of its columns are decoded, about.

    Encodings make little of what repeats, so a value counts for at least so many. What single
    columns take is not asked for: of damaged files, Arrow ends the process where it is.
    """
    least = facts.num_rows * (wanted + 1) * _LEAST_PER_VALUE
    size: int = max(facts.total_byte_size, least)
    return size


def _cut(
    file: InputFile, sizes: Sequence[int], counts: Sequence[int], split_bytes: int
) -> Iterator[Split]:
    """Groups of rows in a row, as many as it takes."""
    begin = end = 0
    row = first_row = 1
    for size, count in zip(sizes, counts, strict=True):
        end += size
        row += count
        if end - begin >= split_bytes and row > first_row:
            yield Split(file, begin, end, first_row, row - first_row)
            begin, first_row = end, row
    if row > first_row:
        yield Split(file, begin, end, first_row, row - first_row)
