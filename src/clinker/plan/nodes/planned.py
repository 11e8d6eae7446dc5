"""The planned nodes by the module name that the engine imports."""

from __future__ import annotations

from clinker.plan.nodes import (
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
