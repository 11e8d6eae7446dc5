"""Columns as JSON: each value a text that stands in a JSON document."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.types import Kind, Type
from clinker.cxl.values import WrittenFloat, float_text
from clinker.formats.common.column_types import is_tagged
from clinker.formats.common.json_numbers import loads
from clinker.formats.common.tagged_texts import (
    convert_by_tag,
    drop_tag,
    show_moments,
    untag,
)
from clinker.formats.common.texts import (
    contains_any,
    join_bytes,
    replace_where,
    show_column,
)

_INDENT = "  "
_ESCAPED = '["\\\\\\x00-\\x1f]'
_SPACE = 0x20
_SMALLEST_PLAIN, _LARGEST_PLAIN = 1e-5, 1e16
_ODD_NUMBER = r"^-?([0-9]{16,}\.|0\.0000|[NI])"
"""Tagged floats that may need an exponent, or have no form in JSON."""


def write_json(values: pa.Array, kind: Type) -> pa.StringArray:
    """The JSON of each value; null stays null."""
    if is_tagged(kind):
        return _write_tagged_column(values)
    if kind.only(Kind.ARRAY):
        return write_lists(values, kind.element_type)
    if kind.only(Kind.STRING):
        return _quote(escape(values))
    if kind.only(Kind.FLOAT):
        return _write_floats(values)
    if kind.only(Kind.DATE | Kind.DATETIME):
        return _quote(show_column(values))
    return show_column(values)


def write_lists(values: pa.ListArray, element: Type) -> pa.StringArray:
    elements = pc.fill_null(write_json(values.flatten(), element), "null")
    lengths = np.asarray(pc.fill_null(pc.list_value_length(values), 0))
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), elements), ",")
    texts = pc.binary_join_element_wise("[", joined, "]", "")
    if not values.null_count:
        return texts
    return pc.if_else(values.is_valid(), texts, pa.scalar(None, pa.string()))


def escape(texts: pa.StringArray) -> pa.StringArray:
    """What stands between the quotes of a JSON string."""
    data = join_bytes(texts)
    if b'"' not in data and b"\\" not in data and not _has_control_character(data):
        return texts
    return replace_where(texts, pc.match_substring_regex(texts, _ESCAPED), _escape_each)


def write_float(number: float) -> str:
    """Shortest digits, always with a point or an exponent; what JSON cannot say is null.

    A number that keeps the text it has in a file has that.
    """
    if isinstance(number, WrittenFloat):
        return number.text
    if not math.isfinite(number):
        return "null"
    mantissa, has_exponent, exponent = repr(number).partition("e")
    if not has_exponent:
        return mantissa
    if abs(number) < _SMALLEST_PLAIN or abs(number) >= _LARGEST_PLAIN:
        return f"{mantissa}e{int(exponent):+d}"
    return float_text(number)


def write_tagged(text: str) -> str:
    """The JSON of a tagged array or map."""
    return write_nested(orjson.loads(text))


def write_nested(tagged: Any) -> str:
    """The JSON of what a tagged array or map holds at some place."""
    return orjson.dumps(untag(tagged, _write_fragment)).decode()


def indent(text: str, margin: str) -> str:
    """JSON with every element on a line of its own; `margin` is where it stands itself."""
    return _indent(loads(text.encode()), margin)


def _indent(value: Any, margin: str) -> str:
    inner = margin + _INDENT
    match value:
        case list() if value:
            items = [_indent(item, inner) for item in value]
            opening, closing = "[", "]"
        case dict() if value:
            items = [
                f"{orjson.dumps(key).decode()}: {_indent(item, inner)}"
                for key, item in value.items()
            ]
            opening, closing = "{", "}"
        case float():
            return write_float(value)
        case _:
            return orjson.dumps(value).decode()
    return f"{opening}\n{inner}" + f",\n{inner}".join(items) + f"\n{margin}{closing}"


def _write_fragment(number: float) -> Any:
    return orjson.Fragment(write_float(number))


def _has_control_character(data: bytes) -> bool:
    return bool(data) and int(np.frombuffer(data, np.uint8).min()) < _SPACE


def _escape_each(texts: pa.StringArray) -> list[str]:
    return [orjson.dumps(text)[1:-1].decode() for text in texts.to_pylist()]


def _quote(texts: pa.StringArray) -> pa.StringArray:
    return pc.binary_join_element_wise('"', texts, '"', "")


def _write_floats(values: pa.Array) -> pa.StringArray:
    texts = pc.cast(values, pa.string())
    point = pc.if_else(pc.match_substring(texts, "."), "", ".0")
    texts = pc.binary_join_element_wise(texts, point, "")
    magnitudes = np.abs(np.asarray(pc.fill_null(values, 0.0)))
    odd = pa.array((magnitudes < _SMALLEST_PLAIN) & (magnitudes > 0))
    if contains_any(texts, b"en"):
        odd = pc.or_(odd, pc.match_substring_regex(texts, "[en]"))
    numbers = pc.filter(values, odd)
    return replace_where(texts, odd, lambda _: map(write_float, numbers.to_pylist()))


def _write_tagged_column(tagged: pa.StringArray) -> pa.StringArray:
    return convert_by_tag(
        tagged,
        {
            b'"': lambda texts: _quote(escape(drop_tag(texts))),
            b"@": lambda texts: _quote(show_moments(texts)),
            b"-0123456789NI": _write_numbers,
            b"#": drop_tag,
            b"[{": lambda texts: pa.array(map(write_tagged, texts.to_pylist()), pa.string()),
        },
    )


def _write_numbers(texts: pa.StringArray) -> pa.StringArray:
    odd = pc.match_substring_regex(texts, _ODD_NUMBER)
    return replace_where(
        texts, odd, lambda odd: [write_float(float(text)) for text in odd.to_pylist()]
    )
