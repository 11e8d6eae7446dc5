"""How window functions failed, told by the interpreter from what is known of their frames."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from clinker.cxl.builtins.aggregates import check_argument
from clinker.cxl.builtins.windows import Shape, View, WindowFunction
from clinker.cxl.check import typed
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import Results, RowProgram, Surroundings, compile_expression
from clinker.cxl.values import Value
from clinker.engine.rejects.aggregate_reasons import failure_of
from clinker.engine.rejects.explaining import Reads
from clinker.engine.rejects.sites import Explain, Reason, reason_of
from clinker.frozen import frozen


def windowed_explainer(
    program: typed.Program,
    reads: Reads,
    known: Surroundings,
    results: Callable[[Sequence[Value]], Results],
) -> Explain:
    """The reasons of a program with windows, from what it read and what `results` restores."""
    statements = tuple(s for s in program.statements if not isinstance(s, typed.Distinct))
    runner = RowProgram(typed.Program(statements), known)

    def explain(values: list[Value]) -> Reason | None:
        read, given = values
        assert isinstance(read, list)
        assert isinstance(given, list)
        frame = reads.restored(read, known)
        runner.surroundings = frame.surroundings
        try:
            runner.run(frame.record, frame.meta, results=results(given))
        except Failure as failure:
            return reason_of(failure)
        return None

    return explain


def on_other_records(expr: typed.Expr) -> typed.Expr:
    """The expression with definitions for symbols: on other records nothing was computed before."""
    if isinstance(expr, typed.Local) and expr.symbol.definition:
        return on_other_records(expr.symbol.definition)
    parts = {field.name: getattr(expr, field.name) for field in dataclasses.fields(expr)}
    changed: dict[str, Any] = {
        name: new for name, part in parts.items() if (new := _part(part)) is not part
    }
    return dataclasses.replace(expr, **changed) if changed else expr


def _part(part: object) -> object:
    if isinstance(part, typed.Expr):
        return on_other_records(part)
    if isinstance(part, tuple):
        items = tuple(_part(item) for item in part)
        return part if all(new is old for new, old in zip(items, part, strict=True)) else items
    return part


@frozen(eq=False)
class Argument:
    """The argument of a call, as it is evaluated on a record of the window."""

    call: typed.Window
    reads: Reads
    known: Surroundings

    def failure(self, values: Sequence[Value]) -> Failure:
        """How it failed on the record of which it had read these values."""
        assert self.call.argument
        try:
            value = compile_expression(self.call.argument)(self.reads.restored(values, self.known))
            if takes_only_some(self.call):
                check_argument(self.call.function, 0, value)
        except Failure as failure:
            return failure
        raise AssertionError(f"no failure on {values}")


def takes_only_some(call: typed.Window) -> bool:
    """Whether the function looks at the kinds of its values."""
    return _function(call).shape in (Shape.VALUES, Shape.PREDICATE)


def restored(
    call: typed.Window, argument: Argument | None, value: Value, how: Value
) -> Value | Failure:
    """The result of a call, from what a rejected record carries of it.

    `how` it failed is null if it did not; what its argument had read of the first record that it
    failed on; or, if the function itself failed, what `failure_of` takes.
    """
    if how is None:
        return value
    if isinstance(how, list):
        assert argument
        return argument.failure(how)

    def over_all(values: Sequence[Value]) -> Value:
        view = View(len(values) - 1, 0, len(values), 1, 1)
        found: Value = call.function.call(view, values)
        return found

    return failure_of(over_all, how)


def _function(call: typed.Window) -> WindowFunction:
    assert isinstance(call.function, WindowFunction)
    return call.function
