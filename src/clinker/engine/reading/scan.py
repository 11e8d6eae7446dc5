"""Sources as DataFrames.

Large inputs are read by Spark's workers, split by split, and come as Arrow batches; small ones are
read here and handed over as one table. Either way it is the reader of the file format that does the
work.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from clinker.formats.reading import FormatError, Inventory, ReadSpec, Split, read_split

_FAILURE = re.compile(r"clinker\.formats\.FormatError (\{.*?\}) clinker\.end", re.S)


def scan(spark: SparkSession, spec: ReadSpec, inventory: Inventory) -> DataFrame:
    """The records of a source, read by the workers; partitions stand in the order of splits."""
    tasks = _gathered(inventory)

    def read(numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                yield from _read(spec, inventory, tasks[number])

    # Each number is a task of its own. A data source of Spark's would do the same, but leaves
    # behind the processes that plan it, for as long as the session lives.
    numbers = spark.range(0, len(tasks), 1, max(1, len(tasks)))
    return numbers.mapInArrow(read, spark_schema(inventory.schema))


def _read(
    spec: ReadSpec, inventory: Inventory, splits: Sequence[Split]
) -> Iterator[pa.RecordBatch]:
    try:
        for split in splits:
            yield from read_split(spec, inventory, split)
    except FormatError as problem:
        raise RuntimeError(_as_text(problem)) from None


def local_table(spec: ReadSpec, inventory: Inventory) -> pa.Table:
    """The records of a source, read here."""
    batches = (batch for split in inventory.splits for batch in read_split(spec, inventory, split))
    return pa.Table.from_batches(batches, inventory.schema)


def local_frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A table of records as a DataFrame; it says explicitly that its times are in no zone."""
    if not table.num_rows:  # pyspark wants a chunk even then
        table = pa.Table.from_batches([pa.RecordBatch.from_pylist([], table.schema)])
    return spark.createDataFrame(table, spark_schema(table.schema))


def format_error(problem: str) -> FormatError | None:
    """The unreadable file that made a job fail, if that was the reason, from what Spark says."""
    found = _FAILURE.search(problem)
    return FormatError(**json.loads(found[1])) if found else None


def _gathered(inventory: Inventory) -> list[tuple[Split, ...]]:
    """The splits that each task reads, every task about as much as the others."""
    total = sum(split.size for split in inventory.splits)
    tasks = -(-total // inventory.task_bytes)
    gathered: dict[int, list[Split]] = {}
    before = 0
    for split in inventory.splits:
        middle = before + split.size // 2
        gathered.setdefault(middle * tasks // total, []).append(split)
        before += split.size
    return [tuple(splits) for splits in gathered.values()]


def _as_text(problem: FormatError) -> str:
    """The form in which a failure survives the way through Spark's stack traces."""
    facts = {"message": problem.message, "path": problem.path, "help": problem.help}
    return f"clinker.formats.FormatError {json.dumps(facts)} clinker.end"


def spark_schema(schema: pa.Schema) -> StructType:
    """The columns of Arrow batches as Spark names their types."""
    return from_arrow_schema(schema, prefer_timestamp_ntz=True)
