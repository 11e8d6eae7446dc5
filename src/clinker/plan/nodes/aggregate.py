"""Aggregates: one record per group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Literal

from clinker.config.nodes import AggregateNode, NodeBase
from clinker.cxl.check import typed
from clinker.cxl.check.resolve import ProgramKind, Row
from clinker.cxl.types import ANY
from clinker.frozen import frozen
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes.base import Cxl, NamedFields, PlannedNode, list_writes
from clinker.plan.nodes.binder import NO_PROGRAM, Binder, overlay
from clinker.plan.nodes.shape import Shape
from clinker.plan.nodes.wanted import Wanted
from clinker.plan.nodes.window import Window


@frozen(eq=False, kw_only=True)
class PlannedAggregate(PlannedNode[AggregateNode]):
    shape: ClassVar[Literal[Shape.GROUPS]] = Shape.GROUPS

    program: typed.Program

    @cached_property
    def cxl(self) -> Cxl:
        return Cxl(
            incoming=tuple(self.program.expressions()),
            program=self.program,
            writes=list_writes(self.program),
        )

    @property
    def named_fields(self) -> NamedFields:
        config = self.node.config
        places = (config.at("group_by", position) for position in range(len(config.group_by)))
        return NamedFields(tuple(zip(config.group_by, places, strict=True)))

    def ask_inputs(
        self, wanted: Wanted, inputs: Sequence[PlannedNode[NodeBase]], window: Window | None
    ) -> Iterator[Wanted]:
        read = {name for _, name in self.program.fields_read}
        yield Wanted(read | set(self.node.config.group_by))


def bind_aggregate(binder: Binder, unit: Unit, node: AggregateNode) -> PlannedAggregate:
    upstream = binder.upstream(unit)
    group_by = node.config.group_by
    for position, name in enumerate(group_by):
        at = node.config.at("group_by", position)
        binder.require_field(unit, name, upstream.row, at, "group_by")
    context = replace(binder.context(unit, upstream), kind=ProgramKind.AGGREGATE, group_by=group_by)
    attempt = binder.program(unit, node.config.text("cxl"), context, {})
    keys = Row({name: upstream.row.columns.get(name, ANY) for name in group_by})
    row = overlay(keys, attempt.fields)
    return PlannedAggregate(
        unit=unit,
        node=node,
        row=row,
        emitted=tuple(row.columns),
        has_errors=attempt.program is None,
        program=attempt.program or NO_PROGRAM,
    )
