"""Texts as cells of lines, in quotes where they need them."""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from clinker.formats.common.texts import contains_any, replace_where


class CellLines:
    """How texts become cells and cells lines, for one delimiter."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._special = re.escape(delimiter) + '"\r\n'
        self._special_bytes = b'"\r\n' + (delimiter.encode() if delimiter.isascii() else b"")

    def quote(self, texts: pa.StringArray) -> pa.StringArray:
        """Put texts in quotes where they need them."""
        if self._delimiter.isascii() and not contains_any(texts, self._special_bytes):
            return texts
        return replace_where(texts, pc.match_substring_regex(texts, f"[{self._special}]"), _quote)

    def join(self, cells: list[pa.StringArray], records: int) -> pa.StringArray:
        """Join cells to lines; a null one is empty."""
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
