"""What may leave a node: records without NaN in emitted fields that keep all rules."""

from __future__ import annotations

from dataclasses import replace

from clinker.config.nodes import TransformNode
from clinker.cxl.check import typed
from clinker.engine.expressions.conditions import either
from clinker.engine.flow.building import Building, computed
from clinker.engine.flow.flow import REJECT, Flow, quoted
from clinker.engine.rejects.explaining import outgoing_explainer
from clinker.engine.rejects.mark import (
    inputs_sql,
    nan_sql,
    read_expressions,
    reads_of,
    reject_sql,
    rejecting,
)
from clinker.plan.nodes.checks import CHECKED_VALUE
from clinker.plan.nodes.planned import Check, PlannedTransform


def checked(building: Building, planned: PlannedTransform, flow: Flow) -> Flow:
    """The outgoing records, those rejected that hold a NaN or break a rule."""
    node = planned.unit.node
    assert isinstance(node, TransformNode)
    emitted = [name for name in planned.program.fields_written if name in flow.columns]
    compiler = building.compiler(planned.unit, flow)
    failures = [nan_sql(quoted(name), flow.held_type(name)) for name in emitted]
    rules = [
        (check, validation)
        for check, validation in zip(planned.validations, node.config.validations, strict=True)
        if validation.severity == "error"
    ]
    read: list[typed.Field | typed.System] = []
    for check, _ in rules:
        assert check.condition
        renamed = {CHECKED_VALUE: check.field} if check.field else {}
        sql = building.compiler(planned.unit, flow, compiler.scope, renamed).is_true(
            check.condition
        )
        failures.append(either(sql.fails, f"not {sql.text}"))
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
    read = list({_key(r): _as_in(flow, r) for r in read}.values())
    known = building.surroundings(planned.unit, (c.condition for c, _ in rules if c.condition))
    explain = outgoing_explainer(emitted, rules, reads_of(read), known)
    site = building.site(planned.unit, explain)
    mark = reject_sql(flow, site, inputs_sql(compiler, read))
    columns = [(name, quoted(name)) for name in flow.names if name != REJECT]
    columns.append((REJECT, rejecting(flow, fails, mark)))
    frame = computed(flow.frame, compiler.scope, columns)
    return replace(flow, frame=frame, has_rejects=True)


def _read_by(check: Check) -> list[typed.Field | typed.System]:
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


def _as_in(flow: Flow, read: typed.Field | typed.System) -> typed.Field | typed.System:
    """What is read, with the type it has in the flow."""
    if isinstance(read, typed.Field) and read.name in flow.columns:
        return replace(read, type=flow.columns[read.name])
    return read


def _key(read: typed.Field | typed.System) -> object:
    if isinstance(read, typed.Field):
        return read.name
    return read.namespace, read.path
