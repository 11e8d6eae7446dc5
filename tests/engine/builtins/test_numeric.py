"""Methods of numbers mean the same to Spark and to the interpreter, edges included."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Sequence

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.types import FLOAT, INT, NUMERIC, Type
from clinker.cxl.values import MAX_INT, MIN_INT, Value
from tests.engine.expressions.running import agree

NAN, INF = math.nan, math.inf

INTS = [
    *(0, 1, -1, 4, 5, -5, 14, 15, -15, 49, 50, 1249, 1250, -1250, 10**18, -(10**18)),
    *(2**53 - 1, 2**53, 2**53 + 1, 2**53 + 3, -(2**53) - 1, 5 * 10**18 - 1, 5 * 10**18),
    *(-5 * 10**18, 1 - 5 * 10**18, MAX_INT, MAX_INT - 7, MIN_INT, MIN_INT + 1, MIN_INT + 8),
]
FLOATS = [
    *(0.0, -0.0, 0.5, -0.5, 0.4, -0.4, 1.5, 2.5, -2.5, 0.49999999999999994, 1.005, 2.675, 19.995),
    *(-19.995, 3.456, 1250.0, -1250.0, 1e-7, 5e-324, -5e-324, 2.0**52 - 0.5, 2.0**52 + 1, 2.0**53),
    *(
        9223372036854774784.0,
        2.0**63,
        -(2.0**63),
        -(2.0**63) - 2048,
        1e22,
        1e300,
        1.7976931348623157e308,
    ),
    *(-1.7976931348623157e308, INF, -INF, NAN),
]
_DECIMALS = [0, 1, 2, 3, 5, 15, 17, 300, 308, 309, 400, MAX_INT]
DECIMALS = [*_DECIMALS, *(-n for n in _DECIMALS), -18, -19, -20, MIN_INT, None]


def random_floats(count: int) -> list[float]:
    bits = random.Random(7)
    any_bits = [struct.unpack("<d", bits.randbytes(8))[0] for _ in range(count // 2)]
    return any_bits + [round(bits.uniform(-1e6, 1e6), bits.randrange(8)) for _ in range(count // 2)]


def columns(**values: Sequence[Value]) -> list[dict[str, Value]]:
    """Every combination of the values."""
    records: list[dict[str, Value]] = [{}]
    for name, each in values.items():
        records = [{**record, name: value} for record in records for value in each]
    return records


@pytest.mark.parametrize("numbers", [INTS, FLOATS, INTS + FLOATS + [None]])
def test_methods_of_one_number(spark: SparkSession, numbers: list[Value]) -> None:
    texts = ["x.abs()", "x.ceil()", "x.floor()", "x.round()"]
    agree(spark, texts, columns(x=numbers))


@pytest.mark.parametrize("decimals", DECIMALS)
def test_rounding_to_a_literal_number_of_decimals(
    spark: SparkSession, decimals: int | None
) -> None:
    shown = "null" if decimals is None else decimals
    texts = [f"x.round({shown})", f"x.round_to({shown})"]
    agree(spark, texts, columns(x=INTS), {"x": INT})
    agree(spark, texts, columns(x=FLOATS + random_floats(1000)), {"x": FLOAT})


def test_rounding_to_any_number_of_decimals(spark: SparkSession) -> None:
    texts = ["x.round(d)", "x.round_to(d)"]
    agree(
        spark,
        texts,
        columns(x=[*INTS, None], d=DECIMALS),
        {"x": INT.nullable(), "d": INT.nullable()},
    )
    agree(
        spark,
        texts,
        columns(x=[*FLOATS, None], d=DECIMALS),
        {"x": FLOAT.nullable(), "d": INT.nullable()},
    )
    agree(spark, texts, columns(x=[15, 2.5, None], d=[-1, 0, None]))


SOME = [0, 1, -1, 2**53, 2**53 + 1, 2**53 + 3, MAX_INT, MIN_INT]
SOME_FLOATS = [0.0, -0.0, 1.0, -1.5, 2.0**53, 2.0**53 + 4, 2.0**63, -(2.0**63), INF, -INF, NAN]
NUMBERS: dict[Type, list[Value]] = {
    INT: [*SOME, None],
    FLOAT: [*SOME_FLOATS, None],
    NUMERIC: [*SOME, *SOME_FLOATS, None],
}


@pytest.mark.parametrize("type_", [INT, FLOAT, NUMERIC])
@pytest.mark.parametrize("other", [INT, FLOAT, NUMERIC])
def test_the_smaller_and_the_larger_of_two(spark: SparkSession, type_: Type, other: Type) -> None:
    records = columns(x=NUMBERS[type_], y=NUMBERS[other])
    schema = {"x": type_.nullable(), "y": other.nullable()}
    agree(spark, ["x.min(y)", "x.max(y)"], records, schema)


@pytest.mark.parametrize("type_", [INT, FLOAT, NUMERIC])
@pytest.mark.parametrize("low", [INT, FLOAT])
@pytest.mark.parametrize("high", [INT, FLOAT])
def test_clamp(spark: SparkSession, type_: Type, low: Type, high: Type) -> None:
    records = columns(x=NUMBERS[type_], low=NUMBERS[low], high=NUMBERS[high])
    schema = {"x": type_.nullable(), "low": low.nullable(), "high": high.nullable()}
    texts = ["x.clamp(low, high)", "x.clamp(null, high)", "x.clamp(low, null)", "x.clamp(0, 9.5)"]
    agree(spark, texts, records, schema)
