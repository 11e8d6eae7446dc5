"""What the planner knows of each kind of node, one module per kind.

A kind's module holds its planned class, the answers this gives to the questions of `base`, and the
function that binds it: its CXL checked against the records that really reach it.

  source, transform, aggregate,   the kinds
    route, merge, combine,
    state, output
  base        what every planned node is, and the questions each kind answers
  shape       what becomes of records in a node; what analyses match on
  binding     all nodes of a graph, bound one after the other
  binder      what binding takes, whatever the kind: CXL in its context, fields, findings
  wanted      what is wanted of the records of a node
  window      the window of a transform
  checks      the named checks of validations as CXL

A kind is named twice below: in the union, by which the type checker knows whether a `match` is
complete, and in the table. Calls of compositions are no kind here: graphs have their bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from clinker.plan.graph.graph import Unit
from clinker.plan.nodes.aggregate import PlannedAggregate, bind_aggregate
from clinker.plan.nodes.base import PlannedNode, Records
from clinker.plan.nodes.binder import Binder
from clinker.plan.nodes.combine import PlannedCombine, bind_combine
from clinker.plan.nodes.merge import PlannedMerge, bind_merge
from clinker.plan.nodes.output import OutputColumn, PlannedOutput, bind_output
from clinker.plan.nodes.route import PlannedRoute, bind_route
from clinker.plan.nodes.shape import Shape
from clinker.plan.nodes.source import PlannedSource, bind_source
from clinker.plan.nodes.state import PlannedState, bind_state
from clinker.plan.nodes.transform import Check, PlannedTransform, bind_transform

Planned: TypeAlias = (
    PlannedSource
    | PlannedTransform
    | PlannedAggregate
    | PlannedRoute
    | PlannedMerge
    | PlannedCombine
    | PlannedState
    | PlannedOutput
)

BINDINGS: Mapping[str, Callable[[Binder, Unit, Any], Planned]] = {
    "source": bind_source,
    "transform": bind_transform,
    "aggregate": bind_aggregate,
    "route": bind_route,
    "merge": bind_merge,
    "combine": bind_combine,
    "state": bind_state,
    "output": bind_output,
}
"""By kind, how a node is bound; the last argument is the node as the user wrote it."""

__all__ = [
    "BINDINGS",
    "Check",
    "OutputColumn",
    "Planned",
    "PlannedAggregate",
    "PlannedCombine",
    "PlannedMerge",
    "PlannedNode",
    "PlannedOutput",
    "PlannedRoute",
    "PlannedSource",
    "PlannedState",
    "PlannedTransform",
    "Records",
    "Shape",
]
