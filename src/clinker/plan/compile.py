"""From a pipeline file to a plan: the one entry to compilation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clinker.config import Pipeline, load_pipeline
from clinker.cxl.modules import ModuleLibrary
from clinker.diagnostics import Diagnostic, in_reading_order
from clinker.plan.binding import bind
from clinker.plan.graph import Graph
from clinker.plan.options import Options
from clinker.plan.planned import Planned
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
    graph, wiring_problems = wire(pipeline.nodes)
    registry = declared(pipeline)
    rules = options.rules_path or options.base_dir / (
        pipeline.pipeline.rules_path or DEFAULT_RULES_PATH
    )
    bound = bind(graph, registry, ModuleLibrary(rules))
    diagnostics = in_reading_order([*loaded.diagnostics, *wiring_problems, *bound.diagnostics])
    if any(d.is_error for d in diagnostics):
        return Compiled(None, diagnostics)
    return Compiled(Plan(pipeline, graph, bound.nodes, registry, options), diagnostics)
