"""Functions of Arrow batches, applied to frames whose columns may have any names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

BatchFunction: TypeAlias = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def map_in_arrow(frame: DataFrame, function: BatchFunction, schema: StructType | str) -> DataFrame:
    """`DataFrame.mapInArrow`, which by itself takes a dot in a name for a path."""
    names = frame.columns

    def renamed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return function(batch.rename_columns(names) for batch in batches)

    plain = frame.toDF(*(f"c{number}" for number in range(len(names))))
    return plain.mapInArrow(renamed, schema)
