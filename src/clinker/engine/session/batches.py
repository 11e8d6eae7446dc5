"""How much the engine hands over to Python at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinker.engine.session.memory import BATCH_SIZES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_RECORDS = "spark.sql.execution.arrow.maxRecordsPerBatch"
MAX_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
MEASURED = {f"{size}m": size * 2**20 for size in BATCH_SIZES}
"""The limits that are ours, as Spark reads them and in bytes."""
UNMEASURED = str(2**31 - 1)
"""The one limit of bytes for which Spark does not measure a batch after every record, which takes
as long as to write it."""


class BatchLimit:
    """Whether batches of a session are measured.

    A limit that the user has set stays, and so does a session that is the user's own.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._limit = spark.conf.get(MAX_BYTES) or ""
        self._is_measured = True

    def expect(self, record_bytes: int | None) -> None:
        """Have batches measured unless records of this size fit in; None stands for any size."""
        is_measured = record_bytes is None or not self._fit(record_bytes)
        if is_measured != self._is_measured:
            self._spark.conf.set(MAX_BYTES, self._limit if is_measured else UNMEASURED)
            self._is_measured = is_measured

    def _fit(self, record_bytes: int) -> bool:
        if self._limit not in MEASURED:
            return False
        records = int(self._spark.conf.get(MAX_RECORDS) or 0)
        return 0 < records * record_bytes <= MEASURED[self._limit]
