"""XML files: one element per record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
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
from clinker.formats.common.rejecting import assemble, find_rejections, tag_maps, tag_rows
from clinker.formats.common.tagging import tag_column
from clinker.formats.common.unfolding import Record
from clinker.formats.files.local import open_file
from clinker.formats.xml.dialect import XmlDialect
from clinker.formats.xml.documents import read_text
from clinker.formats.xml.fields import FieldReader, QuickFields, replace_rows
from clinker.formats.xml.records import ElementReader, Fields, find_first_path, make_unfolding
from clinker.formats.xml.search import ElementSearch, Found
from clinker.formats.xml.survey import XmlLayout
from clinker.formats.xml.uniform import Uniform, find_uniform
from clinker.frozen import frozen

_BATCH_RECORDS = 1 << 13
BLOCK_BYTES = 1 << 20
"""How much is read at a time: enough for what is done once a block not to count."""


def read_split(
    spec: ReadSpec, dialect: XmlDialect, inventory: Inventory, split: Split
) -> Iterator[pa.RecordBatch]:
    """The records of a split in their order, the rejected ones among them."""
    reader = ElementReader(dialect, make_unfolding(spec.array_paths))
    quick = FieldReader(spec, dialect)
    conversion = _Conversion(spec, dialect, inventory, split.file)
    row = split.first_row
    find = partial(_find_alike, spec) if quick.is_able else _find_elements
    for found in find(dialect, inventory, split):
        for batch in _batches(reader, quick, conversion, found, row):
            yield batch
            row += batch.num_rows


def _batches(
    reader: ElementReader,
    quick: FieldReader,
    conversion: _Conversion,
    found: Found | _Alike,
    row: int,
) -> Iterator[pa.RecordBatch]:
    if isinstance(found, _Alike):
        yield conversion.uniform_batch(found, reader, row)
        return
    batch = None
    if quick.is_able and not len(found.inner):
        batch = conversion.quick_batch(found, quick.read(found), reader, row)
    if batch:
        yield batch
    else:
        yield from _exact_batches(reader, conversion, found, row)


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


@frozen(eq=False)
class _Alike:
    """Elements that are read without being searched; and the tags that are open around them."""

    elements: Uniform
    opened: Sequence[bytes]

    def search(self, dialect: XmlDialect) -> Found:
        """The same elements, by their tags."""
        search = ElementSearch(dialect.path, strips=dialect.strips, opened=self.opened)
        return search.look(self.elements.text[: self.elements.end])


def _find_elements(dialect: XmlDialect, inventory: Inventory, split: Split) -> Iterator[Found]:
    """The elements of a split that are records, some at a time."""
    search = _begin_search(dialect, inventory, split)
    for text in _read_blocks(inventory, split):
        found = search.look(text)
        if len(found):
            yield found


def _find_alike(
    spec: ReadSpec, dialect: XmlDialect, inventory: Inventory, split: Split
) -> Iterator[Found | _Alike]:
    """The same; those that are alike together."""
    search = _begin_search(dialect, inventory, split)
    declared = {column.name for column in spec.columns}

    def find(text: bytes, start: int, name: bytes) -> Uniform | None:
        uniform = find_uniform(text, start, dialect)
        if uniform and spec.undeclared == "reject" and not declared.issuperset(uniform.keys):
            return None
        return uniform

    for text in _read_blocks(inventory, split):
        if uniform := search.look_alike(text, find):
            yield _Alike(uniform, search.opened)
            text = b""
        found = search.look(text)
        if len(found):
            yield found


def _begin_search(dialect: XmlDialect, inventory: Inventory, split: Split) -> ElementSearch:
    layout: XmlLayout = inventory.layouts[split.file.index]
    opened = layout.opened[split.start] if layout.encoding.is_utf8 else ()
    return ElementSearch(dialect.path, strips=dialect.strips, opened=opened)


def _read_blocks(inventory: Inventory, split: Split) -> Iterator[bytes]:
    layout: XmlLayout = inventory.layouts[split.file.index]
    with open_file(split.file.path) as stream:
        yield from read_text(
            stream, layout.encoding, split.start, split.end, split.file.path, BLOCK_BYTES
        )


class _Conversion:
    """Turns records of one file into batches."""

    def __init__(
        self, spec: ReadSpec, dialect: XmlDialect, inventory: Inventory, file: InputFile
    ) -> None:
        self._spec = spec
        self._dialect = dialect
        self._schema = inventory.schema
        self._file = file
        self._fields = Fields(spec)
        self._columns = [
            (column, Coercion(column.type, spec.date_formats)) for column in spec.converted_columns
        ]

    def uniform_batch(self, alike: _Alike, reader: ElementReader, first_row: int) -> pa.RecordBatch:
        """Records that are all alike."""
        elements, count = alike.elements, len(alike.elements)
        keys = elements.keys
        raw = {
            column.name: elements.texts(column.name)
            if column.name in keys
            else pa.nulls(count, pa.string())
            for column, _ in self._columns
        }
        widened = None
        if self._spec.undeclared == "keep":
            declared = {column.name for column in self._spec.columns}
            rest = {key: elements.texts(key) for key in keys if key not in declared}
            widened = tag_rows(pa.table(rest)) if rest else pa.nulls(count, pa.string())
        return self._assemble(
            raw, widened, count, first_row, lambda: alike.search(self._dialect), reader
        )

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
        widened = None
        if self._spec.undeclared == "reject":
            rows = first_row + np.flatnonzero(is_odd)
            for row, record in zip(rows.tolist(), odd, strict=True):
                self._refuse_undeclared([record], row)
        elif self._spec.undeclared == "keep":
            rests = tag_column([self._fields.undeclared(record) or None for record in odd])
            nothing = pa.nulls(count, pa.string())
            widened = pc.replace_with_mask(nothing, pa.array(is_odd), rests) if odd else nothing
        return self._assemble(raw, widened, count, first_row, lambda: found, reader)

    def _assemble(
        self,
        raw: Mapping[str, pa.StringArray],
        widened: pa.StringArray | None,
        count: int,
        first_row: int,
        find: Callable[[], Found],
        reader: ElementReader,
    ) -> pa.RecordBatch:
        """A batch of texts; what is rejected is searched, and read again as a whole."""
        coerced = [
            (column, coercion.column_from_text(raw[column.name]))
            for column, coercion in self._columns
        ]
        values = {column.name: result.values for column, result in coerced}
        if widened is not None:
            values[WIDENED] = widened
        return assemble(
            self._spec,
            self._schema,
            self._file.position(first_row),
            count,
            values,
            find_rejections(
                coerced, lambda column, rows: [raw[column.name][at].as_py() for at in rows]
            ),
            lambda rejected: tag_maps(
                [self._fields.all(record) for record in _read_some(reader, find(), rejected)]
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
