"""The types of Arrow columns as Spark names them."""

from __future__ import annotations

import pyarrow as pa
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

_SPARK_TYPES: dict[pa.DataType, DataType] = {
    pa.string(): StringType(),
    pa.int32(): IntegerType(),
    pa.int64(): LongType(),
    pa.float64(): DoubleType(),
    pa.bool_(): BooleanType(),
    pa.date32(): DateType(),
    pa.timestamp("us"): TimestampNTZType(),
}


def spark_schema(schema: pa.Schema) -> StructType:
    """The columns of Arrow batches as Spark names their types."""
    return StructType([StructField(field.name, _spark_type(field.type)) for field in schema])


def _spark_type(held: pa.DataType) -> DataType:
    if pa.types.is_struct(held):
        return StructType([StructField(field.name, _spark_type(field.type)) for field in held])
    if pa.types.is_list(held):
        return ArrayType(_spark_type(held.value_type))
    return _SPARK_TYPES[held]
