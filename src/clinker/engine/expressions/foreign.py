"""Expressions without a form in SQL: the interpreter computes them on Arrow batches."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

import pyarrow as pa

from clinker.cxl.check import typed
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import (
    Emitted,
    Frame,
    Record,
    RowProgram,
    Surroundings,
    System,
    compile_expression,
)
from clinker.cxl.types import Type
from clinker.cxl.values import Value
from clinker.engine.expressions.arrow_value import from_values, to_values
from clinker.formats.common.column_types import representation
from clinker.frozen import frozen

Wanted: TypeAlias = "typed.Field | typed.System | typed.Symbol | typed.Aggregate | typed.Window"


@frozen(eq=False)
class Read:
    """A value that the interpreter reads: what it stands for, and the column that holds it."""

    wanted: Wanted
    column: str
    type: Type


@frozen
class RecordValues:
    """The values of one record, sorted by what they stand for."""

    record: dict[str, Value]
    inputs: dict[str, dict[str, Value]]
    system: dict[tuple[str, tuple[str, ...]], Value]
    meta: dict[str, Value]
    symbols: dict[typed.Symbol, Value]
    results: dict[typed.Expr, Value | Failure]


@frozen(eq=False)
class Foreign:
    """Work for the interpreter and the columns it fills: a value, and whether it failed."""

    value: str
    fails: str
    reads: tuple[Read, ...]
    now: dt.datetime

    @property
    def columns(self) -> Iterator[str]:
        return (read.column for read in self.reads)

    @property
    def cxl(self) -> str:
        """What is computed, on one line."""
        raise NotImplementedError

    @property
    def ddl(self) -> str:
        """The type of the value's column."""
        raise NotImplementedError

    def make_worker(self) -> Callable[[RecordValues], object]:
        """A function that computes the value of a record; it may raise a `Failure`."""
        raise NotImplementedError

    def build_column(self, values: Sequence[object]) -> pa.Array:
        """The value's column."""
        raise NotImplementedError

    def surroundings(self, system: System, max_expansion: int = 0) -> Surroundings:
        return Surroundings(system, clock=lambda: self.now, max_expansion=max_expansion)


def shown_value(value: typed.Expr) -> str:
    """An expression on one line, as it is written."""
    place = value.location
    return " ".join(place.source.text[place.span.start : place.span.end].split())


@frozen(eq=False)
class ForeignExpression(Foreign):
    expression: typed.Expr

    @property
    def cxl(self) -> str:
        return shown_value(self.expression)

    @property
    def ddl(self) -> str:
        return representation(self.expression.type).ddl

    def make_worker(self) -> Callable[[RecordValues], object]:
        evaluate = compile_expression(self.expression)

        def compute(values: RecordValues) -> object:
            surroundings = self.surroundings(values.system)
            frame = Frame(
                values.record,
                surroundings,
                inputs=values.inputs,
                meta=values.meta,
                results=values.results,
            )
            frame.locals.update(values.symbols)
            return evaluate(frame)

        return compute

    def build_column(self, values: Sequence[object]) -> pa.Array:
        return from_values(values, self.expression.type)  # type: ignore[arg-type]


@frozen(eq=False)
class ForeignRecords(Foreign):
    """The records a program gives for one, as an array of structs of their fields."""

    program: typed.Program
    fields: Mapping[str, Type]
    meta: Mapping[str, Type]
    max_expansion: int

    @property
    def cxl(self) -> str:
        return "emit each"

    @property
    def ddl(self) -> str:
        return f"ARRAY<{record_ddl(self.fields, self.meta)}>"

    def make_worker(self) -> Callable[[RecordValues], object]:
        def compute(values: RecordValues) -> object:
            surroundings = self.surroundings(values.system, self.max_expansion)
            program = RowProgram(self.program, surroundings)
            outcome = program.run(
                values.record, values.meta, inputs=values.inputs, results=values.results
            )
            return outcome.records

        return compute

    def build_column(self, values: Sequence[object]) -> pa.Array:
        lists: list[list[Emitted] | None] = values  # type: ignore[assignment]
        records = [record for each in lists for record in each or ()]
        named = {name: (t, [r.fields for r in records]) for name, t in self.fields.items()}
        named |= {META + name: (t, [r.meta for r in records]) for name, t in self.meta.items()}
        columns = [_build_column(name.removeprefix(META), *held) for name, held in named.items()]
        fields = [pa.field(n, c.type) for n, c in zip(named, columns, strict=True)]
        struct = pa.StructArray.from_arrays(columns, fields=fields)
        offsets = itertools.accumulate((len(each or ()) for each in lists), initial=0)
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), struct)


META = "$meta."
"""What the names of metadata begin with among the fields of a record."""


def _build_column(name: str, type_: Type, records: Sequence[Record]) -> pa.Array:
    return from_values([record.get(name) for record in records], type_)


def record_ddl(fields: Mapping[str, Type], meta: Mapping[str, Type]) -> str:
    """The type of a record as a struct, its metadata included."""
    named = {**fields, **{META + name: type_ for name, type_ in meta.items()}}
    parts = [f"`{_escaped(name)}`: {representation(t).ddl}" for name, t in named.items()]
    return f"STRUCT<{', '.join(parts)}>"


def _escaped(name: str) -> str:
    return name.replace("`", "``")


BatchFunction: TypeAlias = "Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]"


def foreign_batch_function(foreigns: Sequence[Foreign]) -> BatchFunction:
    """A function of Arrow batches that appends the columns of all this work."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        workers = [foreign.make_worker() for foreign in foreigns]
        for batch in batches:
            for foreign, compute in zip(foreigns, workers, strict=True):
                batch = _with_columns(batch, foreign, compute)
            yield batch

    return run


def _with_columns(
    batch: pa.RecordBatch, foreign: Foreign, compute: Callable[[RecordValues], object]
) -> pa.RecordBatch:
    columns = [to_values(batch.column(unquote(r.column)), r.type) for r in foreign.reads]
    values: list[object] = []
    failed: list[bool] = []
    for row in range(batch.num_rows):
        record_values = sort_values(foreign.reads, [column[row] for column in columns])
        try:
            values.append(compute(record_values))
            failed.append(False)
        except Failure:
            values.append(None)
            failed.append(True)
    batch = batch.append_column(unquote(foreign.value), foreign.build_column(values))
    return batch.append_column(unquote(foreign.fails), pa.array(failed, pa.bool_()))


def sort_values(reads: Sequence[Read], values: Sequence[Value]) -> RecordValues:
    """The values of a record, given in the order of what is read."""
    record_values = RecordValues({}, {}, {}, {}, {}, {})
    for read, value in zip(reads, values, strict=True):
        match read.wanted:
            case typed.Field(qualifier=None, name=name):
                record_values.record[name] = value
            case typed.Field(qualifier=str(qualifier), name=name):
                record_values.inputs.setdefault(qualifier, {})[name] = value
            case typed.System(namespace="meta", path=path):
                record_values.meta[path[0]] = value
            case typed.System(namespace=namespace, path=path):
                record_values.system[namespace, path] = value
            case typed.Symbol() as symbol:
                record_values.symbols[symbol] = value
            case typed.Aggregate() | typed.Window() as computed:
                record_values.results[computed] = value
    return record_values


def unquote(column: str) -> str:
    """The name of a column without the backquotes of SQL."""
    return column[1:-1].replace("``", "`")
