"""Sums and means of numbers on Spark: exact, so the same in whatever order records come."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import product

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.types import FLOAT, INT, NUMERIC, Type
from clinker.cxl.values import MAX_INT, MIN_INT, Value
from tests.engine.builtins.grouping import (
    NEEDS_WIDE,
    Groups,
    agree,
    by_definition,
    needs_wide,
    on_spark,
)

Draw = Callable[[random.Random], Value]

LARGEST, TINIEST = 1.7976931348623157e308, 5e-324


def ordinary(draw: random.Random) -> float:
    return draw.choice(
        [
            draw.uniform(-1e6, 1e6),
            round(draw.uniform(-1e4, 1e4), 2),
            draw.choice([1e16, 1.0, -1e16, 0.1, 0.2, 0.3, -0.0, 0.0]),
            draw.choice([1, -1]) * 2.0 ** draw.randint(-43, 60),
            float(draw.randint(-(2**53), 2**53)),
        ]
    )


def any_float(draw: random.Random) -> float:
    anywhere = math.ldexp(draw.choice([1, -1]) * draw.uniform(1, 2), draw.randint(-1074, 1023))
    edges = [TINIEST, -TINIEST, LARGEST, -LARGEST, 1e308, 2.0**970, -(2.0**970), 2.0**-1022]
    return draw.choice([ordinary(draw), anywhere, draw.choice(edges)])


def any_float_or_beyond(draw: random.Random) -> float:
    return draw.choice([any_float(draw), math.inf, -math.inf, math.nan])


def any_int(draw: random.Random) -> int:
    edges = [MAX_INT, MIN_INT, 2**53, 2**53 + 1]
    return draw.choice([draw.randint(MIN_INT, MAX_INT), draw.randint(-9, 9), draw.choice(edges)])


def any_number(draw: random.Random) -> Value:
    return draw.choice([any_int(draw), ordinary(draw), draw.randint(-3, 3)])


def groups_of(number: Draw, count: int) -> Groups:
    """Groups in which numbers cancel more often than not, with nulls."""
    draw = random.Random(count)
    groups: dict[str, list[tuple[Value, ...]]] = {}
    for n in range(count):
        values = [number(draw) for _ in range(draw.randint(1, 6))]
        opposites = [-v for v in values if isinstance(v, int | float) and v != MIN_INT]
        values += draw.choice([opposites, opposites[1:], []])
        values += [draw.choice([number(draw), None]) for _ in range(draw.randint(0, 2))]
        groups[f"group {n}"] = [(value,) for value in values]
    return groups


@pytest.mark.parametrize(("is_wide", "takes_apart"), list(product([False, True], repeat=2)))
@pytest.mark.parametrize(
    ("number", "type_"),
    [(ordinary, FLOAT), (any_float, FLOAT), (any_float_or_beyond, FLOAT), (any_number, NUMERIC)],
)
def test_floats(
    spark: SparkSession, number: Draw, type_: Type, is_wide: bool, takes_apart: bool
) -> None:
    groups = groups_of(number, 300)
    unsettled = agree(
        spark, ["sum", "avg"], groups, [type_], is_wide=is_wide, takes_apart=takes_apart
    )
    if number is ordinary or is_wide:
        assert unsettled == 0


def test_ints(spark: SparkSession) -> None:
    assert agree(spark, ["sum", "avg"], groups_of(any_int, 500), [INT]) == 0


@pytest.mark.parametrize(
    "values",
    [
        [2.0**61],
        [-(2.0**61)],
        [2.0**-97],
        [1.0 + 2.0**-52, 2.0**-60, TINIEST],
        [LARGEST, -LARGEST],
    ],
)
def test_numbers_outside_the_usual_range_need_wide_sums(
    spark: SparkSession, values: list[float]
) -> None:
    groups: Groups = {"usual": [(2.0**60,), (2.0**-96,)], "not": [(v,) for v in values]}
    narrow = on_spark(spark, ["sum", "avg"], groups, [FLOAT])
    assert narrow["not"] == {"sum": NEEDS_WIDE, "avg": NEEDS_WIDE}
    assert narrow["usual"]["sum"] == 2.0**60
    wide = on_spark(spark, ["sum"], groups, [FLOAT], is_wide=True)
    assert wide["not"]["sum"] == by_definition("sum", groups["not"])


def test_only_numbers_outside_the_usual_range_need_wide_sums(spark: SparkSession) -> None:
    groups = groups_of(any_float_or_beyond, 200)
    found = on_spark(spark, ["sum"], groups, [FLOAT])
    for key, rows in groups.items():
        assert (found[key]["sum"] == NEEDS_WIDE) == needs_wide([value for (value,) in rows])


def test_ints_among_floats_need_no_wide_sums(spark: SparkSession) -> None:
    """A Numeric column without a Float is summed as Ints, however large."""
    groups: Groups = {"ints": [(MAX_INT,), (MIN_INT,)], "both": [(MAX_INT,), (0.5,)]}
    found = on_spark(spark, ["sum"], groups, [NUMERIC])
    assert found == {"ints": {"sum": -1}, "both": {"sum": NEEDS_WIDE}}


def test_rounding_is_to_the_nearest_even(spark: SparkSession) -> None:
    half, more, less = 2.0**-53, 2.0**-90, -(2.0**-90)
    groups: Groups = {
        "down to even": [(1.0,), (half,)],
        "up to even": [(1.0 + 2.0**-52,), (half,)],
        "above a half": [(1.0,), (half,), (more,)],
        "below a half": [(1.0 + 2.0**-52,), (half,), (less,)],
        "negative": [(-1.0,), (-half,), (less,)],
        "to a power of two": [(2.0 - 2.0**-52,), (half * 2,)],
    }
    assert agree(spark, ["sum"], groups, [FLOAT]) == 0


@pytest.mark.parametrize(("value", "weight"), [(FLOAT, FLOAT), (FLOAT, INT), (INT, INT)])
@pytest.mark.parametrize("is_wide", [False, True])
def test_weighted_means(spark: SparkSession, value: Type, weight: Type, is_wide: bool) -> None:
    draw = random.Random(7)

    def number(type_: Type) -> Value:
        wanted: Draw = any_int if type_ is INT else any_float if is_wide else ordinary
        return draw.choice([wanted(draw), wanted(draw), wanted(draw), None])

    groups: Groups = {
        f"group {n}": [(number(value), number(weight)) for _ in range(draw.randint(1, 6))]
        for n in range(200)
    }
    unsettled = agree(spark, ["weighted_avg"], groups, [value, weight], is_wide=is_wide)
    assert unsettled == 0 or not is_wide


def test_means_survive_sums_beyond_the_floats(spark: SparkSession) -> None:
    draw = random.Random(3)
    weights = [1e308, -1e308, LARGEST, 1.0, TINIEST]
    groups: Groups = {
        f"group {n}": [
            (draw.choice([1.0, draw.uniform(-1, 1)]), draw.choice(weights))
            for _ in range(draw.randint(1, 6))
        ]
        for n in range(200)
    }
    agree(spark, ["weighted_avg"], groups, [FLOAT, FLOAT], is_wide=True)
    huge: Groups = {key: [(weight,) for _, weight in rows] for key, rows in groups.items()}
    agree(spark, ["avg"], huge, [FLOAT], is_wide=True)
