"""The values of CXL and what is true of them everywhere: kinds, text form, equality, order."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.types import KIND_NAMES, Kind


class WrittenFloat(float):
    """A Float of a file that keeps the text it has there, `1.10` or more digits than an Int has.

    It is a number like any other; what is computed from it has no such text.
    """

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> WrittenFloat:
        number = super().__new__(cls, text)
        number.text = text
        return number


Value: TypeAlias = (
    "bool | int | float | str | dt.date | dt.datetime"
    " | Sequence[Value] | Mapping[str, Value] | None"
)

MIN_INT, MAX_INT = -(2**63), 2**63 - 1

_KINDS: dict[type, Kind] = {
    type(None): Kind.NULL,
    bool: Kind.BOOL,
    int: Kind.INT,
    float: Kind.FLOAT,
    WrittenFloat: Kind.FLOAT,
    str: Kind.STRING,
    dt.date: Kind.DATE,
    dt.datetime: Kind.DATETIME,
    list: Kind.ARRAY,
    dict: Kind.MAP,
}


def unwritten(value: Value) -> Value:
    """The value, without the text that a file has for it."""
    return float(value) if isinstance(value, WrittenFloat) else value


def kind_of(value: Value) -> Kind:
    return _KINDS[type(value)]


def kind_name(value: Value) -> str:
    return KIND_NAMES[kind_of(value)]


def type_mismatch(what: str, expected: str, value: Value) -> Failure:
    detail = f"{what} expects {expected}, got {kind_name(value)}"
    return Failure(FailureKind.TYPE_MISMATCH, detail, text_of(value))


def checked_int(value: int, operation: str) -> int:
    """`value`, if it fits the 64 bits of an Int."""
    if MIN_INT <= value <= MAX_INT:
        return value
    raise Failure(FailureKind.INTEGER_OVERFLOW, f"integer overflow in {operation}")


def text_of(value: Value) -> str:
    """The text form: what `to_string` gives and what CSV cells show."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case WrittenFloat():
            return value.text
        case float():
            return float_text(value)
        case dt.datetime():
            return datetime_text(value, " ")
        case dt.date():
            return value.isoformat()
        case list():
            return "[" + ", ".join(text_of(item) for item in value) + "]"
        case dict():
            return "{" + ", ".join(f"{key}: {text_of(item)}" for key, item in value.items()) + "}"
        case _:
            return str(value)


def float_text(value: float) -> str:
    """Shortest digits that read back as the same float; no exponent, no trailing `.0`."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    digits = repr(value)
    if "e" in digits:
        digits = format(Decimal(digits), "f")
    return digits.removesuffix(".0")


def datetime_text(value: dt.datetime, separator: str) -> str:
    """ISO date and time; the fraction, three or six digits, only when there is one."""
    precision = "seconds"
    if value.microsecond:
        precision = "microseconds" if value.microsecond % 1000 else "milliseconds"
    return value.isoformat(separator, precision)


def equal(a: Value, b: Value) -> bool:
    """Equality of two non-null values: numbers numerically, arrays and maps by content."""
    match a, b:
        case (bool(), bool()) | (str(), str()):
            return a == b
        case (bool(), _) | (_, bool()):
            return False
        case (int() | float(), int() | float()):
            return a == b if type(a) is type(b) else float(a) == float(b)
        case (dt.date(), dt.date()):
            return midnight(a) == midnight(b)
        case (list(), list()):
            return len(a) == len(b) and all(map(same, a, b))
        case (dict(), dict()):
            return a.keys() == b.keys() and all(same(item, b[key]) for key, item in a.items())
        case _:
            return False


def same(a: Value, b: Value) -> bool:
    """Equality in which null is a value like any other."""
    if a is None or b is None:
        return a is b
    return equal(a, b)


def midnight(value: dt.date) -> dt.datetime:
    """A date as the instant it begins; a date-time as it is."""
    if isinstance(value, dt.datetime):
        return value
    return dt.datetime(value.year, value.month, value.day)


def compare(a: Value, b: Value) -> int | None:
    """-1, 0 or 1 for two non-null values of an ordered kind; None where NaN is involved."""
    match a, b:
        case (bool(), _) | (_, bool()):
            raise _incomparable(a, b)
        case (int() | float(), int() | float()):
            x, y = (a, b) if type(a) is type(b) else (float(a), float(b))
            return None if x != x or y != y else (x > y) - (x < y)
        case (str(), str()):
            return (a > b) - (a < b)
        case (dt.date(), dt.date()):
            first, second = midnight(a), midnight(b)
            return (first > second) - (first < second)
        case _:
            raise _incomparable(a, b)


def _incomparable(a: Value, b: Value) -> Failure:
    detail = f"cannot compare {kind_name(a)} with {kind_name(b)}"
    return Failure(FailureKind.TYPE_MISMATCH, detail, text_of(a))


def sort_key(value: Value) -> tuple[object, ...]:
    """A total order over the values of one ordered kind; NaN is above every other number."""
    match value:
        case bool() | str():
            return (value,)
        case int() | float():
            number = float(value)
            return (1,) if math.isnan(number) else (0, number, value)
        case dt.date():
            return (midnight(value),)
        case _:
            raise type_mismatch("sorting", "a number, a text or a date", value)


def identity(value: Value) -> object:
    """A hashable stand-in: equal for values that `distinct` and grouping treat as one."""
    match value:
        case bool():
            return ("bool", value)
        case int():
            return ("number", value)
        case float():
            if math.isnan(value):
                return ("number", "NaN")
            return ("number", int(value) if value.is_integer() else value)
        case dt.datetime():
            return ("datetime", value)
        case dt.date():
            return ("date", value)
        case list():
            return ("array", tuple(identity(item) for item in value))
        case dict():
            pairs = ((key, identity(item)) for key, item in value.items())
            return ("map", tuple(sorted(pairs, key=lambda pair: pair[0])))
        case _:
            return (type(value).__name__, value)
