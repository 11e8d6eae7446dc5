"""Writing JSON: one object per record, in an array or one after the other (NDJSON)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.types import Kind
from clinker.formats.common.json_texts import escape, indent, write_json, write_nested
from clinker.formats.common.rendering import join_records, take_column
from clinker.formats.common.texts import replace_where
from clinker.formats.common.writing import (
    WIDENED_COLUMN,
    OutputColumn,
    Rendered,
    Widened,
    WriteSpec,
)
from clinker.formats.json.dialect import JsonWriteDialect

_INDENT = "  "
_MAY_NEST = Kind.ARRAY | Kind.MAP


class JsonRenderer:
    """Records as objects whose keys are the columns, in their order."""

    is_headed = False
    framing = None

    def __init__(self, spec: WriteSpec, dialect: JsonWriteDialect) -> None:
        self._spec = spec
        self._is_pretty = dialect.pretty
        self._null = "null" if dialect.preserve_nulls else '""'
        self._begin, self._colon, self._comma, self._end = (
            ("{\n" + _INDENT, ": ", ",\n" + _INDENT, "\n}")
            if dialect.pretty
            else ("{", ":", ",", "}")
        )
        if dialect.form == "array":
            self.opening, self.separator, self.closing = b"[\n", b",\n", b"\n]\n"
            self.empty = b"[]\n"
        else:
            self.opening, self.separator, self.closing = b"", b"\n", b"\n"
            self.empty = b""

    def render(self, batch: pa.RecordBatch) -> Rendered:
        objects = self._objects(batch) if self._spec.columns else self._undeclared_only(batch)
        return join_records(batch, objects, self.separator, self._spec.split)

    def _objects(self, batch: pa.RecordBatch) -> pa.StringArray:
        """The text of each record, followed by the separator."""
        pieces: list[str | pa.StringArray] = []
        before, behind = self._begin, ""
        for column in self._spec.columns:
            values = take_column(batch, column)
            key = self._key(column.name)
            if column.type.only(Kind.STRING) and not values.null_count:
                # The quotes join what stands around them, which is faster than to join the texts.
                pieces += (behind + before + key + '"', escape(values))
                behind = '"'
            else:
                pieces += (behind + before + key, self._values(values, column))
                behind = ""
            before = self._comma
        if self._spec.widened is not None:
            undeclared = self._undeclared(batch, lambda fields: "".join(map(self._next, fields)))
            pieces += (behind, undeclared)
            behind = ""
        end = behind + self._end + self.separator.decode()
        return pc.binary_join_element_wise(*pieces, end, "")

    def _undeclared_only(self, batch: pa.RecordBatch) -> pa.StringArray:
        objects = self._undeclared(batch, self._object)
        return pc.binary_join_element_wise(objects, self.separator.decode(), "")

    def _key(self, name: str) -> str:
        return orjson.dumps(name).decode() + self._colon

    def _next(self, field: str) -> str:
        return self._comma + field

    def _object(self, fields: list[str]) -> str:
        return self._begin + self._comma.join(fields) + self._end if fields else "{}"

    def _values(self, values: pa.Array, column: OutputColumn) -> pa.StringArray:
        texts = write_json(values, column.type)
        if self._is_pretty and column.type.maybe(_MAY_NEST):
            nested = pc.match_substring_regex(texts, r"^[\[{]")
            texts = replace_where(texts, nested, lambda texts: map(_indent, texts.to_pylist()))
        return pc.fill_null(texts, self._null) if texts.null_count else texts

    def _undeclared(
        self, batch: pa.RecordBatch, join: Callable[[list[str]], str]
    ) -> pa.StringArray:
        """Of each record, its undeclared fields."""
        widened = self._spec.widened
        if widened is None:
            return pa.array([join([])] * len(batch), pa.string())
        taken = {column.name for column in self._spec.columns}
        return pa.array(
            (
                join(self._fields(orjson.loads(text), widened, taken)) if text else join([])
                for text in take_column(batch, WIDENED_COLUMN).to_pylist()
            ),
            pa.string(),
        )

    def _fields(self, values: dict[str, Any], widened: Widened, taken: set[str]) -> list[str]:
        return [
            self._key(shown) + self._value(values[name])
            for shown, name in widened.written(values, taken).items()
        ]

    def _value(self, value: Any) -> str:
        if value is None:
            return self._null
        text = write_nested(value)
        return _indent(text) if self._is_pretty else text


def _indent(text: str) -> str:
    return indent(text, _INDENT)
