"""What engines differ in: a handful of operations on their frames, here and nowhere else.

This is Apache Spark, in a process of ours or behind a Connect server. Another engine is a subclass
that does some of it in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from clinker.engine.flow.frame import BatchFunction, quoted
from clinker.frozen import frozen

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from clinker.cxl.sql.operand import SqlForm

T = TypeVar("T")


@frozen
class Tasks:
    """The tasks of the stages at hand; others may follow that nobody knows of yet."""

    done: int
    total: int


class Engine:
    """The operations of Apache Spark."""

    overrides: Mapping[str, SqlForm] = {}
    """SQL of built-in methods that differs from what they are declared with, by their names."""

    def number(self, frame: DataFrame, name: str) -> DataFrame:
        """The frame with numbers that grow from row to row, computed just here."""
        return frame.selectExpr("*", f"monotonically_increasing_id() AS {quoted(name)}")

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

    def tasks(self) -> Tasks | None:
        """What the engine is at work on, asked by any thread; None if it does not tell."""
        return None

    def rest(self) -> None:
        """Let go of what is only kept for the next computation, where memory is short."""

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

    def map_in_arrow(
        self, frame: DataFrame, function: BatchFunction, schema: StructType
    ) -> DataFrame:
        return frame.mapInArrow(function, schema)

    @staticmethod
    def part_number() -> int:
        """Which part of a frame a function of batches is at work on; asked by a worker."""
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        return context.partitionId()
