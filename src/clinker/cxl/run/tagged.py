"""Values of any type as one text whose first character tells their kind.

Where the type of a value is known only at run time the engine carries it in this form. It keeps
what JSON and its kin lose: Int from Float, dates from strings, the order of keys. Nested values
are canonical JSON whose leaves are tagged in turn, so every level can be read on its own.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from typing import Any

import orjson

from clinker.cxl.values import Value, WrittenFloat, float_text

STRING = '"'
MOMENT = "@"
WRITTEN = "#"
"""What stands before a Float that is not in canonical form but as a file has it."""
_DATE_LENGTH = len("2024-01-15")


def encode(value: Value) -> str | None:
    """The tagged text of a value; null has none."""
    match value:
        case None:
            return None
        case str():
            return STRING + value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case WrittenFloat():
            return WRITTEN + value.text
        case float():
            return _float_text(value)
        case dt.datetime():
            return MOMENT + value.isoformat()
        case dt.date():
            return MOMENT + value.isoformat()
        case _:
            return _as_engine(orjson.dumps(_nested(value)).decode())


_ESCAPE = re.compile(r"\\(u00[01][a-f]|.)")


def _as_engine(json: str) -> str:
    """JSON with the escapes of control characters as Spark writes them, in capitals."""
    if "\\u00" not in json:
        return json
    return _ESCAPE.sub(lambda match: "\\" + match[1][0] + match[1][1:].upper(), json)


def decode(text: str | None) -> Value:
    """The value that `encode` made this text of."""
    if text is None:
        return None
    match text[:1]:
        case "[" | "{":
            return _from_nested(orjson.loads(text))
        case _:
            return _scalar(text)


def _nested(value: Value) -> Any:
    """What JSON is written of: ints, bools and nulls as they are, all other leaves tagged."""
    match value:
        case None | bool() | int():
            return value
        case list():
            return [_nested(item) for item in value]
        case dict():
            return {key: _nested(item) for key, item in value.items()}
        case _:
            return encode(value)


def _from_nested(value: Any) -> Value:
    match value:
        case str():
            return _scalar(value)
        case list():
            return [_from_nested(item) for item in value]
        case dict():
            return {key: _from_nested(item) for key, item in value.items()}
        case _:
            return value  # type: ignore[no-any-return]


def _scalar(text: str) -> Value:
    match text[:1]:
        case "":
            raise ValueError("an empty text is no tagged value")
        case '"':
            return text[1:]
        case "@":
            return _moment(text[1:])
        case "#":
            return WrittenFloat(text[1:])
        case "t" | "f":
            return text == "true"
    return int(text) if text.lstrip("-").isdigit() else float(text)


def _moment(text: str) -> Value:
    if len(text) == _DATE_LENGTH:
        return dt.date.fromisoformat(text)
    return dt.datetime.fromisoformat(text)


def _float_text(number: float) -> str:
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    digits = float_text(number)
    return digits if "." in digits or math.isnan(number) else digits + ".0"
