"""Writing CSV: a header, minimal quoting, lines that end with a newline."""

from __future__ import annotations

from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.types import ANY, Kind, Type
from clinker.formats.common.cell_lines import CellLines
from clinker.formats.common.column_types import is_tagged
from clinker.formats.common.json_texts import write_lists, write_tagged
from clinker.formats.common.rendering import join_records, take_column
from clinker.formats.common.tagged_texts import (
    convert_by_tag,
    drop_tag,
    show_moments,
)
from clinker.formats.common.texts import contains_any, show_column
from clinker.formats.common.writing import (
    WIDENED_COLUMN,
    OutputColumn,
    Rendered,
    WriteError,
    WriteSpec,
)
from clinker.formats.csv.dialect import CsvWriteDialect


class CsvRenderer:
    """Records as lines of cells."""

    separator = b""
    closing = b""
    is_headed = True
    framing = None

    def __init__(self, spec: WriteSpec, dialect: CsvWriteDialect) -> None:
        self._spec = spec
        self._cells = CellLines(dialect.delimiter)
        self._widened = _choose_widened(spec)
        self.opening = self._header().encode() if dialect.include_header else b""
        self.empty = self.opening

    def render(self, batch: pa.RecordBatch) -> Rendered:
        cells = [self._column(take_column(batch, column), column) for column in self._spec.columns]
        cells += self._widened_cells(batch)
        return join_records(batch, self._cells.join(cells, len(batch)), b"", self._spec.split)

    def _header(self) -> str:
        names = [column.name for column in self._spec.columns] + list(self._widened)
        cells = [self._cells.quote(pa.array([name], pa.string())) for name in names]
        return str(self._cells.join(cells, 1)[0])

    def _column(self, values: pa.Array, column: OutputColumn) -> pa.StringArray:
        return self._cells.quote(_show(values, column.name, column.type))

    def _widened_cells(self, batch: pa.RecordBatch) -> list[pa.StringArray]:
        if not self._widened:
            return []
        texts = take_column(batch, WIDENED_COLUMN).to_pylist()
        maps = [orjson.loads(text or "{}") for text in texts]
        return [
            self._column(
                pa.array([_tag_again(fields.get(name)) for fields in maps], pa.string()),
                OutputColumn(shown, ANY),
            )
            for shown, name in self._widened.items()
        ]


def _show(values: pa.Array, name: str, kind: Type) -> pa.StringArray:
    if is_tagged(kind):
        return _show_tagged(values, name)
    if kind.only(Kind.ARRAY):
        return write_lists(values, kind.element_type)
    return show_column(values)


def _show_tagged(tagged: pa.StringArray, name: str) -> pa.StringArray:
    maps = pc.index(pc.starts_with(tagged, "{"), True).as_py()
    if maps >= 0:
        raise WriteError(
            f"a csv file cannot hold '{name}', which is a Map",
            record=maps + 1,
            code="E078",
            help="exclude it, emit the parts of it that are needed, or write JSON",
        )
    return convert_by_tag(
        tagged,
        {
            b'"': drop_tag,
            b"@": show_moments,
            b"-0123456789NI": _show_numbers,
            b"#": drop_tag,
            b"[": lambda texts: pa.array(map(write_tagged, texts.to_pylist()), pa.string()),
        },
    )


def _show_numbers(texts: pa.StringArray) -> pa.StringArray:
    if contains_any(texts, b"I"):
        texts = pc.replace_substring(texts, "Infinity", "inf")
    whole = pc.utf8_slice_codeunits(texts, 0, -len(".0"))
    return pc.if_else(pc.ends_with(texts, ".0"), whole, texts)


def _choose_widened(spec: WriteSpec) -> dict[str, str]:
    """The undeclared fields that become columns, by the names they are written under."""
    if spec.widened is None:
        return {}
    return spec.widened.written(spec.widened.names, {column.name for column in spec.columns})


def _tag_again(value: Any) -> str | None:
    """The tagged text of what a tagged map holds under a key."""
    match value:
        case None | str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case _:
            return orjson.dumps(value).decode()
