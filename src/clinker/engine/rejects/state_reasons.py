"""Why state nodes reject records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clinker.cxl.check import typed
from clinker.cxl.failure import Failure
from clinker.cxl.run import tagged
from clinker.cxl.run.assigning import Assignment
from clinker.cxl.run.evaluate import Frame, Surroundings, compile_expression, for_field
from clinker.cxl.types import Type
from clinker.cxl.values import Value
from clinker.engine.rejects.explaining import Reads
from clinker.engine.rejects.sites import Explain, Reason, reason_of
from clinker.plan.analyses.folds import Fold, Plain, Step


def steps_explainer(
    scope: str,
    steps: Sequence[Step],
    types: Mapping[str, Type],
    reads: Reads,
    known: Surroundings,
) -> Explain:
    """The reason of the first assignment that fails on the record alone."""
    assignments = [Assignment(scope, s.name, s.value, types[s.name]) for s in steps]

    def explain(values: list[Value]) -> Reason | None:
        frame = reads.restored(values, known)
        system = dict(frame.surroundings.system)
        frame.surroundings = replace(frame.surroundings, system=system)
        try:
            for step, assignment in zip(steps, assignments, strict=True):
                if not isinstance(step, Plain):
                    _try_element(assignment, step.fold, frame)
                elif step.is_late:
                    assignment.arguments(frame)
                else:
                    system[assignment.key] = assignment.evaluate(frame)
        except Failure as failure:
            return reason_of(failure)
        return None

    return explain


def _try_element(assignment: Assignment, fold: Fold, frame: Frame) -> None:
    """What a record adds to a fold, if it does."""
    shown = f"${assignment.key[0]}.{assignment.name}"
    for guard, wanted in fold.guards:
        if (for_field(shown, compile_expression(guard))(frame) is True) is not wanted:
            return
    for_field(shown, compile_expression(fold.element))(frame)


# Single steps


def failure_text(assignment: int, failure: Failure) -> str:
    """How an assignment failed, as it travels with the record."""
    told: list[Value] = [assignment, failure.category, failure.detail, failure.field, failure.value]
    text = tagged.encode(told)
    assert text is not None
    return text


def told_explainer(values: Sequence[typed.Expr]) -> Explain:
    """The reason that travels with a record."""

    def explain(told: list[Value]) -> Reason:
        number, category, detail, field, value = told
        assert isinstance(number, int)
        return Reason(
            str(category),
            str(detail),
            "" if field is None else str(field),
            "" if value is None else str(value),
            location=values[number].location,
        )

    return explain
