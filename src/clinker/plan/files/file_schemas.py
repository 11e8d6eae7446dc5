"""Schemas of sources that declare none, since their files say which columns they have.

Only what must be known to compile is read of a file, and only of the first one: what others have
besides is undeclared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from clinker.config.nodes import SourceNode
from clinker.cxl.failure import printable
from clinker.diagnostics import Diagnostic
from clinker.frozen import frozen
from clinker.plan.files.discovery import check_patterns, discover, input_problems
from clinker.plan.files.paths import check_source_paths
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.options import Options

if TYPE_CHECKING:
    from clinker.cxl.types import Type
    from clinker.formats.common.read_spec import FormatError

UNREADABLE = "E222"
MISSING = "E216"


@frozen
class _Found:
    """The columns of a file, or why they cannot be known."""

    columns: Mapping[str, Type] | None = None
    problems: tuple[Diagnostic, ...] = ()


def read_file_schemas(graph: Graph, options: Options) -> tuple[Graph, list[Diagnostic]]:
    """The graph with the columns of the files that its sources read, where they declare none."""
    units: dict[str, Unit] = {}
    problems: list[Diagnostic] = []
    for unit, source in graph.of(SourceNode):
        if source.config.columns is not None or not source.config.format.tells_schema:
            continue
        found = _find(unit, source, options)
        problems += found.problems
        if found.columns:
            config = source.config.with_columns(found.columns)
            units[unit.name] = replace(unit, node=source.model_copy(update={"config": config}))
    if not units:
        return graph, problems
    return replace(graph, units={**graph.units, **units}), problems


def _find(unit: Unit, source: SourceNode, options: Options) -> _Found:
    alone = Graph({unit.name: unit})
    if check_patterns(alone) or check_source_paths(alone, options):
        return _Found()  # which is told elsewhere
    config = source.config
    discovery = discover(unit.name, config, options, datetime.now(UTC))
    if not discovery.files:
        found = input_problems(unit, config, discovery, options)
        # Warnings are told when the files are looked for again, before they are read.
        return _Found(None, tuple(problem for problem in found if problem.is_error))
    # Most pipelines have no such source, and do without what it takes to read a file.
    from clinker.formats.common.read_spec import FormatError
    from clinker.formats.registry import format_named

    read_schema = format_named(config.type).read_schema
    assert read_schema, f"{config.type} cannot tell the columns of a file"
    try:
        return _Found(read_schema(str(discovery.files[0].path)))
    except FormatError as problem:
        return _Found(None, (_unreadable(unit, source, discovery.files[0].name, problem),))


def _unreadable(unit: Unit, source: SourceNode, name: str, problem: FormatError) -> Diagnostic:
    message = f"'{printable(name)}' does not tell its columns: it {problem.message}"
    return unit.problem(UNREADABLE, message, source.config.at("type"), help=problem.help)
