"""What Sail does in its own way.

It takes a table for a set: rows stand in no order unless the very last step of a query sorts them.
So rows are sorted as they leave, and files are rendered here, as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from clinker.cxl.sql.dialect import Dialect
from clinker.cxl.sql.operand import NotNative, Sql, SqlCall, SqlForm
from clinker.engine.flow.frame import BatchFunction, Frame, quoted, unquoted
from clinker.engine.session.engine import Engine, PartFunction
from clinker.engine.session.sorting import sorted_last

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType


_DIALECT = Dialect(
    java_floats=False,
    closures=False,
    arrays=False,
    json_letters=False,
    reads_dates=False,
    json_nulls=False,
    sliding_frames=False,
    infinite_extremes=False,
)
_INTERPRETED = """
    matches find capture split substring format
    file_name file_stem extension parent parent_name
    add_days add_months add_years diff_days diff_months diff_years format_date
    set
""".split()
"""Methods whose SQL Sail does not have, or computes otherwise: the interpreter computes them."""
_PANIC = "PanicException"
"""What a panic of Rust is in Python; nobody can import it."""


def _interpreted(call: SqlCall) -> Sql:
    raise NotNative


class SailEngine(Engine):
    """The operations of Sail."""

    name = "sail"
    keeps_order = False
    may_lose_rows = True
    dialect = _DIALECT
    overrides: Mapping[str, SqlForm] = dict.fromkeys(_INTERPRETED, _interpreted)

    def leaving(self, frame: Frame) -> Frame:
        return sorted_last(frame)

    def extend(self, frame: DataFrame, columns: Sequence[tuple[str, str]]) -> DataFrame:
        for layer in _layers(columns):
            frame = super().extend(frame, layer)
        return frame

    def union(self, frames: Sequence[DataFrame]) -> DataFrame:
        """By place: to Sail, names of columns that differ by case alone are one."""
        first, *others = frames
        for other in others:
            first = first.union(other)
        return first

    def received(self, spark: SparkSession, table: pa.Table, schema: StructType) -> DataFrame:
        return spark.createDataFrame(table, _as_text(schema))

    def map_in_arrow(
        self, frame: DataFrame, function: BatchFunction, schema: StructType
    ) -> DataFrame:
        return frame.mapInArrow(_guarded(function), _columns_ddl(schema))

    def keep(self, frame: DataFrame) -> DataFrame:
        return frame

    def release(self, frame: DataFrame) -> None:
        """Nothing was kept."""

    def cut(self, frame: DataFrame, number: str, parts: int, order: Sequence[str]) -> DataFrame:
        from pyspark.sql import functions as f

        from clinker.engine.session.frames import run_in_arrow

        names = frame.columns
        sorts = _Sorting([names.index(unquoted(text)) for text in order])
        split = frame.repartition(parts, f.expr(number)) if parts > 1 else frame.coalesce(1)
        return run_in_arrow(self, split, sorts, frame.schema)

    def in_one_part(self, frame: DataFrame) -> DataFrame:
        return frame

    def broadcast(self, frame: DataFrame) -> DataFrame:
        return frame

    def run_in_parts(
        self,
        frame: DataFrame,
        function: PartFunction,
        schema: pa.Schema,
        collected: Callable[[DataFrame], pa.Table],
    ) -> pa.Table:
        """All rows are one part, which this thread works on as it comes."""
        import pyarrow as pa

        return pa.Table.from_batches(function(0, batches_of(frame)), schema)


def _guarded(function: BatchFunction) -> BatchFunction:
    """Sail takes a function that a panic of its own has ended for one that has come to its end, so
    that rows would be missing."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from function(batches)
        except BaseException as problem:
            if type(problem).__name__ != _PANIC:
                raise
            raise RuntimeError(f"panic: {problem}") from None

    return run


def _as_text(schema: StructType) -> StructType:
    """A schema that is sent as text: from JSON Sail takes metadata as well, by which it tells
    columns apart that are of one type."""
    from pyspark.sql.types import StructType

    class Text(StructType):
        def json(self) -> str:
            return _columns_ddl(self)

    return Text(schema.fields)


def _columns_ddl(schema: StructType) -> str:
    return ", ".join(f"{quoted(field.name)} {_ddl(field.dataType)}" for field in schema)


def _ddl(type_: DataType) -> str:
    from pyspark.sql.types import ArrayType, StructType

    match type_:
        case StructType():
            fields = (f"{quoted(each.name)}: {_ddl(each.dataType)}" for each in type_)
            return f"STRUCT<{', '.join(fields)}>"
        case ArrayType():
            return f"ARRAY<{_ddl(type_.elementType)}>"
    return type_.simpleString()


def _layers(columns: Sequence[tuple[str, str]]) -> Iterator[list[tuple[str, str]]]:
    """Columns in as few steps as there can be, if none may use those of its own step."""
    from clinker.engine.expressions.sql_text import names_in

    layer: list[tuple[str, str]] = []
    for name, text in columns:
        own = {quoted(before) for before, _ in layer}
        if not own.isdisjoint(names_in(text)):
            yield layer
            layer = []
        layer.append((name, text))
    if layer:
        yield layer


class _Sorting:
    """Sorts all rows of a part by some of its columns."""

    def __init__(self, places: Sequence[int]) -> None:
        self._places = places

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.compute as pc

        rows = list(batches)
        if rows:
            table = pa.Table.from_batches(rows)
            keys: dict[str, pa.ChunkedArray] = {}
            for place in self._places:
                column = table.column(place)
                keys |= {f"n{place}": pc.is_valid(column), f"k{place}": column}  # nulls stand first
            order = pc.sort_indices(pa.table(keys), [(name, "ascending") for name in keys])
            yield from table.take(order).to_batches()


def batches_of(frame: DataFrame) -> Iterator[pa.RecordBatch]:
    """The rows of a frame as they come, none of which wait for all the others."""
    import pyarrow as pa
    from pyspark.sql.connect.dataframe import DataFrame as RemoteFrame

    assert isinstance(frame, RemoteFrame)
    client = frame._session.client
    for part in client.to_table_as_iterator(frame._plan.to_proto(client), frame._plan.observations):
        if isinstance(part, pa.Table):
            yield from part.to_batches()
