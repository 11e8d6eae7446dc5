"""What the planner knows of each kind of node."""

from clinker.plan.nodes.planned import (
    Check,
    OutputColumn,
    Planned,
    PlannedAggregate,
    PlannedCombine,
    PlannedMerge,
    PlannedOutput,
    PlannedRoute,
    PlannedSource,
    PlannedState,
    PlannedTransform,
)

__all__ = [
    "Check",
    "OutputColumn",
    "Planned",
    "PlannedAggregate",
    "PlannedCombine",
    "PlannedMerge",
    "PlannedOutput",
    "PlannedRoute",
    "PlannedSource",
    "PlannedState",
    "PlannedTransform",
]
