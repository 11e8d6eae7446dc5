"""Pipelines given as text, compiled or only bound, and findings in the short form of the tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from clinker.config import Pipeline, load_pipeline
from clinker.cxl.check.modules import ModuleLibrary
from clinker.diagnostics import Diagnostic, in_reading_order
from clinker.plan.compile import Compiled, compile_pipeline
from clinker.plan.graph.compositions import Body
from clinker.plan.graph.graph import CallScope, Graph
from clinker.plan.graph.wiring import wire
from clinker.plan.nodes import Planned
from clinker.plan.nodes.binding import bind
from clinker.plan.options import Options
from clinker.plan.variables import Registry


def compiled(text: str) -> Compiled:
    """What the compiler says about a whole pipeline file."""
    with tempfile.TemporaryDirectory() as folder:
        return compile_pipeline(dedent(text).encode(), "pipeline.yaml", Options(Path(folder)))


@dataclass(frozen=True)
class BoundPipeline:
    """A pipeline after binding, the input of every further analysis."""

    pipeline: Pipeline
    graph: Graph
    nodes: Mapping[str, Planned]


def wired(nodes: str, error_handling: str = "{}") -> tuple[Pipeline, Graph]:
    """A pipeline of these nodes and its graph; their first line is line 4 of the file."""
    head = f"pipeline: {{ name: p }}\nerror_handling: {error_handling}\nnodes:\n"
    loaded = load_pipeline(f"{head}{nodes}".encode(), {})
    assert loaded.value, brief(loaded.diagnostics)
    graph, _ = wire(Body(CallScope(), loaded.value.nodes, {}))
    return loaded.value, graph


def bound(nodes: str, error_handling: str = "{}") -> BoundPipeline:
    """The same after binding."""
    pipeline, graph = wired(nodes, error_handling)
    planned = bind(graph, Registry(), ModuleLibrary(Path("rules")), pipeline.pipeline).nodes
    return BoundPipeline(pipeline, graph, planned)


def brief(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """`code line:column message` of each, in reading order."""
    lines = []
    for diagnostic in in_reading_order(diagnostics):
        assert diagnostic.primary
        place = diagnostic.primary.location.start
        lines.append(f"{diagnostic.code} {place.line}:{place.column} {diagnostic.message}")
    return lines


def notes(diagnostic: Diagnostic) -> list[str]:
    """`line:column text` of the other places a finding points at."""
    places = ((label.location.start, label.text) for label in diagnostic.secondary)
    return [f"{place.line}:{place.column} {text}" for place, text in places]
