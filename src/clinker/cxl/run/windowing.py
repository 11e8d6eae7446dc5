"""Programs with window functions over lists of records: the definition of what they compute."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any

from clinker.cxl.builtins.aggregates import check_argument
from clinker.cxl.builtins.windows import Shape, View, WindowFunction
from clinker.cxl.check import typed
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import (
    Frame,
    Outcome,
    Record,
    RowProgram,
    Surroundings,
    compile_expression,
)
from clinker.cxl.run.window_spec import FrameUnit, SortKey, WindowSpec
from clinker.cxl.values import Value, identity, midnight, same, sort_key


class WindowProgram:
    """A program with window functions, run over all records of its input at once."""

    def __init__(
        self, program: typed.Program, spec: WindowSpec, surroundings: Surroundings
    ) -> None:
        self.spec = spec
        self.surroundings = surroundings
        self._program = RowProgram(program, surroundings)
        self._calls = [
            part
            for expression in program.expressions()
            for part in expression.walk()
            if isinstance(part, typed.Window)
        ]

    def run(self, records: Sequence[Record]) -> list[Outcome | Failure]:
        """The outcome of each record, in the order of the input."""
        results: list[dict[typed.Expr, Value | Failure]] = [{} for _ in records]
        for partition in self._partitions(records):
            rows = [records[position] for position in partition]
            for call in self._calls:
                values = self._values(call, rows)
                for view, position in zip(self._views(rows), partition, strict=True):
                    results[position][call] = _apply(call, view, values)
        return [self._row(record, result) for record, result in zip(records, results, strict=True)]

    def _row(self, record: Record, results: dict[typed.Expr, Value | Failure]) -> Outcome | Failure:
        try:
            return self._program.run(record, results=results)
        except Failure as failure:
            return failure

    def _partitions(self, records: Sequence[Record]) -> Iterator[list[int]]:
        """Positions of the records of each partition, in the order of the window."""
        partitions: dict[object, list[int]] = {}
        for position, record in enumerate(records):
            key = tuple(identity(record.get(name)) for name in self.spec.group_by)
            partitions.setdefault(key, []).append(position)
        for positions in partitions.values():
            for sort_by in reversed(self.spec.sort_by):
                _sort(positions, records, sort_by)
            yield positions

    def _values(self, call: typed.Window, rows: list[Record]) -> list[Value | Failure]:
        if call.argument is None:
            return []
        evaluate = compile_expression(call.argument)
        values: list[Value | Failure] = []
        for row in rows:
            try:
                values.append(_checked(call, evaluate(Frame(row, self.surroundings))))
            except Failure as failure:
                values.append(failure)
        return values

    def _views(self, rows: list[Record]) -> Iterator[View]:
        rank = dense_rank = 1
        for position, row in enumerate(rows):
            if position and not self._tied(rows[position - 1], row):
                rank, dense_rank = position + 1, dense_rank + 1
            start, stop = self._bounds(rows, position)
            yield View(position, start, stop, rank, dense_rank)

    def _tied(self, a: Record, b: Record) -> bool:
        return all(same(a.get(key.field), b.get(key.field)) for key in self.spec.sort_by)

    def _bounds(self, rows: list[Record], position: int) -> tuple[int, int]:
        frame = self.spec.frame
        if frame.unit is FrameUnit.RANGE:
            return self._range_bounds(rows, position)
        start = 0 if frame.start is None else max(0, position + int(frame.start))
        stop = len(rows) if frame.end is None else position + int(frame.end) + 1
        return start, max(start, min(len(rows), stop))

    def _range_bounds(self, rows: list[Record], position: int) -> tuple[int, int]:
        """Records whose sort key is within the frame's distance of the current record's.

        An unbounded side reaches to the end of the partition; nulls are near nulls only.
        """
        key, frame = self.spec.sort_by[0], self.spec.frame
        here = rows[position].get(key.field)

        def distance(row: Record) -> float | None:
            there = row.get(key.field)
            if here is None or there is None:
                return 0.0 if here is there else None
            return _distance(there, here) * (-1 if key.descending else 1)

        distances = [distance(row) for row in rows]
        start = 0 if frame.start is None else _first(distances, frame.start)
        end = len(rows) if frame.end is None else _behind(distances, frame.end)
        return start, max(start, end)


def _first(distances: list[float | None], low: float) -> int:
    """The first record that is not farther before than `low`."""
    places = (at for at, d in enumerate(distances) if d is not None and d >= low)
    return next(places, len(distances))


def _behind(distances: list[float | None], high: float) -> int:
    """The position behind the last record that is not farther after than `high`."""
    ends = (at + 1 for at, d in reversed(list(enumerate(distances))) if d is not None and d <= high)
    return next(ends, 0)


def _sort(positions: list[int], records: Sequence[Record], key: SortKey) -> None:
    """Stable in both directions, with nulls where the key wants them."""

    def value(at: int) -> tuple[Any, ...]:
        value = records[at].get(key.field)
        return () if value is None else sort_key(value)

    positions.sort(key=value, reverse=key.descending)
    positions.sort(key=lambda at: (records[at].get(key.field) is None) != key.nulls_first)


def _distance(a: Value, b: Value) -> float:
    if isinstance(a, dt.date) and isinstance(b, dt.date):
        return (midnight(a) - midnight(b)) / dt.timedelta(days=1)
    assert isinstance(a, int | float)
    assert isinstance(b, int | float)
    return a - b


def _checked(call: typed.Window, value: Value) -> Value:
    function = call.function
    assert isinstance(function, WindowFunction)
    if function.shape in (Shape.VALUES, Shape.PREDICATE):
        check_argument(function, 0, value)
    return value


def _apply(call: typed.Window, view: View, values: list[Value | Failure]) -> Value | Failure:
    """The function's value on one record; a failure on a record it covers is its own."""
    function = call.function
    assert isinstance(function, WindowFunction)
    args: tuple[object, ...] = (view, values)
    if function.shape is Shape.RANK:
        args = (view,)
    elif function.shape in (Shape.POSITION, Shape.OFFSET):
        args = (view, values, call.offset)
    else:
        failed = [value for value in view.frame(values) if isinstance(value, Failure)]
        if failed:
            return failed[0]
    try:
        result: Value | Failure = function.call(*args)
    except Failure as failure:
        failure.location = failure.location or call.location
        return failure
    return result
