"""Columns of any type as texts that cells and elements have; undeclared fields as columns."""

from __future__ import annotations

from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.types import Kind, Type
from clinker.formats.common.column_types import is_tagged
from clinker.formats.common.json_texts import write_lists, write_tagged
from clinker.formats.common.tagged_texts import convert_by_tag, drop_tag, show_moments
from clinker.formats.common.texts import contains_any, show_column
from clinker.formats.common.writing import WriteError, WriteSpec


def show_cells(values: pa.Array, name: str, kind: Type, format: str) -> pa.StringArray:
    """Texts, arrays as JSON; WriteError where there is a map, for which a format has no form."""
    if is_tagged(kind):
        return _show_tagged(values, name, format)
    if kind.only(Kind.ARRAY):
        return write_lists(values, kind.element_type)
    return show_column(values)


def _show_tagged(tagged: pa.StringArray, name: str, format: str) -> pa.StringArray:
    maps = pc.index(pc.starts_with(tagged, "{"), True).as_py()
    if maps >= 0:
        raise holds_map(name, maps + 1, format)
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


def holds_map(name: str, record: int, format: str) -> WriteError:
    """The refusal of a map in a file of a format that has no form for it."""
    return WriteError(
        f"a {format} file cannot hold '{name}', which is a Map",
        record=record,
        code="E078",
        help="exclude it, emit the parts of it that are needed, or write JSON",
    )


def choose_widened(spec: WriteSpec) -> dict[str, str]:
    """The undeclared fields that become columns, by the names they are written under."""
    if spec.widened is None:
        return {}
    return spec.widened.written(spec.widened.names, {column.name for column in spec.columns})


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
