"""Fixed-width files: lines are cut into texts, which are converted to the types of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.failure import Category, shown
from clinker.formats.common.coercion import Coercion
from clinker.formats.common.column_types import arrow_type
from clinker.formats.common.read_spec import Column, InputFile, Inventory, ReadSpec, Split
from clinker.formats.common.rejecting import Rejection, assemble, tag_maps, tag_rows
from clinker.formats.files.local import open_file
from clinker.formats.fixed_width.decoding import Codec
from clinker.formats.fixed_width.dialect import RECORD_TYPE, FixedWidthDialect, RecordLayout
from clinker.formats.fixed_width.lines import Lines, Positions
from clinker.formats.fixed_width.record_types import RecordTypes
from clinker.formats.fixed_width.values import FieldReader
from clinker.frozen import frozen

_BATCH_RECORDS = 1 << 16


def read_split(
    spec: ReadSpec, dialect: FixedWidthDialect, inventory: Inventory, split: Split
) -> Iterator[pa.RecordBatch]:
    """The records of a split in their order, the rejected ones among them."""
    conversion = _Conversion(spec, dialect, inventory, split.file)
    row = split.first_row
    with open_file(split.file.path) as stream:
        for lines in inventory.layouts[split.file.index].read(stream, split.start, split.end):
            if not lines.count:
                continue
            batch = conversion.batch(lines, row)
            row += batch.num_rows
            for start in range(0, batch.num_rows, _BATCH_RECORDS):
                yield batch.slice(start, _BATCH_RECORDS)


def read_origins(
    spec: ReadSpec,
    dialect: FixedWidthDialect,
    inventory: Inventory,
    split: Split,
    rows: Sequence[int],
) -> pa.StringArray:
    """All fields of some records of a split as they stand in their lines, as tagged maps."""
    conversion = _Conversion(spec, dialect, inventory, split.file)
    origins: list[pa.StringArray] = []
    first, left = split.first_row, np.asarray(rows, np.int64)
    with open_file(split.file.path) as stream:
        for lines in inventory.layouts[split.file.index].read(stream, split.start, split.end):
            here = left[left < first + lines.count]
            if len(here):
                origins.append(conversion.origins(lines.take(here - first)))
            first, left = first + lines.count, left[len(here) :]
            if not len(left):
                break
    return pa.concat_arrays(origins) if origins else pa.array([], pa.string())


@frozen(eq=False)
class _TypeReader:
    """Reads the lines of one type."""

    layout: RecordLayout
    fields: Mapping[str, FieldReader]
    """Those that are converted, by their columns."""
    checked: Sequence[FieldReader]
    """Others that must at least be texts."""


@frozen(eq=False)
class _Typed:
    """What the lines of one type hold, and where among all lines they stand."""

    rows: Positions
    values: Mapping[str, pa.Array]


class _Conversion:
    """Turns lines of one file into batches."""

    def __init__(
        self, spec: ReadSpec, dialect: FixedWidthDialect, inventory: Inventory, file: InputFile
    ) -> None:
        self._spec = spec
        self._schema = inventory.schema
        self._file = file
        self._dialect = dialect
        self._codec = Codec(dialect.encoding)
        self._types = RecordTypes(dialect, self._codec)
        self._readers = [self._type_reader(record) for record in dialect.records]
        declared = {column.name: column for column in spec.needed_columns}
        self._type_column = declared.get(RECORD_TYPE) if dialect.discriminator else None

    def _type_reader(self, layout: RecordLayout) -> _TypeReader:
        spec = self._spec
        converted = {column.name for column in spec.converted_columns}
        fields: dict[str, FieldReader] = {}
        checked: list[FieldReader] = []
        for column in spec.columns:
            field = layout.named(column.name)
            if field is None:
                continue
            reader = FieldReader(field, column, self._codec, spec.date_formats)
            if column.name in converted or reader.is_picky:
                fields[column.name] = reader
            else:
                checked.append(reader)
        return _TypeReader(layout, fields, checked)

    def batch(self, lines: Lines, first_row: int) -> pa.RecordBatch:
        types = self._types.find(lines)
        rejections: dict[int, Rejection] = {}
        parts: list[_Typed] = []
        for number, reader in enumerate(self._readers):
            rows = np.flatnonzero(types == number)
            if len(rows):
                some = lines if len(rows) == lines.count else lines.take(rows)
                values, rejected = self._read(reader, some, first_row + rows)
                parts.append(_Typed(rows, values))
                rejections.update((int(rows[at]), why) for at, why in rejected.items())
        unknown = np.flatnonzero(types < 0)
        if len(unknown):
            rejections.update(self._unknown(lines, unknown))
        return assemble(
            self._spec,
            self._schema,
            self._file.position(first_row),
            lines.count,
            {
                column.name: _put_together(column, parts, lines.count)
                for column in self._spec.needed_columns
            },
            rejections,
            lambda rejected: self.origins(lines.take(np.asarray(rejected, np.int64))),
        )

    def _read(
        self, reader: _TypeReader, lines: Lines, rows: Positions
    ) -> tuple[dict[str, pa.Array], dict[int, Rejection]]:
        """The values of lines of one type by their columns, and which of the lines are rejected."""
        rejections = self._too_short(reader.layout, lines, rows)
        values: dict[str, pa.Array] = {}
        for name, field in reader.fields.items():
            read = field.read(lines)
            values[name] = read.values
            rejections = read.rejections | rejections
        for field in reader.checked:
            rejections = field.check(lines) | rejections
        if self._type_column and reader.layout.named(RECORD_TYPE) is None:
            ids = pa.repeat(pa.scalar(reader.layout.id), lines.count)
            values[RECORD_TYPE] = Coercion(self._type_column.type).column_from_text(ids).values
        return values, rejections

    def _too_short(
        self, layout: RecordLayout, lines: Lines, rows: Positions
    ) -> dict[int, Rejection]:
        """The lines that end before the first of their fields."""
        lengths = lines.lengths()
        short = np.flatnonzero(lengths < layout.first)
        texts = self._texts(lines.take(short)) if len(short) else []
        return {
            at: Rejection(
                Category.TYPE_COERCION,
                f"row {rows[at]} has {lengths[at]} byte{'s' if lengths[at] != 1 else ''}, and its "
                f"first field begins behind byte {layout.first}",
                value=text,
            )
            for at, text in zip(short.tolist(), texts, strict=True)
        }

    def _unknown(self, lines: Lines, rows: Positions) -> dict[int, Rejection]:
        """The lines that are of no type the layout knows."""
        some = lines.take(rows)
        return {
            row: Rejection(
                Category.TYPE_COERCION,
                f"'{shown(tag)}' is not the tag of any record type",
                value=text,
            )
            for row, tag, text in zip(
                rows.tolist(),
                self._types.tags(some).to_pylist(),
                self._texts(some),
                strict=True,
            )
        }

    def _texts(self, lines: Lines) -> list[str]:
        longest = int(lines.lengths().max(initial=0))
        texts: list[str] = self._codec.decode(lines.cut(0, longest)).texts.to_pylist()
        return texts

    def origins(self, lines: Lines) -> pa.StringArray:
        """All fields of lines as they stand there, as tagged maps."""
        types = self._types.find(lines)
        found: list[str | None] = ["{}"] * lines.count
        for number, record in enumerate(self._dialect.records):
            rows = np.flatnonzero(types == number)
            if not len(rows):
                continue
            some = lines.take(rows)
            names = [self._column_name(record, field.name) for field in record.fields]
            texts = [self._codec.decode(some.cut(f.start, f.end)).texts for f in record.fields]
            maps = (
                tag_rows(pa.table(texts, names))
                if len(set(names)) == len(names)
                else tag_maps(
                    [dict(zip(names, row, strict=True)) for row in zip(*texts, strict=True)]
                )
            )
            for row, origin in zip(rows.tolist(), maps.to_pylist(), strict=True):
                found[row] = origin
        return pa.array(found, pa.string())

    def _column_name(self, record: RecordLayout, name: str) -> str:
        """What the source calls a field."""
        for column in self._spec.columns:
            field = record.named(column.name)
            if field and field.name == name:
                return column.name
        return name


def _put_together(column: Column, parts: Sequence[_Typed], count: int) -> pa.Array:
    """The values of a column in all lines; null in those whose type does not have it."""
    having = [part for part in parts if column.name in part.values]
    if len(having) == 1 and len(having[0].rows) == count:
        return having[0].values[column.name]
    if not having:
        return pa.nulls(count, arrow_type(column.type))
    places = np.full(count, -1, np.int64)
    behind = 0
    for part in having:
        places[part.rows] = np.arange(behind, behind + len(part.rows))
        behind += len(part.rows)
    values = pa.concat_arrays([part.values[column.name] for part in having])
    return pc.take(values, pa.array(places, mask=places < 0))
