"""Values of any type as the texts that cells, elements and segments have for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.failure import printable
from clinker.cxl.types import Kind, Type
from clinker.formats.common.column_types import is_tagged
from clinker.formats.common.json_texts import write_lists, write_tagged
from clinker.formats.common.rendering import take_column
from clinker.formats.common.tagged_texts import convert_by_tag, drop_tag, show_moments
from clinker.formats.common.texts import contains_any, show_column
from clinker.formats.common.writing import (
    WIDENED_COLUMN,
    OutputColumn,
    WriteError,
    WriteSpec,
)

_MAPS, _ARRAYS = ("{", "a Map"), ("[", "an Array")


def show_cells(
    values: pa.Array, column: OutputColumn, format: str, *, holds_arrays: bool = True
) -> pa.StringArray:
    """The texts of a column, arrays as JSON; null stays null, and what has no form is refused."""
    if is_tagged(column.type):
        for mark, kind in [_MAPS] if holds_arrays else [_MAPS, _ARRAYS]:
            _refuse(pc.starts_with(values, mark), column, format, kind)
    elif column.type.only(Kind.ARRAY) and not holds_arrays:
        _refuse(values.is_valid(), column, format, _ARRAYS[1])
    return show_values(values, column.type)


def show_values(values: pa.Array, kind: Type) -> pa.StringArray:
    """The texts of values, arrays and maps as JSON; null stays null."""
    if is_tagged(kind):
        return show_tagged(values)
    if kind.only(Kind.ARRAY):
        return write_lists(values, kind.element_type)
    return show_column(values)


def tag_again(value: Any) -> str | None:
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


def choose_widened(spec: WriteSpec) -> dict[str, str]:
    """The undeclared fields that become columns, by the names they are written under."""
    if spec.widened is None:
        return {}
    return spec.widened.written(spec.widened.names, {column.name for column in spec.columns})


def widened_columns(batch: pa.RecordBatch, names: Iterable[str]) -> Iterator[pa.StringArray]:
    """The tagged texts of undeclared fields, a column for each of the names."""
    texts = take_column(batch, WIDENED_COLUMN).to_pylist()
    maps = [orjson.loads(text or "{}") for text in texts]
    for name in names:
        yield pa.array([tag_again(fields.get(name)) for fields in maps], pa.string())


def holds_map(name: str, record: int, format: str, kind: str = _MAPS[1]) -> WriteError:
    """The refusal of a value in a file of a format that has no form for it."""
    return WriteError(
        f"{format} files cannot hold '{printable(name)}', which is {kind}",
        record=record,
        code="E078",
        help="exclude it, emit the parts of it that are needed, or write JSON",
    )


def _refuse(where: pa.BooleanArray, column: OutputColumn, format: str, kind: str) -> None:
    first = pc.index(where, True).as_py()
    if first >= 0:
        raise holds_map(column.name, first + 1, format, kind)


def show_tagged(tagged: pa.StringArray) -> pa.StringArray:
    """The texts of tagged values; arrays and maps as JSON."""
    return convert_by_tag(
        tagged,
        {
            b'"': drop_tag,
            b"@": show_moments,
            b"-0123456789NI": _show_numbers,
            b"#": drop_tag,
            b"[{": lambda texts: pa.array(map(write_tagged, texts.to_pylist()), pa.string()),
        },
    )


def _show_numbers(texts: pa.StringArray) -> pa.StringArray:
    if contains_any(texts, b"I"):
        texts = pc.replace_substring(texts, "Infinity", "inf")
    whole = pc.utf8_slice_codeunits(texts, 0, -len(".0"))
    return pc.if_else(pc.ends_with(texts, ".0"), whole, texts)
