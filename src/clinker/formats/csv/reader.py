"""CSV files: all cells are text first, which is then converted to the declared types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa

from clinker.cxl.failure import Category
from clinker.cxl.values import Value
from clinker.formats.common.coercion import Coerced, Coercion
from clinker.formats.common.column_types import arrow_type
from clinker.formats.common.read_spec import (
    WIDENED,
    Column,
    InputFile,
    Inventory,
    ReadSpec,
    Split,
)
from clinker.formats.common.rejecting import (
    Rejection,
    assemble,
    find_rejections,
    tag_maps,
    tag_rows,
)
from clinker.formats.csv.cells import CellReader, RaggedRow, Rows
from clinker.formats.csv.dialect import CsvDialect
from clinker.formats.csv.splits import Positions
from clinker.formats.files.local import open_file

_BATCH_RECORDS = 1 << 16
_SCAN_BYTES = 1 << 16
"""So little that what is computed of it stays in the cache of the processor."""


def read_split(
    spec: ReadSpec, dialect: CsvDialect, inventory: Inventory, split: Split
) -> Iterator[pa.RecordBatch]:
    """The records of a split in their order, the rejected ones among them."""
    reader = CellReader(dialect)
    conversion = _Conversion(spec, inventory, reader, split.file)
    skip_first = dialect.has_header and not reader.keeps_positions
    row = split.first_row
    with open_file(split.file.path) as stream:
        chunks = reader.chunks(
            stream, split.start, split.end, split.file.path, skip_first=skip_first
        )
        for text in chunks:
            batch = conversion.batch(text, row)
            row += batch.num_rows
            for start in range(0, batch.num_rows, _BATCH_RECORDS):
                yield batch.slice(start, _BATCH_RECORDS)


def read_origins(
    spec: ReadSpec, dialect: CsvDialect, inventory: Inventory, split: Split, rows: Sequence[int]
) -> pa.StringArray:
    """All cells of some records of a split as they are written, as tagged maps.

    `rows` are their numbers in the file, in order.
    """
    reader = CellReader(dialect)
    conversion = _Conversion(spec, inventory, reader, split.file)
    skip_first = dialect.has_header and not reader.keeps_positions
    origins: list[pa.StringArray] = []
    first, left = split.first_row, np.asarray(rows)
    with open_file(split.file.path) as stream:
        chunks = reader.chunks(
            stream, split.start, split.end, split.file.path, skip_first=skip_first
        )
        for text in chunks:
            bounds = conversion.bounds(text)
            behind = first + len(bounds) - 1
            here = left[left < behind]
            origins.append(conversion.origins(text, bounds, (here - first).tolist()))
            first, left = behind, left[len(here) :]
            if not len(left):
                break
    return pa.concat_arrays(origins) if origins else pa.array([], pa.string())


class _Conversion:
    """Turns the text of whole records of one file into batches."""

    def __init__(
        self, spec: ReadSpec, inventory: Inventory, reader: CellReader, file: InputFile
    ) -> None:
        self._spec = spec
        self._schema = inventory.schema
        self._reader = reader
        self._file = file
        self._header: tuple[str, ...] = inventory.layouts[file.index]
        self._places = {name: at for at, name in enumerate(self._header)}
        widened = inventory.undeclared if spec.undeclared == "keep" else ()
        self._widened = widened
        present = {column.name for column in spec.converted_columns} | set(widened)
        self._wanted = sorted(at for name, at in self._places.items() if name in present)
        self._coercions = [
            (column, Coercion(column.type, spec.date_formats)) for column in spec.converted_columns
        ]

    def batch(self, text: bytes, first_row: int) -> pa.RecordBatch:
        rows = self._reader.rows(text, len(self._header), self._wanted)
        cells = dict(zip(self._wanted, rows.columns, strict=True))
        coerced = [
            (column, self._coerced(column, coercion, cells, rows.count))
            for column, coercion in self._coercions
        ]
        rejections = find_rejections(
            coerced,
            lambda column, rows: _take(cells[self._places[column.name]], rows).to_pylist(),
        )
        for ragged in rows.ragged:
            rejections[ragged.at] = self._ragged(ragged, first_row)
        values = {column.name: result.values for column, result in coerced}
        for name in self._widened:
            place = self._places.get(name)
            values[f"{WIDENED}.{name}"] = (
                pa.nulls(rows.count, pa.string()) if place is None else cells[place]
            )
        return assemble(
            self._spec,
            self._schema,
            self._file.position(first_row),
            rows.count,
            values,
            rejections,
            lambda rejected: self._origins(text, rows, rejected),
        )

    def _coerced(
        self, column: Column, coercion: Coercion, cells: Mapping[int, pa.Array], count: int
    ) -> Coerced:
        place = self._places.get(column.name)
        if place is None:
            return Coerced(pa.nulls(count, arrow_type(column.type)))
        return coercion.column_from_text(cells[place])

    def _ragged(self, row: RaggedRow, first_row: int) -> Rejection:
        cells = "cell" if row.cells == 1 else "cells"
        return Rejection(
            Category.TYPE_COERCION,
            f"row {first_row + row.at} has {row.cells} {cells}, expected {len(self._header)}",
            value=row.text,
        )

    def _origins(self, text: bytes, rows: Rows, rejected: Sequence[int]) -> pa.StringArray:
        """All cells of rejected records, also of columns that are not delivered."""
        if len(self._wanted) < len(self._header):
            return self.origins(text, self.bounds(text), rejected)
        return self._maps(rows, rejected)

    def origins(self, text: bytes, bounds: Positions, records: Sequence[int]) -> pa.StringArray:
        """All cells of some of the records in a text, as tagged maps."""
        only = b"".join(text[bounds[at] : bounds[at + 1]] for at in records)
        width = len(self._header)
        rows = self._reader.rows(only, width, range(width))
        return self._maps(rows, range(rows.count))

    def _maps(self, rows: Rows, chosen: Sequence[int]) -> pa.StringArray:
        cells = _take(pa.table(list(rows.columns), list(self._header)), chosen)
        ragged = {row.at: row for row in rows.ragged}
        if ragged.keys().isdisjoint(chosen):
            return tag_rows(cells)
        origins: list[dict[str, Value]] = cells.to_pylist()
        for place, at in enumerate(chosen):
            if row := ragged.get(at):
                origins[place] = dict(zip(self._header, self._reader.cells(row.text), strict=False))
        return tag_maps(origins)

    def bounds(self, text: bytes) -> Positions:
        """Where the records in a text begin, and where the last of them ends."""
        scanner = self._reader.scanner()
        ends = [
            start + 1 + scanner.record_ends(text[start : start + _SCAN_BYTES])
            for start in range(0, len(text), _SCAN_BYTES)
        ]
        last = [len(text)] if scanner.in_record else []
        return np.concatenate(([0], *ends, last)).astype(np.int64)


_Rows = TypeVar("_Rows", pa.Array, pa.Table)


def _take(rows: _Rows, places: Sequence[int]) -> _Rows:
    """What stands in these places, which may be none."""
    return rows.take(pa.array(places, pa.int64()))
