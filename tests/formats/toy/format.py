"""How files of the toy format are read and written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

import pyarrow as pa
import pyarrow.compute as pc

from clinker.formats.common.coercion import Coerced, Coercion
from clinker.formats.common.column_types import arrow_type
from clinker.formats.common.read_spec import (
    InputFile,
    Inventory,
    ReadSpec,
    Split,
    delivered_schema,
)
from clinker.formats.common.rejecting import assemble, find_rejections, tag_maps
from clinker.formats.common.rendering import join_records, take_column
from clinker.formats.common.texts import show_column
from clinker.formats.common.writing import Rendered, WriteSpec
from clinker.formats.files.local import open_file
from clinker.formats.format import Format
from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.config.layout import Layout
    from clinker.config.nodes.output import OutputConfig
    from clinker.config.nodes.source import SourceConfig
    from tests.formats.toy.options import ToyReading, ToyWriting

LINE = "line"


@frozen
class ToyDialect:
    """What every line begins with."""

    prefix: str


def read_dialect(config: SourceConfig, layout: Layout | None) -> ToyDialect:
    return ToyDialect(cast("ToyReading", config.options).prefix)


def write_dialect(config: OutputConfig, layout: Layout | None) -> ToyDialect:
    return ToyDialect(cast("ToyWriting", config.options).prefix)


def take_inventory(
    spec: ReadSpec, dialect: ToyDialect, files: Sequence[InputFile], split_bytes: int
) -> Inventory:
    return Inventory(
        schema=delivered_schema(spec, []),
        undeclared=(),
        layouts=(),
        splits=tuple(split for file in files for split in _cut(file, split_bytes)),
        task_bytes=split_bytes,
    )


def _cut(file: InputFile, split_bytes: int) -> Iterator[Split]:
    begin = end = 0
    row = first_row = 1
    with open_file(file.path) as stream:
        for line in stream:
            end += len(line)
            row += 1
            if end - begin >= split_bytes:
                yield Split(file, begin, end, first_row, row - first_row)
                begin, first_row = end, row
    if end > begin:
        yield Split(file, begin, end, first_row, row - first_row)


def read_split(
    spec: ReadSpec, dialect: ToyDialect, inventory: Inventory, split: Split
) -> Iterator[pa.RecordBatch]:
    lines = _lines(dialect, split)
    texts = pa.array(lines, pa.string())
    coerced = [
        (
            column,
            Coercion(column.type, spec.date_formats).column_from_text(texts)
            if column.name == LINE
            else Coerced(pa.nulls(len(lines), arrow_type(column.type))),
        )
        for column in spec.converted_columns
    ]
    yield assemble(
        spec,
        inventory.schema,
        split.file.position(split.first_row),
        len(lines),
        {column.name: result.values for column, result in coerced},
        find_rejections(coerced, lambda _, rows: [lines[at] for at in rows]),
        lambda rows: tag_maps([{LINE: lines[at]} for at in rows]),
    )


def read_origins(
    spec: ReadSpec, dialect: ToyDialect, inventory: Inventory, split: Split, rows: Sequence[int]
) -> pa.StringArray:
    lines = _lines(dialect, split)
    return tag_maps([{LINE: lines[row - split.first_row]} for row in rows])


def _lines(dialect: ToyDialect, split: Split) -> list[str]:
    with open_file(split.file.path) as stream:
        stream.seek(split.start)
        text = stream.read(split.end - split.start).decode()
    return [line.removeprefix(dialect.prefix) for line in text.splitlines()]


class ToyRenderer:
    """The texts of a record's columns, one after the other."""

    opening = separator = closing = empty = b""
    is_headed = False
    framing = None

    def __init__(self, spec: WriteSpec, dialect: ToyDialect) -> None:
        self._spec = spec
        self._prefix = dialect.prefix

    def render(self, batch: pa.RecordBatch) -> Rendered:
        texts = [show_column(take_column(batch, column)) for column in self._spec.columns]
        lines = pc.binary_join_element_wise(
            self._prefix, *texts, "\n", "", null_handling="replace", null_replacement=""
        )
        return join_records(batch, lines, self.separator, self._spec.split)


FORMAT = Format(
    read_dialect=read_dialect,
    write_dialect=write_dialect,
    take_inventory=take_inventory,
    read_split=read_split,
    read_origins=read_origins,
    make_renderer=ToyRenderer,
    has_texts=True,
    has_arrays=False,
    names_columns_first=True,
)
