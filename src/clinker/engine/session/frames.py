"""Frames built: from the description of a table to a DataFrame, each step once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import DataType, StructField, StructType

from clinker.engine.flow import frame as steps
from clinker.engine.flow.frame import BatchFunction, Frame, SortBy, item_sql, selection

if TYPE_CHECKING:
    from clinker.engine.session.engine import Engine
    from clinker.engine.session.session import Session


class Frames:
    """The DataFrames of a run, by the frames that describe them."""

    def __init__(self, session: Session, *, remembers: bool) -> None:
        self._session = session
        self._remembers = remembers
        self._built: dict[Frame, DataFrame] = {}
        self._kept: list[DataFrame] = []
        self.nodes: Mapping[Frame, str] = {}
        """The nodes that frames are the work of, as far as anybody wants to know."""

    def built(self, frame: Frame) -> DataFrame:
        """The DataFrame that a frame describes."""
        waiting = [frame]
        while waiting:
            step = waiting[-1]
            below = [each for each in step.inputs if each not in self._built]
            waiting += below
            if not below:
                if step not in self._built:
                    self._built[step] = self._build(step)
                    if step in self.nodes:
                        self._session.engine.label(self._built[step], self.nodes[step])
                waiting.pop()
        return self._built[frame]

    def release(self) -> None:
        """Free what was remembered for several readers, and forget all."""
        for frame in self._kept:
            self._session.engine.release(frame)
        self._kept.clear()
        self._built.clear()

    def _build(self, step: Frame) -> DataFrame:
        engine = self._session.engine
        inputs = [self._built[each] for each in step.inputs]
        match step:
            case steps.Input():
                return step.open(self._session)
            case steps.Union():
                return engine.union(inputs)
            case steps.Join():
                other = engine.broadcast(inputs[1]) if step.is_small else inputs[1]
                return inputs[0].join(other, f.expr(step.test), "left")
            case steps.Cross():
                return inputs[0].crossJoin(inputs[1])
        (below,) = inputs
        match step:
            case steps.Select():
                return below.selectExpr(*(item_sql(name, text) for name, text in step.columns))
            case steps.Extend():
                return engine.extend(below, step.columns)
            case steps.Where():
                return below.where(step.test)
            case steps.Number():
                return engine.number(below, step.name)
            case steps.Explode():
                return below.selectExpr("*", step.item_sql)
            case steps.Group():
                aggregates = (f.expr(item_sql(name, text)) for name, text in step.aggregates)
                return below.groupBy(*selection(step.by)).agg(*aggregates)
            case steps.Sort():
                return below.orderBy(*map(_sort_column, step.by))
            case steps.Cut():
                return engine.cut(below, step.part, step.parts, step.order)
            case steps.OnePart():
                return engine.in_one_part(below)
            case steps.Remember():
                return self._keep(below)
            case steps.RunInArrow():
                added = [
                    StructField(name, DataType.fromDDL(ddl)) for name, ddl in step.added.items()
                ]
                schema = StructType([*below.schema.fields, *added])
                return run_in_arrow(engine, below, step.function, schema)
        raise AssertionError(step)

    def _keep(self, frame: DataFrame) -> DataFrame:
        if not self._remembers:
            return frame
        kept = self._session.engine.keep(frame)
        self._kept.append(kept)
        return kept


def _sort_column(key: SortBy) -> Column:
    column = f.expr(key.text)
    if key.descending:
        return column.desc_nulls_first() if key.nulls_first else column.desc_nulls_last()
    return column.asc_nulls_first() if key.nulls_first else column.asc_nulls_last()


def run_in_arrow(
    engine: Engine, frame: DataFrame, function: BatchFunction, schema: StructType
) -> DataFrame:
    """What a function gives for the batches of a frame. Spark by itself takes a dot in a name for a
    path."""
    names = frame.columns

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return function(batch.rename_columns(names) for batch in batches)

    plain = frame.toDF(*(f"c{number}" for number in range(len(names))))
    return engine.map_in_arrow(plain, run, schema)
