"""What this version does not run yet, said before any data is read."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.config.nodes import OutputNode, SourceNode
from clinker.config.transport import RestTransport
from clinker.engine.report.facts import Exit, RunError
from clinker.formats import FORMATS
from clinker.plan.compile import Plan


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
    for unit in plan.graph:
        node = unit.node
        match node:
            case SourceNode() | OutputNode() if node.config.type not in FORMATS:
                yield f"'{unit.name}' is a {node.config.type} {unit.kind}"
            case SourceNode() if isinstance(node.config.transport, RestTransport):
                yield f"'{unit.name}' reads from a web service"
            case SourceNode() if node.config.correlation_key:
                yield f"'{unit.name}' has a correlation key"
            case SourceNode() if node.config.envelope:
                yield f"'{unit.name}' reads an envelope"
        if unit.kind == "state":
            yield f"'{unit.name}' is a state node"
    if plan.pipeline.error_handling.correlation_key:
        yield "the pipeline has a correlation key"
