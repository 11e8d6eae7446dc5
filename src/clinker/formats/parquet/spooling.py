"""Frames of other libraries copied to the spool as Parquet files, to be read like any others."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Set
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.types as pt

from clinker.cxl.failure import printable
from clinker.formats.common.read_spec import FRAME
from clinker.formats.common.unfolding import split_path
from clinker.formats.files.spool import Spool
from clinker.formats.parquet.survey import unreadable_field
from clinker.formats.parquet.types import type_of
from clinker.formats.parquet.writer import write_file

if TYPE_CHECKING:
    from clinker.config.nodes.source import SourceConfig

_GROUP_BYTES, _GROUP_RECORDS = 4 << 20, 1 << 16
"""How much a group of rows holds at most, that a worker may read by itself."""
_NAMELESS_INDEX = "__index_level_"
"""How pandas calls what numbers its rows, unless it has a name."""


def spool_frame(frame: pa.RecordBatchReader, config: SourceConfig, spool: Spool) -> Path:
    """Copy a frame to the spool, row after row.

    ValueError if it is none that records can be made of; FormatError if a column of it cannot be
    read, or there is no room.
    """
    declared = {column.name for column in config.schema_columns}
    schema = _choose_columns(frame.schema, declared, config)
    with spool.file(FRAME) as file:
        write_file(
            file,
            schema,
            _groups(frame, schema, declared),
            compression="none",
            use_dictionary=False,
            write_statistics=False,
        )
    return file.path


def _choose_columns(held: pa.Schema, declared: Set[str], config: SourceConfig) -> pa.Schema:
    """The columns that are copied: all that can be read."""
    columns = [
        pa.field(name, values.type) for name, values in _columns(held.empty_table(), declared)
    ]
    for name, times in Counter(column.name for column in columns).items():
        if times > 1:
            raise ValueError(f"it has {times} columns that are called '{printable(name)}'")
    keeps = config.on_unmapped.mode != "drop"
    for column in columns:
        if not _is_readable(column.type) and (keeps or column.name in declared):
            raise unreadable_field(column, FRAME, declared)
        _check_unfolding(column, config)
    return pa.schema([column for column in columns if _is_readable(column.type)])


def _is_readable(held: pa.DataType) -> bool:
    """Whether a type of CXL has such values; periods and the like only their library knows."""
    return type_of(held) is not None and not isinstance(held, pa.ExtensionType)


def _check_unfolding(column: pa.Field, config: SourceConfig) -> None:
    for each in config.array_paths:
        path = ".".join(split_path(each.path))
        if f"{path}.".startswith(f"{column.name}.") and pt.is_nested(column.type):
            raise ValueError(
                f"the source unfolds '{printable(path)}' (array_paths), which only files have "
                "done for them; unfold it in the frame"
            )


def _columns(table: pa.Table, declared: Set[str]) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """The columns of records, by their names."""
    for name, values in zip(table.schema.names, table.columns, strict=True):
        if not _is_nameless_index(name, table.schema):
            yield from _take_apart(name, values, declared)


def _is_nameless_index(name: str, schema: pa.Schema) -> bool:
    if not name.startswith(_NAMELESS_INDEX):
        return False
    told = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    return name in told.get("index_columns", ())


def _take_apart(
    name: str, values: pa.ChunkedArray, declared: Set[str]
) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """A struct as its members if the schema names one of them, as `struct.member`."""
    is_whole = name in declared
    if not (pt.is_struct(values.type) and any(each.startswith(f"{name}.") for each in declared)):
        yield name, _plain(values)
        return
    if is_whole:
        yield name, values
    for field, member in zip(values.type, values.flatten(), strict=True):
        for path, part in _take_apart(f"{name}.{field.name}", member, declared):
            if path in declared or not is_whole:
                yield path, part


def _plain(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Categories of nothing, which Parquet has no place for, are nulls."""
    is_empty = pt.is_dictionary(values.type) and pt.is_null(values.type.value_type)
    return pa.chunked_array([pa.nulls(len(values))]) if is_empty else values


def _groups(
    frame: pa.RecordBatchReader, schema: pa.Schema, declared: Set[str]
) -> Iterator[pa.Table]:
    """All rows, in groups that are not too large, nor needlessly small."""
    waiting: list[pa.Table] = []
    rows = size = 0
    for batch in frame:
        batch.validate(full=True)
        if len(batch) and not schema.names:
            raise ValueError("it has no columns that can be read")
        columns = dict(_columns(pa.Table.from_batches([batch]), declared))
        waiting.append(pa.table([columns[name] for name in schema.names], schema=schema))
        rows += len(batch)
        size += waiting[-1].nbytes
        if rows >= _GROUP_RECORDS or size >= _GROUP_BYTES:
            yield from _cut(pa.concat_tables(waiting), size)
            waiting, rows, size = [], 0, 0
    if waiting:
        yield from _cut(pa.concat_tables(waiting), size)


def _cut(table: pa.Table, size: int) -> Iterator[pa.Table]:
    rows = max(1, min(_GROUP_RECORDS, _GROUP_BYTES * len(table) // max(1, size)))
    for begin in range(0, len(table), rows):
        yield table.slice(begin, rows).combine_chunks()
