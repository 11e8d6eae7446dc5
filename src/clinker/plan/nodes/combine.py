"""Combines: records of several inputs joined by a condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Literal

from clinker.config.nodes import CombineNode, NodeBase
from clinker.cxl.check import typed
from clinker.cxl.check.resolve import OPEN_ROW, Context, Row
from clinker.cxl.types import ARRAY, BOOL
from clinker.frozen import frozen
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes.base import Cxl, NamedFields, PlannedNode, Records, list_writes
from clinker.plan.nodes.binder import NO_PROGRAM, Attempt, Binder, overlay
from clinker.plan.nodes.shape import Shape
from clinker.plan.nodes.wanted import Wanted
from clinker.plan.nodes.window import Window

_WHERE_CODES = {"resolve": "E304", "typecheck": "E303"}
_BODY_CODES = {"resolve": "E308"}


@frozen(eq=False, kw_only=True)
class PlannedCombine(PlannedNode[CombineNode]):
    shape: ClassVar[Literal[Shape.JOINS]] = Shape.JOINS

    where: typed.Expr
    program: typed.Program | None
    """None with `match: collect`, which builds the record itself."""
    driver: str
    inputs: Mapping[str, Row]

    @cached_property
    def cxl(self) -> Cxl:
        program = self.program
        return Cxl(
            incoming=(self.where, *(program.expressions() if program else ())),
            program=program,
            writes=list_writes(program) if program else {},
            inputs=self.inputs,
        )

    @property
    def named_fields(self) -> NamedFields:
        return NamedFields()

    def ask_inputs(
        self, wanted: Wanted, inputs: Sequence[PlannedNode[NodeBase]], window: Window | None
    ) -> Iterator[Wanted]:
        read = set(self.where.fields_read)
        if self.program:
            read |= self.program.fields_read
        for label, row in self.inputs.items():
            needed = {name for qualifier, name in read if qualifier in (label, None)}
            drives = label == self.driver
            if self.program is None and drives:
                needed |= wanted.columns - self.inputs.keys()
            elif self.program is None and label in wanted.columns:
                needed |= set(row.columns)
            declared = needed & set(row.columns)
            undeclared = wanted.undeclared if drives else declared != needed
            yield Wanted(declared, undeclared)


def bind_combine(binder: Binder, unit: Unit, node: CombineNode) -> PlannedCombine:
    inputs = {e.label: binder.upstream(unit, i) for i, e in enumerate(unit.inputs)}
    driving = inputs[node.driver]
    looked_up = {
        label: replace(records.row, has_undeclared=records.have_undeclared)
        for label, records in inputs.items()
    }
    rows = {**looked_up, node.driver: driving.row}
    context = replace(binder.context(unit, Records(row=Row(), meta=driving.meta)), qualifiers=rows)
    where = binder.condition(
        unit, node.config.text("where"), context, "the join condition", _WHERE_CODES
    )
    collects = node.config.match == "collect"
    bind = _bind_collected if collects else _bind_body
    attempt = bind(binder, unit, node, rows, context)
    is_right = where is not None and (attempt.program is not None or collects)
    return PlannedCombine(
        unit=unit,
        node=node,
        row=attempt.fields,
        meta={**driving.meta, **attempt.meta},
        emitted=tuple(attempt.fields.columns),
        have_undeclared=driving.have_undeclared,
        has_errors=not is_right,
        where=where if where and is_right else _no_condition(node),
        program=attempt.program if is_right else NO_PROGRAM,
        driver=node.driver,
        inputs=rows,
    )


def _no_condition(node: CombineNode) -> typed.Expr:
    """What stands for a condition with errors."""
    return typed.Literal(value=True, type=BOOL, location=node.config.at("where"))


def _bind_collected(
    binder: Binder, unit: Unit, node: CombineNode, rows: Mapping[str, Row], context: Context
) -> Attempt:
    """The driver's record with an array of what each other input has for it."""
    arrays = {label: ARRAY for label in rows if label != node.driver}
    for label in arrays:
        if label in rows[node.driver].columns:
            binder.error(
                unit,
                "E301",
                f"the array of '{label}' would hide the driver's column '{label}'",
                node.key_at("input", label),
                "give the input another name",
            )
    return Attempt(None, overlay(rows[node.driver], Row(arrays)), {})


def _bind_body(
    binder: Binder, unit: Unit, node: CombineNode, rows: Mapping[str, Row], context: Context
) -> Attempt:
    if not node.config.has("cxl"):
        return Attempt(None, OPEN_ROW, {})
    seen = replace(context, qualifiers=_after_miss(rows, node))
    attempt = binder.program(unit, node.config.text("cxl"), seen, _BODY_CODES)
    if attempt.program and not attempt.program.fields_written:
        binder.error(
            unit,
            "E309",
            "the body of the combine emits no field",
            node.config.at("cxl"),
            "add an emit statement for every column of the joined record",
        )
    return attempt


def _after_miss(rows: Mapping[str, Row], node: CombineNode) -> Mapping[str, Row]:
    """The inputs as the body sees them: without a match the others' fields are null."""
    if node.config.on_miss != "null_fields":
        return rows
    nullable = {
        label: replace(row, columns={n: type_.nullable() for n, type_ in row.columns.items()})
        for label, row in rows.items()
    }
    return {**nullable, node.driver: rows[node.driver]}
