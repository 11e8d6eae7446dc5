"""What may leave a node: records without NaN in emitted fields that keep all rules."""

from __future__ import annotations

from dataclasses import replace

from clinker.cxl.check import typed
from clinker.cxl.types import Kind
from clinker.engine.expressions.conditions import either
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import Flow
from clinker.engine.rejects.explaining import outgoing_explainer
from clinker.engine.rejects.mark import Read, mark, nan_sql, read_expressions, rejection
from clinker.plan.nodes import Check, PlannedTransform
from clinker.plan.nodes.checks import CHECKED_VALUE


def checked(building: Building, planned: PlannedTransform, flow: Flow) -> Flow:
    """The outgoing records, those rejected that hold a NaN or break a rule."""
    emitted = [name for name in planned.program.fields_written if name in flow.columns]
    compiler = building.compiler(planned.unit, flow)
    floats = [name for name in emitted if flow.held_type(name).maybe(Kind.FLOAT)]
    failures = [nan_sql(flow.value(name), flow.held_type(name)) for name in floats]
    rules = [
        (check, validation)
        for check, validation in zip(
            planned.validations, planned.node.config.validations, strict=True
        )
        if validation.severity == "error"
    ]
    read: list[Read] = []
    for check, _ in rules:
        assert check.condition
        renamed = {CHECKED_VALUE: check.field} if check.field else {}
        sql = building.compiler(planned.unit, flow, renamed).is_true(check.condition)
        failures.append(either(sql.fails, f"NOT {sql.text}"))
        read += _read_by(check)
    fails = either(*failures)
    if fails is None:
        return flow
    for statement in planned.program.every_statement():
        if isinstance(statement, typed.Emit) and statement.name in flow.columns:
            type_ = flow.columns[statement.name]
            read.append(
                typed.Field(name=statement.name, type=type_, location=statement.value.location)
            )
    reject = rejection(
        building,
        planned.unit,
        flow,
        compiler,
        list({_key(r): _as_in(flow, r) for r in read}.values()),
        lambda reads, known: outgoing_explainer(emitted, rules, reads, known),
        expressions=[check.condition for check, _ in rules if check.condition],
    )
    return mark(flow, fails, reject)


def _read_by(check: Check) -> list[Read]:
    """What a rule reads of the record; a named check reads its field under another name."""
    assert check.condition
    read = read_expressions([check.condition])
    if check.field is None:
        return read
    return [
        typed.Field(name=check.field, type=r.type, location=r.location)
        for r in read
        if isinstance(r, typed.Field)
    ]


def _as_in(flow: Flow, read: Read) -> Read:
    """What is read, with the type it has in the flow."""
    if isinstance(read, typed.Field) and read.name in flow.columns:
        return replace(read, type=flow.columns[read.name])
    return read


def _key(read: Read) -> object:
    if isinstance(read, typed.Field):
        return read.name
    return read.namespace, read.path
