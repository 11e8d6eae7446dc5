"""What converts, what does not, and what is said about it."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable

import pytest

from clinker.cxl.builtins import conversion
from clinker.cxl.builtins.declare import METHODS, LiteralProblem
from clinker.cxl.failure import Failure, FailureKind, shown
from clinker.cxl.types import ANY
from clinker.cxl.values import MAX_INT, MIN_INT, Value, text_of

DAY = dt.date(2024, 3, 15)
MOMENT = dt.datetime(2024, 3, 15, 14, 30, 0, 250_000)


def check_conversion(target: str, value: Value, expected: Value, *args: Value) -> None:
    """Both variants give `expected`; None means that the strict one fails and names the value."""
    strict: Callable[..., Value] = getattr(conversion, f"to_{target.lower()}")
    lenient: Callable[..., Value] = getattr(conversion, f"try_{target.lower()}")
    found = lenient(value, *args)
    assert found == expected
    assert type(found) is type(expected)
    if expected is not None:
        assert strict(value, *args) == expected
        return
    with pytest.raises(Failure) as caught:
        strict(value, *args)
    assert caught.value.kind is FailureKind.CONVERSION_FAILED
    assert caught.value.detail == f"cannot convert '{shown(text_of(value))}' to {target}"
    assert caught.value.value == text_of(value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (MIN_INT, MIN_INT),
        (True, 1),
        (False, 0),
        (-0.9, 0),
        (2.0**62, 2**62),
        (-(2.0**63), MIN_INT),
        (2.0**63, None),
        (math.nan, None),
        (math.inf, None),
        ("9223372036854775807", MAX_INT),
        ("-9223372036854775808", MIN_INT),
        ("-9223372036854775809", None),
        ("9" * 10_000, None),
        ("-" + "0" * 10_000 + "1", -1),
        ("+0", 0),
        ("", None),
        ("+", None),
        ("--1", None),
        ("1 ", None),
        ("1\n", None),
        ("1_000", None),
        ("0x10", None),
        ("1e3", None),
        ("٣", None),
        ("²", None),
        (DAY, None),
        ([1], None),
        ({}, None),
    ],
)
def test_int(value: Value, expected: int | None) -> None:
    check_conversion("Int", value, expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (MAX_INT, 2.0**63),
        (-0.0, -0.0),
        ("-0", -0.0),
        ("1.", 1.0),
        ("-.5e-3", -0.0005),
        ("1E+2", 100.0),
        ("1e400", math.inf),
        ("1e-400", 0.0),
        ("INF", math.inf),
        ("-infinity", -math.inf),
        ("0" * 10_000 + "1", 1.0),
        ("1" * 100_000 + "x", None),
        ("", None),
        (".", None),
        ("e5", None),
        ("1e", None),
        ("1 ", None),
        ("1\n", None),
        ("1_0", None),
        ("infin", None),
        ("\u0131nf", None),
        ("0x1p3", None),
        ("٣.٣", None),
        (True, None),
        (DAY, None),
        ([1.0], None),
    ],
)
def test_float(value: Value, expected: float | None) -> None:
    check_conversion("Float", value, expected)


def test_nan_is_read() -> None:
    assert math.isnan(conversion.to_float("NaN"))
    assert math.isnan(conversion.to_float("-nan"))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        (False, False),
        (MIN_INT, True),
        ("TRUE", True),
        ("yEs", True),
        ("1", True),
        ("False", False),
        ("0", False),
        ("", None),
        ("t", None),
        ("on", None),
        ("2", None),
        (" true", None),
        (0.0, None),
        (DAY, None),
        ([], None),
    ],
)
def test_bool(value: Value, expected: bool | None) -> None:
    check_conversion("Bool", value, expected)


@pytest.mark.parametrize(
    ("value", "args", "expected"),
    [
        (DAY, (), DAY),
        (MOMENT, (), DAY),
        (DAY, ("%Y",), DAY),
        ("2024-03-15", (None,), DAY),
        ("2024-03-15T14:30:00", (), None),
        ("2024-3-15", (), DAY),
        ("20240315", (), None),
        ("20240315", ("%Y%m%d",), DAY),
        ("15 march 2024", ("%d %B %Y",), DAY),
        ("2024-02-30", (), None),
        ("0000-01-01", (), None),
        ("", (), None),
        (20240315, (), None),
        (True, (), None),
        ([], (), None),
    ],
)
def test_date(value: Value, args: tuple[Value, ...], expected: dt.date | None) -> None:
    check_conversion("Date", value, expected, *args)


@pytest.mark.parametrize(
    ("value", "args", "expected"),
    [
        (MOMENT, (), MOMENT),
        (DAY, (), dt.datetime(2024, 3, 15)),
        ("2024-03-15T14:30:00.25", (), MOMENT),
        ("2024-03-15T14:30:00.25Z", (None,), MOMENT),
        ("2024-03-15T23:30:00-02:00", (), dt.datetime(2024, 3, 16, 1, 30)),
        ("2024-03-15", (), None),
        ("2024-03-15T14:30", (), None),
        ("2024-03-15T14:30", ("%Y-%m-%dT%H:%M",), dt.datetime(2024, 3, 15, 14, 30)),
        ("9999-12-31T23:59:59-01:00", (), None),
        (1710513000, (), None),
        (1.5, (), None),
    ],
)
def test_datetime(value: Value, args: tuple[Value, ...], expected: dt.datetime | None) -> None:
    check_conversion("DateTime", value, expected, *args)


BAD_FORMATS = [
    ("date", "%d %Q", 3, "'%Q' is not a known specifier"),
    ("date", "%H:%M", 0, "this format does not determine a date"),
    ("date", "", 0, "this format does not determine a date"),
    ("datetime", "%Y-%m-%d", 0, "this format does not determine a date, hour and minute"),
]


@pytest.mark.parametrize(("target", "format", "offset", "message"), BAD_FORMATS)
def test_bad_formats(target: str, format: str, offset: int, message: str) -> None:
    for name in (f"to_{target}", f"try_{target}"):
        (method,) = METHODS[name]
        check = method.params[0].check
        assert check
        with pytest.raises(LiteralProblem) as found:
            check(format, ANY)
        assert (str(found.value), found.value.offset) == (message, offset)

    with pytest.raises(Failure) as caught:
        getattr(conversion, f"to_{target}")("text", format)
    assert caught.value.kind is FailureKind.INVALID_FORMAT
    assert caught.value.detail == f"invalid format '{format}': {message}"
    assert caught.value.value == format
    assert getattr(conversion, f"try_{target}")("text", format) is None


def test_values_that_need_no_reading_ignore_the_format() -> None:
    assert conversion.to_date(DAY, "%Q") == DAY
    assert conversion.to_datetime(DAY, "%Q") == dt.datetime(2024, 3, 15)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1e21, "1000000000000000000000"),
        (0.1 + 0.2, "0.30000000000000004"),
        (-0.0, "-0"),
        (math.nan, "NaN"),
        (-math.inf, "-inf"),
        (MOMENT, "2024-03-15 14:30:00.250"),
        ("", ""),
        ({"a": [None, True]}, "{a: [, true]}"),
    ],
)
def test_string(value: Value, expected: str) -> None:
    assert conversion.to_string(value) == expected
