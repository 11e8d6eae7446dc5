"""Assignments: the definition of what state nodes compute, one record after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clinker.cxl.builtins.aggregates import check_argument
from clinker.cxl.builtins.declare import accepted_kinds
from clinker.cxl.check import typed
from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.run import running
from clinker.cxl.run.evaluate import Frame, Surroundings, compile_expression, for_field
from clinker.cxl.run.grouping import aggregate_calls
from clinker.cxl.run.running import Total
from clinker.cxl.types import Type
from clinker.cxl.values import Value, kind_name, kind_of, text_of, unwritten

Key = tuple[str, tuple[str, ...]]


def fitted(shown: str, declared: Type, value: Value) -> Value:
    """A value as a variable of the declared type holds it; it fails if it is of another kind."""
    if value is None:
        return None
    wanted = declared.without_null()
    if not kind_of(value) & accepted_kinds(wanted, iso_text=False):
        detail = f"{shown} is {wanted}, got {kind_name(value)}"
        raise Failure(FailureKind.TYPE_MISMATCH, detail, text_of(value))
    return unwritten(value if kind_of(value) & wanted.kinds else float(value))  # type: ignore[arg-type]


@dataclass
class Slot:
    """What a node has written for one run of records: a source file, or the whole pipeline."""

    values: dict[str, Value] = field(default_factory=dict)
    totals: dict[typed.Aggregate, Total] = field(default_factory=dict)


class Assignment:
    """The value of one variable, computed on a record."""

    def __init__(self, scope: str, name: str, value: typed.Expr, declared: Type) -> None:
        self.name = name
        self.key: Key = scope, (name,)
        self.calls = aggregate_calls(value)
        shown = f"${scope}.{name}"
        evaluate = compile_expression(value)
        self.evaluate = for_field(shown, lambda frame: fitted(shown, declared, evaluate(frame)))
        self._arguments = [
            [for_field(shown, compile_expression(arg)) for arg in call.args] for call in self.calls
        ]

    def arguments(self, frame: Frame) -> list[tuple[Value, ...]]:
        """The arguments of its aggregates, one tuple for each."""
        return [
            _checked(call, [evaluate(frame) for evaluate in evaluators])
            for call, evaluators in zip(self.calls, self._arguments, strict=True)
        ]


def _checked(call: typed.Aggregate, args: list[Value]) -> tuple[Value, ...]:
    for position, value in enumerate(args):
        check_argument(call.function, position, value)
    return tuple(args) or (True,)  # `count(*)` counts a constant


class Assignments:
    """The assignments of a state node, in order: each sees what those before it have written."""

    def __init__(
        self, scope: str, values: Mapping[str, typed.Expr], types: Mapping[str, Type]
    ) -> None:
        self.scope = scope
        self.steps = [Assignment(scope, name, v, types[name]) for name, v in values.items()]
        self.failing = 0
        """The number of the assignment that was being computed last."""

    def run(self, frame: Frame, slot: Slot) -> Slot:
        """What is written once a record has passed; `slot` itself stays as it is.

        The system variables of the frame are those that the record meets.
        """
        system = dict(frame.surroundings.system)
        totals = dict(slot.totals)
        written: dict[str, Value] = {}
        for number, step in enumerate(self.steps):
            self.failing = number
            before = Frame(
                frame.record,
                _with_system(frame.surroundings, system),
                inputs=frame.inputs,
                meta=frame.meta,
            )
            results: dict[typed.Expr, Value | Failure] = {}
            for call, args in zip(step.calls, step.arguments(before), strict=True):
                results[call] = _counted(call, totals, args)
            before.results = results
            written[step.name] = system[step.key] = step.evaluate(before)
        return Slot(written, totals)


def _counted(
    call: typed.Aggregate, totals: dict[typed.Aggregate, Total], args: tuple[Value, ...]
) -> Value | Failure:
    """The aggregate's value with one more record; a failure is kept until it is asked for."""
    try:
        totals[call] = running.added(call, totals.get(call), args)
        return running.result(call, totals[call])
    except Failure as failure:
        failure.location = failure.location or call.location
        return failure


def _with_system(known: Surroundings, system: Mapping[Key, Value]) -> Surroundings:
    return Surroundings(system, known.clock, known.trace, known.max_expansion)
