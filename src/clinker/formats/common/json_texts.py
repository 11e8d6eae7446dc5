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
from clinker.formats.common.tagged_texts import by_tag, moment_texts, nested_value, text_after_tag
from clinker.formats.common.texts import column_texts, contains_any, replaced, text_bytes
from clinker.formats.json.numbers import loads

_INDENT = "  "
_ESCAPED = '["\\\\\\x00-\\x1f]'
_SPACE = 0x20
_SMALLEST_PLAIN, _LARGEST_PLAIN = 1e-5, 1e16
_ODD_NUMBER = r"^-?([0-9]{16,}\.|0\.0000|[NI])"
"""Tagged floats that may need an exponent, or have no form in JSON."""


def json_texts(values: pa.Array, kind: Type) -> pa.StringArray:
    """The JSON of each value; null stays null."""
    if is_tagged(kind):
        return _tagged_json(values)
    if kind.only(Kind.ARRAY):
        return list_json(values, kind.element_type)
    if kind.only(Kind.STRING):
        return _quoted(escaped(values))
    if kind.only(Kind.FLOAT):
        return _float_json(values)
    if kind.only(Kind.DATE | Kind.DATETIME):
        return _quoted(column_texts(values))
    return column_texts(values)


def list_json(values: pa.ListArray, element: Type) -> pa.StringArray:
    elements = pc.fill_null(json_texts(values.flatten(), element), "null")
    lengths = np.asarray(pc.fill_null(pc.list_value_length(values), 0))
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    joined = pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), elements), ",")
    texts = pc.binary_join_element_wise("[", joined, "]", "")
    if not values.null_count:
        return texts
    return pc.if_else(values.is_valid(), texts, pa.scalar(None, pa.string()))


def escaped(texts: pa.StringArray) -> pa.StringArray:
    """What stands between the quotes of a JSON string."""
    data = text_bytes(texts)
    if b'"' not in data and b"\\" not in data and not _has_control_character(data):
        return texts
    return replaced(texts, pc.match_substring_regex(texts, _ESCAPED), _escape_each)


def json_float_text(number: float) -> str:
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


def tagged_json(text: str) -> str:
    """The JSON of a tagged array or map."""
    return nested_json(orjson.loads(text))


def nested_json(tagged: Any) -> str:
    """The JSON of what a tagged array or map holds at some place."""
    return orjson.dumps(nested_value(tagged, _float_fragment)).decode()


def indented(text: str, margin: str) -> str:
    """JSON with every element on a line of its own; `margin` is where it stands itself."""
    return _indented(loads(text.encode()), margin)


def _indented(value: Any, margin: str) -> str:
    inner = margin + _INDENT
    match value:
        case list() if value:
            items = [_indented(item, inner) for item in value]
            opening, closing = "[", "]"
        case dict() if value:
            items = [
                f"{orjson.dumps(key).decode()}: {_indented(item, inner)}"
                for key, item in value.items()
            ]
            opening, closing = "{", "}"
        case float():
            return json_float_text(value)
        case _:
            return orjson.dumps(value).decode()
    return f"{opening}\n{inner}" + f",\n{inner}".join(items) + f"\n{margin}{closing}"


def _float_fragment(number: float) -> Any:
    return orjson.Fragment(json_float_text(number))


def _has_control_character(data: bytes) -> bool:
    return bool(data) and int(np.frombuffer(data, np.uint8).min()) < _SPACE


def _escape_each(texts: pa.StringArray) -> list[str]:
    return [orjson.dumps(text)[1:-1].decode() for text in texts.to_pylist()]


def _quoted(texts: pa.StringArray) -> pa.StringArray:
    return pc.binary_join_element_wise('"', texts, '"', "")


def _float_json(values: pa.Array) -> pa.StringArray:
    texts = pc.cast(values, pa.string())
    point = pc.if_else(pc.match_substring(texts, "."), "", ".0")
    texts = pc.binary_join_element_wise(texts, point, "")
    magnitudes = np.abs(np.asarray(pc.fill_null(values, 0.0)))
    odd = pa.array((magnitudes < _SMALLEST_PLAIN) & (magnitudes > 0))
    if contains_any(texts, b"en"):
        odd = pc.or_(odd, pc.match_substring_regex(texts, "[en]"))
    numbers = pc.filter(values, odd)
    return replaced(texts, odd, lambda _: map(json_float_text, numbers.to_pylist()))


def _tagged_json(tagged: pa.StringArray) -> pa.StringArray:
    return by_tag(
        tagged,
        {
            b'"': lambda texts: _quoted(escaped(text_after_tag(texts))),
            b"@": lambda texts: _quoted(moment_texts(texts)),
            b"-0123456789NI": _number_json,
            b"#": text_after_tag,
            b"[{": lambda texts: pa.array(map(tagged_json, texts.to_pylist()), pa.string()),
        },
    )


def _number_json(texts: pa.StringArray) -> pa.StringArray:
    odd = pc.match_substring_regex(texts, _ODD_NUMBER)
    return replaced(
        texts, odd, lambda odd: [json_float_text(float(text)) for text in odd.to_pylist()]
    )
