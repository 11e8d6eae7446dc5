"""Everything that `--explain` shows, computed once; the forms only print it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import assert_never

from clinker.config.nodes import AggregateNode, CombineNode, OutputNode, RouteNode
from clinker.config.nodes.aggregate import Hopping, Session, TimeWindow, Tumbling
from clinker.cxl.run.window_spec import FrameSpec
from clinker.cxl.types import Type
from clinker.plan.analyses.correlation import Retraction
from clinker.plan.analyses.joins import Step
from clinker.plan.analyses.ordering import (
    AggregateStrategy,
    Ordering,
    Partitioning,
    key_text,
    sort_keys,
)
from clinker.plan.analyses.ordering import Step as OrderStep
from clinker.plan.analyses.required import RequiredColumns
from clinker.plan.compile import Plan
from clinker.plan.explain.expressions import CxlFacts, cxl_facts, shown
from clinker.plan.explain.handoffs import Crossing, HandOff, hand_offs
from clinker.plan.explain.operators import Operator, operator
from clinker.plan.explain.storage import StorageFacts, storage_facts
from clinker.plan.explain.volumes import Volume, discovered, volumes
from clinker.plan.files.paths import display_name, known_values, pipeline_hash, render, split_name
from clinker.plan.nodes import Planned, Shape
from clinker.plan.nodes.window import Window

_ARBITRATION = {
    "pause": "BackPressurePreferred -> Priority",
    "spill": "Priority",
    "both": "BackPressurePreferred -> LargestFirst",
}


@dataclass(frozen=True)
class NodeSql:
    """What a node asks of Spark."""

    shared: tuple[str, ...]
    """Values that are computed once and used several times, each `text AS name`."""
    lines: tuple[str, ...]
    """What is kept, rejected, emitted and compared."""
    interpreted: tuple[str, ...]
    """Expressions without a form in SQL; the interpreter computes them, record by record."""


@dataclass(frozen=True)
class NodeFacts:
    """One node of the plan."""

    index: int
    name: str
    kind: str
    operator: Operator
    call: str | None
    """The composition call it belongs to."""
    can_back_pressure: bool
    """Whether it can wait with its records until there is room for them."""
    is_init: bool
    """Whether it runs before the main pass."""
    depends_on: tuple[str, ...]
    """The slugs of the nodes it reads from."""
    columns: Mapping[str, Type]
    has_more_columns: bool
    ordering: Ordering
    partitioning: Partitioning
    keys: tuple[str, ...]
    """The shadow columns of its correlation keys."""
    hand_offs: tuple[HandOff, ...]
    volume: Volume
    required: RequiredColumns | None
    """What is read of a source."""
    cxl: CxlFacts | None
    sql: NodeSql | None
    aggregate: AggregateStrategy | None

    @property
    def slug(self) -> str:
        return slug(self.kind, self.name)

    @property
    def title(self) -> str:
        return self.kind.capitalize()

    @property
    def label(self) -> str:
        """The name with the way the node is carried out."""
        return label(self.kind, self.name, self.operator)

    @property
    def buffer(self) -> str:
        crosses = any(out.crossing is not Crossing.PIPELINED for out in self.hand_offs)
        return "materialized" if crosses else "streaming"


@dataclass(frozen=True)
class OutputFacts:
    """A file that is written."""

    node: str
    path: str
    if_exists: str
    write_meta: bool
    split: str | None
    """The name of the first of several files."""


@dataclass(frozen=True)
class BranchFacts:
    name: str
    condition: str | None
    """None for the default branch."""
    consumers: tuple[str, ...]


@dataclass(frozen=True)
class RouteFacts:
    node: str
    mode: str
    branches: tuple[BranchFacts, ...]


@dataclass(frozen=True)
class ComparisonFacts:
    probe: str
    op: str
    build: str
    text: str


@dataclass(frozen=True)
class StepFacts:
    """One input joined to those before it."""

    build: str
    strategy: str
    on_spark: str
    equalities: tuple[ComparisonFacts, ...]
    ranges: tuple[ComparisonFacts, ...]
    residuals: tuple[str, ...]


@dataclass(frozen=True)
class CombineFacts:
    node: str
    driver: str
    inputs: Mapping[str, str]
    """The node behind each qualifier."""
    steps: tuple[StepFacts, ...]
    match: str
    on_miss: str
    propagate_ck: str | tuple[str, ...]
    """`driver`, `all`, or the named fields."""


@dataclass(frozen=True)
class WindowFacts:
    node: str
    window: Window
    root: str
    """The slug of the node whose records it covers."""
    frame: str


@dataclass(frozen=True)
class TimeWindowFacts:
    node: str
    shape: str
    allowed_lateness: str | None
    watermarks: Mapping[str, str]
    """The event-time column of each source that closes the windows."""


@dataclass(frozen=True)
class RelaxedAggregate:
    node: str
    retraction: Retraction
    omitted: tuple[str, ...]
    synthetic_key: str


@dataclass(frozen=True)
class BufferedWindow:
    node: str
    root: str
    partition_by: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True)
class RetractionFacts:
    """How failing records are taken back out of results that already contain them."""

    fanout_policy: str
    aggregates: tuple[RelaxedAggregate, ...]
    windows: tuple[BufferedWindow, ...]


@dataclass(frozen=True)
class MemoryFacts:
    limit: int
    limit_from: str
    threads: int | None
    threads_from: str
    batch_size: int
    chunk_size: int | None


@dataclass(frozen=True)
class Facts:
    """A plan as it is explained."""

    pipeline: str
    channel: str
    compositions: Mapping[str, str]
    """By call, the composition file it uses."""
    nodes: tuple[NodeFacts, ...]
    outputs: tuple[OutputFacts, ...]
    dead_letters: Mapping[str, str]
    """By source, the file of its rejected records."""
    arbitration: str
    routes: tuple[RouteFacts, ...]
    combines: tuple[CombineFacts, ...]
    windows: tuple[WindowFacts, ...]
    time_windows: tuple[TimeWindowFacts, ...]
    retraction: RetractionFacts | None
    memory: MemoryFacts
    storage: StorageFacts

    @property
    def mode(self) -> str:
        return "TwoPass" if self.windows else "Streaming"

    @property
    def buffer_edges(self) -> tuple[HandOff, ...]:
        return tuple(out for node in self.nodes for out in node.hand_offs if out.slot is not None)

    def node(self, name: str) -> NodeFacts:
        return next(node for node in self.nodes if node.name == name)

    def count(self, kind: str) -> int:
        return sum(node.kind == kind for node in self.nodes)


def slug(kind: str, name: str) -> str:
    """A node's name with its kind, as plans have always written it."""
    return f"{_slug_kind(kind)}.{name}"


def _slug_kind(kind: str) -> str:
    return "aggregation" if kind == "aggregate" else kind


def label(kind: str, name: str, operator: Operator) -> str:
    shown_kind = _slug_kind(kind)
    if operator.strategy == "sort":
        return f"[sort] {name}"
    return f"[{shown_kind}{':' * bool(operator.strategy)}{operator.strategy}] {name}"


def facts(plan: Plan, now: datetime, sql: Mapping[str, NodeSql]) -> Facts:
    """The facts about a plan. Files are looked at from outside, none is opened."""
    operators = {unit.name: operator(plan, unit) for unit in plan.graph}
    files = discovered(plan, now)
    estimates = volumes(plan, operators, files)
    labels = {unit.name: label(unit.kind, unit.name, operators[unit.name]) for unit in plan.graph}
    base_dir = plan.options.base_dir
    return Facts(
        pipeline=plan.pipeline.pipeline.name,
        channel=plan.channel,
        compositions={call.name: call.node.use for call in plan.graph.calls.values()},
        nodes=tuple(_nodes(plan, operators, estimates, sql)),
        outputs=tuple(_outputs(plan)),
        dead_letters={
            source: display_name(path, base_dir)
            for source, path in plan.dead_letters.paths.items()
            if path
        },
        arbitration=_ARBITRATION[plan.pipeline.pipeline.memory.backpressure],
        routes=tuple(_routes(plan)),
        combines=tuple(_combines(plan)),
        windows=tuple(_windows(plan)),
        time_windows=tuple(_time_windows(plan)),
        retraction=_retraction(plan),
        memory=_memory(plan),
        storage=storage_facts(plan, operators, estimates, labels, files),
    )


# Nodes


def _nodes(
    plan: Plan,
    operators: Mapping[str, Operator],
    estimates: Mapping[str, Volume],
    sql: Mapping[str, NodeSql],
) -> Iterator[NodeFacts]:
    passed_on = hand_offs(plan, operators)
    units = plan.graph.units
    for index, unit in enumerate(plan.graph):
        planned = plan.nodes[unit.name]
        yield NodeFacts(
            index=index,
            name=unit.name,
            kind=unit.kind,
            operator=operators[unit.name],
            call=unit.scope.prefix.removesuffix("/") or None,
            can_back_pressure=planned.shape is Shape.READS,
            is_init=unit.node.init_phase is not None,
            depends_on=tuple(
                slug(units[edge.upstream].kind, edge.upstream) for edge in unit.inputs
            ),
            columns=_columns(planned),
            has_more_columns=planned.row.is_open,
            ordering=_ordering(plan, planned),
            partitioning=plan.orders.partitionings[unit.name],
            keys=plan.correlation.visible[unit.name].columns,
            hand_offs=tuple(out for out in passed_on if out.producer == unit.name),
            volume=estimates[unit.name],
            required=plan.required.get(unit.name),
            cxl=cxl_facts(plan, unit),
            sql=sql.get(unit.name),
            aggregate=plan.orders.strategies.get(unit.name),
        )


def _ordering(plan: Plan, planned: Planned) -> Ordering:
    """The order of the records that leave a node; for an output, of those it writes."""
    incoming = plan.orders.orderings[planned.name]
    if planned.shape is not Shape.WRITES or not planned.node.config.sort_order:
        return incoming
    keys = sort_keys(planned.node.config.sort_order)
    text = f"'{planned.name}' sorts its records by {key_text(keys)}"
    step = OrderStep(text, planned.node.config.key_at("sort_order"))
    return Ordering(keys, (*incoming.history, step))


def _columns(planned: Planned) -> Mapping[str, Type]:
    """What leaves a node; for an output, what it writes."""
    if planned.shape is Shape.WRITES:
        return {column.name: column.type for column in planned.columns}
    return planned.row.columns


def _outputs(plan: Plan) -> Iterator[OutputFacts]:
    for unit, node in plan.graph.of(OutputNode):
        config = node.config
        values = replace(
            known_values(plan.graph, unit, plan.options, plan.channel),
            pipeline_hash=pipeline_hash(plan.text),
            source_file="{source_file}",
            source_path="{source_path}",
        )
        path = render(config.path, values)
        if_exists = config.if_exists
        if plan.options.force and if_exists == "error":
            if_exists = "overwrite"
        split = split_name(config.split.naming, path, 1) if config.split else None
        yield OutputFacts(unit.name, path, if_exists, config.write_meta, split)


def _routes(plan: Plan) -> Iterator[RouteFacts]:
    for unit, node in plan.graph.of(RouteNode):
        config = node.config
        readers = [(consumer.name, edge.port) for consumer, edge in plan.graph.consumers(unit.name)]
        yield RouteFacts(
            unit.name,
            config.mode,
            tuple(
                BranchFacts(
                    branch,
                    shown(config.text("conditions", branch))
                    if branch in config.conditions
                    else None,
                    tuple(name for name, port in readers if port == branch),
                )
                for branch in config.branches
            ),
        )


# Joins


def _combines(plan: Plan) -> Iterator[CombineFacts]:
    for unit, node in plan.graph.of(CombineNode):
        join, propagate = plan.joins[unit.name], node.config.propagate_ck
        yield CombineFacts(
            node=unit.name,
            driver=join.driver,
            inputs={edge.label: edge.upstream for edge in unit.inputs},
            steps=tuple(_step(node, step) for step in join.steps),
            match=node.config.match,
            on_miss=node.config.on_miss,
            propagate_ck=propagate.named if propagate.mode == "named" else propagate.mode,
        )


def _step(node: CombineNode, step: Step) -> StepFacts:
    where = node.config.text("where")

    def compared(kind: str) -> tuple[ComparisonFacts, ...]:
        return tuple(
            ComparisonFacts(
                shown(where, each.probe.location),
                each.op.value,
                shown(where, each.build.location),
                shown(where, each.written.location),
            )
            for each in getattr(step, kind)
        )

    return StepFacts(
        step.build,
        step.strategy.value,
        step.strategy.on_spark,
        compared("equalities"),
        compared("ranges"),
        tuple(shown(where, residual.location) for residual in step.residuals),
    )


# Windows


def _windows(plan: Plan) -> Iterator[WindowFacts]:
    for name, window in plan.windows.items():
        root = plan.graph.units[window.root]
        yield WindowFacts(name, window, slug(root.kind, root.name), _frame(window.spec.frame))


def _frame(frame: FrameSpec) -> str:
    """A frame as it is configured."""

    def bound(offset: float | None, unbounded: str) -> str:
        if offset is None:
            return unbounded
        if not offset:
            return "current_row"
        return f"{abs(offset):g} {'preceding' if offset < 0 else 'following'}"

    start, end = bound(frame.start, "unbounded_preceding"), bound(frame.end, "unbounded_following")
    return f"{frame.unit.name.lower()} {start}..{end}"


def _time_windows(plan: Plan) -> Iterator[TimeWindowFacts]:
    for unit, node in plan.graph.of(AggregateNode):
        if node.config.time_window:
            sources = plan.event_times.time_windows[unit.name]
            lateness = node.config.allowed_lateness
            yield TimeWindowFacts(
                unit.name,
                _describe(node.config.time_window),
                str(lateness) if lateness is not None else None,
                {source: plan.event_times.columns[source] for source in sources},
            )


def _describe(window: TimeWindow) -> str:
    match window.shape:
        case Tumbling() as tumbling:
            return f"tumbling, {tumbling.size}"
        case Hopping() as hopping:
            return f"hopping, {hopping.size} every {hopping.slide}"
        case Session() as session:
            return f"session, ended by a gap of {session.gap}"
        case None:
            raise AssertionError("a time window without a shape is no valid configuration")
        case other:
            assert_never(other)


# Retraction


def _retraction(plan: Plan) -> RetractionFacts | None:
    aggregates = tuple(
        RelaxedAggregate(
            name,
            plan.correlation.aggregates[name].retraction,
            plan.correlation.aggregates[name].omitted.columns,
            f"$ck.aggregate.{name}",
        )
        for name in plan.correlation.relaxed
    )
    windows = tuple(
        BufferedWindow(name, window.root, window.spec.group_by, window.reads)
        for name, window in plan.windows.items()
        if window.buffered
    )
    if not aggregates and not windows:
        return None
    policy = plan.pipeline.error_handling.correlation_fanout_policy
    return RetractionFacts(policy, aggregates, windows)


# Resources


def _memory(plan: Plan) -> MemoryFacts:
    settings, options = plan.pipeline.pipeline, plan.options
    memory, concurrency = settings.memory, settings.concurrency
    limit, limit_from = memory.limit, "memory.limit" if memory.has("limit") else "default"
    if options.memory_limit is not None:
        limit, limit_from = options.memory_limit, "--memory-limit"
    threads = concurrency.threads
    threads_from = "default" if threads is None else "concurrency.threads"
    if options.threads is not None:
        threads, threads_from = options.threads, "--threads"
    return MemoryFacts(
        limit, limit_from, threads, threads_from, settings.batch_size, concurrency.chunk_size
    )
