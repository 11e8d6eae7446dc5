"""Names that XML allows, for all that reads or writes configuration or files."""

from __future__ import annotations

import re

ATTRIBUTE = "@"
"""What the name of a column begins with that is an attribute."""
TEXT = "#text"
"""The column that is the text of an element which has more than that."""

_FIRST = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = re.compile(f"[{_FIRST}][-.0-9\u00b7\u0300-\u036f\u203f\u2040{_FIRST}]*")


def is_xml_name(text: str) -> bool:
    """Whether elements and attributes may have a name: one without a colon."""
    return _NAME.fullmatch(text) is not None


def is_column_name(text: str) -> bool:
    """Whether elements or an attribute can be named by the steps of a column's name."""
    *steps, last = text.split(".")
    if last.startswith(ATTRIBUTE):
        last = last.removeprefix(ATTRIBUTE)
    elif last == TEXT:
        return all(map(is_xml_name, steps))
    return all(map(is_xml_name, (*steps, last)))
