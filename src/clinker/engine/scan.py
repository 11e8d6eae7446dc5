"""Sources as DataFrames.

Large inputs are read by Spark's workers, split by split, through a Python data source that yields
Arrow batches; small ones are read here and handed over as one table. Either way it is
the reader of the file format that does the work.
"""

from __future__ import annotations

import base64
import json
import pickle
import re
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
)

from clinker.formats.reading import FormatError, Inventory, ReadSpec, Split, read_split

_FORMAT = "clinker"
_READING = "reading"
_FAILURE = re.compile(r"clinker\.formats\.FormatError (\{.*?\}) clinker\.end", re.S)


def scan(spark: SparkSession, spec: ReadSpec, inventory: Inventory) -> DataFrame:
    """The records of a source, read by the workers; partitions stand in the order of splits."""
    spark.dataSource.register(ClinkerSource)
    reading = base64.b64encode(pickle.dumps((spec, inventory))).decode()
    schema = spark_schema(inventory.schema)
    return spark.read.format(_FORMAT).schema(schema).option(_READING, reading).load()


def local_table(spec: ReadSpec, inventory: Inventory) -> pa.Table:
    """The records of a source, read here."""
    batches = (batch for split in inventory.splits for batch in read_split(spec, inventory, split))
    return pa.Table.from_batches(batches, inventory.schema)


def local_frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    """A table of records as a DataFrame; it says explicitly that its times are in no zone."""
    if not table.num_rows:  # pyspark wants a chunk even then
        table = pa.Table.from_batches([pa.RecordBatch.from_pylist([], table.schema)])
    return spark.createDataFrame(table, spark_schema(table.schema))


def format_error(problem: Exception) -> FormatError | None:
    """The unreadable file that made a job fail, if that was the reason."""
    found = _FAILURE.search(str(problem))
    return FormatError(**json.loads(found[1])) if found else None


class ClinkerSource(DataSource):
    """The data source behind `scan`."""

    @classmethod
    def name(cls) -> str:
        return _FORMAT

    def reader(self, schema: StructType) -> _SplitReader:
        spec, inventory = pickle.loads(base64.b64decode(self.options[_READING]))
        return _SplitReader(spec, inventory)


class _SplitReader(DataSourceReader):
    def __init__(self, spec: ReadSpec, inventory: Inventory) -> None:
        self._spec = spec
        self._inventory = inventory

    def partitions(self) -> Sequence[InputPartition]:
        # Spark takes an empty list for a source that cannot be split.
        return [InputPartition(splits) for splits in _gathered(self._inventory)] or [
            InputPartition(())
        ]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        splits: tuple[Split, ...] = partition.value
        try:
            for split in splits:
                yield from read_split(self._spec, self._inventory, split)
        except FormatError as problem:
            raise RuntimeError(_as_text(problem)) from None


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
    return StructType([StructField(field.name, _spark_type(field.type)) for field in schema])


def _spark_type(held: pa.DataType) -> DataType:
    if pa.types.is_struct(held):
        return StructType([StructField(field.name, _spark_type(field.type)) for field in held])
    if pa.types.is_list(held):
        return ArrayType(_spark_type(held.value_type))
    return _SPARK_TYPES[held]


_SPARK_TYPES: dict[pa.DataType, DataType] = {
    pa.string(): StringType(),
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.float64(): DoubleType(),
    pa.bool_(): BooleanType(),
    pa.date32(): DateType(),
    pa.timestamp("us"): TimestampNTZType(),
}
