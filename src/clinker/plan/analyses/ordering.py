"""The order of records: what each node's records are sorted by, and what aggregates make of it."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import assert_never

from clinker.config.names import SortKey as ConfiguredSortKey
from clinker.config.nodes import AggregateNode
from clinker.cxl.check import typed
from clinker.cxl.run.window_spec import SortKey
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.analyses.correlation import Atomicity, Correlation
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes import Planned, PlannedAggregate, PlannedSource, Shape


@frozen
class Step:
    """Something that happened to the order of records, and where that is written."""

    text: str
    location: Location = field(repr=False, compare=False)


@frozen
class Ordering:
    """What records are sorted by; nothing is known without keys."""

    keys: tuple[SortKey, ...] = ()
    history: tuple[Step, ...] = ()
    """Why the order holds, or how it was lost; the oldest first."""

    @property
    def provenance(self) -> str:
        return "; ".join(step.text for step in self.history)

    def sorts_groups(self, group_by: Iterable[str], keys: Iterable[SortKey]) -> bool:
        """Whether records that are equal in `group_by` arrive in the order of `keys`."""
        equal = set(group_by)
        known = [key for key in self.keys if key.field not in equal]
        wanted = [key for key in keys if key.field not in equal]
        return known[: len(wanted)] == wanted

    def lost(self, text: str, location: Location) -> Ordering:
        return Ordering((), (*self.history, Step(text, location)))


@frozen
class Partitioning:
    """Whether records come as one stream or as one per file, and why."""

    per_file: bool
    provenance: str


class Strategy(enum.StrEnum):
    HASH = "hash"
    """All groups at once, in any order of records."""
    STREAMING = "streaming"
    """One group after the other, from sorted records."""


@frozen
class AggregateStrategy:
    """How an aggregate is executed, and why."""

    requested: str
    chosen: Strategy
    reason: str
    sorted_by: tuple[SortKey, ...] = ()
    """The part of the input's order that separates the groups."""

    @property
    def missed_streaming(self) -> bool:
        """Whether hashing was asked for although the groups arrive one after the other."""
        return self.requested == "hash" and bool(self.sorted_by)


@frozen
class Orders:
    """The order of records in a whole pipeline."""

    orderings: Mapping[str, Ordering]
    """By node, the order of the records that leave it."""
    partitionings: Mapping[str, Partitioning]
    strategies: Mapping[str, AggregateStrategy]
    """By aggregate."""


def plan_order(
    nodes: Mapping[str, Planned], correlation: Correlation
) -> tuple[Orders, list[Diagnostic]]:
    """The order of every node's records, and where a promised order does not hold."""
    orderings: dict[str, Ordering] = {}
    strategies: dict[str, AggregateStrategy] = {}
    problems: list[Diagnostic] = []
    for name, planned in nodes.items():
        unit = planned.unit
        incoming = [orderings[e.upstream] for e in unit.inputs if e.upstream in orderings]
        if unit.inputs and not incoming:
            continue
        match planned.shape:
            case Shape.READS:
                orderings[name] = _declared(planned)
                problems += _unknown_sort_fields(planned)
            case Shape.PASSES:
                orderings[name] = _after_program(unit, planned.body, incoming[0])
            case Shape.MERGES:
                orderings[name] = _after_merge(unit, incoming)
            case Shape.JOINS:
                text = f"'{name}' joins records, after which no order is known"
                orderings[name] = _lost(incoming).lost(text, unit.node.at("name"))
            case Shape.GROUPS:
                relaxed = correlation.aggregates[name].atomicity is Atomicity.RELAXED
                strategy = strategies[name] = _strategy(planned.node, incoming[0], relaxed)
                problems += _streaming_problems(planned, incoming[0], strategy, relaxed)
                orderings[name] = _after_aggregate(planned, incoming[0], strategy)
            case Shape.WRITES:
                orderings[name] = incoming[0]
            case other:
                assert_never(other)
    return Orders(orderings, _partitionings(nodes), strategies), problems


def sort_keys(configured: Iterable[ConfiguredSortKey]) -> tuple[SortKey, ...]:
    return tuple(
        SortKey(key.field, key.order == "desc", key.null_order == "first") for key in configured
    )


def key_text(keys: Iterable[SortKey]) -> str:
    """Sort keys as a user would say them."""
    return ", ".join(
        key.field + " desc" * key.descending + " nulls first" * key.nulls_first for key in keys
    )


# Sources


def _declared(source: PlannedSource) -> Ordering:
    config = source.node.config
    columns = {column.name for column in config.schema_columns}
    keys: list[SortKey] = []
    for key in sort_keys(config.sort_order):
        if key.field not in columns:
            break
        keys.append(key)
    if not keys:
        text = f"'{source.name}' declares no sort_order"
        return Ordering((), (Step(text, source.node.at("name")),))
    text = f"'{source.name}' declares that it is sorted by {key_text(keys)}"
    return Ordering(tuple(keys), (Step(text, config.key_at("sort_order")),))


def _unknown_sort_fields(source: PlannedSource) -> Iterator[Diagnostic]:
    config = source.node.config
    columns = [column.name for column in config.schema_columns]
    for key in config.sort_order:
        if key.field not in columns:
            yield source.unit.problem(
                "E040",
                f"sort_order names '{key.field}', which is not a column of '{source.name}'",
                key.at("field"),
                help=did_you_mean(key.field, columns)
                or f"add '{key.field}' to the schema, or remove it from sort_order",
                also=(Label(config.key_at("columns"), "its columns are declared here"),),
            )


# Other nodes


def _after_program(unit: Unit, program: typed.Program | None, incoming: Ordering) -> Ordering:
    if program is None or not incoming.keys:
        return incoming
    distinct = next((s for s in program.every_statement() if isinstance(s, typed.Distinct)), None)
    if distinct:
        return incoming.lost(
            f"'{unit.name}' removes duplicates, after which no order is known", distinct.location
        )
    return _after_writes(unit, program, incoming)


def _after_writes(unit: Unit, program: typed.Program, incoming: Ordering) -> Ordering:
    sorted_by = {key.field for key in incoming.keys}
    write = next((emit for emit in changes(program) if emit.name in sorted_by), None)
    if write is None:
        return incoming
    return incoming.lost(
        f"'{unit.name}' writes '{write.name}', by which records were sorted", write.location
    )


def changes(program: typed.Program) -> Iterator[typed.Emit]:
    """The emits that may give a field another value than it has in the input."""
    for statement in program.every_statement():
        if isinstance(statement, typed.Emit):
            value = statement.value
            if not (isinstance(value, typed.Field) and value.name == statement.name):
                yield statement


def _after_merge(unit: Unit, incoming: list[Ordering]) -> Ordering:
    if len(unit.inputs) == 1:
        return incoming[0]
    return _lost(incoming).lost(
        f"'{unit.name}' puts several inputs together, and no order spans them",
        unit.node.at("name"),
    )


def _lost(incoming: list[Ordering]) -> Ordering:
    """No order, with all that was known about the inputs."""
    history = (step for ordering in incoming for step in ordering.history)
    return Ordering((), tuple(dict.fromkeys(history)))


def _after_aggregate(
    planned: PlannedAggregate, incoming: Ordering, strategy: AggregateStrategy
) -> Ordering:
    if strategy.chosen is Strategy.HASH:
        text = f"'{planned.name}' gathers its groups by hash, after which no order is known"
        return _lost([incoming]).lost(text, planned.node.at("name"))
    ordering = Ordering(strategy.sorted_by, incoming.history)
    return _after_writes(planned.unit, planned.program, ordering)


# The strategy of aggregates

_TIME_WINDOWS = "several time windows are open at once"


def _strategy(node: AggregateNode, incoming: Ordering, relaxed: bool) -> AggregateStrategy:
    requested = node.config.strategy
    groups = set(node.config.group_by)
    prefix = incoming.keys[: len(groups)]
    separates = {key.field for key in prefix} == groups
    sorted_by = prefix if separates else ()
    if node.config.time_window:
        return AggregateStrategy(requested, Strategy.HASH, _TIME_WINDOWS)
    if relaxed:
        reason = "failing records must be taken back out of its groups"
        return AggregateStrategy(requested, Strategy.HASH, reason)
    if requested == "hash":
        return AggregateStrategy(requested, Strategy.HASH, "as the pipeline asks", sorted_by)
    if not groups:
        return AggregateStrategy(requested, Strategy.STREAMING, "there is a single group")
    if separates:
        reason = f"the input is sorted by {key_text(sorted_by)}"
        return AggregateStrategy(requested, Strategy.STREAMING, reason, sorted_by)
    return AggregateStrategy(
        requested, Strategy.HASH, f"the input is not known to be sorted by {_groups(node)}"
    )


def _streaming_problems(
    planned: PlannedAggregate, incoming: Ordering, strategy: AggregateStrategy, relaxed: bool
) -> Iterator[Diagnostic]:
    """A relaxed aggregate that should stream is reported with its correlation keys."""
    unit, node, config = planned.unit, planned.node, planned.node.config
    if config.strategy != "streaming" or strategy.chosen is Strategy.STREAMING or relaxed:
        return
    if config.time_window:
        yield unit.problem(
            "E046",
            f"'{unit.name}' cannot stream: {_TIME_WINDOWS}",
            config.at("strategy"),
            help="remove 'strategy', or remove 'time_window'",
            also=(Label(config.key_at("time_window"), "the time window"),),
        )
        return
    yield unit.problem(
        "CXL0419",
        f"'{unit.name}' must stream, but its input is not known to be sorted by {_groups(node)}",
        config.at("strategy"),
        help=f"declare 'sort_order: [{_groups(node)}]' on the source if its data is sorted like "
        "that, sort the data before, or use 'strategy: auto'",
        also=tuple(Label(step.location, step.text) for step in incoming.history),
    )


def _groups(node: AggregateNode) -> str:
    return ", ".join(node.config.group_by)


# Partitioning


def _partitionings(nodes: Mapping[str, Planned]) -> dict[str, Partitioning]:
    partitionings: dict[str, Partitioning] = {}
    for name, planned in nodes.items():
        match planned.shape:
            case Shape.READS:
                many = planned.node.config.path is None and not planned.is_rest
                text = f"'{name}' reads {'several files' if many else 'one stream'}"
                partitionings[name] = Partitioning(many, text)
            case Shape.GROUPS | Shape.JOINS | Shape.MERGES:
                text = f"'{name}' brings all records together"
                partitionings[name] = Partitioning(False, text)
            case Shape.PASSES | Shape.WRITES:
                before = partitionings.get(planned.unit.inputs[0].upstream)
                if before:
                    partitionings[name] = before
            case other:
                assert_never(other)
    return partitionings
