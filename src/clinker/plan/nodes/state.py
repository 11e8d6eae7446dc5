"""State nodes: the only writers of scoped variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Literal

from clinker.config.nodes import NodeBase, StateNode
from clinker.cxl.builtins.declare import accepted_kinds
from clinker.cxl.check import typed
from clinker.cxl.check.resolve import ProgramKind
from clinker.cxl.types import Type
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes.base import Cxl, NamedFields, PlannedNode
from clinker.plan.nodes.binder import Binder
from clinker.plan.nodes.shape import Shape
from clinker.plan.nodes.wanted import Wanted
from clinker.plan.nodes.window import Window


@frozen(eq=False, kw_only=True)
class PlannedState(PlannedNode[StateNode]):
    shape: ClassVar[Literal[Shape.PASSES]] = Shape.PASSES

    assignments: Mapping[str, typed.Expr]

    @cached_property
    def cxl(self) -> Cxl:
        scope = self.node.config.scope
        return Cxl(
            incoming=tuple(self.assignments.values()),
            writes={f"${scope}.{name}": value.type for name, value in self.assignments.items()},
        )

    @property
    def named_fields(self) -> NamedFields:
        return NamedFields()

    def ask_inputs(
        self, wanted: Wanted, inputs: Sequence[PlannedNode[NodeBase]], window: Window | None
    ) -> Iterator[Wanted]:
        yield wanted.plus_read_by(self.assignments.values())


def bind_state(binder: Binder, unit: Unit, node: StateNode) -> PlannedState:
    upstream = binder.upstream(unit)
    context = replace(binder.context(unit, upstream), kind=ProgramKind.STATE)
    known = binder.registry.types(node.config.scope)
    assignments: dict[str, typed.Expr] = {}
    for assignment in node.config.set:
        value = binder.expression(unit, assignment.text("cxl"), context)
        shown = f"${node.config.scope}.{assignment.var}"
        declared = known.get(assignment.var)
        if declared is None:
            close = did_you_mean(assignment.var, known)
            binder.error(
                unit,
                "E200",
                f"unknown variable '{shown}'",
                assignment.at("var"),
                close or f"declare it under pipeline.vars.{node.config.scope}",
            )
        elif value:
            _check_assignment(binder, unit, shown, declared, value)
            assignments[assignment.var] = value
    return PlannedState(
        unit=unit,
        node=node,
        row=upstream.row,
        meta=upstream.meta,
        emitted=upstream.emitted,
        have_undeclared=upstream.have_undeclared,
        has_errors=len(assignments) < len({assignment.var for assignment in node.config.set}),
        assignments=assignments,
    )


def _check_assignment(
    binder: Binder, unit: Unit, shown: str, declared: Type, value: typed.Expr
) -> None:
    if not value.type.is_null and not value.type.maybe(_assignable(declared).kinds):
        binder.error(
            unit,
            "E200",
            f"{shown} is {declared.without_null()}, but the value is {value.type}",
            value.location,
            "convert the value, or declare the variable with another type",
        )


def _assignable(declared: Type) -> Type:
    return Type(accepted_kinds(declared.without_null(), iso_text=False))
