"""The typed plan: every node with what it computes and the records that leave it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from clinker.cxl.check import typed
from clinker.cxl.check.resolve import Row
from clinker.cxl.types import Type
from clinker.frozen import frozen
from clinker.plan.graph.graph import Edge, Unit


@frozen(eq=False, kw_only=True)
class Planned:
    """A node and the records that leave it."""

    unit: Unit
    row: Row
    """The columns that leave, in order."""
    meta: Mapping[str, Type] = field(default_factory=dict)
    """The metadata its records carry."""
    emitted: tuple[str, ...] | None = None
    """What the nearest transform, aggregate or combine emitted; None when there is none."""

    @property
    def name(self) -> str:
        return self.unit.name

    @property
    def node(self) -> Any:
        """What the user wrote for it."""
        return self.unit.node

    @property
    def passed_on(self) -> tuple[Edge, ...]:
        """The inputs whose records leave the node."""
        return self.unit.inputs


@frozen(eq=False, kw_only=True)
class PlannedSource(Planned):
    pass


@frozen(eq=False)
class Check:
    """A validation."""

    rule: str
    condition: typed.Expr | None
    """None if it has an error."""
    field: str | None = None
    """The field that a named check reads as its value; None for a CXL condition."""


@frozen(eq=False, kw_only=True)
class PlannedTransform(Planned):
    program: typed.Program
    validations: tuple[Check, ...] = ()
    log_conditions: tuple[typed.Expr | None, ...] = ()


@frozen(eq=False, kw_only=True)
class PlannedAggregate(Planned):
    program: typed.Program


@frozen(eq=False, kw_only=True)
class PlannedRoute(Planned):
    conditions: Mapping[str, typed.Expr]
    default: str


@frozen(eq=False, kw_only=True)
class PlannedMerge(Planned):
    pass


@frozen(eq=False, kw_only=True)
class PlannedCombine(Planned):
    where: typed.Expr
    program: typed.Program | None
    """None with `match: collect`, which builds the record itself."""
    driver: str
    inputs: Mapping[str, Row]

    @property
    def passed_on(self) -> tuple[Edge, ...]:
        """Only the driver's: at the others it looks."""
        return tuple(edge for edge in self.unit.inputs if edge.label == self.driver)


@frozen(eq=False, kw_only=True)
class PlannedState(Planned):
    assignments: Mapping[str, typed.Expr]


@frozen(eq=False)
class OutputColumn:
    """A column of an output file and the field it shows."""

    name: str
    field: str
    type: Type


@frozen(eq=False, kw_only=True)
class PlannedOutput(Planned):
    columns: tuple[OutputColumn, ...]
