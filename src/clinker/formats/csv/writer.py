"""Writing CSV: a header, minimal quoting, lines that end with a newline."""

from __future__ import annotations

import re
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.types import ANY, Kind, Type
from clinker.formats.common.column_types import is_tagged
from clinker.formats.common.json_texts import list_json, tagged_json
from clinker.formats.common.rendering import held, rendered
from clinker.formats.common.tagged_texts import by_tag, moment_texts, text_after_tag
from clinker.formats.common.texts import column_texts, contains_any, replaced
from clinker.formats.common.writing import (
    WIDENED_COLUMN,
    OutputColumn,
    Rendered,
    WriteError,
    WriteSpec,
)


class CsvRenderer:
    """Records as lines of cells."""

    separator = b""
    closing = b""

    def __init__(self, spec: WriteSpec) -> None:
        self._spec = spec
        self._cells = CsvCells(spec.delimiter)
        self._widened = _widened_columns(spec)
        self.opening = self._header().encode() if spec.include_header else b""
        self.empty = self.opening

    def render(self, batch: pa.RecordBatch) -> Rendered:
        cells = [self._column(held(batch, column), column) for column in self._spec.columns]
        cells += self._widened_cells(batch)
        return rendered(batch, self._cells.lines(cells, len(batch)), b"", self._spec.split)

    def _header(self) -> str:
        names = [column.name for column in self._spec.columns] + list(self._widened)
        cells = [self._cells.quoted(pa.array([name], pa.string())) for name in names]
        return str(self._cells.lines(cells, 1)[0])

    def _column(self, values: pa.Array, column: OutputColumn) -> pa.StringArray:
        return self._cells.quoted(_texts(values, column.name, column.type))

    def _widened_cells(self, batch: pa.RecordBatch) -> list[pa.StringArray]:
        if not self._widened:
            return []
        maps = [orjson.loads(text or "{}") for text in held(batch, WIDENED_COLUMN).to_pylist()]
        return [
            self._column(
                pa.array([_tagged_again(fields.get(name)) for fields in maps], pa.string()),
                OutputColumn(shown, ANY),
            )
            for shown, name in self._widened.items()
        ]


class CsvCells:
    """How texts become cells and cells lines, for one delimiter."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._special = re.escape(delimiter) + '"\r\n'
        self._special_bytes = b'"\r\n' + (delimiter.encode() if delimiter.isascii() else b"")

    def quoted(self, texts: pa.StringArray) -> pa.StringArray:
        """The texts, in quotes where they need them."""
        if self._delimiter.isascii() and not contains_any(texts, self._special_bytes):
            return texts
        return replaced(texts, pc.match_substring_regex(texts, f"[{self._special}]"), _quote)

    def lines(self, cells: list[pa.StringArray], records: int) -> pa.StringArray:
        """Cells, a null one empty, joined to lines."""
        if not cells:
            return pa.array(["\n"] * records, pa.string())
        *others, last = cells
        if not others:
            # A line without any character would be no record to those who read it.
            last = pc.if_else(pc.equal(pc.fill_null(last, ""), ""), '""', last)
        last = pc.binary_join_element_wise(
            last, "", "\n", null_handling="replace", null_replacement=""
        )
        if not others:
            return last
        return pc.binary_join_element_wise(
            *others, last, self._delimiter, null_handling="replace", null_replacement=""
        )


def _quote(texts: pa.StringArray) -> pa.StringArray:
    return pc.binary_join_element_wise('"', pc.replace_substring(texts, '"', '""'), '"', "")


def _texts(values: pa.Array, name: str, kind: Type) -> pa.StringArray:
    if is_tagged(kind):
        return _tagged_cells(values, name)
    if kind.only(Kind.ARRAY):
        return list_json(values, kind.element_type)
    return column_texts(values)


def _tagged_cells(tagged: pa.StringArray, name: str) -> pa.StringArray:
    maps = pc.index(pc.starts_with(tagged, "{"), True).as_py()
    if maps >= 0:
        raise WriteError(
            f"a csv file cannot hold '{name}', which is a Map", record=maps + 1, code="E078"
        )
    return by_tag(
        tagged,
        {
            b'"': text_after_tag,
            b"@": moment_texts,
            b"-0123456789NI": _number_texts,
            b"#": text_after_tag,
            b"[": lambda texts: pa.array(map(tagged_json, texts.to_pylist()), pa.string()),
        },
    )


def _number_texts(texts: pa.StringArray) -> pa.StringArray:
    if contains_any(texts, b"I"):
        texts = pc.replace_substring(texts, "Infinity", "inf")
    whole = pc.utf8_slice_codeunits(texts, 0, -len(".0"))
    return pc.if_else(pc.ends_with(texts, ".0"), whole, texts)


def _widened_columns(spec: WriteSpec) -> dict[str, str]:
    """The undeclared fields that become columns, by the names they are written under."""
    if spec.widened is None:
        return {}
    return spec.widened.written(spec.widened.names, {column.name for column in spec.columns})


def _tagged_again(value: Any) -> str | None:
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
