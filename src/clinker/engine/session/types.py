"""The types of Arrow columns as Spark names them."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType


def spark_schema(schema: pa.Schema) -> StructType:
    """The columns of Arrow batches as Spark names their types."""
    return from_arrow_schema(schema, prefer_timestamp_ntz=True)
