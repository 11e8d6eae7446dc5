"""Routes: records sent to branches by condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Literal

from clinker.config.nodes import NodeBase, RouteNode
from clinker.cxl.check import typed
from clinker.frozen import frozen
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes.base import Cxl, NamedFields, PlannedNode
from clinker.plan.nodes.binder import Binder
from clinker.plan.nodes.shape import Shape
from clinker.plan.nodes.wanted import Wanted
from clinker.plan.nodes.window import Window


@frozen(eq=False, kw_only=True)
class PlannedRoute(PlannedNode[RouteNode]):
    shape: ClassVar[Literal[Shape.PASSES]] = Shape.PASSES

    conditions: Mapping[str, typed.Expr]
    default: str

    @cached_property
    def cxl(self) -> Cxl:
        return Cxl(incoming=tuple(self.conditions.values()))

    @property
    def named_fields(self) -> NamedFields:
        return NamedFields()

    def ask_inputs(
        self, wanted: Wanted, inputs: Sequence[PlannedNode[NodeBase]], window: Window | None
    ) -> Iterator[Wanted]:
        yield wanted.plus_read_by(self.conditions.values())


def bind_route(binder: Binder, unit: Unit, node: RouteNode) -> PlannedRoute:
    upstream = binder.upstream(unit)
    context = binder.context(unit, upstream)
    conditions = {
        branch: binder.condition(
            unit, node.config.text("conditions", branch), context, "a route condition"
        )
        for branch in node.config.conditions
    }
    return PlannedRoute(
        unit=unit,
        node=node,
        row=upstream.row,
        meta=upstream.meta,
        emitted=upstream.emitted,
        have_undeclared=upstream.have_undeclared,
        has_errors=not all(conditions.values()),
        conditions={branch: condition for branch, condition in conditions.items() if condition},
        default=node.config.default,
    )
