"""Values written as YAML, on one line, so that they are read as what they were."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clinker.cxl.values import WrittenFloat, float_text

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
_WORDS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
"""Texts that some reader of YAML takes for something else."""


def flow(value: object) -> str:
    """A value on one line."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case WrittenFloat():
            return value.text
        case float():
            text = float_text(value)
            return text if "." in text else f"{text}.0"
        case list() | tuple():
            return "[" + ", ".join(map(flow, value)) + "]"
        case Mapping():
            if not value:
                return "{}"
            entries = (f"{scalar(str(key))}: {flow(each)}" for key, each in value.items())
            return "{ " + ", ".join(entries) + " }"
    return scalar(str(value))


def scalar(text: str) -> str:
    """A text, in quotes unless it can be nothing else."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return quoted(text)


def quoted(text: str) -> str:
    """A text in quotes."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    if character == "\t":
        return "\\t"
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02X}"
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
