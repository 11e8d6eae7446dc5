"""The facts about a plan, gathered once for all forms of `--explain`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import assert_never

from clinker.config.names import FanoutPolicy
from clinker.config.nodes import AggregateNode, CombineNode, OutputNode, RouteNode
from clinker.config.nodes.aggregate import Hopping, Session, TimeWindow, Tumbling
from clinker.cxl.run.window_spec import FrameSpec
from clinker.cxl.types import STRING, Type
from clinker.diagnostics.addresses import mask
from clinker.plan.analyses.joins import Step
from clinker.plan.analyses.ordering import Ordering, key_text, sort_keys
from clinker.plan.analyses.ordering import Step as OrderStep
from clinker.plan.compile import Plan
from clinker.plan.explain.expressions import describe_cxl, shown
from clinker.plan.explain.facts import (
    BranchFacts,
    BufferedWindow,
    CombineFacts,
    ComparisonFacts,
    Facts,
    MemoryFacts,
    NodeFacts,
    OutputFacts,
    RelaxedAggregate,
    RetractionFacts,
    RouteFacts,
    ServiceFacts,
    StepFacts,
    TimeWindowFacts,
    WindowFacts,
    label,
    slug,
)
from clinker.plan.explain.handoffs import hand_offs
from clinker.plan.explain.operators import Operator, operator
from clinker.plan.explain.storage import describe_storage
from clinker.plan.explain.volumes import Volume, estimate_volumes
from clinker.plan.files.discovery import discover_all
from clinker.plan.files.paths import display_name, known_values, pipeline_hash, render, split_name
from clinker.plan.nodes import Planned, Shape

_ARBITRATION = {
    "pause": "BackPressurePreferred -> Priority",
    "spill": "Priority",
    "both": "BackPressurePreferred -> LargestFirst",
}


def gather_facts(plan: Plan, now: datetime, interpreted: Mapping[str, tuple[str, ...]]) -> Facts:
    """The facts about a plan. Files are looked at from outside, none is opened."""
    operators = {unit.name: operator(plan, unit) for unit in plan.graph}
    files = discover_all(plan.graph, plan.options, now)
    estimates = estimate_volumes(plan, operators, files)
    labels = {unit.name: label(unit.kind, unit.name, operators[unit.name]) for unit in plan.graph}
    base_dir = plan.options.base_dir
    return Facts(
        pipeline=plan.pipeline.pipeline.name,
        channel=plan.channel,
        compositions={call.name: call.node.use for call in plan.graph.calls.values()},
        nodes=tuple(_nodes(plan, operators, estimates, interpreted)),
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
        storage=describe_storage(plan, operators, estimates, labels, files),
    )


# Nodes


def _nodes(
    plan: Plan,
    operators: Mapping[str, Operator],
    estimates: Mapping[str, Volume],
    interpreted: Mapping[str, tuple[str, ...]],
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
            service=_service(planned),
            required=plan.required.get(unit.name),
            sections=_read_sections(plan, unit.name),
            cxl=describe_cxl(plan, unit),
            interpreted=interpreted.get(unit.name, ()),
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


def _read_sections(plan: Plan, name: str) -> Mapping[str, Type]:
    """What a source reads of the documents around its records; a whole header is text."""
    planned = plan.nodes[name]
    if planned.shape is not Shape.READS:
        return {}
    text = STRING.nullable()
    return {key: planned.sections.get(key, text) for key in plan.documents[name]}


def _service(planned: Planned) -> ServiceFacts | None:
    if planned.shape is not Shape.READS:
        return None
    transport = planned.node.config.transport
    if transport.kind != "rest":
        return None
    return ServiceFacts(
        url=mask(transport.url),
        pagination=transport.pagination.strategy,
        auth=transport.auth.scheme,
        max_pages=transport.max_pages,
        max_records=transport.max_records,
    )


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
    return RetractionFacts(policy, _own_policies(plan), aggregates, windows)


def _own_policies(plan: Plan) -> dict[str, FanoutPolicy]:
    """The fan-out policies of nodes that have one of their own."""
    found: dict[str, FanoutPolicy] = {}
    for name, planned in plan.nodes.items():
        match planned.shape:
            case Shape.READS | Shape.JOINS | Shape.WRITES:
                own = planned.node.config.correlation_fanout_policy
                has_effect = planned.shape is not Shape.READS or name in plan.correlation.sources
                found |= {name: own} if own and has_effect else {}
            case Shape.PASSES | Shape.MERGES | Shape.GROUPS:
                pass
            case other:
                assert_never(other)
    return found


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
