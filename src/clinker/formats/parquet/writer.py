"""Writing Parquet: groups of rows that are the same wherever and in whatever parts records came.

What a task renders are Arrow's messages, one for each batch. How a column is encoded in a group of
rows depends on all of its values, so that is done when a file is put together, a group at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from clinker.cxl.types import ANY
from clinker.formats.common.cell_texts import choose_widened, widened_columns
from clinker.formats.common.json_texts import write_json
from clinker.formats.common.rendering import take_column, take_group_keys
from clinker.formats.common.writing import (
    Offsets,
    OutputColumn,
    Piece,
    Rendered,
    Sink,
    Warn,
    WriteError,
    WriteSpec,
)
from clinker.formats.parquet.columns import (
    measure,
    write_column,
    write_decimals,
    written_type,
)
from clinker.formats.parquet.dialect import ParquetWriteDialect
from clinker.frozen import frozen

_GROUP_BYTES = 64 << 20
"""A group of rows ends when its values take so many bytes: all of it is held in memory."""


class ParquetRenderer:
    """Records as Arrow's messages, which `ParquetFraming` makes a file of."""

    opening = separator = closing = empty = b""
    is_headed = False

    def __init__(self, spec: WriteSpec, dialect: ParquetWriteDialect) -> None:
        self._spec = spec
        self._undeclared = choose_widened(spec)
        self._decimals = {name: pa.decimal128(*digits) for name, digits in dialect.decimals.items()}
        fields = [pa.field(each.name, self._type(each)) for each in spec.columns]
        fields += [pa.field(name, written_type(ANY)) for name in self._undeclared]
        self._schema = pa.schema(fields)
        self.framing = ParquetFraming(self._schema, dialect)

    def render(self, batch: pa.RecordBatch) -> Rendered:
        if not self._schema.names:
            help = "have the output write a column, or another format"
            raise WriteError("Parquet files hold no records without columns", record=1, help=help)
        values = [self._write(take_column(batch, each), each) for each in self._spec.columns]
        if self._undeclared:
            columns = widened_columns(batch, self._undeclared.values())
            values += [write_json(each, ANY) for each in columns]
        written = pa.RecordBatch.from_arrays(values, schema=self._schema)
        ends = np.cumsum(_measure_records(written))
        return Rendered(written.serialize(), ends, take_group_keys(batch, self._spec.split))

    def _type(self, column: OutputColumn) -> pa.DataType:
        return self._decimals.get(column.name) or written_type(column.type)

    def _write(self, values: pa.Array, column: OutputColumn) -> pa.Array:
        decimal = self._decimals.get(column.name)
        return write_decimals(values, column, decimal) if decimal else write_column(values, column)


@frozen(eq=False)
class ParquetFraming:
    """Writes files of such records."""

    schema: pa.Schema
    dialect: ParquetWriteDialect

    def write_document(self, sink: Sink, pieces: Iterable[Piece], warn: Warn) -> int:
        return write_file(
            sink,
            self.schema,
            self._groups(pieces),
            compression=self.dialect.compression,
            compression_level=self.dialect.level,
            store_schema=False,
            write_page_checksum=True,
        )

    def _groups(self, pieces: Iterable[Piece]) -> Iterator[pa.Table]:
        """All records, in groups whose borders depend on the records alone."""
        group = _Group(self.dialect.row_group_size)
        for piece in pieces:
            for batch in _read_batches(piece, self.schema):
                begin = 0
                ends = np.cumsum(_measure_records(batch))
                while begin < len(batch):
                    begin = group.take(batch, ends, begin)
                    if group.is_full:
                        yield group.empty()
        if group.records:
            yield group.empty()


def write_file(sink: Sink, schema: pa.Schema, groups: Iterable[pa.Table], **options: Any) -> int:
    """Write a file of some groups of rows; how many records they have."""
    output = _Output(sink)
    writer = pq.ParquetWriter(output, schema, **options)
    records = 0
    try:
        for group in groups:
            writer.write_table(group, row_group_size=len(group))
            records += len(group)
    except BaseException:
        output.is_lost = True
        raise
    finally:
        writer.close()
    return records


class _Group:
    """The next group of rows, while it is not full."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._batches: list[pa.RecordBatch] = []
        self._size = 0
        self.records = 0

    @property
    def is_full(self) -> bool:
        return self.records == self._most or self._size >= _GROUP_BYTES

    def take(self, batch: pa.RecordBatch, ends: Offsets, begin: int) -> int:
        """Take records from a place on; the place of the first that has to wait."""
        before = int(ends[begin - 1]) if begin else 0
        full = int(np.searchsorted(ends, before + _GROUP_BYTES - self._size)) + 1
        end = min(len(batch), full, begin + self._most - self.records)
        self._batches.append(batch.slice(begin, end - begin))
        self._size += int(ends[end - 1]) - before
        self.records += end - begin
        return end

    def empty(self) -> pa.Table:
        """What was taken, in one piece: where a column is in several, it is encoded otherwise."""
        table = pa.Table.from_batches(self._batches).combine_chunks()
        self._batches, self._size, self.records = [], 0, 0
        return table


def _measure_records(batch: pa.RecordBatch) -> Offsets:
    return sum((measure(column) for column in batch.columns), np.zeros(len(batch), np.int64))


def _read_batches(piece: Piece, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The records of a piece, of all that were rendered with it."""
    data, before = piece.whole()
    left = piece.records
    messages = pa.ipc.MessageReader.open_stream(pa.BufferReader(data))
    while left:
        batch = pa.ipc.read_record_batch(messages.read_next_message(), schema)
        chosen = batch.slice(min(before, len(batch)), left)
        before -= min(before, len(batch))
        left -= len(chosen)
        if len(chosen):
            yield chosen


class _Output:
    """A sink as Arrow wants it: it is not closed, and knows how much was written."""

    mode = "wb"
    closed = False

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._size = 0
        self.is_lost = False
        """Whether nothing of what is written will be used."""

    def write(self, data: bytes | memoryview) -> int:
        if not self.is_lost:
            self._sink.write(data)
        self._size += len(data)
        return len(data)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def writable(self) -> bool:
        return True
