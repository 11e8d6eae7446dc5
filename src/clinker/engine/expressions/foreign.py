"""Expressions that have no form in SQL: the interpreter computes them on batches of columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from clinker.cxl import typed
from clinker.cxl.evaluate import Evaluate, Frame, Surroundings, compile_expression
from clinker.cxl.failure import Failure
from clinker.cxl.types import BOOL, Type
from clinker.cxl.values import Value
from clinker.frozen import frozen

if TYPE_CHECKING:
    import pyarrow as pa

Wanted: TypeAlias = "typed.Field | typed.System | typed.Symbol"


@frozen(eq=False)
class Read:
    """A value the interpreter is given: what it stands for, and the column that holds it."""

    wanted: Wanted
    column: str
    type: Type


@frozen(eq=False)
class Foreign:
    """An expression for the interpreter, and the columns it fills: its value, and whether it
    failed."""

    expression: typed.Expr
    value: str
    fails: str
    reads: tuple[Read, ...]
    now: dt.datetime

    @property
    def columns(self) -> Iterator[str]:
        return (read.column for read in self.reads)


BatchFunction: TypeAlias = "Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]"


def foreign_batch_function(expressions: Sequence[Foreign]) -> BatchFunction:
    """A function of Arrow batches that appends the columns of these expressions."""

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        evaluators = [compile_expression(foreign.expression) for foreign in expressions]
        for batch in batches:
            for foreign, evaluate in zip(expressions, evaluators, strict=True):
                batch = _with_columns(batch, foreign, evaluate)
            yield batch

    return run


def _with_columns(batch: pa.RecordBatch, foreign: Foreign, evaluate: Evaluate) -> pa.RecordBatch:
    from clinker.engine.expressions.arrow_value import from_values, to_values

    columns = [to_values(batch.column(plain(r.column)), r.type) for r in foreign.reads]
    values: list[Value] = []
    failed: list[Value] = []
    for row in range(batch.num_rows):
        frame = _frame(foreign, [column[row] for column in columns])
        try:
            values.append(evaluate(frame))
            failed.append(False)
        except Failure:
            values.append(None)
            failed.append(True)
    batch = batch.append_column(plain(foreign.value), from_values(values, foreign.expression.type))
    return batch.append_column(plain(foreign.fails), from_values(failed, BOOL))


def _frame(foreign: Foreign, values: Sequence[Value]) -> Frame:
    """The state in which the interpreter finds the values it asks for."""
    record: dict[str, Value] = {}
    inputs: dict[str, dict[str, Value]] = {}
    system: dict[tuple[str, tuple[str, ...]], Value] = {}
    meta: dict[str, Value] = {}
    symbols: dict[typed.Symbol, Value] = {}
    for read, value in zip(foreign.reads, values, strict=True):
        match read.wanted:
            case typed.Field(qualifier=None, name=name):
                record[name] = value
            case typed.Field(qualifier=str(qualifier), name=name):
                inputs.setdefault(qualifier, {})[name] = value
            case typed.System(namespace="meta", path=path):
                meta[path[0]] = value
            case typed.System(namespace=namespace, path=path):
                system[namespace, path] = value
            case typed.Symbol() as symbol:
                symbols[symbol] = value
    surroundings = Surroundings(system, clock=lambda: foreign.now)
    frame = Frame(record, surroundings, inputs=inputs, meta=meta)
    frame.locals.update(symbols)
    return frame


def plain(column: str) -> str:
    """The name of a column, as it is without the marks of SQL."""
    return column[1:-1].replace("``", "`")
