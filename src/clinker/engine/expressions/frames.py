"""Adding computed columns to a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StructField, StructType

from clinker.cxl.types import BOOL
from clinker.engine.expressions.foreign import foreign_batch_function, plain
from clinker.engine.expressions.representation import Representation, representation
from clinker.engine.expressions.scope import Columns, ForeignColumns, Layer


def with_layers(frame: DataFrame, layers: Sequence[Layer]) -> DataFrame:
    """The frame with the columns of all layers added."""
    for layer in layers:
        match layer:
            case Columns(selections=selections):
                frame = frame.selectExpr("*", *selections)
            case ForeignColumns():
                frame = _with_foreign(frame, layer)
    return frame


def _with_foreign(frame: DataFrame, layer: ForeignColumns) -> DataFrame:
    fields = list(frame.schema.fields)
    for foreign in layer.expressions:
        value = spark_type(representation(foreign.expression.type))
        fields.append(StructField(plain(foreign.value), value))
        fields.append(StructField(plain(foreign.fails), spark_type(representation(BOOL))))
    return frame.mapInArrow(foreign_batch_function(layer.expressions), StructType(fields))


def spark_type(form: Representation) -> DataType:
    return DataType.fromDDL(form.ddl)
