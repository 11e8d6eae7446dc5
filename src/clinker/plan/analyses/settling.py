"""Settling: in which order failures count where records fall together, and what falls with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import assert_never

from clinker.config.error_handling import ErrorHandling
from clinker.config.names import FanoutPolicy
from clinker.frozen import frozen
from clinker.plan.analyses.correlation import Atomicity, Correlation
from clinker.plan.graph.graph import Graph
from clinker.plan.nodes import Planned, PlannedAggregate, PlannedCombine, PlannedState, Shape
from clinker.plan.nodes.window import Window


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
    policies: Mapping[str, Mapping[str, FanoutPolicy]]
    """By output and strict aggregate, when it lets the groups of each source fall."""
    reaching: Mapping[str, frozenset[str]]
    """By node, the sources of which a record that falls can change what leaves it."""


def plan_settling(
    graph: Graph,
    nodes: Mapping[str, Planned],
    correlation: Correlation,
    windows: Mapping[str, Window],
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
    policies = _policies(graph, nodes, correlation, handling)
    falling = {name: before[name] for name in policies}
    reaching = _reaching(nodes, correlation, windows, falling)
    return Settling(before, behind, policies, reaching)


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
) -> dict[str, dict[str, FanoutPolicy]]:
    """An output's own policy, that of the last combine before it, of the source, of the pipeline.

    A strict aggregate has the policy that all outputs behind it agree on; else what outputs do that
    have none of their own.
    """
    of_sources = {
        name: planned.node.config.correlation_fanout_policy or handling.correlation_fanout_policy
        for name, planned in nodes.items()
        if name in correlation.sources and planned.shape is Shape.READS
    }
    on_the_way: dict[str, FanoutPolicy | None] = {}
    """By node, what counts instead of the policies of sources."""
    policies: dict[str, dict[str, FanoutPolicy]] = {}
    for name, planned in nodes.items():
        inherited = (on_the_way[edge.upstream] for edge in planned.passed_on)
        policy = next((each for each in inherited if each), None)
        match planned.shape:
            case Shape.JOINS | Shape.WRITES:
                policy = planned.node.config.correlation_fanout_policy or policy
            case Shape.READS | Shape.PASSES | Shape.MERGES | Shape.GROUPS:
                pass
            case other:
                assert_never(other)
        on_the_way[name] = policy
        if planned.shape is Shape.WRITES:
            policies[name] = {source: policy or own for source, own in of_sources.items()}
    for name, aggregate in correlation.aggregates.items():
        if aggregate.atomicity is Atomicity.STRICT:
            behind = [policies[each] for each in graph.descendants(name) if each in policies]
            policies[name] = {
                source: _agreed({each[source] for each in behind}, own)
                for source, own in of_sources.items()
            }
    return policies


def _agreed(policies: set[FanoutPolicy], default: FanoutPolicy) -> FanoutPolicy:
    return policies.pop() if len(policies) == 1 else default


# What can change


def _reaching(
    nodes: Mapping[str, Planned],
    correlation: Correlation,
    windows: Mapping[str, Window],
    falling: Mapping[str, Region],
) -> dict[str, frozenset[str]]:
    """By node, the sources of what it is made of, and of the init phase, which all may know of.

    `falling` are the nodes at which groups fall.
    """
    known: dict[str, frozenset[str]] = {}
    grouped = _grouped_behind(nodes)

    def of(name: str) -> frozenset[str]:
        if name not in known:
            planned = nodes[name]
            read = [edge.upstream for edge in planned.unit.inputs]
            if name in windows and windows[name].lookup is not None:
                read.append(windows[name].root)
            found = frozenset[str]().union(*map(of, read))
            if planned.shape is Shape.READS:
                found |= {name}
            elif name in falling and falling[name].is_joined and not grouped.issuperset(read):
                # A record that was made of several falls with the groups of any source.
                visible = {field for each in read for field in correlation.visible[each].fields}
                keys = correlation.sources.items()
                found |= {source for source, key in keys if not visible.isdisjoint(key.fields)}
            known[name] = found
        return known[name]

    every = {name: of(name) for name in nodes}
    first = frozenset[str]().union(*(every[name] for name, n in nodes.items() if _is_init(n)))
    return {name: first | found for name, found in every.items()}


def _grouped_behind(nodes: Mapping[str, Planned]) -> set[str]:
    """The nodes behind which there are only records that aggregates have made."""
    found: set[str] = set()
    for name, planned in nodes.items():
        passed_on = [edge.upstream for edge in planned.passed_on]
        if planned.shape is Shape.GROUPS or (passed_on and found.issuperset(passed_on)):
            found.add(name)
    return found


def _is_init(planned: Planned) -> bool:
    return isinstance(planned, PlannedState) and planned.node.init_phase is not None
