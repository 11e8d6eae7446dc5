"""Parquet files: groups of rows, of which only the wanted columns are read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from clinker.cxl.values import text_of
from clinker.formats.common.coercion import Coerced
from clinker.formats.common.column_types import arrow_type
from clinker.formats.common.read_spec import (
    WIDENED,
    Column,
    FormatError,
    Inventory,
    ReadSpec,
    Split,
)
from clinker.formats.common.rejecting import assemble, find_rejections, tag_maps
from clinker.formats.parquet.coercing import coerce
from clinker.formats.parquet.content import Content, opened
from clinker.formats.parquet.dialect import ParquetDialect
from clinker.formats.parquet.survey import choose_columns
from clinker.formats.parquet.types import type_of
from clinker.formats.parquet.values import Odd, list_values

_BATCH_BYTES = 4 << 20
_MOST_ROWS = 1 << 16


def read_split(
    spec: ReadSpec, dialect: ParquetDialect, inventory: Inventory, split: Split
) -> Iterator[pa.RecordBatch]:
    """The records of a split in their order, the rejected ones among them."""
    with opened(split.file.path) as content:
        groups = _find_groups(content, split)
        names = choose_columns(spec, content.schema)
        rows = _rows_at_once(split)
        origins = _Origins(content, groups, rows)
        row = split.first_row
        for batch in content.read(groups, names, rows):
            first = row - split.first_row
            yield _convert(spec, inventory, split, batch, row, origins, first)
            row += batch.num_rows


def read_origins(
    spec: ReadSpec,
    dialect: ParquetDialect,
    inventory: Inventory,
    split: Split,
    rows: Sequence[int],
) -> pa.StringArray:
    """The values of some records of a split, as tagged maps.

    `rows` are their numbers in the file, in order.
    """
    with opened(split.file.path) as content:
        origins = _Origins(content, _find_groups(content, split), _rows_at_once(split))
        return origins.find([row - split.first_row for row in rows])


def _rows_at_once(split: Split) -> int:
    records = split.records or 1
    return max(1, min(_MOST_ROWS, _BATCH_BYTES * records // max(1, split.size)))


def _find_groups(content: Content, split: Split) -> list[int]:
    """The groups of rows that a split is made of."""
    counts = np.array(content.group_records, np.int64)
    ends = np.cumsum(counts)
    starts = ends - counts
    first = split.first_row - 1
    chosen = (starts >= first) & (ends <= first + (split.records or 0)) & (ends > starts)
    return [int(at) for at in np.flatnonzero(chosen)]


def _convert(
    spec: ReadSpec,
    inventory: Inventory,
    split: Split,
    batch: pa.RecordBatch,
    row: int,
    origins: _Origins,
    first: int,
) -> pa.RecordBatch:
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    coerced = [(each, _coerce(spec, each, columns, len(batch))) for each in spec.converted_columns]
    values = {column.name: result.values for column, result in coerced}
    if spec.undeclared == "keep":
        values[WIDENED] = _tag_undeclared(spec, columns, len(batch))
    return assemble(
        spec,
        inventory.schema,
        split.file.position(row),
        len(batch),
        values,
        find_rejections(coerced, lambda column, rows: _show(columns[column.name], rows)),
        lambda rejected: origins.find([first + at for at in rejected]),
    )


def _coerce(spec: ReadSpec, column: Column, columns: Mapping[str, pa.Array], count: int) -> Coerced:
    if column.name not in columns:
        return Coerced(pa.nulls(count, arrow_type(column.type)))
    return coerce(columns[column.name], column.type, spec.date_formats)


def _tag_undeclared(spec: ReadSpec, columns: Mapping[str, pa.Array], count: int) -> pa.StringArray:
    declared = {column.name for column in spec.columns}
    names = [name for name in columns if name not in declared]
    if not names:
        return pa.nulls(count, pa.string())
    values = [map(_shown, list_values(columns[name])) for name in names]
    return tag_maps([dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)])


def _show(values: pa.Array, rows: Sequence[int]) -> list[Any]:
    chosen = map(_shown, list_values(values.take(pa.array(rows, pa.int64()))))
    return list(map(_as_text, chosen))


def _as_text(value: Any) -> Any:
    """Of a value that JSON has no form for, what people write for it."""
    match value:
        case float():
            return text_of(value)
        case dt.date():
            return value.isoformat()
        case _:
            return value


class _Origins:
    """What a file holds for some records, looked up in their order."""

    def __init__(self, content: Content, groups: Sequence[int], rows: int) -> None:
        self._path = content.path
        schema = content.schema
        self._names = [name for name in schema.names if type_of(schema.field(name).type)]
        self._batches = content.read(groups, self._names, rows)
        self._batch: pa.RecordBatch | None = None
        self._begin = self._end = 0

    def find(self, places: Sequence[int]) -> pa.StringArray:
        """Records as tagged maps."""
        found: list[pa.StringArray] = []
        left = np.asarray(places, np.int64)
        while len(left):
            if left[0] >= self._end:
                self._batch = next(self._batches, None)
                if self._batch is None:
                    raise FormatError("has fewer records than it had", self._path)
                self._begin, self._end = self._end, self._end + self._batch.num_rows
                continue
            assert self._batch is not None
            here = left[left < self._end]
            found.append(self._tag(self._batch.take(pa.array(here - self._begin))))
            left = left[len(here) :]
        return pa.concat_arrays(found) if found else pa.array([], pa.string())

    def _tag(self, batch: pa.RecordBatch) -> pa.StringArray:
        columns = [map(_shown, list_values(batch.column(name))) for name in self._names]
        rows = zip(*columns, strict=True)
        return tag_maps([dict(zip(self._names, row, strict=True)) for row in rows])


def _shown(value: Any) -> Any:
    """A value that can be shown, be it one of CXL or not."""
    match value:
        case Odd():
            return value.text
        case list():
            return [_shown(item) for item in value]
        case dict():
            return {key: _shown(item) for key, item in value.items()}
        case _:
            return value
