"""XML files: one element per record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinker.formats.common.coercion import Coercion
from clinker.formats.common.read_spec import (
    WIDENED,
    FormatError,
    InputFile,
    Inventory,
    ReadSpec,
    Split,
)
from clinker.formats.common.rejecting import assemble, find_rejections, tag_maps
from clinker.formats.common.tagging import tag_column
from clinker.formats.common.unfolding import Record
from clinker.formats.files.local import open_file
from clinker.formats.xml.dialect import XmlDialect
from clinker.formats.xml.documents import read_text
from clinker.formats.xml.fields import FieldReader, QuickFields, replace_rows
from clinker.formats.xml.records import ElementReader, Fields, find_first_path, make_unfolding
from clinker.formats.xml.search import ElementSearch, Found
from clinker.formats.xml.survey import XmlLayout

_BATCH_RECORDS = 1 << 13
BLOCK_BYTES = 1 << 20
"""How much is read at a time: enough for what is done once a block not to count."""


def read_split(
    spec: ReadSpec, dialect: XmlDialect, inventory: Inventory, split: Split
) -> Iterator[pa.RecordBatch]:
    """The records of a split in their order, the rejected ones among them."""
    reader = ElementReader(dialect, make_unfolding(spec.array_paths))
    quick = FieldReader(spec, dialect)
    conversion = _Conversion(spec, inventory, split.file)
    row = split.first_row
    for found in _find_elements(dialect, inventory, split):
        batch = None
        if quick.is_able and not len(found.inner):
            batch = conversion.quick_batch(found, quick.read(found), reader, row)
        batches = [batch] if batch else _exact_batches(reader, conversion, found, row)
        for batch in batches:
            yield batch
            row += batch.num_rows


def _exact_batches(
    reader: ElementReader, conversion: _Conversion, found: Found, row: int
) -> Iterator[pa.RecordBatch]:
    records = list(chain.from_iterable(reader.read(found)))
    for begin in range(0, len(records), _BATCH_RECORDS):
        yield conversion.batch(records[begin : begin + _BATCH_RECORDS], row + begin)


def read_origins(
    spec: ReadSpec, dialect: XmlDialect, inventory: Inventory, split: Split, rows: Sequence[int]
) -> pa.StringArray:
    """The values of some records of a split, as tagged maps.

    `rows` are their numbers in the file, in order.
    """
    reader = ElementReader(dialect, make_unfolding(spec.array_paths))
    wanted = set(rows)
    fields = Fields(spec)
    every = chain.from_iterable(
        chain.from_iterable(reader.read(found))
        for found in _find_elements(dialect, inventory, split)
    )
    chosen = (record for row, record in enumerate(every, split.first_row) if row in wanted)
    return tag_maps([fields.all(record) for record in chosen])


def _find_elements(dialect: XmlDialect, inventory: Inventory, split: Split) -> Iterator[Found]:
    """The elements of a split that are records, some at a time."""
    layout: XmlLayout = inventory.layouts[split.file.index]
    is_cut = layout.encoding.is_utf8
    search = ElementSearch(
        dialect.path, strips=dialect.strips, opened=layout.opened[split.start] if is_cut else ()
    )
    with open_file(split.file.path) as stream:
        blocks = read_text(
            stream, layout.encoding, split.start, split.end, split.file.path, BLOCK_BYTES
        )
        for text in blocks:
            found = search.look(text)
            if len(found):
                yield found


class _Conversion:
    """Turns records of one file into batches."""

    def __init__(self, spec: ReadSpec, inventory: Inventory, file: InputFile) -> None:
        self._spec = spec
        self._schema = inventory.schema
        self._file = file
        self._fields = Fields(spec)
        self._columns = [
            (column, Coercion(column.type, spec.date_formats)) for column in spec.converted_columns
        ]

    def quick_batch(
        self, found: Found, fields: QuickFields, reader: ElementReader, first_row: int
    ) -> pa.RecordBatch | None:
        """Records of which most are alike; None if the others have too little in common."""
        count, is_odd = len(found), fields.is_odd
        if 2 * int(is_odd.sum()) > count:
            return None
        odd = [record for (record,) in reader.read(found.only(is_odd))]
        raw: dict[str, pa.StringArray] = {}
        for column, _ in self._columns:
            texts = fields.texts.get(column.name)
            raw[column.name] = pa.nulls(count, pa.string()) if texts is None else texts
            values = self._fields.values(odd, column)
            if not all(value is None or type(value) is str for value in values):
                return None
            if odd:
                raw[column.name] = replace_rows(raw[column.name], is_odd, values)
        coerced = [
            (column, coercion.column_from_text(raw[column.name]))
            for column, coercion in self._columns
        ]
        values_by_name = {column.name: result.values for column, result in coerced}
        if self._spec.undeclared == "reject":
            rows = first_row + np.flatnonzero(is_odd)
            for row, record in zip(rows.tolist(), odd, strict=True):
                self._refuse_undeclared([record], row)
        elif self._spec.undeclared == "keep":
            rests = tag_column([self._fields.undeclared(record) or None for record in odd])
            nothing = pa.nulls(count, pa.string())
            values_by_name[WIDENED] = (
                pc.replace_with_mask(nothing, pa.array(is_odd), rests) if odd else nothing
            )
        return assemble(
            self._spec,
            self._schema,
            self._file.position(first_row),
            count,
            values_by_name,
            find_rejections(
                coerced, lambda column, rows: [raw[column.name][at].as_py() for at in rows]
            ),
            lambda rejected: tag_maps(
                [self._fields.all(record) for record in _read_some(reader, found, rejected)]
            ),
        )

    def batch(self, records: Sequence[Record], first_row: int) -> pa.RecordBatch:
        raw = {column.name: self._fields.values(records, column) for column, _ in self._columns}
        coerced = [
            (column, coercion.column_from_values(raw[column.name]))
            for column, coercion in self._columns
        ]
        values = {column.name: result.values for column, result in coerced}
        if self._spec.undeclared == "reject":
            self._refuse_undeclared(records, first_row)
        elif self._spec.undeclared == "keep":
            values[WIDENED] = tag_column(
                [self._fields.undeclared(record) or None for record in records]
            )
        return assemble(
            self._spec,
            self._schema,
            self._file.position(first_row),
            len(records),
            values,
            find_rejections(coerced, lambda column, rows: [raw[column.name][at] for at in rows]),
            lambda rejected: tag_maps([self._fields.all(records[at]) for at in rejected]),
        )

    def _refuse_undeclared(self, records: Sequence[Record], first_row: int) -> None:
        for row, record in enumerate(records, first_row):
            if rest := self._fields.undeclared(record):
                raise FormatError(
                    f"record {row} has the field '{find_first_path(rest)}', "
                    "which the schema does not declare",
                    self._file.path,
                    "declare it, or set 'on_unmapped: {mode: drop}' or 'auto_widen'",
                )


def _read_some(reader: ElementReader, found: Found, rows: Sequence[int]) -> Iterator[Record]:
    chosen = np.zeros(len(found), np.bool_)
    chosen[list(rows)] = True
    return chain.from_iterable(reader.read(found.only(chosen)))
