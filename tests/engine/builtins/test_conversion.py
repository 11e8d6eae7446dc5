"""Conversions mean the same to Spark and to the interpreter, for texts that nearly convert, too."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import random
import struct

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.types import ANY, DATETIME, FLOAT, INT, MAP, STRING, Type, array_of
from clinker.cxl.values import MAX_INT, MIN_INT, Value
from tests.engine.expressions.running import agree

NAN, INF = math.nan, math.inf
NUMBERS = [0, 1, -1, 2**53 + 1, MAX_INT, MIN_INT]
FLOATS = [
    *(0.0, -0.0, 1.0, 3.9, -3.9, 0.1, 1e-7, 9.999e-4, 0.001, 1e7, 9999999.5, 12345678.9, 1e16, 1e21),
    *(2.0**53, 2.0**53 + 2, 9223372036854774784.0, 2.0**63, -(2.0**63), 1e22, 1.7976931348623157e308),
    *(2.2250738585072014e-308, 123456789012345680.0, 5e-324, -5e-324, 1e-322, 1e-300, INF, -INF, NAN),
]
MOMENTS = [
    *(dt.date.min, dt.date(2024, 2, 29), dt.date.max, dt.datetime.min, dt.datetime.max),
    *(dt.datetime(2024, 2, 29, 7, 5), dt.datetime(2024, 2, 29, 7, 5, 3, 120_000)),
    *(dt.datetime(1969, 12, 31, 23, 59, 59, 1), dt.datetime(1, 1, 1, 0, 0, 0, 5000)),
]
NUMERIC_TEXTS = [
    *("", " ", "5", " 5", "5 ", "+5", "-5", "--5", "+-5", "5-", "-", "+", ".", "-007", "1_000"),
    *("1,000", "1e5", "1E+5", "1e-5", "1e", "e5", "0x1F", "0x1p3", "5.", ".5", "-.5", "5.5.5", "42.0"),
    *("5d", "5f", "5L", "1e400", "-1e400", "1e-400", "0e99999999999", "1e99999999999", "5\n", "\t5"),
    *("inf", "+INF", "-inf", "Infinity", "-iNfInItY", "infinit", "nan", "NaN", "+nan", "-NAN", "nan("),
    *("٣", "５", "²", "½", "1\u00a0000", "1\x00", "\ufeff1", "ı", "İnf", "null", "NULL", "None"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809"),
    *("0" * 500 + "9", "1" + "0" * 400, "9" * 19, "+" + "0" * 30 + "9223372036854775807"),
    *("0.1", "2.2250738585072011e-308", "9007199254740993", "9007199254740992.99999999999999999"),
    *("true", "TRUE", "True", " true", "t", "yes", "Yes", "y", "no", "NO", "on", "off", "false", "fALSE"),
]
CONTAINERS: list[Value] = [[], [1, "x", None, True], {}, {"k": 1.5}]


def test_conversions_of_texts(spark: SparkSession) -> None:
    texts = [f"x.{to}_{kind}()" for to in ("to", "try") for kind in ("int", "float", "bool")]
    agree(spark, texts, [{"x": text} for text in [*NUMERIC_TEXTS, None]])


def test_conversions_of_other_values(spark: SparkSession) -> None:
    kinds = ("int", "float", "bool", "date", "datetime")
    texts = [f"x.{to}_{kind}()" for to in ("to", "try") for kind in kinds]
    for values in (NUMBERS, FLOATS, [True, False], MOMENTS[:3], MOMENTS[3:], *([c] for c in CONTAINERS)):
        agree(spark, texts, [{"x": value} for value in values])
    mixed = [*NUMBERS, *FLOATS, True, False, *MOMENTS, *CONTAINERS, *NUMERIC_TEXTS[:5], None]
    agree(spark, texts, [{"x": value} for value in mixed], {"x": ANY})


# Text forms


@pytest.mark.parametrize(
    "values",
    [NUMBERS, FLOATS, [True, False], MOMENTS[:3], MOMENTS[3:], ["", "x", "'", "\\", "$1", "\0"]],
)
def test_text_forms(spark: SparkSession, values: list[Value]) -> None:
    agree(spark, "x.to_string()", [{"x": value} for value in [*values, None]])


def test_text_forms_of_any_floats(spark: SparkSession) -> None:
    bits = random.Random(3)
    floats = [bits.uniform(-10.0, 10.0) * 10.0 ** bits.randrange(-9, 19) for _ in range(3000)]
    floats += [float(f"{bits.randrange(1000)}e{bits.randrange(-20, 22)}") for _ in range(1000)]
    floats += [float(bits.randrange(2**53, 2**63)) for _ in range(1000)]
    agree(spark, "x.to_string()", [{"x": number} for number in floats])


NESTED: list[Value] = [
    *([], {}, [None], [[]], [{}], {"": ""}, [1, "x", None, True], {"k": 1.5, "l": None}),
    *(["", "a,b", "[", "]", "{k: v}", 'q"q', "b\\b", '\\"', "\\\\", "n\nt\tu\u2028e\u0001\x7f", "é😀"],),
    *([2.0, 0.5, 1e22, 1e-7, NAN, INF, -INF, -0.0, MIN_INT, MAX_INT], [MOMENTS, "@2024", "T", "true"]),
    {'"': 1, "a:b": [1, [2, [3, {"x": {"y\n": [None, "null"]}}]]], "\\": "1.0", "@k": "Infinity"},
    {"k\":": "v\":", ",": ",", "null": None, "1.0": 1.0, "deep": [[[[[[["x"]]]]]]]},
    ["x" * 100_000, "\n" * 20_000],
]


def test_text_forms_of_nested_values(spark: SparkSession) -> None:
    records = [{"x": value} for value in [*NESTED, *FLOATS, *MOMENTS, "text", '"', "[", True, 7, None]]
    agree(spark, "x.to_string()", records, {"x": ANY})
    agree(spark, "x.to_string()", [r for r in records if isinstance(r["x"], dict)], {"x": MAP})
    arrays = [r for r in records if isinstance(r["x"], list)]
    agree(spark, "x.to_string()", arrays, {"x": Type(array_of(ANY).kinds)})


@pytest.mark.parametrize(
    ("element", "values"),
    [
        (INT, [1, None, -5]),
        (FLOAT, [1.0, None, 2.5, NAN]),
        (STRING, ["", None, "x, y"]),
        (DATETIME, [dt.datetime(2024, 2, 29, 7, 5, 3, 120_000), None]),
        (array_of(INT), [[1, 2], None, [], [None]]),
    ],
)
def test_text_forms_of_arrays_of_one_kind(
    spark: SparkSession, element: Type, values: list[Value]
) -> None:
    records: list[dict[str, Value]] = [{"x": values}, {"x": []}, {"x": [None]}, {"x": None}]
    agree(spark, "x.to_string()", records, {"x": array_of(element.nullable()).nullable()})
