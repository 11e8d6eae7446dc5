"""Settling: in which order failures count where records fall together, and what falls with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from clinker.config.error_handling import ErrorHandling
from clinker.config.names import FanoutPolicy
from clinker.frozen import frozen
from clinker.plan.analyses.correlation import Atomicity, Correlation
from clinker.plan.graph.graph import Graph
from clinker.plan.nodes import Planned, PlannedAggregate, PlannedCombine, Shape


@frozen
class Region:
    """Where in a graph records are, as far as it matters to those that fall together."""

    level: int = 0
    """How many aggregates of correlated records lie before. What fails behind one counts only when
    all that fails before it is settled."""
    is_relaxed: bool = False
    """Whether records descend from a relaxed aggregate, so that they belong to no group."""
    is_joined: bool = False
    """Whether records are made of several, so that no single source is to blame for them."""


@frozen
class Settling:
    """How the failures of a pipeline are settled."""

    before: Mapping[str, Region]
    """By node, where the records are that it reads."""
    behind: Mapping[str, Region]
    """By node, where the records are that leave it."""
    policies: Mapping[str, FanoutPolicy]
    """When groups fall, by the outputs and strict aggregates that let them."""


def plan_settling(
    graph: Graph,
    nodes: Mapping[str, Planned],
    correlation: Correlation,
    handling: ErrorHandling,
) -> Settling:
    """How failures of correlated records are settled."""
    before: dict[str, Region] = {}
    behind: dict[str, Region] = {}
    for name, planned in nodes.items():
        incoming = [behind[edge.upstream] for edge in planned.unit.inputs]
        match planned.shape:
            case Shape.READS:
                before[name] = behind[name] = Region()
            case Shape.PASSES | Shape.WRITES:
                before[name] = behind[name] = incoming[0]
            case Shape.MERGES:
                before[name] = behind[name] = _merged(incoming)
            case Shape.JOINS:
                before[name] = behind[name] = _joined(planned, incoming)
            case Shape.GROUPS:
                before[name] = incoming[0]
                behind[name] = _grouped(planned, incoming[0], correlation)
            case other:
                assert_never(other)
    return Settling(before, behind, _policies(graph, nodes, correlation, handling))


def _merged(incoming: Sequence[Region]) -> Region:
    return Region(
        max(each.level for each in incoming),
        any(each.is_relaxed for each in incoming),
        any(each.is_joined for each in incoming),
    )


def _joined(planned: PlannedCombine, incoming: Sequence[Region]) -> Region:
    """A joined record is that of its driver; all inputs must be settled before it is judged."""
    driver = dict(zip(planned.inputs, incoming, strict=True))[planned.driver]
    return Region(max(each.level for each in incoming), driver.is_relaxed, True)


def _grouped(planned: PlannedAggregate, incoming: Region, correlation: Correlation) -> Region:
    atomicity = correlation.aggregates[planned.name].atomicity
    if atomicity is Atomicity.UNCORRELATED:
        return Region(incoming.level, incoming.is_relaxed, True)
    is_relaxed = incoming.is_relaxed or atomicity is Atomicity.RELAXED
    return Region(incoming.level + 1, is_relaxed, True)


def _policies(
    graph: Graph,
    nodes: Mapping[str, Planned],
    correlation: Correlation,
    handling: ErrorHandling,
) -> dict[str, FanoutPolicy]:
    """An output's own policy, that of the last combine before it, or that of the pipeline.

    A strict aggregate has the policy that all outputs behind it agree on, else the pipeline's.
    """
    policies: dict[str, FanoutPolicy] = {}
    inherited: dict[str, FanoutPolicy] = {}
    for name, planned in nodes.items():
        upstream = planned.passed_on[0].upstream if planned.unit.inputs else None
        policy = inherited.get(upstream or "", handling.correlation_fanout_policy)
        match planned.shape:
            case Shape.JOINS | Shape.WRITES:
                policy = planned.node.config.correlation_fanout_policy or policy
            case Shape.READS | Shape.PASSES | Shape.MERGES | Shape.GROUPS:
                pass
            case other:
                assert_never(other)
        inherited[name] = policy
        if planned.shape is Shape.WRITES:
            policies[name] = policy
    for name, aggregate in correlation.aggregates.items():
        if aggregate.atomicity is Atomicity.STRICT:
            agreed = {policies[each] for each in graph.descendants(name) if each in policies}
            default = handling.correlation_fanout_policy
            policies[name] = agreed.pop() if len(agreed) == 1 else default
    return policies
