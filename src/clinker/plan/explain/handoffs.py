"""Hand-offs: how records get from one node to the next on Spark.

Inside one Spark stage they are passed on as they come. Where a node needs records in another place
or order, or where several nodes read the same ones, they cross a shuffle, a broadcast or a cache.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from clinker.plan.analyses.joins import Strategy as JoinStrategy
from clinker.plan.analyses.ordering import Strategy as AggregateStrategy
from clinker.plan.analyses.ordering import key_text, sort_keys
from clinker.plan.compile import Plan
from clinker.plan.explain.operators import (
    KEYED_JOINS,
    Operator,
    join_strategies,
    removes_duplicates,
)
from clinker.plan.graph.graph import Edge, Unit
from clinker.plan.nodes import Planned, PlannedAggregate, PlannedCombine, PlannedOutput, Shape


class Crossing(enum.StrEnum):
    """What lies between two nodes."""

    PIPELINED = "pipelined"
    SHUFFLE = "shuffle"
    BROADCAST = "broadcast"
    CACHE = "cache"


@dataclass(frozen=True)
class HandOff:
    """The way of records from one node to another."""

    producer: str
    consumer: str
    port: str | None
    """The branch of a route."""
    qualifier: str | None
    """What a combine calls the input."""
    is_lookup: bool
    """Whether a window of the consumer looks the records up."""
    crossing: Crossing
    reason: str
    """Why it is no pipeline; empty where it is one."""
    slot: int | None = None
    """The number of the crossing; pipelines have none."""


def hand_offs(plan: Plan, operators: Mapping[str, Operator]) -> tuple[HandOff, ...]:
    """Every hand-off, by producer and then by consumer in the order of the graph."""
    crossings: list[HandOff] = []
    slot = 0
    for producer in plan.graph:
        for hand_off in _out_of(plan, producer, operators[producer.name]):
            if hand_off.crossing is Crossing.PIPELINED:
                crossings.append(hand_off)
            else:
                crossings.append(replace(hand_off, slot=slot))
                slot += 1
    return tuple(crossings)


def _out_of(plan: Plan, producer: Unit, operator: Operator) -> Iterator[HandOff]:
    readers = plan.graph.consumers(producer.name)
    lookups = [
        unit
        for unit in plan.graph
        if (window := plan.windows.get(unit.name))
        and window.lookup is not None
        and window.root == producer.name
    ]
    nodes = dict.fromkeys([*(unit.name for unit, _ in readers), *(unit.name for unit in lookups)])
    for consumer, edge in readers:
        reader = plan.nodes[consumer.name]
        needed = _needed(plan, reader, edge)
        if needed is None and operator.reorders:
            needed = Crossing.SHUFFLE, "put back into the order of the records"
        if needed is None and len(nodes) > 1:
            needed = Crossing.CACHE, f"read by {len(nodes)} nodes"
        crossing, reason = needed or (Crossing.PIPELINED, "")
        qualifier = edge.label if reader.shape is Shape.JOINS else None
        yield HandOff(producer.name, consumer.name, edge.port, qualifier, False, crossing, reason)
    for consumer in lookups:
        reason = "looked up by the window; broadcast when it is small"
        yield HandOff(producer.name, consumer.name, None, None, True, Crossing.BROADCAST, reason)


def _needed(plan: Plan, reader: Planned, edge: Edge) -> tuple[Crossing, str] | None:
    """What a node needs before it can work on the records; None to take them as they come."""
    match reader.shape:
        case Shape.GROUPS:
            return _needed_by_aggregate(plan, reader)
        case Shape.PASSES:
            return _needed_by_passing(plan, reader)
        case Shape.WRITES:
            return _needed_by_output(plan, reader)
        case Shape.JOINS:
            return _needed_by_combine(plan, reader, edge)
        case Shape.READS | Shape.MERGES:
            return None
        case other:
            assert_never(other)


def _needed_by_aggregate(plan: Plan, reader: PlannedAggregate) -> tuple[Crossing, str] | None:
    if plan.orders.strategies[reader.name].chosen is AggregateStrategy.STREAMING:
        return None
    groups = ", ".join(reader.node.config.group_by)
    return Crossing.SHUFFLE, f"grouped by {groups}" if groups else "brought together"


def _needed_by_passing(plan: Plan, reader: Planned) -> tuple[Crossing, str] | None:
    window = plan.windows.get(reader.name)
    if window and window.lookup is None:
        keys = ", ".join(window.spec.group_by)
        return Crossing.SHUFFLE, f"partitioned by {keys}" if keys else "brought together"
    if removes_duplicates(reader):
        return Crossing.SHUFFLE, "duplicates brought together"
    return None


def _needed_by_output(plan: Plan, reader: PlannedOutput) -> tuple[Crossing, str] | None:
    order = reader.node.config.sort_order
    if order:
        return Crossing.SHUFFLE, f"sorted by {key_text(sort_keys(order))}"
    if plan.correlation.visible[reader.name]:
        return Crossing.CACHE, "held until the correlation groups are decided"
    return None


def _needed_by_combine(
    plan: Plan, reader: PlannedCombine, edge: Edge
) -> tuple[Crossing, str] | None:
    join = plan.joins[reader.name]
    if edge.label == join.driver:
        used = join_strategies(plan, reader)
        if used & KEYED_JOINS:
            return Crossing.SHUFFLE, "partitioned by the join key"
        if used == {JoinStrategy.HASH_BUILD_PROBE}:
            return None
        return Crossing.CACHE, "compared pair by pair"
    strategy = next(step.strategy for step in join.steps if step.build == edge.label)
    if strategy in KEYED_JOINS:
        return Crossing.SHUFFLE, "partitioned by the join key"
    if strategy is JoinStrategy.HASH_BUILD_PROBE:
        return Crossing.BROADCAST, "build input; when it is large, both inputs are shuffled"
    return Crossing.BROADCAST, "build input, compared pair by pair"
