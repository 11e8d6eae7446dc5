"""Adding computed columns to a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, DataType, StructField, StructType

from clinker.engine.expressions.arrow_map import map_in_arrow
from clinker.engine.expressions.foreign import foreign_batch_function, plain
from clinker.engine.expressions.representation import Representation
from clinker.engine.expressions.scope import Columns, ForeignColumns, Layer


def with_layers(frame: DataFrame, layers: Sequence[Layer]) -> DataFrame:
    """The frame with the columns of all layers added."""
    # Columns may use those before them, so that layers of SQL are one step for the engine.
    selections: list[str] = []
    for layer in layers:
        match layer:
            case Columns():
                selections += layer.selections
            case ForeignColumns():
                frame = _with_foreign(_with_columns(frame, selections), layer)
                selections = []
    return _with_columns(frame, selections)


def _with_columns(frame: DataFrame, selections: Sequence[str]) -> DataFrame:
    return frame.selectExpr("*", *selections) if selections else frame


def _with_foreign(frame: DataFrame, layer: ForeignColumns) -> DataFrame:
    fields = list(frame.schema.fields)
    for foreign in layer.work:
        fields.append(StructField(plain(foreign.value), DataType.fromDDL(foreign.ddl)))
        fields.append(StructField(plain(foreign.fails), BooleanType()))
    return map_in_arrow(frame, foreign_batch_function(layer.work), StructType(fields))


def spark_type(form: Representation) -> DataType:
    return DataType.fromDDL(form.ddl)
