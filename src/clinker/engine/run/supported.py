"""What this version does not run yet, said before any data is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from clinker.config.nodes.source import SourceConfig
from clinker.config.transport import RestTransport
from clinker.engine.report.facts import Exit, RunError
from clinker.formats import FORMATS
from clinker.plan.compile import Plan
from clinker.plan.nodes import (
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


def check_supported(plan: Plan) -> None:
    """`RunError` about the first thing in the plan that cannot be run."""
    problem = next(unsupported(plan), None)
    if problem:
        raise RunError(
            f"{problem}: this version compiles it but does not run it yet",
            Exit.CONFIGURATION,
            help="--dry-run and --explain work for such pipelines",
        )


def unsupported(plan: Plan) -> Iterator[str]:
    """Everything in the plan that cannot be run, in words."""
    for name, planned in plan.nodes.items():
        if reason := _reason(planned):
            yield f"'{name}' {reason}"


def _reason(planned: Planned) -> str | None:
    """Why a node cannot be run."""
    match planned:
        case PlannedSource(node=node):
            return _reason_of_format(planned) or _reason_of_source(node.config)
        case PlannedOutput():
            return _reason_of_format(planned)
        case PlannedState():
            return "is a state node"
        case (
            PlannedTransform()
            | PlannedAggregate()
            | PlannedRoute()
            | PlannedMerge()
            | PlannedCombine()
        ):
            return None
        case other:
            assert_never(other)


def _reason_of_format(planned: PlannedSource | PlannedOutput) -> str | None:
    format = planned.node.config.type
    return None if format in FORMATS else f"is a {format} {planned.unit.kind}"


def _reason_of_source(config: SourceConfig) -> str | None:
    return "reads from a web service" if isinstance(config.transport, RestTransport) else None
