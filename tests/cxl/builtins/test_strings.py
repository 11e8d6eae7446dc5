"""Text methods at their edges, and the formats numbers are shown in."""

from __future__ import annotations

import datetime as dt
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinker.cxl.builtins import strings
from clinker.cxl.builtins.declare import METHODS, LiteralProblem
from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.run.number_format import MAX_PRECISION, MAX_WIDTH
from clinker.cxl.types import (
    ANY,
    ARRAY,
    BOOL,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    MAP,
    NULL,
    NUMERIC,
    STRING,
    Type,
)
from clinker.cxl.values import MAX_INT, MIN_INT, Value, text_of

LIMIT = strings.MAX_TEXT_BYTES
DAY = dt.date(2024, 3, 15)
NOON = dt.datetime(2024, 3, 15, 12)


# --- Blanks ---


@pytest.mark.parametrize(
    "blank", "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
)
def test_white_space_is_trimmed(blank: str) -> None:
    text = f"{blank}a{blank}b{blank}"
    assert strings.trim(text) == f"a{blank}b"
    assert strings.trim_start(text) == f"a{blank}b{blank}"
    assert strings.trim_end(text) == f"{blank}a{blank}b"


@pytest.mark.parametrize("other", "\x1c\x1d\x1e\x1f\u180e\u200b\u2060\ufeff")
def test_what_is_no_white_space_stays(other: str) -> None:
    text = f"{other}a{other}"
    assert strings.trim(text) == text


# --- Parts ---


@pytest.mark.parametrize(
    ("start", "length", "expected"),
    [
        (0, None, "héllo"),
        (1, 1, "é"),
        (5, None, ""),
        (MAX_INT, None, ""),
        (MIN_INT, MAX_INT, "héllo"),
        (1, MAX_INT, "éllo"),
        (1, MIN_INT, "éllo"),
    ],
)
def test_substring(start: int, length: int | None, expected: str) -> None:
    assert strings.substring("héllo", start, length) == expected


def test_left_and_right_take_any_count() -> None:
    assert strings.left("a😀b", 2) == "a😀"
    assert strings.right("a😀b", 2) == "😀b"
    assert strings.left("ab", MAX_INT) == strings.right("ab", MAX_INT) == "ab"
    assert strings.left("ab", MIN_INT) is strings.right("ab", MIN_INT) is None


def test_splitting_at_nothing_surrounds_every_character() -> None:
    assert strings.split("", "") == ["", ""]
    assert strings.split("é😀", "") == ["", "é", "😀", ""]


# --- Sizes ---


def failure(function: object, *args: Value) -> Failure:
    with pytest.raises(Failure) as caught:
        function(*args)  # type: ignore[operator]
    return caught.value


def test_the_largest_texts_are_built() -> None:
    assert len(strings.repeat("a", LIMIT) or "") == LIMIT
    assert len(strings.pad_left("a", LIMIT) or "") == LIMIT
    assert len(strings.pad_right("é", LIMIT - 1) or "") == LIMIT - 1


@pytest.mark.parametrize(
    ("function", "args", "size"),
    [
        (strings.repeat, ("a", LIMIT + 1), LIMIT + 1),
        (strings.repeat, ("é", LIMIT // 2 + 1), LIMIT + 2),
        (strings.repeat, ("ab", MAX_INT), 2 * MAX_INT),
        (strings.pad_left, ("é", LIMIT), LIMIT + 1),
        (strings.pad_right, ("", LIMIT // 4 + 1, "😀"), LIMIT + 4),
        (strings.pad_right, ("a", MAX_INT), MAX_INT),
    ],
)
def test_larger_texts_are_refused_by_their_bytes(
    function: object, args: tuple[Value, ...], size: int
) -> None:
    problem = failure(function, *args)
    assert problem.kind is FailureKind.STRING_TOO_LARGE
    assert problem.detail == f"text of {size} bytes exceeds the limit of 10485760"


def test_nothing_is_refused_where_nothing_grows() -> None:
    assert strings.repeat("", MAX_INT) == ""
    large = "a" * (LIMIT + 1)
    assert strings.pad_left(large, LIMIT) == large
    assert strings.pad_right(large, 0) == large


# --- Regular expressions ---


@pytest.mark.parametrize("name", ["matches", "find", "capture"])
def test_bad_patterns(name: str) -> None:
    (method,) = (m for m in METHODS[name] if m.family == "strings")
    check = method.params[0].check
    assert check
    with pytest.raises(LiteralProblem) as caught:
        check("ab[", STRING)
    assert caught.value.offset == 2
    check("ab", STRING)

    problem = failure(method.call, "text", "ab[")
    assert problem.kind is FailureKind.INVALID_PATTERN
    assert problem.detail == f"invalid pattern 'ab[': {caught.value}"
    assert problem.value == "ab["


def test_line_ends_belong_to_the_text() -> None:
    assert not strings.matches("abc\n", "^abc$")
    assert not strings.find("abc\n", "abc$")
    assert not strings.matches("a\nb", "a.b")


@pytest.mark.parametrize("group", [MIN_INT, -1, 2, MAX_INT])
def test_missing_groups_are_null(group: int) -> None:
    assert strings.capture("ab", "a(b)", group) is None


def test_an_empty_group_is_empty_text() -> None:
    assert strings.capture("a", "a(b*)", 1) == ""


# --- Formats ---


@pytest.mark.parametrize(
    ("value", "fmt", "expected"),
    [
        (1234, "", "1234"),
        (1234, ",", "1,234"),
        (1234, "_d", "1_234"),
        (1234, "010,d", "00,001,234"),
        (1234, "08,d", "0,001,234"),
        (-1234, "08d", "-0001234"),
        (-1234, "<8d", "-1234   "),
        (-1234, "^8", " -1234  "),
        (1234, ">8", "    1234"),
        (1234, "8", "    1234"),
        (1234, "😀>6", "😀😀1234"),
        (1234, "0>8", "00001234"),
        (-12, "0>8", "00000-12"),
        (5, " d", " 5"),
        (-5, " d", "-5"),
        (5, "-d", "5"),
        (0, "+d", "+0"),
        (MIN_INT, ",d", "-9,223,372,036,854,775,808"),
        (MAX_INT, ".2f", "9223372036854775807.00"),
        (MAX_INT, ".0%", "922337203685477580700%"),
        (7, "f", "7.000000"),
        (7, "%", "700.000000%"),
        (1234, ".1e", "1.2e+03"),
        (0, ".0e", "0e+00"),
        (0.5, ".0f", "0"),
        (0.5, ".002f", "0.50"),
        (1.5, ".0f", "2"),
        (2.675, ".2f", "2.67"),
        (1.005, ".2f", "1.00"),
        (0.1, ".20f", "0.10000000000000000555"),
        (1e22, ",.0f", "10,000,000,000,000,000,000,000"),
        (-0.04, ".1f", "-0.0"),
        (-0.0, "", "-0"),
        (-0.0, "+", "-0"),
        (42.0, "", "42"),
        (42.0, "6", "    42"),
        (1e-7, "+", "+0.0000001"),
        (1234.5, "012,.2f", "0,001,234.50"),
        (1e100, ".2e", "1.00e+100"),
        (1.7e308, ".0%", str(int(1.7e308) * 100) + "%"),
        (math.nan, "", "NaN"),
        (math.nan, "+08.2f", "     NaN"),
        (math.inf, "+08,.2f", "    +inf"),
        (-math.inf, "<6.1%", "-inf  "),
        ("é", "3", "é  "),
        ("é", "*>3", "**é"),
        ("é", "^4", " é  "),
        ("toolong", "3", "toolong"),
        ("", ">2", "  "),
        (False, "^7", " false "),
        (True, "", "true"),
        (DAY, "", "2024-03-15"),
        (NOON, "", "2024-03-15 12:00:00"),
        (DAY, "%Y", "2024"),
        (NOON, "%H", "12"),
        ([1, None], "", "[1, ]"),
        ({"a": 1.0}, "", "{a: 1}"),
    ],
)
def test_format(value: Value, fmt: str, expected: str) -> None:
    assert strings.formatted(value, fmt) == expected


BAD = [
    (INT, 5, "x", 0, "type 'x' is unknown; there are d, f, e and %"),
    (INT, 5, "#,##0.00", 0, "'#,##0.00' is not part of a number format"),
    (INT, 5, "5 d", 1, "' d' is not part of a number format"),
    (INT, 5, ".2d", 1, "a precision needs the type f, e or %, as in '.2f'"),
    (FLOAT, 5.0, "0.00", 2, "a precision needs the type f, e or %, as in '.2f'"),
    (FLOAT, 5.0, ".2", 1, "a precision needs the type f, e or %, as in '.2f'"),
    (FLOAT, 5.0, ".f", 0, "'.f' is not part of a number format"),
    (FLOAT, 5.0, "5d", 1, "type 'd' is for Ints; a Float takes f, e or %"),
    (FLOAT, 5.0, "0", 0, "filling with zeros needs a width"),
    (FLOAT, 5.0, "<08f", 1, "an alignment excludes filling with zeros"),
    (FLOAT, 5.0, ",e", 0, "type 'e' has no thousands to group"),
    (FLOAT, 5.0, "1001f", 0, "the width is at most 1000"),
    (FLOAT, 5.0, "9" * 5000, 0, "the width is at most 1000"),
    (FLOAT, 5.0, "5.101f", 2, "the precision is at most 100"),
    (FLOAT, 5.0, "." + "9" * 5000 + "f", 1, "the precision is at most 100"),
    (STRING, "a", "05", 0, "a String takes only an alignment and a width, as in '>10'"),
    (STRING, "a", ">5.2", 3, "a String takes only an alignment and a width, as in '>10'"),
    (STRING, "a", "%Y", 0, "a String takes only an alignment and a width, as in '>10'"),
    (STRING, "a", ">1001", 1, "the width is at most 1000"),
    (BOOL, True, "d", 0, "a Bool takes only an alignment and a width, as in '>10'"),
    (ARRAY, [1], ">5", 0, "values of type Array take only the empty format"),
    (MAP, {"a": 1}, ",", 0, "values of type Map take only the empty format"),
    (DATE, DAY, "on %H", 3, "'%H' needs a time of day, but the value is a Date"),
    (DATETIME, NOON, "%H%", 2, "'%' lacks a specifier; write '%%' for a percent sign"),
]


def check_format(fmt: str, receiver: Type) -> None:
    (method,) = METHODS["format"]
    check = method.params[0].check
    assert check
    check(fmt, receiver)


@pytest.mark.parametrize(("receiver", "value", "fmt", "offset", "message"), BAD)
def test_bad_formats(receiver: Type, value: Value, fmt: str, offset: int, message: str) -> None:
    with pytest.raises(LiteralProblem) as caught:
        check_format(fmt, receiver.nullable())
    assert str(caught.value) == message
    assert caught.value.offset == offset

    problem = failure(strings.formatted, value, fmt)
    assert problem.kind is FailureKind.INVALID_FORMAT
    assert problem.detail == f"invalid format '{fmt}' for {receiver}: {message}"
    assert problem.value == fmt


@pytest.mark.parametrize(
    ("fmt", "receiver"),
    [
        ("d", NUMERIC),
        (".2f", NUMERIC),
        (".2f", ANY),
        ("%H", DATE | DATETIME),
        (">5", STRING | ARRAY),
        ("x", NULL),
        ("", MAP),
        (f"{MAX_WIDTH}.{MAX_PRECISION}f", FLOAT),
    ],
)
def test_formats_that_suit_some_value_of_the_type(fmt: str, receiver: Type) -> None:
    check_format(fmt, receiver)


@pytest.mark.parametrize(
    ("fmt", "receiver"), [(".2d", NUMERIC), ("%H", STRING | DATE), ("%!", ANY)]
)
def test_formats_that_suit_no_value_of_the_type(fmt: str, receiver: Type) -> None:
    with pytest.raises(LiteralProblem):
        check_format(fmt, receiver)


numbers = st.integers(MIN_INT, MAX_INT) | st.floats(allow_nan=False, allow_infinity=False)


@given(numbers)
def test_the_empty_format_is_the_text_form(value: float) -> None:
    assert strings.formatted(value, "") == text_of(value) == strings.formatted(value, ">1")


@given(
    st.integers(MIN_INT, MAX_INT),
    st.sampled_from(["", "<", ">", "^", "*<", "0^", "🙂>"]),
    st.sampled_from(["", "+", "-", " "]),
    st.sampled_from(["", "1", "7", "30"]),
    st.sampled_from(["", ",", "_"]),
    st.sampled_from(["", "d"]),
)
def test_ints_are_shown_as_python_shows_them(
    value: int, align: str, sign: str, width: str, grouping: str, shape: str
) -> None:
    spec = f"{align}{sign}{width}{grouping}{shape}"
    assert strings.formatted(value, spec) == format(value, spec)


@given(
    st.floats(-1e300, 1e300),
    st.sampled_from(["", "<", ">", "^", "*<", "0^", "🙂>", "zeros"]),
    st.sampled_from(["", "+", "-", " "]),
    st.sampled_from(["1", "7", "30"]),
    st.sampled_from(["", ",", "_"]),
    st.sampled_from(["", ".0", ".1", ".7", ".100"]),
    st.sampled_from("fe%"),
)
def test_floats_are_shown_as_python_shows_them(
    value: float, align: str, sign: str, width: str, grouping: str, precision: str, shape: str
) -> None:
    grouping = "" if shape == "e" else grouping
    start = f"{sign}0" if align == "zeros" else f"{align}{sign}"
    spec = f"{start}{width}{grouping}{precision}{shape}"
    assert strings.formatted(value, spec) == format(value, spec)
