"""Interchanges: every segment of a message or set is a record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from clinker.cxl.values import Value
from clinker.formats.common.coercion import Coerced, Coercion
from clinker.formats.common.column_types import arrow_type
from clinker.formats.common.read_spec import WIDENED, Column, Inventory, ReadSpec, Split
from clinker.formats.common.rejecting import assemble, find_rejections, tag_maps
from clinker.formats.files.local import open_file
from clinker.formats.interchange.columns import TAG, SegmentColumns, element_name, find_records
from clinker.formats.interchange.dialect import InterchangeDialect
from clinker.formats.interchange.documents import Documents
from clinker.formats.interchange.envelope import Context
from clinker.formats.interchange.grammar import Grammar
from clinker.formats.interchange.segments import Places, Segments, keeps_positions
from clinker.formats.interchange.stream import SegmentStream, most_text, raw_blocks, text_blocks
from clinker.frozen import frozen

_BATCH_RECORDS = 1 << 16
_RUN_BYTES = 1 << 20


def read_split(
    grammar: Grammar,
    spec: ReadSpec,
    dialect: InterchangeDialect,
    inventory: Inventory,
    split: Split,
) -> Iterator[pa.RecordBatch]:
    """The records of a split in their order, the rejected ones among them."""
    conversion = _Conversion(grammar, spec, dialect, inventory, split)
    row = split.first_row
    for records in _read_records(grammar, dialect, inventory, split):
        batch = conversion.batch(records, row)
        row += batch.num_rows
        for start in range(0, batch.num_rows, _BATCH_RECORDS):
            yield batch.slice(start, _BATCH_RECORDS)


def read_origins(
    grammar: Grammar,
    spec: ReadSpec,
    dialect: InterchangeDialect,
    inventory: Inventory,
    split: Split,
    rows: Sequence[int],
) -> pa.StringArray:
    """The texts of some records of a split by the names of their columns, as tagged maps.

    `rows` are their numbers in the file, in order.
    """
    origins: list[pa.StringArray] = []
    first, left = split.first_row, np.asarray(rows, np.int64)
    for records in _read_records(grammar, dialect, inventory, split):
        behind = first + len(records)
        here = left[left < behind]
        origins.append(records.origins((here - first).tolist()))
        first, left = behind, left[len(here) :]
        if not len(left):
            break
    return pa.concat_arrays(origins) if origins else pa.array([], pa.string())


@frozen(eq=False)
class _Records:
    """The records of a run of segments, and where in an interchange they stand."""

    grammar: Grammar
    segments: Segments
    places: Places
    """Which of the segments they are."""
    contexts: Sequence[Context]
    which: Places
    """In which of the contexts each of them stands."""

    def __len__(self) -> int:
        return len(self.places)

    def column(self, name: str, numbers: Mapping[str, int]) -> pa.StringArray | None:
        """The texts of a column; None if segments have no such thing."""
        if name == TAG:
            return self.segments.tags(self.places)
        number = numbers.get(name)
        if number is not None:
            return self.segments.column(number, self.places)
        common = (self.grammar.reference_column, self.grammar.type_column)
        if name not in common:
            return None
        at = common.index(name)
        texts = [self._message(context)[at] for context in self.contexts]
        return pa.array(texts, pa.string()).take(pa.array(self.which))

    def origins(self, chosen: Sequence[int]) -> pa.StringArray:
        """The texts of some of them, as tagged maps."""
        return tag_maps([self._origin(at) for at in chosen])

    def _origin(self, at: int) -> dict[str, Value]:
        place = int(self.places[at])
        reference, type_ = self._message(self.contexts[int(self.which[at])])
        texts: dict[str, str | None] = {
            TAG: self.segments.tag(place),
            self.grammar.reference_column: reference,
            self.grammar.type_column: type_,
        }
        for number, text in enumerate(self.segments.elements(place), 1):
            texts[element_name(number)] = text
        return {name: text for name, text in texts.items() if text}

    def _message(self, context: Context) -> tuple[str | None, str | None]:
        depth = len(self.grammar.levels) - 1
        if depth >= len(context.opened):
            return None, None
        return self.grammar.reference_and_type(context.opened[depth])


def _read_records(
    grammar: Grammar, dialect: InterchangeDialect, inventory: Inventory, split: Split
) -> Iterator[_Records]:
    """The records of a split, run by run."""
    path, encoding = split.file.path, dialect.encoding
    context: Context = inventory.layouts[split.file.index][split.start]
    with open_file(path) as stream:
        if keeps_positions(encoding):
            blocks = raw_blocks(stream, split.start, split.end, _RUN_BYTES)
        else:
            blocks = text_blocks(stream, split.start, split.end, path, encoding)
        runs = SegmentStream(
            grammar,
            blocks,
            path,
            encoding,
            offset=split.start,
            size=most_text(split.end - split.start, encoding),
            run_bytes=_RUN_BYTES,
            delimiters=context.delimiters,
        )
        for segments in runs:
            tags = segments.find_tags(grammar.tags)
            contexts, bounds = _follow(grammar, segments, tags, context)
            context = contexts[-1]
            places = find_records(grammar, segments, tags)
            which = np.searchsorted(bounds, places, side="right")
            yield _Records(grammar, segments, places, contexts, which)


def _follow(
    grammar: Grammar, segments: Segments, tags: Sequence[tuple[int, str]], context: Context
) -> tuple[list[Context], Places]:
    """The contexts of a run, and at which segments they change."""
    depths = {level.opening: depth for depth, level in enumerate(grammar.levels)}
    contexts, bounds = [context], []
    opened = context.opened
    for at, tag in tags:
        depth = depths.get(tag)
        if depth is not None:
            opened = (*opened[:depth], segments.elements(at))
            contexts.append(Context(segments.delimiters, opened))
            bounds.append(at)
    return contexts, np.array(bounds, np.int64)


class _Conversion:
    """Turns the records of a split into batches."""

    def __init__(
        self,
        grammar: Grammar,
        spec: ReadSpec,
        dialect: InterchangeDialect,
        inventory: Inventory,
        split: Split,
    ) -> None:
        self._spec = spec
        self._schema = inventory.schema
        self._file = split.file
        self._numbers = SegmentColumns(grammar, dialect.max_elements).numbers
        self._documents = Documents(spec, grammar, split.file.path)
        self._widened = inventory.undeclared if spec.undeclared == "keep" else ()
        self._coercions = [
            (column, Coercion(column.type, spec.date_formats)) for column in spec.converted_columns
        ]

    def batch(self, records: _Records, first_row: int) -> pa.RecordBatch:
        texts = {
            column.name: records.column(column.name, self._numbers) for column, _ in self._coercions
        }
        coerced = [
            (column, _coerce(column, coercion, texts[column.name], len(records)))
            for column, coercion in self._coercions
        ]
        rejections = find_rejections(coerced, lambda column, rows: _take(texts[column.name], rows))
        values = {column.name: result.values for column, result in coerced}
        for name in self._widened:
            values[f"{WIDENED}.{name}"] = records.column(name, self._numbers)
        values |= self._documents.columns(records.contexts, records.which)
        return assemble(
            self._spec,
            self._schema,
            self._file.position(first_row),
            len(records),
            values,
            rejections,
            records.origins,
        )


def _coerce(
    column: Column, coercion: Coercion, texts: pa.StringArray | None, count: int
) -> Coerced:
    if texts is None:
        return Coerced(pa.nulls(count, arrow_type(column.type)))
    return coercion.column_from_text(texts)


def _take(texts: pa.StringArray | None, rows: Sequence[int]) -> list[str | None]:
    """Some texts of a column; one that no segment has holds none that do not fit."""
    return texts.take(pa.array(rows, pa.int64())).to_pylist() if texts is not None else []
