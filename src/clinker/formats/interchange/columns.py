"""The columns of records that are segments, and what of a segment each of them holds."""

from __future__ import annotations

import re

SEGMENT = "seg_id"
"""The column of the segment's tag."""

_ELEMENT = re.compile(r"e(0[1-9]|[1-9][0-9]{1,3})")


def element_name(number: int) -> str:
    """The column of a data element, counted from 1."""
    return f"e{number:02}"


def element_number(name: str) -> int | None:
    """Which data element a column holds; None if it is no such column."""
    return int(name[1:]) if _ELEMENT.fullmatch(name) else None
