"""Correlation keys: which records stand or fall together, at every node of the graph."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import assert_never

from clinker.config.error_handling import ErrorHandling
from clinker.config.nodes import SourceNode
from clinker.cxl.check import typed
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.graph.graph import Edge, Graph, Unit
from clinker.plan.nodes import Planned, PlannedAggregate, PlannedCombine, PlannedSource, Shape

REVERSIBLE = frozenset({"sum", "count", "collect", "any"})
"""Aggregate functions from whose result a single record can be taken back."""


@frozen
class KeySet:
    """The correlation keys that the records of a node carry."""

    fields: tuple[str, ...] = ()
    """The key fields of the sources."""
    aggregates: tuple[str, ...] = ()
    """The relaxed aggregates the records descend from."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The shadow columns that hold them."""
        return (
            *(f"$ck.{name}" for name in self.fields),
            *(f"$ck.aggregate.{name}" for name in self.aggregates),
        )

    def omitted_by(self, group_by: Iterable[str]) -> KeySet:
        """What grouping by these fields mixes up."""
        kept = set(group_by)
        return KeySet(tuple(f for f in self.fields if f not in kept), self.aggregates)

    def __bool__(self) -> bool:
        return bool(self.fields or self.aggregates)


@frozen
class SourceKey:
    """The fields that identify the correlation group of a source's records."""

    fields: tuple[str, ...]
    location: Location = field(repr=False, compare=False)


class Atomicity(enum.StrEnum):
    """How an aggregate takes part in correlation."""

    UNCORRELATED = "uncorrelated"
    """Its records carry no key."""
    STRICT = "strict"
    """A group holds whole correlation groups, so its result stands or falls with them."""
    RELAXED = "relaxed"
    """Failing records are taken back out of its groups."""


class Retraction(enum.StrEnum):
    """What it takes to take a record back out of a group."""

    REVERSIBLE = "Reversible"
    """The accumulators can subtract it."""
    BUFFER_REQUIRED = "BufferRequired"
    """The group is computed again from its other records."""


@frozen
class AggregateCorrelation:
    atomicity: Atomicity
    retraction: Retraction
    omitted: KeySet = KeySet()
    """The keys it does not group by."""


@frozen
class Correlation:
    """The correlation keys of a whole pipeline."""

    sources: Mapping[str, SourceKey]
    """The sources that declare a key."""
    visible: Mapping[str, KeySet]
    """By node, the keys that leave it."""
    aggregates: Mapping[str, AggregateCorrelation]

    @property
    def relaxed(self) -> tuple[str, ...]:
        """The aggregates that failing records are taken back from."""
        return tuple(
            name
            for name, aggregate in self.aggregates.items()
            if aggregate.atomicity is Atomicity.RELAXED
        )

    def declared_in(self, fields: Iterable[str], sources: Iterable[str]) -> tuple[Label, ...]:
        """The places at which some of the sources declare these key fields."""
        wanted = set(fields)
        return tuple(
            Label(self.sources[name].location, f"the correlation key of '{name}'")
            for name in sources
            if name in self.sources and wanted & set(self.sources[name].fields)
        )


def plan_correlation(
    graph: Graph, nodes: Mapping[str, Planned], handling: ErrorHandling
) -> tuple[Correlation, list[Diagnostic]]:
    """The keys that every node's records carry, and what is wrong with them."""
    sources, problems = _source_keys(graph, handling)
    visible: dict[str, KeySet] = {}
    aggregates: dict[str, AggregateCorrelation] = {}
    for name, planned in nodes.items():
        incoming = [visible.get(edge.upstream, KeySet()) for edge in planned.unit.inputs]
        match planned.shape:
            case Shape.READS:
                key = sources.get(name)
                visible[name] = KeySet(key.fields if key else ())
            case Shape.GROUPS:
                aggregates[name] = _correlate(planned, incoming[0])
                visible[name] = _after_aggregate(planned, incoming[0], aggregates[name])
            case Shape.MERGES:
                visible[name] = _after_merge(incoming)
            case Shape.JOINS:
                visible[name] = _after_combine(planned, incoming)
            case Shape.PASSES | Shape.WRITES:
                visible[name] = incoming[0]
            case other:
                assert_never(other)
    correlation = Correlation(sources, visible, aggregates)
    keys_are_known = not any(problem.is_error for problem in problems)
    for planned in nodes.values():
        if planned.shape is Shape.GROUPS:
            problems += _streaming_problems(graph, planned, correlation)
        elif planned.shape is Shape.MERGES and keys_are_known:
            problems += _merge_problems(graph, planned.unit, correlation)
    problems += check_unmapped(nodes)
    return correlation, problems


# Sources


def _source_keys(
    graph: Graph, handling: ErrorHandling
) -> tuple[dict[str, SourceKey], list[Diagnostic]]:
    keys: dict[str, SourceKey] = {}
    problems: list[Diagnostic] = []
    everywhere: set[str] = set()
    for unit, node in graph.of(SourceNode):
        config = node.config
        columns = {column.name for column in config.schema_columns}
        everywhere |= columns
        if config.correlation_key:
            problems += _unknown_keys(unit, node, columns)
            declared, location = config.correlation_key, config.at("correlation_key")
        else:
            declared, location = handling.correlation_key, handling.at("correlation_key")
        fields = tuple(name for name in declared if name in columns)
        if fields:
            keys[unit.name] = SourceKey(fields, location)
        elif config.has("correlation_fanout_policy") and not config.correlation_key:
            problems.append(_policy_without_key(node))
    for position, name in enumerate(handling.correlation_key):
        if name not in everywhere:
            problems.append(
                handling.problem(
                    "E153",
                    f"correlation_key names '{name}', which is a column of no source",
                    "correlation_key",
                    position,
                    help=did_you_mean(name, sorted(everywhere)) or "add it to a source's schema",
                )
            )
    return keys, problems


def _policy_without_key(node: SourceNode) -> Diagnostic:
    return node.config.problem(
        "W013",
        f"'correlation_fanout_policy' has no effect: the records of '{node.name}' are in no groups",
        "correlation_fanout_policy",
        key=True,
        help="add 'correlation_key', or remove it",
        warning=True,
    )


def _unknown_keys(unit: Unit, node: SourceNode, columns: set[str]) -> Iterator[Diagnostic]:
    config = node.config
    for position, name in enumerate(config.correlation_key):
        if name not in columns:
            yield unit.problem(
                "E153",
                f"correlation_key names '{name}', which is not a column of '{unit.name}'",
                config.at("correlation_key", position),
                help=did_you_mean(name, sorted(columns))
                or f"add '{name}' to the schema, or remove it from correlation_key",
                also=(Label(config.key_at("columns"), "its columns are declared here"),),
            )


# The lattice


def _correlate(planned: PlannedAggregate, incoming: KeySet) -> AggregateCorrelation:
    omitted = incoming.omitted_by(planned.node.config.group_by)
    if not incoming:
        atomicity = Atomicity.UNCORRELATED
    elif omitted and planned.node.config.time_window is None:
        atomicity = Atomicity.RELAXED
    else:
        # The windows of a time-windowed aggregate are closed for good, so nothing is taken back.
        atomicity = Atomicity.STRICT
    return AggregateCorrelation(atomicity, _retraction(planned.program), omitted)


def _retraction(program: typed.Program) -> Retraction:
    functions = {
        part.function.name
        for expression in program.expressions()
        for part in expression.walk()
        if isinstance(part, typed.Aggregate)
    }
    return Retraction.REVERSIBLE if functions <= REVERSIBLE else Retraction.BUFFER_REQUIRED


def _after_aggregate(
    planned: PlannedAggregate, incoming: KeySet, aggregate: AggregateCorrelation
) -> KeySet:
    kept = tuple(name for name in incoming.fields if name in planned.node.config.group_by)
    relaxed = aggregate.atomicity is Atomicity.RELAXED
    return KeySet(kept, (planned.name,) if relaxed else ())


def _after_merge(incoming: list[KeySet]) -> KeySet:
    first, *others = incoming
    shared = tuple(f for f in first.fields if all(f in other.fields for other in others))
    return KeySet(shared, _union(keys.aggregates for keys in incoming))


def _after_combine(planned: PlannedCombine, incoming: list[KeySet]) -> KeySet:
    """What propagate_ck lets through; the lineage of aggregates is always kept."""
    propagate = planned.node.config.propagate_ck
    by_label = dict(zip(planned.inputs, incoming, strict=True))
    fields = by_label[planned.driver].fields
    if propagate.mode != "driver":
        fields = _union([fields, *(keys.fields for keys in incoming)])
    if propagate.mode == "named":
        fields = tuple(name for name in fields if name in propagate.named)
    return KeySet(fields, _union(keys.aggregates for keys in incoming))


def _union(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for some in names for name in some))


# Findings


def _streaming_problems(
    graph: Graph, planned: PlannedAggregate, correlation: Correlation
) -> Iterator[Diagnostic]:
    unit, node = planned.unit, planned.node
    aggregate = correlation.aggregates[unit.name]
    if node.config.strategy != "streaming" or aggregate.atomicity is not Atomicity.RELAXED:
        return
    omitted = aggregate.omitted
    if omitted.fields:
        shown = _quoted(omitted.fields)
        reason = f"group_by omits {shown}, by which records stand or fall together"
        way_out = f"use 'strategy: hash', or add {shown} to group_by"
    else:
        reason = f"failing records must be taken back from {_quoted(omitted.aggregates)}"
        way_out = "use 'strategy: hash'"
    before = [name for name in correlation.sources if unit.name in graph.descendants(name)]
    yield unit.problem(
        "E15Y",
        f"'{unit.name}' cannot stream: {reason}",
        node.config.at("strategy"),
        help=way_out,
        also=(
            Label(node.config.at("group_by"), "groups by this"),
            *correlation.declared_in(omitted.fields, before),
        ),
    )


def _merge_problems(graph: Graph, unit: Unit, correlation: Correlation) -> Iterator[Diagnostic]:
    """Records of one stream belong to groups of one kind."""
    known = [edge for edge in unit.inputs if edge.upstream in correlation.visible]
    if not known:
        return
    first, *others = known
    expected = correlation.visible[first.upstream].fields
    for edge in others:
        fields = correlation.visible[edge.upstream].fields
        if set(fields) != set(expected):
            yield unit.problem(
                "E314",
                f"'{edge.upstream}' and '{first.upstream}' have different correlation keys: "
                f"{_key_text(fields)} and {_key_text(expected)}",
                edge.location,
                help="declare the same correlation_key on the sources of all inputs",
                also=(
                    Label(first.location, "the other input"),
                    *_declarations(graph, correlation, (edge, first)),
                ),
            )


def _declarations(
    graph: Graph, correlation: Correlation, edges: Iterable[Edge]
) -> tuple[Label, ...]:
    inputs = [edge.upstream for edge in edges]
    before = [
        name
        for name in correlation.sources
        if name in inputs or set(inputs) & set(graph.descendants(name))
    ]
    return correlation.declared_in(_union(s.fields for s in correlation.sources.values()), before)


def _key_text(fields: tuple[str, ...]) -> str:
    return ", ".join(fields) or "none"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


# Undeclared columns


def check_unmapped(nodes: Mapping[str, Planned]) -> list[Diagnostic]:
    """The inputs of a merge all carry undeclared columns, or none does."""
    deciding: dict[str, PlannedSource | None] = {}
    problems: list[Diagnostic] = []
    for name, planned in nodes.items():
        incoming = [deciding.get(edge.upstream) for edge in planned.passed_on]
        match planned.shape:
            case Shape.READS:
                deciding[name] = planned
            case Shape.GROUPS:
                # Groups have no undeclared columns, so they go with either policy.
                deciding[name] = None
            case Shape.MERGES:
                deciding[name] = next((source for source in incoming if source), None)
                problems += _policy_problems(planned.unit, incoming)
            case Shape.PASSES | Shape.JOINS | Shape.WRITES:
                deciding[name] = incoming[0]
            case other:
                assert_never(other)
    return problems


def _policy_problems(unit: Unit, deciding: list[PlannedSource | None]) -> Iterator[Diagnostic]:
    known = [(edge, s) for edge, s in zip(unit.inputs, deciding, strict=True) if s]
    if not known:
        return
    (first_edge, first), *others = known
    for edge, source in others:
        if source.have_undeclared != first.have_undeclared:
            yield unit.problem(
                "E315",
                f"'{edge.upstream}' and '{first_edge.upstream}' disagree on undeclared columns: "
                f"one keeps them, the other does not",
                edge.location,
                help="set the same 'on_unmapped' on the sources of all inputs",
                also=(_policy_label(first), _policy_label(source)),
            )


def _policy_label(source: PlannedSource) -> Label:
    config = source.node.config
    name, mode = source.name, config.on_unmapped.mode
    if config.has("on_unmapped"):
        return Label(config.at("on_unmapped"), f"'{name}' uses '{mode}'")
    return Label(source.node.at("name"), f"'{name}' uses '{mode}', the default")
