"""Methods of maps mean the same to Spark and to the interpreter, edges included."""

from __future__ import annotations

import datetime as dt
import math

from pyspark.sql import SparkSession

from clinker.cxl.types import ANY, INT
from clinker.cxl.values import MAX_INT, Value
from tests.engine.expressions.running import agree

MAPS: list[Value] = [
    {},
    {"a": 1},
    {"a": None},
    {"a": 1.0, "b": "x", "": True, "a.b": dt.date(2024, 1, 15)},
    {"é😀": 'quo"te\\ \n\t\x00\x1f/\x7f\u2028', "k": {"a": [1, None, {"b": 2.5}]}},
    {'"': 1, "\\": 2, "\n\x01": 3, "[]": "[]", "{": "{"},
    {"items": [{"sku": "a"}, {"sku": "b"}], "grid": [[1, 2], [3, 4]]},
    {"a": {"b": {"c": 9}}},
    {"a": []},
    {"a": [1]},
    {"a": "{"},
    {"a": "[1]"},
    {"a": dt.date(2024, 1, 15), "b": [dt.datetime(2024, 1, 15, 1, 2, 3, 250_000)]},
    {"z": math.nan, "y": -math.inf, "x": -0.0, "w": MAX_INT, "v": 1e300, "u": 5e-324},
    None,
]


def test_keys_and_values(spark: SparkSession) -> None:
    agree(spark, ["m.keys()", "m.values()"], [{"m": m} for m in MAPS])


def test_entries_are_removed(spark: SparkSession) -> None:
    keys = ["a", "", "é😀", "a.b", "\n\x01", '"', "missing", None]
    agree(spark, "m.remove_field(k)", [{"m": m, "k": k} for m in MAPS for k in keys])
    texts = ['m.remove_field("a")', 'm.remove_field("a.b")', "m.remove_field(null)"]
    agree(spark, texts, [{"m": m} for m in MAPS])


def test_maps_are_merged(spark: SparkSession) -> None:
    texts = ["m.merge(o)", 'm.merge({"a": 1, "z": "new"})', 'm.remove_field("a").merge(o).keys()']
    agree(spark, texts, [{"m": m, "o": o} for m in MAPS for o in MAPS])


def test_entries_are_set(spark: SparkSession) -> None:
    keys = [
        *("a", "", "é😀", "$x`'", "\\n", "a.b", "a.b.c", ".", "a[0]", "a[1]", "a[0].b"),
        *("items[0].sku", "items[1]", "items[0].sku.x", "grid[1][0]", "k.a[2].b", "k.a[1].b"),
        *("a[x]", "a[", "a[0]b", "a[99999999999]", "a[999999999999999999999]", "new[0]"),
    ]
    texts = [f'm.set("{key}", 7)' for key in keys]
    agree(spark, texts, [{"m": m} for m in MAPS])


def test_any_value_is_set(spark: SparkSession) -> None:
    values: list[Value] = [
        *(1, 2.5, -0.0, math.nan, "x", '"', "", True, None, MAX_INT),
        [],
        [1, "a", None],
        {"q": dt.datetime(2024, 1, 15)},
        *(dt.date(2024, 1, 15), dt.datetime(2024, 1, 15, 10, 30, 0, 250_000)),
    ]
    agree(spark, 'm.set("a", v)', [{"m": m, "v": v} for m in MAPS for v in values])


def test_values_of_known_types_are_set(spark: SparkSession) -> None:
    values = ['"x"', "2.5", "true", "null", "#2024-01-15#"]
    arrays = ['["x", null]', "[1.5, null]", "[[1], []]", "[m]", "m.values()", "[#2024-01-15#]"]
    texts = [f'm.set("a", {value})' for value in [*values, *arrays, "m"]]
    agree(spark, texts, [{"m": m} for m in MAPS])


def test_a_key_that_is_computed_is_left_to_the_interpreter(spark: SparkSession) -> None:
    keys = ["a", "a.b", "items[0].sku", "a[", None]
    records = [{"m": m, "k": k} for m in MAPS for k in keys]
    agree(spark, "m.set(k, 1)", records, native=False)


def test_what_is_no_map_has_no_entries(spark: SparkSession) -> None:
    texts = ["v.keys()", "v.values()", 'v.merge({"a": 1})', 'v.set("a", 1)', 'v.remove_field("a")']
    # What would be put into it is not even computed.
    texts += ['v.set("a", 1 / n)', "v.keys() ?? []"]
    values: list[Value] = [{"a": 1}, [1], "x", "{", 5, 2.5, True, dt.date(2024, 1, 15), None]
    records = [{"v": value, "n": n} for value in values for n in (0, 1)]
    agree(spark, texts, records, {"v": ANY, "n": INT})
