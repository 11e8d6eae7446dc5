"""The order of records: what each node's records are sorted by, and what aggregates make of it."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from clinker.config.names import SortKey as ConfiguredSortKey
from clinker.config.nodes import (
    AggregateNode,
    CombineNode,
    MergeNode,
    SourceNode,
    TransformNode,
)
from clinker.cxl.check import typed
from clinker.cxl.run.window_spec import SortKey
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.analyses.correlation import Atomicity, Correlation
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.nodes.planned import Planned, PlannedAggregate, PlannedTransform


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
        given = [key for key in self.keys if key.field not in equal]
        wanted = [key for key in keys if key.field not in equal]
        return given[: len(wanted)] == wanted

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
    graph: Graph, nodes: Mapping[str, Planned], correlation: Correlation
) -> tuple[Orders, list[Diagnostic]]:
    """The order of every node's records, and where a promised order does not hold."""
    orderings: dict[str, Ordering] = {}
    strategies: dict[str, AggregateStrategy] = {}
    problems: list[Diagnostic] = []
    for unit in graph:
        incoming = [orderings[e.upstream] for e in unit.inputs if e.upstream in orderings]
        planned = nodes[unit.name]
        match unit.node:
            case SourceNode():
                orderings[unit.name] = _declared(unit, unit.node)
                problems += _unknown_sort_fields(unit, unit.node)
            case _ if not incoming:
                continue
            case TransformNode():
                orderings[unit.name] = _after_transform(unit, planned, incoming[0])
            case MergeNode():
                orderings[unit.name] = _after_merge(unit, incoming)
            case CombineNode():
                orderings[unit.name] = _lost(incoming).lost(
                    f"'{unit.name}' joins records, after which no order is known",
                    unit.node.at("name"),
                )
            case AggregateNode():
                relaxed = correlation.aggregates[unit.name].atomicity is Atomicity.RELAXED
                strategy = _strategy(unit.node, incoming[0], relaxed)
                strategies[unit.name] = strategy
                problems += _streaming_problems(unit, unit.node, incoming[0], strategy, relaxed)
                orderings[unit.name] = _after_aggregate(unit, planned, incoming[0], strategy)
            case _:
                orderings[unit.name] = incoming[0]
    return Orders(orderings, _partitionings(graph), strategies), problems


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


def _declared(unit: Unit, node: SourceNode) -> Ordering:
    config = node.config
    columns = {column.name for column in config.schema_columns}
    keys: list[SortKey] = []
    for key in sort_keys(config.sort_order):
        if key.field not in columns:
            break
        keys.append(key)
    if not keys:
        text = f"'{unit.name}' declares no sort_order"
        return Ordering((), (Step(text, node.at("name")),))
    text = f"'{unit.name}' declares that it is sorted by {key_text(keys)}"
    return Ordering(tuple(keys), (Step(text, config.key_at("sort_order")),))


def _unknown_sort_fields(unit: Unit, node: SourceNode) -> Iterator[Diagnostic]:
    config = node.config
    columns = [column.name for column in config.schema_columns]
    for key in config.sort_order:
        if key.field not in columns:
            yield unit.problem(
                "E040",
                f"sort_order names '{key.field}', which is not a column of '{unit.name}'",
                key.at("field"),
                help=did_you_mean(key.field, columns)
                or f"add '{key.field}' to the schema, or remove it from sort_order",
                also=(Label(config.key_at("columns"), "its columns are declared here"),),
            )


# Other nodes


def _after_transform(unit: Unit, planned: Planned, incoming: Ordering) -> Ordering:
    if not isinstance(planned, PlannedTransform) or not incoming.keys:
        return incoming
    distinct = next(
        (s for s in planned.program.every_statement() if isinstance(s, typed.Distinct)), None
    )
    if distinct:
        return incoming.lost(
            f"'{unit.name}' removes duplicates, after which no order is known", distinct.location
        )
    return _after_writes(unit, planned.program, incoming)


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
    unit: Unit, planned: Planned, incoming: Ordering, strategy: AggregateStrategy
) -> Ordering:
    if strategy.chosen is Strategy.HASH:
        text = f"'{unit.name}' gathers its groups by hash, after which no order is known"
        return _lost([incoming]).lost(text, unit.node.at("name"))
    ordering = Ordering(strategy.sorted_by, incoming.history)
    if isinstance(planned, PlannedAggregate):
        return _after_writes(unit, planned.program, ordering)
    return ordering


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
    unit: Unit,
    node: AggregateNode,
    incoming: Ordering,
    strategy: AggregateStrategy,
    relaxed: bool,
) -> Iterator[Diagnostic]:
    """A relaxed aggregate that should stream is reported with its correlation keys."""
    config = node.config
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


def _partitionings(graph: Graph) -> dict[str, Partitioning]:
    found: dict[str, Partitioning] = {}
    for unit in graph:
        incoming = [found[e.upstream] for e in unit.inputs if e.upstream in found]
        match unit.node:
            case SourceNode():
                many = unit.node.config.path is None and not _is_rest(unit.node)
                text = f"'{unit.name}' reads {'several files' if many else 'one stream'}"
                found[unit.name] = Partitioning(many, text)
            case AggregateNode() | CombineNode() | MergeNode():
                text = f"'{unit.name}' brings all records together"
                found[unit.name] = Partitioning(False, text)
            case _ if incoming:
                found[unit.name] = incoming[0]
    return found


def _is_rest(node: SourceNode) -> bool:
    return node.config.transport.kind == "rest"
