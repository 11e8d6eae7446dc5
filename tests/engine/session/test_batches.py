"""How much the engine hands over at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from clinker.engine.session.batches import MAX_BYTES, UNMEASURED, BatchLimit

MEASURED = "64m"


@pytest.fixture
def limit(spark: SparkSession) -> Iterator[BatchLimit]:
    before = spark.conf.get(MAX_BYTES)
    spark.conf.set(MAX_BYTES, MEASURED)
    yield BatchLimit(spark)
    spark.conf.set(MAX_BYTES, str(before))


@pytest.mark.parametrize(
    ("record_bytes", "expected"),
    [(100, UNMEASURED), (4096, UNMEASURED), (4097, MEASURED), (10_000_000, MEASURED)],
)
def test_large_batches_are_measured(
    spark: SparkSession, limit: BatchLimit, record_bytes: int, expected: str
) -> None:
    limit.expect(record_bytes)
    assert spark.conf.get(MAX_BYTES) == expected
    limit.expect(None)
    assert spark.conf.get(MAX_BYTES) == MEASURED


def test_records_have_to_fit_into_the_limit_at_hand(spark: SparkSession, limit: BatchLimit) -> None:
    spark.conf.set(MAX_BYTES, "16m")
    smaller = BatchLimit(spark)
    smaller.expect(1025)
    assert spark.conf.get(MAX_BYTES) == "16m"
    smaller.expect(1024)
    assert spark.conf.get(MAX_BYTES) == UNMEASURED
    smaller.expect(None)
    assert spark.conf.get(MAX_BYTES) == "16m"


@pytest.mark.usefixtures("limit")
def test_a_limit_of_the_user_stays(spark: SparkSession) -> None:
    spark.conf.set(MAX_BYTES, "1m")
    BatchLimit(spark).expect(100)
    assert spark.conf.get(MAX_BYTES) == "1m"
