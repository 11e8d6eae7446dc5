"""Columns of tagged texts, in which every value tells its kind by its first character."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.run.tagged import MOMENT, STRING, WRITTEN, decode, encode
from clinker.cxl.values import WrittenFloat, unwritten
from clinker.formats.common.texts import replace_where, take_first_bytes

Convert: TypeAlias = Callable[[pa.StringArray], pa.StringArray]

_LONG_FRACTION = re.compile(r"(\.[0-9]{3})000$")


def convert_by_tag(tagged: pa.StringArray, conversions: Mapping[bytes, Convert]) -> pa.StringArray:
    """Convert each text by what its first character asks for, if there is such a conversion."""
    tags = take_first_bytes(tagged)
    present = set(np.unique(tags).tolist()) - {0}
    texts = tagged
    for characters, convert in conversions.items():
        if not present & set(characters):
            continue
        if present <= set(characters):
            return _convert_but_nulls(tagged, convert)
        where = pa.array(np.isin(tags, np.frombuffer(characters, np.uint8)))
        texts = pc.replace_with_mask(texts, where, convert(pc.filter(tagged, where)))
    return texts


def _convert_but_nulls(tagged: pa.StringArray, convert: Convert) -> pa.StringArray:
    if not tagged.null_count:
        return convert(tagged)
    where = tagged.is_valid()
    return pc.replace_with_mask(tagged, where, convert(pc.filter(tagged, where)))


def drop_tag(texts: pa.StringArray) -> pa.StringArray:
    return pc.utf8_slice_codeunits(texts, 1)


def show_moments(texts: pa.StringArray) -> pa.StringArray:
    """Dates and datetimes; a fraction of whole milliseconds has three digits."""
    return pc.replace_substring_regex(drop_tag(texts), _LONG_FRACTION.pattern, r"\1")


def forget_spelling(tagged: pa.StringArray) -> pa.StringArray:
    """The same values, numbers without the text that a file has for them."""
    return convert_by_tag(
        tagged,
        {
            WRITTEN.encode(): _forget_each,
            b"[{": lambda texts: replace_where(
                texts, pc.match_substring(texts, f'"{WRITTEN}'), _forget_each
            ),
        },
    )


def _forget_each(texts: pa.StringArray) -> pa.StringArray:
    values = map(decode, texts.to_pylist())
    return pa.array((encode(_forget(value)) for value in values), pa.string())


def _forget(value: Any) -> Any:
    match value:
        case list():
            return [_forget(item) for item in value]
        case dict():
            return {key: _forget(item) for key, item in value.items()}
        case _:
            return unwritten(value)


def untag(node: Any, from_float: Callable[[float], Any]) -> Any:
    """What the parsed JSON of a tagged array or map stands for, dates as texts."""
    match node:
        case str():
            return _leaf(node, from_float)
        case list():
            return [untag(item, from_float) for item in node]
        case dict():
            return {key: untag(item, from_float) for key, item in node.items()}
        case _:
            return node


def _leaf(text: str, from_float: Callable[[float], Any]) -> Any:
    match text[:1]:
        case tag if tag == STRING:
            return text[1:]
        case tag if tag == MOMENT:
            return _LONG_FRACTION.sub(r"\1", text[1:])
        case tag if tag == WRITTEN:
            return from_float(WrittenFloat(text[1:]))
        case _:
            return from_float(float(text))
