"""From the texts of records to their bytes: one after the other in a single buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinker.formats.common.column_types import arrow_type, is_tagged
from clinker.formats.common.json_texts import write_json
from clinker.formats.common.tagged_texts import forget_spelling
from clinker.formats.common.writing import (
    OutputColumn,
    Rendered,
    Renderer,
    Split,
    WriteError,
)

_BYTES_AT_ONCE = 16 << 20
"""Small enough for the processor's cache to help, and for the offsets of Arrow's strings."""
_WHOLE_FLOAT = r"^(-?[0-9]+)\.0$"


def take_column(batch: pa.RecordBatch, column: OutputColumn) -> pa.Array:
    """The values of a column; engines differ in the Arrow types they use for the same values."""
    values, expected = batch.column(column.held_as), arrow_type(column.type)
    return values if values.type == expected else pc.cast(values, expected)


def join_records(
    batch: pa.RecordBatch, records: pa.StringArray, separator: bytes, split: Split | None
) -> Rendered:
    """Of texts that are each followed by the separator: the last one falls away."""
    if not len(records):
        return Rendered(pa.py_buffer(b""), np.zeros(0, np.int64), take_group_keys(batch, split))
    _, offsets, data = records.buffers()
    bounds = np.frombuffer(offsets, np.int32)[records.offset : records.offset + len(records) + 1]
    begin = int(bounds[0])
    ends = bounds[1:].astype(np.int64) - (begin + len(separator))
    return Rendered(data.slice(begin, int(ends[-1])), ends, take_group_keys(batch, split))


def render_all(renderer: Renderer, batches: Iterable[pa.RecordBatch]) -> Iterator[Rendered]:
    """The records of batches of any size, piece by piece."""
    done = 0
    for batch in batches:
        for piece in _cut(batch):
            try:
                yield renderer.render(piece)
            except WriteError as error:
                raise error.after(done) from None
            done += len(piece)


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    if not len(batch):
        return
    rows = max(1, _BYTES_AT_ONCE * len(batch) // max(1, batch.nbytes))
    for begin in range(0, len(batch), rows):
        yield batch.slice(begin, rows)


def take_group_keys(batch: pa.RecordBatch, split: Split | None) -> pa.StringArray | None:
    """Texts that are equal where the group keys are; numbers are compared as numbers."""
    if split is None or split.group_key is None:
        return None
    key = split.group_key
    values = take_column(batch, key)
    if is_tagged(key.type):
        values = forget_spelling(values)
    texts = pc.fill_null(write_json(values, key.type), "null")
    return pc.replace_substring_regex(texts, _WHOLE_FLOAT, r"\1") if is_tagged(key.type) else texts
