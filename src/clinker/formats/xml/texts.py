"""Texts as they stand between tags and quotes, as a parser would give them."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinker.formats.common.json_numbers import Places
from clinker.formats.common.texts import contains_any, join_bytes, replace_where

BLANKS = " \t\r\n"
_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]+)|#([0-9]+)|(\w+));")
_ENTITIES = {"lt": "<", "gt": ">", "quot": '"', "apos": "'", "amp": "&"}
"""The last of them must come last where they are replaced in turn."""


def clean_texts(texts: pa.StringArray, *, trims: bool) -> pa.StringArray:
    """Texts as a parser gives them, without the blanks around them, if there may be some."""
    if contains_any(texts, b"\r"):
        texts = pc.replace_substring(pc.replace_substring(texts, "\r\n", "\n"), "\r", "\n")
    trims = trims or b"&#" in join_bytes(texts)
    texts = unescape(texts)
    return pc.ascii_trim(texts, BLANKS) if trims else texts


def unescape(texts: pa.StringArray) -> pa.StringArray:
    """Texts with what their references stand for."""
    if not contains_any(texts, b"&"):
        return texts
    if b"&#" not in join_bytes(texts):
        for name, character in _ENTITIES.items():
            texts = pc.replace_substring(texts, f"&{name};", character)
        return texts
    where = pc.fill_null(pc.match_substring(texts, "&"), False)
    return replace_where(texts, where, _unescape_each)


def _unescape_each(texts: pa.StringArray) -> list[str]:
    return [_REFERENCE.sub(_refer, text) for text in texts.to_pylist()]


def _refer(reference: re.Match[str]) -> str:
    hexadecimal, decimal, name = reference.groups()
    if name:
        return _ENTITIES[name]
    return chr(int(hexadecimal, 16) if hexadecimal else int(decimal))


def clean_values(texts: pa.StringArray) -> pa.StringArray:
    """Values of attributes as a parser gives them: blanks are spaces, unless they are escaped."""
    if contains_any(texts, b"\t\r\n"):
        for blank in ("\r\n", "\t", "\r", "\n"):
            texts = pc.replace_substring(texts, blank, " ")
    return unescape(texts)


def copy_texts(text: bytes | memoryview, starts: Places, stops: Places) -> pa.StringArray:
    """The bytes between places that are in order."""
    count = len(starts)
    bounds = np.empty(2 * count, np.int32)
    bounds[::2], bounds[1::2] = starts, stops
    segments = pa.BinaryArray.from_buffers(
        pa.binary(), 2 * count - 1, [None, pa.py_buffer(bounds), pa.py_buffer(text)]
    )
    even = pa.array(np.arange(0, 2 * count, 2, dtype=np.int32))
    return pc.take(segments, even, boundscheck=False).view(pa.string())
