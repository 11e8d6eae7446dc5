"""Raw values as values of their declared types."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clinker.cxl.run.strftime import compile_pattern
from clinker.cxl.run.tagged import decode, encode
from clinker.cxl.types import SCHEMA_TYPES
from clinker.cxl.values import WrittenFloat
from clinker.formats.common.coercion import Coerced, Coercion
from clinker.formats.common.tagging import tag

UNFIT = "unfit"


def _results(coerced: Coerced) -> list[Any]:
    values: list[Any] = coerced.values.to_pylist()
    if coerced.unfit is None:
        return values
    assert all(values[at] is None for at in np.flatnonzero(coerced.unfit))
    return [UNFIT if bad else v for v, bad in zip(values, coerced.unfit, strict=True)]


def _from_text(to: str, *cells: str, date_formats: tuple[str, ...] = ()) -> list[Any]:
    coercion = Coercion(SCHEMA_TYPES[to], tuple(map(compile_pattern, date_formats)))
    part_of_more = pa.array(["?", *cells, "?"], pa.string()).slice(1, len(cells))
    return _results(coercion.column_from_text(part_of_more))


def _from_json(to: str, *values: Any) -> list[Any]:
    return _results(Coercion(SCHEMA_TYPES[to]).column_from_values(values))


_NUMBERLESS = (
    "abc",
    " 42",
    "42 ",
    "1_000",
    "1,000",
    "0x1F",
    "٣",
    "--1",
    "+-1",
    "e5",
    "1e",
    "-",
    "+",
)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("42", 42),
        ("-7", -7),
        ("+5", 5),
        ("007", 7),
        ("-0", 0),
        ("", None),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0" * 40 + "1", 1),
        ("9223372036854775808", UNFIT),
        ("-9223372036854775809", UNFIT),
        ("1.5", UNFIT),
        ("1e5", UNFIT),
        *((cell, UNFIT) for cell in _NUMBERLESS),
    ],
)
def test_int(cell: str, expected: Any) -> None:
    assert _from_text("int", cell) == [expected]
    assert _from_text("int", "1", cell, "2") == [1, expected, 2]


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("1e5", 1e5),
        (".5", 0.5),
        ("5.", 5.0),
        ("+1.0", 1.0),
        ("-0", -0.0),
        ("inf", float("inf")),
        ("-Infinity", float("-inf")),
        ("1e400", float("inf")),
        ("", None),
        ("nan(1)", UNFIT),
        (".", UNFIT),
        *((cell, UNFIT) for cell in _NUMBERLESS),
    ],
)
def test_float(cell: str, expected: Any) -> None:
    assert _from_text("float", cell) == [expected]
    assert _from_text("float", "1.5", cell, "2") == [1.5, expected, 2.0]


def test_nan() -> None:
    assert str(_from_text("float", "NaN")) == "[nan]"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("42", "42"),
        ("+007", "7"),
        ("-0", "0"),
        ("1.50", "1.5"),
        ("2.000", "2.0"),
        ("-0.0", "-0.0"),
        ("10.0", "10.0"),
        ("100", "100"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854776000.0"),
        ("1234567.12345678", "1234567.12345678"),
        ("12345678.123456789", "12345678.12345679"),
        ("1e22", "10000000000000000000000.0"),
        (".5", "0.5"),
        ("", None),
        *((cell, UNFIT) for cell in _NUMBERLESS),
    ],
)
def test_numeric_keeps_int_and_float_apart(cell: str, expected: Any) -> None:
    assert _from_text("numeric", cell) == [expected]
    if expected not in (None, UNFIT):
        assert encode(decode(expected)) == expected


def test_bool() -> None:
    assert _from_text("bool", "true", "YES", "1", "On", "") == [True, True, True, True, None]
    assert _from_text("bool", "False", "no", "0", "off") == [False] * 4
    assert _from_text("bool", "y", "true ", "2", "yes") == [UNFIT, UNFIT, UNFIT, True]


def test_date() -> None:
    day = date(2024, 1, 5)
    same = ["2024-01-05", "1/5/2024", "01/05/2024", "2024/01/05", "01-05-2024", "2024-1-5"]
    assert _from_text("date", *same) == [day] * 6
    assert _from_text("date", "0001-01-01", "9999-12-31") == [date.min, date.max]
    for bad in ("2024-02-30", "2024-01-05T00:00:00", "20240105", "0000-01-01", "13/13/2024"):
        assert _from_text("date", bad) == [UNFIT]
        assert _from_text("date", "2024-01-05", bad, "") == [day, UNFIT, None]


def test_date_time() -> None:
    moment = datetime(2024, 1, 5, 10, 30)
    same = [
        "2024-01-05T10:30:00",
        "2024-01-05 10:30:00",
        "2024-01-05T10:30:00Z",
        "2024-01-05T12:30:00+02:00",
        "2024-01-05T10:30:00.000000000",
        "01/05/2024 10:30:00",
        "1/5/2024 10:30",
    ]
    for text in same:
        assert _from_text("date_time", text, "") == [moment, None]
    assert _from_text("date_time", *same) == [moment] * 7
    fractions = _from_text("date_time", "2024-01-05T10:30:00.25Z", "2024-01-05T10:30:00.1234567")
    assert fractions == [
        moment.replace(microsecond=250000),
        moment.replace(microsecond=123456),
    ]
    for bad in ("2024-01-05", "2024-01-05T24:00:00", "2024-01-05T10:30", "0000-01-05T10:30:00"):
        assert _from_text("date_time", same[0], bad) == [moment, UNFIT]
        assert _from_text("date_time", bad) == [UNFIT]


def test_the_pipelines_own_date_formats_come_first() -> None:
    own = ("%d/%m/%Y", "%d.%m.%Y %H:%M")
    days = _from_text("date", "05/01/2024", "2024-01-05", "01/31/2024", date_formats=own)
    assert days == [date(2024, 1, 5), date(2024, 1, 5), date(2024, 1, 31)]
    assert _from_text("date_time", "05.01.2024 10:30", date_formats=own) == [
        datetime(2024, 1, 5, 10, 30)
    ]
    swapped = _from_text("date", "2024-05-01", date_formats=("%Y-%d-%m",))
    assert swapped == [date(2024, 1, 5)]


def test_text_stays_text() -> None:
    assert _from_text("string", "007", "", " x ") == ["007", "", " x "]
    assert _from_text("any", "007", "") == ['"007', None]


def test_nested_values_are_json_in_cells() -> None:
    assert _from_text("array", '[1, "x", 2.0, null]', "", "[", "{}") == [
        ["1", '"x', "#2.0", None],
        None,
        UNFIT,
        UNFIT,
    ]
    assert _from_text("map", '{"k": "v"}', "[1]", "x") == ['{"k":"\\"v"}', UNFIT, UNFIT]


@pytest.mark.parametrize(
    ("to", "value", "expected"),
    [
        ("int", 7, 7),
        ("int", 7.0, 7),
        ("int", 7.5, UNFIT),
        ("int", 1e30, UNFIT),
        ("int", 2**63, UNFIT),
        ("int", True, 1),
        ("int", "7", 7),
        ("int", "", None),
        ("int", [7], UNFIT),
        ("float", 7, 7.0),
        ("float", False, 0.0),
        ("float", "1e3", 1000.0),
        ("float", {}, UNFIT),
        ("bool", 2, True),
        ("bool", 0, False),
        ("bool", 1.0, UNFIT),
        ("bool", "off", False),
        ("date", "2024-01-05", date(2024, 1, 5)),
        ("date", 20240105, UNFIT),
        ("date_time", "2024-01-05T10:30:00Z", datetime(2024, 1, 5, 10, 30)),
        ("numeric", 7, "7"),
        ("numeric", 1.5, "1.5"),
        ("numeric", 7.0, "7.0"),
        ("numeric", 2**63, "9223372036854776000.0"),
        ("numeric", "7", "7"),
        ("numeric", True, "1"),
        ("numeric", [], UNFIT),
        ("string", "", ""),
        ("string", 7, "7"),
        ("string", 7.0, "7.0"),
        ("string", True, "true"),
        ("string", {"a": [1, None]}, '{"a":[1,null]}'),
        ("any", "", '"'),
        ("any", [""], '["\\""]'),
        ("any", 7.0, "7.0"),
        ("any", {"a": [1, 1.5, "x", None]}, '{"a":[1,"1.5","\\"x",null]}'),
        ("array", [{"k": 1}, "x"], ['{"k":1}', '"x']),
        ("array", {"k": 1}, UNFIT),
        ("map", {"k": [True]}, '{"k":[true]}'),
        ("map", 7, UNFIT),
        ("date", None, None),
    ],
)
def test_json_values(to: str, value: Any, expected: Any) -> None:
    assert _from_json(to, value) == [expected]
    assert _from_json(to, None, value, None) == [None, expected, None]


_NUMBERS = st.text(st.sampled_from("0123456789+-.eE_x inf"), max_size=22)
_DATES = st.from_regex(r"[0-9]{1,4}[-/][0-9]{1,2}[-/][0-9]{1,4}", fullmatch=True)
_TIMES = st.from_regex(
    r"[12]?[0-9]{3}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{0,8})?Z?",
    fullmatch=True,
)


@settings(max_examples=300)
@given(
    st.sampled_from(["int", "float", "numeric", "bool", "date", "date_time"]),
    st.lists(_NUMBERS | _DATES | _TIMES | st.dates().map(str) | st.integers().map(str), max_size=6),
)
@example("int", ["1", "+1", ""])
def test_columns_convert_like_single_values(to: str, cells: list[str]) -> None:
    coercion = Coercion(SCHEMA_TYPES[to])
    alone = _results(coercion.one_by_one(cells))
    assert repr(_from_text(to, *cells)) == repr(alone)
    assert repr(_from_json(to, *cells)) == repr(alone)
    together = [result for cell in cells for result in _from_text(to, cell)]
    assert repr(together) == repr(alone)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=300)
@given(_JSON)
@example({"a": "\x1f", "b": 1e22, "c": [1e-7, -0.0]})
def test_tagged_texts_are_those_of_the_engine(value: Any) -> None:
    assert tag(value) == encode(value)


def test_ints_outside_64_bits_are_floats_that_keep_their_digits() -> None:
    value = orjson.loads(b'{"n":[18446744073709551615,"\\u001f"]}')
    assert tag(value) == encode({"n": [WrittenFloat("18446744073709551615"), "\x1f"]})
