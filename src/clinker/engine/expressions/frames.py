"""Adding computed columns to a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import BooleanType, DataType, StructField, StructType

from clinker.engine.expressions.arrow_map import map_in_arrow
from clinker.engine.expressions.foreign import foreign_batch_function, unquote
from clinker.engine.expressions.scope import Columns, ForeignColumns, Layer

_LAYERS_AT_ONCE = 20
"""Columns may use those before them, so that several layers of SQL are one step for the engine.
It looks through all of a step once for every layer, and gives up after a hundred times."""


def with_layers(frame: DataFrame, layers: Sequence[Layer]) -> DataFrame:
    """The frame with the columns of all layers added."""
    waiting: list[Columns] = []
    for layer in layers:
        match layer:
            case Columns():
                if len(waiting) == _LAYERS_AT_ONCE:
                    frame, waiting = _with_columns(frame, waiting), []
                waiting.append(layer)
            case ForeignColumns():
                frame, waiting = _with_foreign(_with_columns(frame, waiting), layer), []
    return _with_columns(frame, waiting)


def _with_columns(frame: DataFrame, layers: Sequence[Columns]) -> DataFrame:
    selections = [selection for layer in layers for selection in layer.selections]
    return frame.selectExpr("*", *selections) if selections else frame


def _with_foreign(frame: DataFrame, layer: ForeignColumns) -> DataFrame:
    fields = list(frame.schema.fields)
    for foreign in layer.work:
        fields.append(StructField(unquote(foreign.value), DataType.fromDDL(foreign.ddl)))
        fields.append(StructField(unquote(foreign.fails), BooleanType()))
    return map_in_arrow(frame, foreign_batch_function(layer.work), StructType(fields))
