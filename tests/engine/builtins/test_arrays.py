"""Methods of arrays mean the same to Spark and to the interpreter, edges included."""

from __future__ import annotations

import datetime as dt
import math

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.run.evaluate import Record
from clinker.cxl.types import ANY, ARRAY, INT
from clinker.cxl.values import MAX_INT, MIN_INT, Value
from tests.engine.expressions.running import agree

INTS: list[Value] = [[], [1], [1, None, 3], [None], [3, 2, 1, 2], [2, 3], None]
MIXED: list[Value] = [
    [],
    [1, 1.0, "a", None, True],
    [math.nan, -0.0, "é😀", '"', MAX_INT],
    [[1], [], None, [2.5, ["x"]]],
    [{"f": True, "t": ["new"]}, {"f": "true", "t": "x"}, {"f": None, "t": None}, {}],
    [dt.date(2024, 1, 15), dt.datetime(2024, 1, 15, 1)],
    None,
]


@pytest.mark.parametrize(
    "closure",
    [
        "it > 1",
        "it == 2",
        "it.is_null()",
        "null",
        "true",
        "6 / (it - 2) > 1",
        "6 / (it - 2) < 0 or it > 2",
        "a.any(it => it > 2)",
    ],
)
def test_predicates(spark: SparkSession, closure: str) -> None:
    texts = [f"a.{name}(it => {closure})" for name in ("filter", "find", "any")]
    agree(spark, texts, [{"a": items} for items in INTS])


@pytest.mark.parametrize("closure", ["it == 1", "it > 0", 'it["f"]', 'it == "a"', "it"])
def test_predicates_of_elements_of_any_type(spark: SparkSession, closure: str) -> None:
    texts = [f"a.{name}(it => {closure})" for name in ("filter", "find", "any")]
    agree(spark, texts, [{"a": items} for items in MIXED], {"a": ARRAY.nullable()})


def test_transformations(spark: SparkSession) -> None:
    closures = [
        *("it + 1", "it.to_string()", "6 / (it - 2)", "null", '{"v": it}', "[it]"),
        *("a.map(it => it)", "a.filter(it => it > 1).map(it => it * 2)"),
    ]
    texts = [f"a.map(it => {closure})" for closure in closures]
    agree(spark, texts, [{"a": items} for items in INTS])


def test_transformations_of_elements_of_any_type(spark: SparkSession) -> None:
    closures = ["it", "it + 1", '{"v": it}', 'it["t"]', "[it]", "it.type_of()"]
    texts = [f"a.map(it => {closure})" for closure in closures]
    agree(spark, texts, [{"a": items} for items in MIXED], {"a": ARRAY.nullable()})


def test_flat_maps(spark: SparkSession) -> None:
    closures = [
        *("[it, it]", "it", "null", "[6 / (it - 2)]", "[it, null]"),
        *("if it > 1 then [it] else null", 'if it > 1 then [it] else "s"'),
    ]
    texts = [f"a.flat_map(it => {closure})" for closure in closures]
    agree(spark, texts, [{"a": items} for items in INTS])
    either = "a.flat_map(it => if it > 1 then [it] else 7)"
    agree(spark, either, [{"a": items} for items in INTS], native=False)
    texts = [f"a.flat_map(it => {closure})" for closure in ("it", 'it["t"]', "[it]", "it + 1")]
    records = [{"a": items} for items in MIXED]
    agree(spark, texts, records, {"a": ARRAY.nullable()})


def test_elements_are_removed(spark: SparkSession) -> None:
    indices = [0, 1, 2, -1, 2**31, 2**32, MAX_INT, MIN_INT, None]
    records: list[Record] = [{"a": items, "n": n} for items in INTS for n in indices]
    agree(spark, ["a.remove(n)", "a.remove(1)", "a.remove(null)"], records)
    records = [{"a": items, "n": n} for items in MIXED for n in indices]
    agree(spark, "a.remove(n)", records, {"a": ARRAY.nullable(), "n": INT.nullable()})


def test_what_is_no_array_has_no_elements(spark: SparkSession) -> None:
    texts = [f"v.{name}(it => 6 / n > 1)" for name in ("filter", "map", "find", "any", "flat_map")]
    texts += ["v.remove(0)", "v.remove(1 / n)", "v.map(it => it).length() ?? -1"]
    values: list[Value] = [[1, "a"], [], {"a": 1}, "x", "[", 5, 2.5, True, None]
    records = [{"v": value, "n": n} for value in values for n in (0, 1)]
    agree(spark, texts, records, {"v": ANY, "n": INT})
