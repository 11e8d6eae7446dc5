"""How much the engine hands over at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from clinker.engine.session.batches import MAX_BYTES, UNMEASURED, limit_batches


@pytest.fixture
def limit(spark: SparkSession) -> Iterator[str | None]:
    before = spark.conf.get(MAX_BYTES)
    yield before
    spark.conf.set(MAX_BYTES, str(before))


@pytest.mark.parametrize(
    ("record_bytes", "expected"),
    [(100, UNMEASURED), (4096, UNMEASURED), (4097, "64m"), (10_000_000, "64m"), (None, "64m")],
)
def test_large_batches_are_measured(
    spark: SparkSession, limit: str, record_bytes: int | None, expected: str
) -> None:
    assert limit == UNMEASURED
    limit_batches(spark, record_bytes)
    assert spark.conf.get(MAX_BYTES) == expected
    limit_batches(spark, 1)
    assert spark.conf.get(MAX_BYTES) == UNMEASURED


def test_a_limit_of_the_user_stays(spark: SparkSession, limit: str) -> None:
    spark.conf.set(MAX_BYTES, "1m")
    limit_batches(spark, 100)
    assert spark.conf.get(MAX_BYTES) == "1m"
