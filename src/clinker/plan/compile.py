"""From a pipeline file to a plan: the one entry to compilation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from clinker.config import Layout, Loaded, Pipeline, load_pipeline
from clinker.cxl.check.modules import ModuleLibrary
from clinker.diagnostics import Diagnostic, in_reading_order
from clinker.frozen import frozen
from clinker.plan.analyses.correlation import Correlation, plan_correlation
from clinker.plan.analyses.documents import plan_documents
from clinker.plan.analyses.interchanges import check_interchanges
from clinker.plan.analyses.joins import Join, plan_joins
from clinker.plan.analyses.live import live_nodes
from clinker.plan.analyses.ordering import Orders, plan_order
from clinker.plan.analyses.ports import check_ports
from clinker.plan.analyses.projection import plan_projections
from clinker.plan.analyses.required import RequiredColumns, plan_required
from clinker.plan.analyses.settling import Settling, plan_settling
from clinker.plan.analyses.variable_flow import check_variable_flow
from clinker.plan.analyses.watermarks import EventTimes, plan_event_times
from clinker.plan.analyses.windows import plan_windows
from clinker.plan.files.dead_letters import DeadLetters, check_dead_letters, plan_dead_letters
from clinker.plan.files.discovery import check_patterns
from clinker.plan.files.file_schemas import MISSING, UNREADABLE, read_file_schemas
from clinker.plan.files.fixed_lines import check_written
from clinker.plan.files.layouts import load_layouts
from clinker.plan.files.paths import (
    check_destinations,
    check_overwritten_inputs,
    check_paths,
    check_templates,
    list_destinations,
    resolve,
)
from clinker.plan.files.storage import StorageSettings, load_storage
from clinker.plan.files.workspace import locate_workspace
from clinker.plan.graph.channels import check_channel, choose_channel, lay_over
from clinker.plan.graph.compositions import expand
from clinker.plan.graph.graph import Graph
from clinker.plan.graph.parameters import Parameters
from clinker.plan.graph.wiring import wire
from clinker.plan.nodes import OutputColumn, Planned
from clinker.plan.nodes.binder import Binder
from clinker.plan.nodes.binding import bind
from clinker.plan.nodes.window import Window
from clinker.plan.options import Options
from clinker.plan.variables import Registry, collect_declarations

DEFAULT_RULES_PATH = "rules"

T = TypeVar("T")


@frozen(kw_only=True)
class Analyses:
    """A graph and all that the engine needs to know of it."""

    graph: Graph
    nodes: Mapping[str, Planned]
    live: frozenset[str]
    """The nodes that a run computes."""
    correlation: Correlation
    settling: Settling
    orders: Orders
    windows: Mapping[str, Window]
    event_times: EventTimes
    joins: Mapping[str, Join]
    required: Mapping[str, RequiredColumns]
    documents: Mapping[str, tuple[str, ...]]
    """By source, what is wanted of the documents around its records."""
    projections: Mapping[str, tuple[OutputColumn, ...]]


@frozen(kw_only=True)
class Plan(Analyses):
    """A pipeline that compiled."""

    pipeline: Pipeline
    path: Path
    text: str
    """The pipeline file with its environment variables filled in."""
    options: Options
    channel: str
    registry: Registry
    parameters: Parameters
    layouts: Mapping[str, Layout]
    dead_letters: DeadLetters
    storage: StorageSettings

    @property
    def memory_limit(self) -> int:
        """What a run may use, in bytes: as the command line says, else the pipeline file."""
        return self.options.memory_limit or self.pipeline.pipeline.memory.limit


@frozen(kw_only=True)
class Draft:
    """What is known of a pipeline, be it wrong or not: what an editor asks."""

    loaded: Loaded[Pipeline]
    graph: Graph
    nodes: Mapping[str, Planned]
    registry: Registry
    modules: ModuleLibrary
    binder: Binder


@frozen
class Compiled:
    """The plan, or None if there are errors, and everything there is to say."""

    plan: Plan | None
    diagnostics: list[Diagnostic]
    draft: Draft | None = None
    """None if there is no pipeline to be read."""

    @property
    def lacks_inputs(self) -> bool:
        """Whether there is no plan for want of files that tell the columns of sources."""
        wrong = [finding.code for finding in self.diagnostics if finding.is_error]
        return bool(wrong) and set(wrong) <= {MISSING, UNREADABLE}


def compile_pipeline(content: bytes, name: str, options: Options) -> Compiled:
    """Compile a pipeline file, reporting everything wrong with it and what it refers to."""
    return compile_loaded(load_pipeline(content, options.variables, name), Path(name), options)


def compile_loaded(loaded: Loaded[Pipeline], path: Path, options: Options) -> Compiled:
    """Compile a pipeline that was read from `path`."""
    options = locate_workspace(options)
    storage = load_storage(options.root, options.read)
    if storage.settings:
        settings = storage.settings
        options = replace(options, objects=settings.objects, channels=settings.channels)
    findings = list(loaded.diagnostics)
    pipeline = loaded.value or loaded.readable
    if pipeline is None:
        return Compiled(None, findings)

    def keep(result: tuple[T, list[Diagnostic]]) -> T:
        findings.extend(result[1])
        return result[0]

    channel = keep(choose_channel(options))
    channel_name = channel.channel.name if channel else ""
    expansion = expand(pipeline, path, options, channel)
    findings += expansion.diagnostics
    graph = keep(wire(expansion.body, loaded.unread))
    graph = keep(read_file_schemas(graph, options))
    registry = keep(collect_declarations(pipeline, graph))
    if channel:
        registry = keep(lay_over(registry, channel, graph))
        findings += check_channel(channel, path, expansion.sites)

    modules = _modules(pipeline, options)
    bound = bind(graph, registry, modules, pipeline.pipeline)
    draft = Draft(
        loaded=loaded,
        graph=graph,
        nodes=bound.nodes,
        registry=registry,
        modules=modules,
        binder=bound.binder,
    )
    findings += bound.diagnostics
    findings += check_ports(graph, bound.nodes)
    findings += check_variable_flow(graph, bound.nodes, registry)
    findings += check_interchanges(bound.nodes)
    checked = keep(_check(pipeline, graph, bound.nodes))

    layouts = load_layouts(graph, options)
    findings += [*layouts.diagnostics, *storage.diagnostics]
    findings += check_written(bound.nodes, layouts.by_node)
    findings += _check_files(pipeline, graph, options, channel_name)

    findings = in_reading_order(findings)
    if any(d.is_error for d in findings) or storage.settings is None:
        return Compiled(None, findings, draft)
    plan = Plan(
        pipeline=pipeline,
        path=path,
        text=loaded.text,
        options=options,
        channel=channel_name,
        registry=registry,
        parameters=expansion.parameters,
        layouts=layouts.by_node,
        dead_letters=plan_dead_letters(pipeline, graph, options.base_dir, channel_name),
        storage=storage.settings,
        **vars(_analyse(pipeline, checked)),
    )
    return Compiled(plan, findings, draft)


def with_graph(plan: Plan, graph: Graph) -> Plan:
    """The plan with another graph, which is right as well: some of its nodes, or more outputs."""
    pipeline = plan.pipeline
    bound = bind(graph, plan.registry, _modules(pipeline, plan.options), pipeline.pipeline)
    checked, _ = _check(pipeline, graph, bound.nodes)
    return replace(plan, **vars(_analyse(pipeline, checked)))


@frozen
class _Checked:
    """A graph with what also finds mistakes."""

    graph: Graph
    nodes: Mapping[str, Planned]
    correlation: Correlation
    orders: Orders
    windows: Mapping[str, Window]
    event_times: EventTimes
    joins: Mapping[str, Join]


def _check(
    pipeline: Pipeline, graph: Graph, nodes: Mapping[str, Planned]
) -> tuple[_Checked, list[Diagnostic]]:
    """What can be said of a graph even if there are mistakes in it, and those that it finds."""
    correlation, findings = plan_correlation(graph, nodes, pipeline.error_handling)
    orders, of_orders = plan_order(nodes, correlation)
    windows, of_windows = plan_windows(graph, nodes, correlation, orders)
    times, of_times = plan_event_times(graph, nodes)
    joins = plan_joins(nodes)
    findings = [*findings, *of_orders, *of_windows, *of_times, *joins.diagnostics]
    return _Checked(graph, nodes, correlation, orders, windows, times, joins.by_node), findings


def _analyse(pipeline: Pipeline, checked: _Checked) -> Analyses:
    """All that there is to know of a graph without mistakes before data is read."""
    graph, nodes, correlation = checked.graph, checked.nodes, checked.correlation
    handling = pipeline.error_handling
    return Analyses(
        **vars(checked),
        live=live_nodes(graph, nodes, checked.windows.values()),
        settling=plan_settling(graph, nodes, correlation, checked.windows, handling),
        required=plan_required(nodes, checked.windows, correlation, handling),
        documents=plan_documents(graph, nodes),
        projections=plan_projections(nodes, correlation),
    )


def _check_files(
    pipeline: Pipeline, graph: Graph, options: Options, channel: str
) -> list[Diagnostic]:
    written = list_destinations(pipeline, graph, options, channel)
    return [
        *check_paths(pipeline, graph, options, channel),
        *check_templates(graph),
        *check_patterns(graph),
        *check_destinations(written),
        *check_overwritten_inputs(graph, options, written),
        *check_dead_letters(pipeline, graph, written),
    ]


def _modules(pipeline: Pipeline, options: Options) -> ModuleLibrary:
    written = pipeline.pipeline.rules_path or DEFAULT_RULES_PATH
    rules = options.rules_path or resolve(written, options.base_dir)
    if options.allow_absolute_paths:
        return ModuleLibrary(rules, read=options.read)
    return ModuleLibrary(rules, options.rules_path or options.root, options.read)
