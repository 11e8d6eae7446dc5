"""What engines differ in: a handful of operations on their frames, here and nowhere else.

This is Apache Spark, in a process of ours or behind a Connect server. Another engine is a subclass
that does some of it in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from clinker.cxl.sql.dialect import SPARK, Dialect
from clinker.engine.flow.frame import item_sql, quoted
from clinker.frozen import frozen

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from clinker.cxl.sql.operand import SqlForm
    from clinker.engine.flow.frame import BatchFunction, Frame
    from clinker.engine_names import EngineName

T = TypeVar("T")
PartFunction: TypeAlias = "Callable[[int, Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]"
"""What is done with the rows of a part, whose number it is told."""


@frozen
class Tasks:
    """The tasks of the stages at hand; others may follow that nobody knows of yet."""

    done: int
    total: int


class Engine:
    """The operations of Apache Spark."""

    name: EngineName = "spark"
    overrides: Mapping[str, SqlForm] = {}
    """SQL of built-in methods that differs from what they are declared with, by their names."""
    dialect: Dialect = SPARK
    keeps_order: bool = True
    """Whether rows go on standing as they were read or sorted, until something shuffles them."""
    may_lose_rows: bool = False
    """Whether a query that breaks may look like one that has ended, so that rows are counted."""

    def leaving(self, frame: Frame) -> Frame:
        """A frame whose rows are about to leave the engine. Columns may be added behind its own."""
        return frame

    def number(self, frame: DataFrame, name: str) -> DataFrame:
        """The frame with numbers that grow from row to row, computed just here."""
        return frame.selectExpr("*", f"monotonically_increasing_id() AS {quoted(name)}")

    def extend(self, frame: DataFrame, columns: Sequence[tuple[str, str]]) -> DataFrame:
        """The frame with more columns, each of which may use those before it."""
        return frame.selectExpr("*", *(item_sql(name, text) for name, text in columns))

    def union(self, frames: Sequence[DataFrame]) -> DataFrame:
        """The rows of frames with the same columns."""
        first, *others = frames
        for other in others:
            first = first.unionByName(other)
        return first

    def received(self, spark: SparkSession, table: pa.Table, schema: StructType) -> DataFrame:
        """The rows of a table, sent to the engine."""
        return spark.createDataFrame(table, schema)

    def keep(self, frame: DataFrame) -> DataFrame:
        """The frame, computed only once as long as it is not released."""
        from pyspark import StorageLevel

        return frame.persist(StorageLevel.MEMORY_AND_DISK)

    def release(self, frame: DataFrame) -> None:
        frame.unpersist()

    def cut(self, frame: DataFrame, number: str, parts: int, order: Sequence[str]) -> DataFrame:
        """The rows in as many parts, which their numbers tell, each of them sorted."""
        from pyspark.sql import functions as f

        return frame.repartitionById(parts, f.expr(number)).sortWithinPartitions(*order)

    def in_one_part(self, frame: DataFrame) -> DataFrame:
        return frame.coalesce(1)

    def broadcast(self, frame: DataFrame) -> DataFrame:
        """The frame, to be sent to wherever rows are joined with it."""
        return frame.hint("broadcast")

    def scan(
        self,
        spark: SparkSession,
        tasks: Sequence[T],
        read: Callable[[T], Iterator[pa.RecordBatch]],
        schema: pa.Schema,
    ) -> DataFrame:
        """What `read` gives for each task; partitions stand in the order of tasks."""

        def read_all(numbers: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in numbers:
                for number in batch.column(0).to_pylist():
                    yield from read(tasks[number])

        from clinker.engine.session.types import spark_schema

        # Each number is a task of its own. A data source of Spark's would do the same, but leaves
        # behind the processes that plan it, for as long as the session lives.
        numbers = spark.range(0, len(tasks), 1, max(1, len(tasks)))
        return self.map_in_arrow(numbers, read_all, spark_schema(schema))

    def run_in_parts(
        self,
        frame: DataFrame,
        function: PartFunction,
        schema: pa.Schema,
        collected: Callable[[DataFrame], pa.Table],
    ) -> pa.Table:
        """What a function gives for every part of a frame; parts stand in their order."""
        from clinker.engine.session.frames import run_in_arrow
        from clinker.engine.session.types import spark_schema

        def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            from pyspark import TaskContext

            context = TaskContext.get()
            assert context is not None
            return function(context.partitionId(), batches)

        return collected(run_in_arrow(self, frame, run, spark_schema(schema)))

    def map_in_arrow(
        self, frame: DataFrame, function: BatchFunction, schema: StructType
    ) -> DataFrame:
        """What a function gives for the batches of a frame; it fails whenever its input does."""
        return frame.mapInArrow(function, schema)

    def tasks(self) -> Tasks | None:
        """What the engine is at work on, asked by any thread; None if it does not tell."""
        return None

    def label(self, frame: DataFrame, node: str) -> None:
        """Remember of what node the last step of a frame is the work."""

    def begin_counting(self) -> None:
        """From here on, count anew what is written to disk for want of memory."""

    def spilled(self, computed: Sequence[DataFrame]) -> Mapping[str, int] | None:
        """How many bytes were written to disk for want of memory, as frames were computed.

        By node, as far as that is known, else under an empty name; None if the engine does not
        tell.
        """
        return None
