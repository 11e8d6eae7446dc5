"""From a pipeline file to a plan: the one entry to compilation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from clinker.config import Layout, Pipeline, load_pipeline
from clinker.cxl.modules import ModuleLibrary
from clinker.diagnostics import Diagnostic, in_reading_order
from clinker.plan.binding import bind
from clinker.plan.channels import check_channel, chosen_channel, overlaid
from clinker.plan.compositions import check_ports, expand
from clinker.plan.dead_letters import DeadLetters, check_dead_letters, dead_letters
from clinker.plan.files import check_patterns, load_layouts
from clinker.plan.graph import Graph
from clinker.plan.joins import Join, plan_joins
from clinker.plan.options import Options
from clinker.plan.paths import check_destinations, check_paths, check_templates, destinations
from clinker.plan.planned import Planned
from clinker.plan.provenance import Parameters
from clinker.plan.storage import StorageSettings, load_storage
from clinker.plan.variable_flow import check_variable_flow
from clinker.plan.variables import Registry, declared
from clinker.plan.wiring import wire

DEFAULT_RULES_PATH = "rules"


@dataclass(frozen=True)
class Plan:
    """A pipeline that compiled."""

    pipeline: Pipeline
    graph: Graph
    nodes: Mapping[str, Planned]
    registry: Registry
    options: Options
    joins: Mapping[str, Join]
    layouts: Mapping[str, Layout]
    dead_letters: DeadLetters
    storage: StorageSettings
    channel: str
    parameters: Parameters


@dataclass(frozen=True)
class Compiled:
    """The plan, or None if there are errors, and everything there is to say."""

    plan: Plan | None
    diagnostics: list[Diagnostic]


def compile_pipeline(content: bytes, name: str, options: Options) -> Compiled:
    loaded = load_pipeline(content, options.variables, name)
    if loaded.value is None:
        return Compiled(None, list(loaded.diagnostics))
    pipeline = loaded.value
    path = Path(name)
    channel, channel_problems = chosen_channel(options)
    expansion = expand(pipeline, path, options, channel)
    graph, wiring_problems = wire(expansion.body)
    registry, variable_problems = declared(pipeline, graph)
    if channel:
        registry, overlay_problems = overlaid(registry, channel, graph)
        channel_problems += overlay_problems
        channel_problems += check_channel(channel, path, expansion.sites)
    rules = options.rules_path or options.base_dir / (
        pipeline.pipeline.rules_path or DEFAULT_RULES_PATH
    )
    bound = bind(graph, registry, ModuleLibrary(rules))
    joins = plan_joins(graph, bound.nodes)
    layouts = load_layouts(graph, options)
    storage = load_storage(options.base_dir)
    channel_name = channel.channel.name if channel else ""
    written = destinations(pipeline, graph, options, channel=channel_name)
    diagnostics = in_reading_order(
        [
            *loaded.diagnostics,
            *channel_problems,
            *expansion.diagnostics,
            *wiring_problems,
            *variable_problems,
            *bound.diagnostics,
            *check_ports(graph, bound.nodes),
            *check_variable_flow(graph, bound.nodes, registry),
            *joins.diagnostics,
            *check_paths(pipeline, graph, options, channel_name),
            *check_templates(graph),
            *check_destinations(written),
            *check_dead_letters(pipeline, graph, written),
            *check_patterns(graph),
            *layouts.diagnostics,
            *storage.diagnostics,
        ]
    )
    if any(d.is_error for d in diagnostics) or storage.settings is None:
        return Compiled(None, diagnostics)
    plan = Plan(
        pipeline,
        graph,
        bound.nodes,
        registry,
        options,
        joins.by_node,
        layouts.by_node,
        dead_letters(pipeline, graph, options.base_dir),
        storage.settings,
        channel_name,
        expansion.parameters,
    )
    return Compiled(plan, diagnostics)
