"""Operators: how Spark carries each node out, and what it has to hold while it does."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, assert_never

from clinker.cxl.check import typed
from clinker.plan.analyses.folds import fold_steps, has_windows
from clinker.plan.analyses.joins import Strategy as JoinStrategy
from clinker.plan.analyses.ordering import Strategy as AggregateStrategy
from clinker.plan.compile import Plan
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes import (
    Planned,
    PlannedAggregate,
    PlannedCombine,
    PlannedOutput,
    PlannedState,
    Shape,
)

SpillPriority = int | Literal["last"] | None
"""Lower is cheaper to write to disk; None holds nothing that could be written."""


class Parallelism(enum.StrEnum):
    """What runs at the same time."""

    FILE_CHUNKED = "file-chunked"
    """Pieces of files."""
    RECORD = "record"
    """Any records."""
    GROUP = "group"
    """The groups of an aggregate."""
    PARTITION = "partition"
    """The partitions of a window."""
    KEY = "key"
    """The values of a join key, or of the fields that make records distinct."""
    SERIAL = "serial"
    """One record after the other."""


@dataclass(frozen=True)
class Operator:
    """How a node is carried out."""

    parallelism: Parallelism
    strategy: str = ""
    """Which of several ways was chosen; empty where there is only one."""
    noun: str = ""
    """What holds records, as storage reports name it; empty if nothing does."""
    spill_priority: SpillPriority = None
    spills: bool = False
    """Whether what it holds may be written to disk."""
    reorders: bool = False
    """Whether its records leave in another order than the one that outputs have."""

    @property
    def holds_records(self) -> bool:
        return self.spill_priority is not None


_PER_RECORD = Operator(Parallelism.RECORD)
_JOIN_PRIORITY = {
    JoinStrategy.GRACE_HASH: 10,
    JoinStrategy.IEJOIN: 20,
    JoinStrategy.HASH_PARTITION_IEJOIN: 20,
    JoinStrategy.SORT_MERGE: 25,
    JoinStrategy.HASH_BUILD_PROBE: 30,
}
KEYED_JOINS = frozenset({JoinStrategy.GRACE_HASH, JoinStrategy.HASH_PARTITION_IEJOIN})
"""The joins that bring records with the same key together."""
_SPILLING_JOINS = KEYED_JOINS | {JoinStrategy.SORT_MERGE}


def operator(plan: Plan, unit: Unit) -> Operator:
    """How one node is carried out."""
    planned = plan.nodes[unit.name]
    match planned.shape:
        case Shape.READS:
            return Operator(Parallelism.SERIAL if planned.is_rest else Parallelism.FILE_CHUNKED)
        case Shape.PASSES:
            return _passing(plan, planned)
        case Shape.MERGES:
            return _PER_RECORD
        case Shape.JOINS:
            return _combine(plan, planned)
        case Shape.GROUPS:
            return _aggregate(plan, planned)
        case Shape.WRITES:
            return _output(planned)
        case other:
            assert_never(other)


def _passing(plan: Plan, planned: Planned) -> Operator:
    window = plan.windows.get(planned.name)
    if window and window.lookup is None:
        grouped = Parallelism.PARTITION if window.spec.group_by else Parallelism.SERIAL
        return Operator(grouped, "window", "Window", "last", spills=True, reorders=True)
    if removes_duplicates(planned):
        return Operator(Parallelism.KEY, "distinct", "Distinct", 30, spills=True, reorders=True)
    if window:
        return Operator(Parallelism.RECORD, "lookup", "Window", "last")
    return _state(plan, planned) if isinstance(planned, PlannedState) else _PER_RECORD


def _state(plan: Plan, planned: PlannedState) -> Operator:
    steps = fold_steps(plan.graph, plan.nodes, planned)
    if steps is not None and not any(has_windows(step) for step in steps):
        return _PER_RECORD
    per_file = planned.node.config.scope == "source"
    parallelism = Parallelism.PARTITION if per_file else Parallelism.SERIAL
    if steps is None:
        return Operator(parallelism, "steps", "Sort", 20, spills=True, reorders=per_file)
    return Operator(parallelism, "window", "Window", "last", spills=True, reorders=True)


def removes_duplicates(planned: Planned) -> bool:
    statements = planned.body.every_statement() if planned.body else ()
    return any(isinstance(statement, typed.Distinct) for statement in statements)


def _aggregate(plan: Plan, planned: PlannedAggregate) -> Operator:
    chosen = plan.orders.strategies[planned.name].chosen
    if chosen is AggregateStrategy.STREAMING:
        return Operator(Parallelism.GROUP, chosen)
    return Operator(Parallelism.GROUP, chosen, "Aggregate", 30, spills=True, reorders=True)


def _combine(plan: Plan, planned: PlannedCombine) -> Operator:
    used = join_strategies(plan, planned)
    return Operator(
        Parallelism.KEY if used & KEYED_JOINS else Parallelism.RECORD,
        _joined(step.strategy for step in plan.joins[planned.name].steps),
        "Combine",
        min(_JOIN_PRIORITY[strategy] for strategy in used),
        spills=bool(used & _SPILLING_JOINS),
        reorders=used != {JoinStrategy.HASH_BUILD_PROBE},
    )


def join_strategies(plan: Plan, planned: PlannedCombine) -> frozenset[JoinStrategy]:
    return frozenset(step.strategy for step in plan.joins[planned.name].steps)


def _joined(strategies: Iterable[JoinStrategy]) -> str:
    return "+".join(dict.fromkeys(strategies))


def _output(planned: PlannedOutput) -> Operator:
    if planned.node.config.sort_order:
        return Operator(Parallelism.SERIAL, "sort", "Sort", 20, spills=True)
    return Operator(Parallelism.SERIAL)
