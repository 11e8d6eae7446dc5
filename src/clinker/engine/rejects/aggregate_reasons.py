"""Why aggregates reject records and groups, told by the interpreter."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from clinker.cxl.builtins.aggregates import check_argument
from clinker.cxl.check import typed
from clinker.cxl.failure import Failure, shown
from clinker.cxl.run.evaluate import (
    Frame,
    Results,
    RowProgram,
    Surroundings,
    compile_expression,
    for_field,
)
from clinker.cxl.types import Kind
from clinker.cxl.values import MAX_INT, Value, text_of
from clinker.engine.rejects.explaining import Reads, nan_reason
from clinker.engine.rejects.sites import Explain, Reason, reason_of

Call: TypeAlias = typed.Aggregate | typed.Window

_EXAMPLES: Mapping[Kind, Value] = {
    Kind.INT: 0,
    Kind.FLOAT: 0.5,
    Kind.STRING: "",
    Kind.BOOL: False,
    Kind.DATE: dt.date(1970, 1, 1),
    Kind.DATETIME: dt.datetime(1970, 1, 1),
}
EXAMPLE_KINDS = tuple(_EXAMPLES)
"""The kinds that may meet in a group; what was met is told by bits, in this order."""


def record_explainer(
    steps: typed.Program,
    calls: Sequence[typed.Aggregate],
    reads: Reads,
    known: Surroundings,
) -> Explain:
    """Why a record counts in no group: a step before the grouping fails, or an argument."""
    program = RowProgram(steps, known)
    arguments = [
        (call.function, position, compile_expression(arg))
        for call in calls
        for position, arg in enumerate(call.args)
    ]

    def explain(values: list[Value]) -> Reason | None:
        frame = reads.restored(values, known)
        program.surroundings = frame.surroundings
        try:
            program.run(frame.record, frame.meta)
            for function, position, evaluate in arguments:
                check_argument(function, position, evaluate(frame))
        except Failure as failure:
            return reason_of(failure)
        return None

    return explain


def group_explainer(
    emits: Sequence[typed.Emit],
    keys: Sequence[str],
    calls: Sequence[typed.Aggregate],
    known: Surroundings,
) -> Explain:
    """Why a group gives no record.

    It is given the values of its keys, for each call its value and, in a second run through the
    calls, null or what `failure_of` takes; at last, if it has one, where its time window starts.
    """
    evaluators = [for_field(e.name, compile_expression(e.value)) for e in emits]

    def explain(values: list[Value]) -> Reason | None:
        first, second = len(keys) + len(calls), len(keys) + 2 * len(calls)
        results = restored_results(calls, values[len(keys) : first], values[first:second])
        record = dict(zip(keys, values, strict=False))
        reason = failing(Frame(record, known, results=results), results)
        if reason is None:
            return None
        group = group_name(record, *values[second:])
        return replace(reason, detail=f"{group}{reason.detail}")

    def failing(frame: Frame, results: Results) -> Reason | None:
        emitted: dict[str, Value] = {}
        try:
            for emit, evaluate in zip(emits, evaluators, strict=True):
                frame.locals[emit.symbol] = emitted[emit.name] = evaluate(frame)
        except Failure as failure:
            failure.of_group = any(failure is result for result in results.values())
            return reason_of(failure)
        return nan_reason(emitted)

    return explain


def group_name(keys: Mapping[str, Value], window: Value = None) -> str:
    """What tells a group from the others, in front of what is said of it.

    A time window is given by the microsecond it starts at.
    """
    parts = [f"{name} = {_shown(value)}" for name, value in keys.items()]
    if isinstance(window, int):
        parts.append(f"time window from {window * 1000}")
    return f"group {', '.join(parts)}: " if parts else ""


def _shown(value: Value) -> str:
    if value is None:
        return "null"
    text = shown(text_of(value))
    return f"'{text}'" if isinstance(value, str) else text


def restored_results(
    calls: Sequence[Call], values: Sequence[Value], failed: Sequence[Value]
) -> dict[typed.Expr, Value | Failure]:
    """The results of calls, given their values and how they failed, which is null if not."""
    results: dict[typed.Expr, Value | Failure] = {}
    for call, value, how in zip(calls, values, failed, strict=True):
        results[call] = value if how is None else failure_of(call.function.call, how)
    return results


def failure_of(function: Callable[..., Value], how: Value) -> Failure:
    """How a function fails on values of the kinds that `how` tells, or on Ints too large to add.

    Only that it did is known of the group; any values of those kinds make it fail alike.
    """
    assert isinstance(how, int)
    met = [kind for bit, kind in enumerate(EXAMPLE_KINDS) if how >> bit & 1]
    try:
        function([_EXAMPLES[kind] for kind in met] if met else [MAX_INT, MAX_INT])
    except Failure as failure:
        return failure
    raise AssertionError(f"no failure on {met}")
