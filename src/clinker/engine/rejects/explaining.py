"""Why records were rejected: the interpreter, run on the values that a node had read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from clinker.config.nodes.transform import Validation
from clinker.cxl.check import typed
from clinker.cxl.failure import Category, Failure
from clinker.cxl.run.evaluate import (
    Evaluate,
    Frame,
    RowProgram,
    Surroundings,
    compile_expression,
)
from clinker.cxl.values import Value, text_of
from clinker.engine.rejects.sites import Explain, Reason, reason_of
from clinker.frozen import frozen
from clinker.plan.nodes import Check
from clinker.plan.nodes.checks import CHECKED_VALUE


@frozen(eq=False)
class Reads:
    """What a site reads of a record, in the order in which rejected records carry it."""

    fields: tuple[tuple[str | None, str], ...]
    system: tuple[tuple[str, tuple[str, ...]], ...]

    def restored(self, values: Sequence[Value], known: Surroundings) -> Frame:
        """The frame in which the site met the record."""
        record: dict[str, Value] = {}
        inputs: dict[str, dict[str, Value]] = {}
        for (qualifier, name), value in zip(self.fields, values, strict=False):
            (inputs.setdefault(qualifier, {}) if qualifier else record)[name] = value
        system = dict(zip(self.system, values[len(self.fields) :], strict=True))
        if system:
            known = replace(known, system={**known.system, **system})
        meta = {path[0]: value for (space, path), value in system.items() if space == "meta"}
        return Frame(record, known, inputs=inputs, meta=meta)


def program_explainer(
    program: typed.Program, reads: Reads, known: Surroundings, *, checks_nan: bool = False
) -> Explain:
    """The reasons of a program that runs on single records; with `checks_nan`, of NaNs too."""
    # Whether a record is a duplicate was decided before; alone, none is.
    statements = tuple(s for s in program.statements if not isinstance(s, typed.Distinct))
    runner = RowProgram(typed.Program(statements), known)

    def explain(values: list[Value]) -> Reason | None:
        frame = reads.restored(values, known)
        runner.surroundings = frame.surroundings
        try:
            outcome = runner.run(frame.record, frame.meta, inputs=frame.inputs)
        except Failure as failure:
            return reason_of(failure)
        if not checks_nan:
            return None
        return next(filter(None, (nan_reason(emitted.fields) for emitted in outcome.records)), None)

    return explain


def outgoing_explainer(
    emitted: Sequence[str],
    checks: Sequence[tuple[Check, Validation]],
    reads: Reads,
    known: Surroundings,
) -> Explain:
    """The reasons why a record may not leave a node: emitted NaNs and broken rules."""
    rules = [
        (check, validation, compile_expression(check.condition))
        for check, validation in checks
        if check.condition
    ]

    def explain(values: list[Value]) -> Reason | None:
        frame = reads.restored(values, known)
        found = nan_reason({name: frame.record[name] for name in emitted})
        for check, validation, condition in rules:
            found = found or _broken_rule(frame, check, validation, condition)
        return found

    return explain


def expressions_explainer(
    expressions: Iterable[typed.Expr], reads: Reads, known: Surroundings
) -> Explain:
    """The reason of the first of these expressions that fails."""
    evaluators = [compile_expression(expression) for expression in expressions]

    def explain(values: list[Value]) -> Reason | None:
        frame = reads.restored(values, known)
        try:
            for evaluate in evaluators:
                evaluate(frame)
        except Failure as failure:
            return reason_of(failure)
        return None

    return explain


def nan_reason(fields: Mapping[str, Value]) -> Reason | None:
    for name, value in fields.items():
        if isinstance(value, float) and math.isnan(value):
            return Reason(
                Category.NAN_IN_OUTPUT, f"'{name}' is not a number (NaN)", name, text_of(value)
            )
    return None


def _broken_rule(
    outgoing: Frame, check: Check, validation: Validation, condition: Evaluate
) -> Reason | None:
    frame = outgoing
    if check.field is not None:
        value = outgoing.record.get(check.field)
        frame = Frame({CHECKED_VALUE: value}, outgoing.surroundings)
    try:
        if condition(frame) is True:
            return None
        detail = validation.message or f"validation '{check.rule}' failed"
    except Failure as failure:
        detail = f"validation '{check.rule}' could not be checked: {failure.detail}"
    field = validation.field or ""
    shown = outgoing.record.get(field) if field else None
    value_text = "" if shown is None else text_of(shown)
    return Reason(Category.VALIDATION, detail, field, value_text, check.rule)
