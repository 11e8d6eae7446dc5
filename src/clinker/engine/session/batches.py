"""How much the engine hands over to Python at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MAX_RECORDS = "spark.sql.execution.arrow.maxRecordsPerBatch"
MAX_BYTES = "spark.sql.execution.arrow.maxBytesPerBatch"
UNMEASURED = str(2**31 - 1)
"""The one limit of bytes for which Spark does not measure a batch after every record, which takes
as long as to write it."""
_MEASURED = "64m"
_LARGE_BATCH = 64 * 2**20


def limit_batches(spark: SparkSession, record_bytes: int | None) -> None:
    """Have batches measured if they may become large; None stands for records of any size.

    A limit that the user has set stays, and so does a session that is the user's own.
    """
    if spark.conf.get(MAX_BYTES) in (UNMEASURED, _MEASURED):
        records = int(spark.conf.get(MAX_RECORDS) or 0)
        largest_batch = None if record_bytes is None else records * record_bytes
        is_small = largest_batch is not None and records > 0 and largest_batch <= _LARGE_BATCH
        spark.conf.set(MAX_BYTES, UNMEASURED if is_small else _MEASURED)
