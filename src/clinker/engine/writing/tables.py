"""What an output would have written, as a table of Arrow: a column of one type for every field."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.types import Kind
from clinker.formats.common.cell_texts import show_tagged, tag_again
from clinker.formats.common.column_types import Representation, representation
from clinker.formats.common.read_spec import WIDENED
from clinker.formats.common.rendering import take_column
from clinker.formats.common.writing import WriteSpec

_MOMENT = pa.timestamp("us", "UTC")


def typed_table(records: pa.Table, spec: WriteSpec) -> pa.Table:
    """The fields that are known, then undeclared ones in the order of their first appearance.

    Moments are in UTC. What only the data tells the type of is a text: of arrays and maps their
    JSON, of all else what a cell of a CSV file would hold.
    """
    (batch,) = records.combine_chunks().to_batches() or [_no_records(records)]
    columns = {
        column.name: _typed(take_column(batch, column), representation(column.type))
        for column in spec.columns
    }
    if spec.widened:
        columns |= dict(_undeclared(batch, spec))
    return pa.table(columns)


def _no_records(records: pa.Table) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], records.schema)


def _typed(values: pa.Array, form: Representation) -> pa.Array:
    if form.element:
        return _typed_items(values, form.element)
    if form.kind is Kind.DATETIME:
        return pc.cast(pc.cast(values, pa.int64()), _MOMENT)
    return show_tagged(values) if form.is_tagged else values


def _typed_items(values: pa.ListArray, form: Representation) -> pa.ListArray:
    lengths = np.asarray(pc.fill_null(pc.list_value_length(values), 0))
    offsets = pa.array(np.append(0, np.cumsum(lengths)).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, _typed(values.flatten(), form), mask=values.is_null())


def _undeclared(batch: pa.RecordBatch, spec: WriteSpec) -> Iterator[tuple[str, pa.Array]]:
    assert spec.widened
    texts = batch.column(WIDENED).to_pylist()
    records = [orjson.loads(text) if text else {} for text in texts]
    fields = dict.fromkeys(name for record in records for name in record)
    taken = {column.name for column in spec.columns}
    for name, field in spec.widened.written(fields, taken).items():
        tagged = pa.array([tag_again(record.get(field)) for record in records], pa.string())
        yield name, show_tagged(tagged)
