"""Transforms: CXL applied to every record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Literal

from clinker.config.nodes import NodeBase, TransformNode
from clinker.config.nodes.transform import Validation
from clinker.cxl.check import typed
from clinker.cxl.check.fan_outs import completed
from clinker.cxl.check.members import is_read_by_member, members_read
from clinker.cxl.check.resolve import Context, Row, WindowContext
from clinker.cxl.types import ANY, ARRAY, NUMERIC, STRING, Kind, Type
from clinker.frozen import frozen
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes.base import Cxl, NamedField, NamedFields, PlannedNode, Records, list_writes
from clinker.plan.nodes.binder import NO_PROGRAM, Attempt, Binder, overlay
from clinker.plan.nodes.checks import named_condition
from clinker.plan.nodes.shape import Shape
from clinker.plan.nodes.wanted import Wanted
from clinker.plan.nodes.window import Window, window_calls

CHECKED_TYPES: Mapping[str, Type] = {
    "matches": STRING,
    "length": STRING | ARRAY,
    "min": NUMERIC,
    "max": NUMERIC,
    "range": NUMERIC,
}
"""The types that named checks work on; the others take any."""


@frozen(eq=False)
class Check:
    """A validation."""

    rule: str
    condition: typed.Expr | None
    """None if it has an error."""
    field: str | None = None
    """The field that a named check reads as its value; None for a CXL condition."""


@frozen(eq=False, kw_only=True)
class PlannedTransform(PlannedNode[TransformNode]):
    shape: ClassVar[Literal[Shape.PASSES]] = Shape.PASSES

    program: typed.Program
    validations: tuple[Check, ...] = ()
    log_conditions: tuple[typed.Expr | None, ...] = ()

    @cached_property
    def cxl(self) -> Cxl:
        conditions = (*(check.condition for check in self.validations), *self.log_conditions)
        window = self.node.config.analytic_window
        return Cxl(
            incoming=tuple(self.program.expressions()),
            outgoing=tuple(condition for condition in conditions if condition),
            program=self.program,
            writes=list_writes(self.program),
            looks_elsewhere=window is not None and window.source is not None,
        )

    @property
    def named_fields(self) -> NamedFields:
        return NamedFields(tuple(_name_in_window(self.node)), tuple(_name_afterwards(self.node)))

    def ask_inputs(
        self, wanted: Wanted, inputs: Sequence[PlannedNode[NodeBase]], window: Window | None
    ) -> Iterator[Wanted]:
        (upstream,) = inputs
        columns = set(upstream.row.columns)
        outgoing = wanted.columns | self._looked_at_afterwards()
        needed = outgoing - _always_written(self.program)
        if window and window.lookup is not None:
            needed |= _read_outside_windows(self.program) | set(window.lookup)
        else:
            needed |= {name for _, name in self.program.fields_read}
            needed |= set(window.reads) if window else set()
        compares_all = _compares_whole_records(self.program)
        if compares_all:
            needed |= columns
            outgoing |= columns
        members: dict[str, tuple[str, ...]] = {}
        if window is None and upstream.shape is Shape.READS:
            read = _read_by_member(self.program)
            members = {name: keys for name, keys in read.items() if name not in outgoing}
        yield Wanted(needed & columns, wanted.undeclared or compares_all, members)

    def _looked_at_afterwards(self) -> set[str]:
        """The fields that validations and log directives read of the outgoing record."""
        named = {name for name, _ in self.named_fields.outgoing}
        return named.union(*({n for _, n in e.fields_read} for e in self.cxl.outgoing))


# Binding


def bind_transform(binder: Binder, unit: Unit, node: TransformNode) -> PlannedTransform:
    upstream = binder.upstream(unit)
    attempt = _bind_program(binder, unit, node, upstream)
    planned = PlannedTransform(
        unit=unit,
        node=node,
        row=overlay(upstream.row, attempt.fields),
        meta={**upstream.meta, **attempt.meta},
        emitted=tuple(attempt.fields.columns) or upstream.emitted,
        have_undeclared=upstream.have_undeclared,
        has_errors=attempt.program is None,
        program=attempt.program or NO_PROGRAM,
    )
    validations: tuple[Check, ...] = ()
    log_conditions: tuple[typed.Expr | None, ...] = ()
    if node.config.validations or node.config.log:
        outgoing = binder.context(unit, planned)
        validations = _bind_validations(binder, unit, node, outgoing)
        log_conditions = _bind_log_conditions(binder, unit, node, outgoing)
    for log in node.config.log:
        for position, name in enumerate(log.fields):
            binder.require_field(unit, name, planned.row, log.at("fields", position), "the log")
    if planned.has_errors:
        return planned
    return replace(planned, validations=validations, log_conditions=log_conditions)


def _bind_program(binder: Binder, unit: Unit, node: TransformNode, upstream: Records) -> Attempt:
    window = node.config.analytic_window
    context = binder.context(unit, upstream)
    if window:
        foreign = binder.nodes.get(unit.scope.prefix + window.source) if window.source else None
        context = replace(context, window=WindowContext(foreign.row if foreign else None))
    attempt = binder.program(unit, node.config.text("cxl"), context, {})
    if attempt.program is None:
        return attempt
    program = completed(attempt.program, upstream.row.columns, upstream.meta)
    return Attempt(program, Row(program.fields_written), program.meta_written)


def _bind_log_conditions(
    binder: Binder, unit: Unit, node: TransformNode, context: Context
) -> tuple[typed.Expr | None, ...]:
    return tuple(
        binder.condition(unit, log.text("condition"), context, "the log condition")
        if log.condition
        else None
        for log in node.config.log
    )


def _bind_validations(
    binder: Binder, unit: Unit, node: TransformNode, context: Context
) -> tuple[Check, ...]:
    checks: list[Check] = []
    for validation in node.config.validations:
        if validation.field is not None:
            at = validation.at("field")
            binder.require_field(unit, validation.field, context.row, at, "the validation")
            _check_validated_type(binder, unit, validation, context.row)
        if validation.named_check is None:
            source = validation.text("assertion")
            condition = binder.condition(unit, source, context, "the validation")
            checks.append(Check(validation.rule, condition))
        elif validation.field is not None:
            type_ = context.row.get(validation.field) or ANY
            condition = named_condition(validation, type_)
            checks.append(Check(validation.rule, condition, validation.field))
    return tuple(checks)


def _check_validated_type(binder: Binder, unit: Unit, validation: Validation, row: Row) -> None:
    """A named check works on some types only."""
    type_ = row.get(validation.field or "")
    accepted = CHECKED_TYPES.get(validation.named_check or "")
    if type_ and accepted and not type_.is_null and not type_.maybe(accepted.kinds):
        binder.error(
            unit,
            "E200",
            f"the check '{validation.assertion}' is for {accepted}, "
            f"but '{validation.field}' is {type_.noun}",
            validation.at("assertion"),
        )


# Fields


def _name_in_window(node: TransformNode) -> Iterator[NamedField]:
    window = node.config.analytic_window
    if window and window.source is None:
        yield from ((f, window.at("group_by", i)) for i, f in enumerate(window.group_by))
        for i, key in enumerate(window.sort_by):
            yield key.field, window.at("sort_by", i)


def _name_afterwards(node: TransformNode) -> Iterator[NamedField]:
    for validation in node.config.validations:
        if validation.field is not None:
            yield validation.field, validation.at("field")
    for log in node.config.log:
        yield from ((f, log.at("fields", i)) for i, f in enumerate(log.fields))


def _read_by_member(program: typed.Program) -> dict[str, tuple[str, ...]]:
    """The field whose elements a program ends by going through, if it reads but their members."""
    last = program.closing_block
    if last is None or not isinstance(last.source, typed.Field):
        return {}
    name = last.source.name
    inner = list(typed.Program(last.body).expressions())
    others = [*typed.Program(program.statements[:-1]).expressions(), *inner]
    is_read_otherwise = any(name == read for e in others for _, read in e.fields_read)
    is_array = last.source.type.only(Kind.ARRAY) and last.source.type.element is None
    if is_read_otherwise or not is_array or not is_read_by_member(last.element, inner):
        return {}
    return {name: tuple(members_read(inner)[last.element])}


def _always_written(program: typed.Program) -> set[str]:
    """Fields whose input value never leaves: emits after a fan-out do not reach its records."""
    written: set[str] = set()
    for statement in program.statements:
        if isinstance(statement, typed.EmitEach):
            break
        if isinstance(statement, typed.Emit):
            written.add(statement.name)
    return written


def _compares_whole_records(program: typed.Program) -> bool:
    return any(isinstance(s, typed.Distinct) and s.keys is None for s in program.statements)


def _read_outside_windows(program: typed.Program) -> set[str]:
    """The fields read of the current record, not of those that a window looks up."""
    inside = {part for call in window_calls(program) for part in call.walk()}
    return {
        part.name
        for expression in program.expressions()
        for part in expression.walk()
        if isinstance(part, typed.Field) and part not in inside
    }
