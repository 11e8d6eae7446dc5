"""Aggregate programs over lists of records: the definition of what aggregate nodes compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from clinker.cxl.builtins.aggregates import check_argument
from clinker.cxl.check import typed
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import (
    Evaluate,
    Frame,
    Record,
    Results,
    Surroundings,
    compile_expression,
    compile_let,
    compile_trace,
    for_field,
)
from clinker.cxl.values import Value, identity
from clinker.frozen import frozen


@frozen
class Rejected:
    """A record, by its position in the input, and why it counts in no group."""

    position: int
    failure: Failure


@frozen
class Grouped:
    """The result of an aggregation.

    `records` are in the order in which their groups first appear; `failed` are groups without a
    record, by the position of their first input record.
    """

    records: list[dict[str, Value]] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    failed: list[Rejected] = field(default_factory=list)


@dataclass
class _Group:
    first_position: int
    keys: dict[str, Value]
    arguments: list[list[tuple[Value, ...]]]
    """For each aggregate call, the values of its arguments on each record."""


class GroupProgram:
    """An aggregate program, run over all records of its input at once."""

    def __init__(
        self, program: typed.Program, group_by: Sequence[str], surroundings: Surroundings
    ) -> None:
        self.group_by = tuple(group_by)
        self.surroundings = surroundings
        statements = program.statements
        self._steps = [
            self._step(s)
            for s in statements
            if isinstance(s, typed.Let | typed.Filter | typed.Trace)
        ]
        self._emits = [s for s in statements if isinstance(s, typed.Emit)]
        self._outputs = [for_field(s.name, compile_expression(s.value)) for s in self._emits]
        self._calls = [call for s in self._emits for call in aggregate_calls(s.value)]
        self._arguments = [_argument_evaluators(call) for call in self._calls]

    def run(self, records: Sequence[Record]) -> Grouped:
        groups: dict[object, _Group] = {}
        result = Grouped()
        for position, record in enumerate(records):
            try:
                self._accept(groups, position, record)
            except Failure as failure:
                result.rejected.append(Rejected(position, failure))
        if not self.group_by and not groups:
            groups[()] = self._new_group(-1, {})
        for group in groups.values():
            try:
                result.records.append(self._finish(group))
            except Failure as failure:
                result.failed.append(Rejected(group.first_position, failure))
        return result

    def _step(self, statement: typed.Let | typed.Filter | typed.Trace) -> Callable[[Frame], bool]:
        """What happens to a record before it is grouped; whether it still counts then."""
        if isinstance(statement, typed.Filter):
            condition = compile_expression(statement.condition)
            return lambda frame: condition(frame) is True
        if isinstance(statement, typed.Let):
            step = compile_let(statement)
        else:
            step = compile_trace(statement, self.surroundings)

        def passing(frame: Frame) -> bool:
            step(frame)
            return True

        return passing

    def _new_group(self, position: int, record: Record) -> _Group:
        keys = {name: record.get(name) for name in self.group_by}
        return _Group(position, keys, [[] for _ in self._calls])

    def _accept(self, groups: dict[object, _Group], position: int, record: Record) -> None:
        """Add a record to its group: to all of its aggregates, or to none."""
        frame = Frame(record, self.surroundings)
        if not all(step(frame) for step in self._steps):
            return
        values = [tuple(evaluate(frame) for evaluate in args) for args in self._arguments]
        key = tuple(identity(record.get(name)) for name in self.group_by)
        group = groups.setdefault(key, self._new_group(position, record))
        for collected, args in zip(group.arguments, values, strict=True):
            collected.append(args)

    def _finish(self, group: _Group) -> dict[str, Value]:
        results: Results = {
            call: _result(call, rows)
            for call, rows in zip(self._calls, group.arguments, strict=True)
        }
        frame = Frame(group.keys, self.surroundings, results=results)
        output = dict(group.keys)
        for emit, evaluate in zip(self._emits, self._outputs, strict=True):
            value = evaluate(frame)
            frame.locals[emit.symbol] = value
            output[emit.name] = value
        return output


def aggregate_calls(expression: typed.Expr) -> list[typed.Aggregate]:
    return [part for part in expression.walk() if isinstance(part, typed.Aggregate)]


def group_parts(expression: typed.Expr) -> Iterator[typed.Expr]:
    """What an expression evaluates once for a group, and not on its records."""
    yield expression
    if not isinstance(expression, typed.Aggregate):
        for part in expression.children():
            yield from group_parts(part)


def _argument_evaluators(call: typed.Aggregate) -> list[Evaluate]:
    """One evaluator per argument; `count(*)` counts a constant."""
    if not call.args:
        return [lambda frame: True]
    return [_checked(call, position, arg) for position, arg in enumerate(call.args)]


def _checked(call: typed.Aggregate, position: int, arg: typed.Expr) -> Evaluate:
    evaluate = compile_expression(arg)

    def checked(frame: Frame) -> Value:
        value = evaluate(frame)
        try:
            check_argument(call.function, position, value)
        except Failure as failure:
            failure.location = arg.location
            raise
        return value

    return checked


def _result(call: typed.Aggregate, rows: list[tuple[Value, ...]]) -> Value | Failure:
    """The aggregate's value; a failure is kept until an emit asks for it."""
    columns = list(zip(*rows, strict=True)) or [()] * max(1, len(call.args))
    try:
        value: Value = call.function.call(*columns)
    except Failure as failure:
        failure.location = failure.location or call.location
        failure.of_group = True
        return failure
    return value
