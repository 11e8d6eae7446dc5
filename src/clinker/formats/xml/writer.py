"""Writing XML: an element per record, in it an element per column, no blanks between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.failure import shown
from clinker.cxl.types import ANY, Kind, Type
from clinker.cxl.values import float_text
from clinker.formats.common.cell_texts import choose_widened, holds_map, show_cells, tag_again
from clinker.formats.common.column_types import is_tagged
from clinker.formats.common.json_texts import write_nested
from clinker.formats.common.rendering import join_records, take_column
from clinker.formats.common.tagged_texts import untag
from clinker.formats.common.texts import contains_any, join_bytes
from clinker.formats.common.writing import (
    WIDENED_COLUMN,
    OutputColumn,
    Piece,
    Rendered,
    Sink,
    Warn,
    WriteError,
    WriteSpec,
)
from clinker.formats.xml.dialect import XmlWriteDialect
from clinker.frozen import frozen
from clinker.xml_names import ATTRIBUTE, TEXT, is_column_name

Pieces: TypeAlias = list["str | pa.StringArray"]
_NIL = ' xsi:nil="true"/>'
_XSI = ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
_IN_TEXT = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
"""A carriage return is escaped since readers take it for a newline."""
_IN_ATTRIBUTE = _IN_TEXT | {'"': "&quot;", "\t": "&#9;", "\n": "&#10;"}
"""And all other blanks in an attribute for spaces."""
_FORBIDDEN = "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x{FFFE}\\x{FFFF}]"
_IS_FORBIDDEN = np.zeros(256, np.bool_)
_IS_FORBIDDEN[[code for code in range(32) if code not in b"\t\r\n"]] = True


@frozen
class _Field:
    """What is written at some place of a record."""

    column: OutputColumn
    key: str | None = None
    """Its name among the undeclared fields, if it is one of them."""


@frozen(eq=False)
class _Element:
    """An element of a record: what it is made of."""

    name: str
    attributes: dict[str, _Field] = field(default_factory=dict)
    texts: list[_Field] = field(default_factory=list)
    children: dict[str, _Element] = field(default_factory=dict)


@frozen(eq=False)
class _Values:
    """The texts of a field; where it is absent nothing at all is written."""

    texts: pa.StringArray
    absent: pa.BooleanArray | None = None


class XmlRenderer:
    """Records as elements."""

    is_headed = False
    separator = b""

    def __init__(self, spec: WriteSpec, dialect: XmlWriteDialect) -> None:
        self._spec = spec
        self._null = _NIL if dialect.preserve_nulls else "/>"
        self._preserves_nulls = dialect.preserve_nulls
        self._record = _grow(dialect.record_element, _choose_fields(spec))
        root = dialect.root_element
        self.opening = f"<{root}>".encode()
        self.closing = f"</{root}>".encode()
        self.empty = f"<{root}/>".encode()
        self.framing = _NilFraming(root, self) if dialect.preserve_nulls else None

    def render(self, batch: pa.RecordBatch) -> Rendered:
        undeclared = self._undeclared(batch)
        pieces = _merge(self._element(self._record, batch, undeclared))
        if all(isinstance(piece, str) for piece in pieces):
            records = pa.array(["".join(map(str, pieces))] * len(batch), pa.string())
        else:
            records = pc.binary_join_element_wise(*pieces, "")
        return join_records(batch, records, b"", self._spec.split)

    def _undeclared(self, batch: pa.RecordBatch) -> list[dict[str, Any]]:
        if self._spec.widened is None or not choose_widened(self._spec):
            return []
        return [
            orjson.loads(text or "{}") for text in take_column(batch, WIDENED_COLUMN).to_pylist()
        ]

    def _element(
        self, element: _Element, batch: pa.RecordBatch, undeclared: Sequence[dict[str, Any]]
    ) -> Pieces:
        """What an element is, up to the end of its last tag."""
        name = element.name
        attributes = [
            self._attribute(attribute, each, self._values(each, batch, undeclared))
            for attribute, each in element.attributes.items()
        ]
        opening: Pieces = [f"<{name}", *attributes]
        if not element.children and len(element.texts) <= 1:
            if not element.texts:
                return [*opening, "/>"]
            (only,) = element.texts
            if not attributes:
                return self._leaf(name, only, batch, undeclared)
            values = self._values(only, batch, undeclared)
            texts = _escape(_require_text(values.texts, only), _IN_TEXT)
            return [*opening, self._tail(name, texts)]
        contents: Pieces = [">"]
        for each in element.texts:
            values = self._values(each, batch, undeclared)
            texts = _escape(_require_text(values.texts, each), _IN_TEXT)
            contents.append(pc.fill_null(texts, ""))
        for child in element.children.values():
            contents += self._element(child, batch, undeclared)
        return [*opening, *contents, f"</{name}>"]

    def _attribute(self, name: str, field: _Field, values: _Values) -> pa.StringArray:
        texts = _escape(_require_text(values.texts, field), _IN_ATTRIBUTE)
        if not self._preserves_nulls:
            texts = pc.fill_null(texts, "")
        written = pc.binary_join_element_wise(f' {name}="', texts, '"', "")
        written = pc.fill_null(written, "")
        return written if values.absent is None else pc.if_else(values.absent, "", written)

    def _leaf(
        self,
        name: str,
        field: _Field,
        batch: pa.RecordBatch,
        undeclared: Sequence[dict[str, Any]],
    ) -> Pieces:
        """An element that has nothing but a text; for an array, one for each of its elements."""
        type_ = field.column.type
        if field.key is None and type_.only(Kind.ARRAY) and not is_tagged(type_):
            return [self._lists(name, take_column(batch, field.column), type_, field)]
        values = self._values(field, batch, undeclared)
        texts = _escape(_require_text(values.texts, field, is_open=True), _IN_TEXT)
        has_empty = texts.null_count or pc.min(pc.binary_length(texts)).as_py() == 0
        arrays = self._arrays(name, values.texts, field) if is_tagged(type_) else None
        if not has_empty and arrays is None and values.absent is None:
            return [f"<{name}>", texts, f"</{name}>"]
        written = pc.binary_join_element_wise(f"<{name}", self._tail(name, texts), "")
        if arrays is not None:
            where, elements = arrays
            written = pc.replace_with_mask(written, where, elements)
        if values.absent is not None:
            written = pc.if_else(values.absent, "", written)
        return [written]

    def _tail(self, name: str, texts: pa.StringArray) -> pa.StringArray:
        """All of an element that is behind its attributes."""
        written = pc.binary_join_element_wise(">", texts, f"</{name}>", "")
        written = pc.if_else(pc.equal(texts, ""), "/>", written)
        return pc.fill_null(written, self._null)

    def _lists(self, name: str, values: pa.ListArray, type_: Type, field: _Field) -> pa.StringArray:
        name_of_column = field.column.name
        lengths = np.asarray(pc.fill_null(pc.list_value_length(values), 0))
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        try:
            texts = show_cells(
                values.flatten(), OutputColumn(name_of_column, type_.element_type), "xml"
            )
            texts = _escape(_check(texts, name_of_column), _IN_TEXT)
        except WriteError as problem:
            assert problem.record is not None
            record = int(np.searchsorted(offsets, problem.record - 1, side="right"))
            raise problem.after(record - problem.record) from None
        elements = pc.binary_join_element_wise(f"<{name}", self._tail(name, texts), "")
        joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), elements), "")
        return pc.if_else(values.is_valid(), joined, f"<{name}{self._null}")

    def _arrays(
        self, name: str, tagged: pa.StringArray, field: _Field
    ) -> tuple[pa.BooleanArray, pa.StringArray] | None:
        """Where arrays are in a column of any values, and the elements that they are."""
        where = pc.fill_null(pc.starts_with(tagged, "["), False)
        rows = np.flatnonzero(np.asarray(where))
        if not len(rows):
            return None
        texts = (
            "".join(self._items(name, orjson.loads(text), field, row + 1))
            for row, text in zip(rows.tolist(), pc.filter(tagged, where).to_pylist(), strict=True)
        )
        return where, pa.array(texts, pa.string())

    def _items(self, name: str, items: list[Any], field: _Field, record: int) -> Iterator[str]:
        for item in items:
            if isinstance(item, dict):
                raise holds_map(field.column.name, record, "xml")
            text = None if item is None else _show_item(item)
            if text is None:
                yield f"<{name}{self._null}"
                continue
            if re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", text):
                raise _forbidden(field.column.name, record, text)
            for character, escaped in _IN_TEXT.items():
                text = text.replace(character, escaped)
            yield f"<{name}>{text}</{name}>" if text else f"<{name}/>"

    def _values(
        self, field: _Field, batch: pa.RecordBatch, undeclared: Sequence[dict[str, Any]]
    ) -> _Values:
        if field.key is None:
            values = take_column(batch, field.column)
            if is_tagged(field.column.type):
                return _Values(values)
            return _Values(show_cells(values, field.column, "xml"))
        key = field.key
        tagged = pa.array([tag_again(fields.get(key)) for fields in undeclared], pa.string())
        absent = pa.array([key not in fields for fields in undeclared], pa.bool_())
        return _Values(tagged, absent if pc.any(absent).as_py() else None)


class _NilFraming:
    """Writes documents whose root declares the namespace of `xsi:nil`, if they have one."""

    def __init__(self, root: str, form: XmlRenderer) -> None:
        self._form = form
        self._opening = f"<{root}{_XSI}>".encode()

    def write_document(self, sink: Sink, pieces: Iterable[Piece], warn: Warn) -> int:
        pieces = [piece for piece in pieces if piece.records]
        if not pieces:
            sink.write(self._form.empty)
            return 0
        sink.write(self._opening if any(map(_has_nil, pieces)) else self._form.opening)
        for piece in pieces:
            piece.copy_to(sink, 0, piece.size)
        sink.write(self._form.closing)
        return sum(piece.records for piece in pieces)


def _has_nil(piece: Piece) -> bool:
    search = _NilSearch()
    piece.copy_to(search, 0, piece.size)
    return search.is_there


class _NilSearch:
    """Looks for a null: nothing else can have these bytes, since `>` is escaped in texts."""

    def __init__(self) -> None:
        self.is_there = False
        self._rest = b""

    def write(self, data: bytes | memoryview, /) -> int:
        if not self.is_there:
            seen = self._rest + bytes(data)
            self.is_there = _NIL.encode() in seen
            self._rest = seen[-len(_NIL) :]
        return len(data)


def _choose_fields(spec: WriteSpec) -> Iterator[_Field]:
    yield from map(_Field, spec.columns)
    for written, key in choose_widened(spec).items():
        yield _Field(OutputColumn(written, ANY), key)


def _grow(record_element: str, fields: Iterable[_Field]) -> _Element:
    """The element of a record, of columns by the steps of their names."""
    record = _Element(record_element)
    for each in fields:
        name = each.column.name
        if not is_column_name(name):
            raise WriteError(
                f"'{name}' is no name that an element or an attribute can have",
                code="E079",
                help="give the column another name with 'mapping', or exclude it",
            )
        *steps, last = name.split(".")
        if last != TEXT and not last.startswith(ATTRIBUTE):
            steps.append(last)
        element = record
        for step in steps:
            element = element.children.setdefault(step, _Element(step))
        if last.startswith(ATTRIBUTE):
            element.attributes[last.removeprefix(ATTRIBUTE)] = each
        elif element.texts:
            raise _same_text(element.texts[0], each)
        else:
            element.texts.append(each)
    return record


def _same_text(one: _Field, other: _Field) -> WriteError:
    return WriteError(
        f"'{one.column.name}' and '{other.column.name}' would be the text of the same element",
        code="E079",
        help="give one of them another name with 'mapping', or exclude it",
    )


def _require_text(
    values: pa.StringArray, field: _Field, *, is_open: bool = False
) -> pa.StringArray:
    """The texts of a column; arrays, which are elements of their own, may be left out."""
    name = field.column.name
    if is_tagged(field.column.type):
        if is_open:
            values = pc.if_else(pc.starts_with(values, "["), None, values)
        values = show_cells(values, field.column, "xml")
    return _check(values, name)


def _check(texts: pa.StringArray, name: str) -> pa.StringArray:
    """The texts, if XML can hold their characters."""
    data = join_bytes(texts)
    codes = np.frombuffer(data, np.uint8)
    if not (_IS_FORBIDDEN[codes].any() or b"\xef\xbf\xbe" in data or b"\xef\xbf\xbf" in data):
        return texts
    record = pc.index(pc.match_substring_regex(texts, _FORBIDDEN), True).as_py()
    if record < 0:
        return texts
    raise _forbidden(name, record + 1, texts[record].as_py())


def _forbidden(name: str, record: int, text: str) -> WriteError:
    return WriteError(
        f"'{shown(text)}' in column '{name}' has a character that XML cannot hold",
        record=record,
        help="remove it in a transform, or write another format",
    )


def _escape(texts: pa.StringArray, escapes: dict[str, str]) -> pa.StringArray:
    for character, escaped in escapes.items():
        if contains_any(texts, character.encode()):
            texts = pc.replace_substring(texts, character, escaped)
    return texts


def _show_item(tagged: Any) -> str | None:
    """The text of what a tagged array holds."""
    if isinstance(tagged, list):
        return write_nested(tagged)
    value = untag(tagged, _show_float)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _show_float(number: float) -> str:
    return getattr(number, "text", None) or float_text(number)


def _merge(pieces: Pieces) -> Pieces:
    """The same with texts that follow each other as one."""
    merged: Pieces = []
    for piece in pieces:
        if merged and isinstance(piece, str) and isinstance(merged[-1], str):
            merged[-1] += piece
        else:
            merged.append(piece)
    return merged
