"""Methods of every value mean the same to Spark and to the interpreter."""

from __future__ import annotations

import datetime as dt
import math

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.types import ANY, NUMERIC
from clinker.cxl.values import MAX_INT, MIN_INT, Value
from tests.engine.expressions.running import agree

VALUES: dict[str, list[Value]] = {
    "bool": [True, False],
    "int": [0, 1, -1, MAX_INT, MIN_INT],
    "float": [0.0, -0.0, 1.5, 2.0, 1e22, -1e-7, math.nan, math.inf, -math.inf],
    "string": ["", " ", "a", "true", "1", "@", "[]", "{}", '"', "null", "\0"],
    "date": [dt.date(2024, 3, 15), dt.date.min, dt.date.max],
    "datetime": [dt.datetime(2024, 3, 15), dt.datetime.min, dt.datetime.max],
    "array": [[], [None], [1, "a"], [[]]],
    "map": [{}, {"k": None}],
}
TEXTS = [
    *("x.type_of()", "x.is_null()", "x.is_empty()", 'x.debug("label")', "x.debug(null)"),
    *("x.catch(null)", "x.catch(x)"),
]


@pytest.mark.parametrize("kind", VALUES)
def test_values_of_one_kind(spark: SparkSession, kind: str) -> None:
    agree(spark, TEXTS, [{"x": value} for value in VALUES[kind]])
    agree(spark, TEXTS, [{"x": value} for value in [*VALUES[kind], None]])


def test_values_of_any_kind(spark: SparkSession) -> None:
    values = [value for values in VALUES.values() for value in values]
    agree(
        spark,
        [*TEXTS, 'x.catch("other")', "x.catch(1)"],
        [{"x": v} for v in [*values, None]],
        {"x": ANY},
    )
    numbers = [*VALUES["int"], *VALUES["float"], None]
    agree(spark, TEXTS, [{"x": value} for value in numbers], {"x": NUMERIC.nullable()})


def test_null(spark: SparkSession) -> None:
    texts = [text.replace("x", "null", 1).replace("(x)", "(null)") for text in TEXTS]
    agree(spark, [*texts, "null.catch(y)"], [{"y": 1}])
