"""Aggregates on Spark agree with their definition."""

from __future__ import annotations

import datetime as dt
import math
import random
from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.builtins.aggregates import AGGREGATES, Aggregate, check_argument
from clinker.cxl.failure import Failure
from clinker.cxl.sql.operand import Operand
from clinker.cxl.types import (
    ANY,
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
    array_of,
)
from clinker.cxl.values import MAX_INT, MIN_INT, Value, kind_of
from clinker.engine.nodes.partials import wrong_kind
from tests.engine.builtins.grouping import Groups, agree, on_spark
from tests.engine.expressions.running import data_frame

IN_ORDER = ["first", "last", "collect", "count"]

INTS: list[Value] = [0, 1, -1, MAX_INT, MIN_INT, 2**53, 2**53 + 1, MAX_INT - 1]
FLOATS: list[Value] = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, 2.0**53, 2.0**63, -(2.0**63), 1e300),
    *(math.nan, math.inf, -math.inf),
]
TEXTS: list[Value] = ["", "a", "b", "ab", "é", "😀", "\uffff", '"quoted', "@2024-01-15", "5"]
MOMENTS: list[Value] = [
    dt.date(2024, 1, 15),
    dt.datetime(2024, 1, 15),
    dt.datetime(2024, 1, 15, 0, 0, 0, 1),
    dt.datetime(2024, 1, 15, 10, 30, 0, 250_000),
    dt.datetime(2024, 1, 15, 10, 30),
    dt.date(1, 1, 1),
    dt.date(9999, 12, 31),
]
BOOLS: list[Value] = [True, False]
NESTED: list[Value] = [[], [1, "a", None], {}, {"a": [1.0]}, {"b": {"c": dt.date(2024, 1, 15)}}]


def groups_of(values: Sequence[Value], count: int = 200) -> Groups:
    draw = random.Random(count)
    return {
        f"group {n}": [(draw.choice([*values, None]),) for _ in range(draw.randint(1, 4))]
        for n in range(count)
    }


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (INTS, INT),
        (FLOATS, FLOAT),
        (INTS + FLOATS, NUMERIC),
        (TEXTS, STRING),
        ([v for v in MOMENTS if not isinstance(v, dt.datetime)], DATE),
        ([v for v in MOMENTS if isinstance(v, dt.datetime)], DATETIME),
        (MOMENTS, DATE | DATETIME),
        (BOOLS, BOOL),
        (TEXTS + INTS, STRING | INT),
        ([], NULL),
    ],
    ids=str,
)
def test_extremes(spark: SparkSession, values: Sequence[Value], type_: Type) -> None:
    agree(spark, ["min", "max", *IN_ORDER], groups_of(values), [type_.nullable()])


def test_extremes_of_any(spark: SparkSession) -> None:
    """Mostly of values that can be compared, sometimes of such that cannot."""
    families = [INTS + FLOATS, TEXTS, MOMENTS, BOOLS, INTS + FLOATS + TEXTS + MOMENTS + BOOLS]
    groups = {
        f"{n} {key}": rows
        for n, family in enumerate(families)
        for key, rows in groups_of(family, 100).items()
    }
    agree(spark, ["min", "max", *IN_ORDER], groups, [ANY])


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (NESTED + INTS + TEXTS, ANY),
        ([v for v in NESTED if isinstance(v, dict)], MAP),
        ([[], [1, None], [MAX_INT]], array_of(INT.nullable())),
        ([[], ["a", None, 1.5]], array_of(ANY)),
    ],
    ids=str,
)
def test_values_in_order(spark: SparkSession, values: Sequence[Value], type_: Type) -> None:
    agree(spark, IN_ORDER, groups_of(values, 50), [type_.nullable()])


def test_any(spark: SparkSession) -> None:
    agree(spark, ["any"], groups_of(BOOLS, 50), [BOOL.nullable()])
    agree(spark, ["any"], groups_of(BOOLS, 50), [ANY])


@pytest.mark.parametrize("type_", [ANY, NUMERIC | STRING | NULL, STRING], ids=str)
@pytest.mark.parametrize("name", ["sum", "min", "any", "collect"])
def test_values_that_are_not_taken(spark: SparkSession, name: str, type_: Type) -> None:
    function = AGGREGATES[name]
    everything = [*INTS, *FLOATS, *TEXTS, *MOMENTS, *BOOLS, *NESTED, None]
    values = [value for value in everything if kind_of(value) & type_.kinds]
    test = wrong_kind(Operand("`x`", type_), function.params[0].type)
    frame = data_frame(spark, [{"x": value} for value in values], {"x": type_})
    found = frame.selectExpr("`$row`", f"{test or 'false'} AS fails").toArrow().sort_by("$row")
    for value, fails in zip(values, found.column("fails").to_pylist(), strict=True):
        assert bool(fails) == _is_refused(function, value), value


def _is_refused(function: Aggregate, value: Value) -> bool:
    try:
        check_argument(function, 0, value)
    except Failure:
        return True
    return False


def test_aggregates_of_one_argument_share_their_sums(spark: SparkSession) -> None:
    groups: Groups = {"a": [(1e16,), (1.0,), (-1e16,), (None,)]}
    names = ["sum", "avg", "count", "min", "max"]
    assert on_spark(spark, names, groups, [FLOAT.nullable()])["a"] == {
        "sum": 1.0,
        "avg": 1.0 / 3,
        "count": 3,
        "min": -1e16,
        "max": 1e16,
    }
