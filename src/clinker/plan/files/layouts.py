"""Layouts: what schema files say about the lines of fixed-width and other files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path

from clinker.config import Layout, Loaded, load_schema_file
from clinker.config.formats.base import FormatOptions
from clinker.config.layout import LayoutRef, positions
from clinker.config.nodes import OutputNode, SourceNode
from clinker.diagnostics import Diagnostic, Label
from clinker.frozen import frozen
from clinker.plan.files.discovery import name_base_dir, suggest_neighbour
from clinker.plan.files.fixed_lines import complete
from clinker.plan.files.paths import display_name, forbidden, locate
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.options import Options
from clinker.stores.urls import FilePath, ObjectUrl


@frozen
class Layouts:
    """The layouts of fixed-width and other files by the node that uses them."""

    by_node: Mapping[str, Layout]
    diagnostics: list[Diagnostic] = field(default_factory=list)


def load_layouts(graph: Graph, options: Options) -> Layouts:
    """Every layout of the pipeline, inline or from its schema file."""
    by_node: dict[str, Layout] = {}
    diagnostics: list[Diagnostic] = []
    loaded: dict[FilePath, Loaded[Layout]] = {}

    def keep(result: tuple[Layout, list[Diagnostic]]) -> Layout:
        diagnostics.extend(result[1])
        return result[0]

    for unit, ref, format in _references(graph):
        if ref.inline is not None:
            by_node[unit.name] = ref.inline
            if format.needs_layout and not any(_missing_widths(ref.inline)):
                by_node[unit.name] = keep(complete(unit, ref.inline))
            continue
        path = locate(ref.path or "", options.base_dir)
        if forbidden(ref.path or "", options):
            continue
        if path not in loaded:
            try:
                content = _content(path, options)
            except OSError as problem:
                diagnostics.append(_unreadable(unit, ref, problem, options.base_dir))
                continue
            name = display_name(path, options.base_dir, options.root)
            loaded[path] = load_schema_file(content, name)
            diagnostics += loaded[path].diagnostics
        layout = loaded[path].value
        if layout:
            found = list(_layout_problems(unit, ref, format, layout))
            diagnostics += found
            if format.needs_layout and not found and not any(_missing_widths(layout)):
                layout = keep(complete(unit, layout))
            by_node[unit.name] = layout
    return Layouts(by_node, diagnostics)


def _content(path: FilePath, options: Options) -> bytes:
    return options.read_object(path) if isinstance(path, ObjectUrl) else options.read(path)


def _missing_widths(layout: Layout) -> Iterator[Diagnostic]:
    for each in layout.all_fields:
        yield from positions(layout.resolved(each))


def _references(graph: Graph) -> Iterator[tuple[Unit, LayoutRef, FormatOptions]]:
    """The nodes that refer to a layout, each with the format of its files."""
    for unit, source in graph.of(SourceNode):
        if source.config.format_schema:
            yield unit, source.config.format_schema, source.config.format
    for unit, output in graph.of(OutputNode):
        if output.config.layout:
            yield unit, output.config.layout, output.config.format


def _unreadable(unit: Unit, ref: LayoutRef, problem: OSError, base_dir: Path) -> Diagnostic:
    missing = isinstance(problem, FileNotFoundError)
    reason = "does not exist" if missing else f"cannot be read: {problem.strerror}"
    return unit.problem(
        "E071",
        f"the schema file '{ref.path}' {reason}",
        ref.at("path"),
        help=suggest_neighbour(ref.path or "", base_dir) or name_base_dir(base_dir),
    )


def _layout_problems(
    unit: Unit, ref: LayoutRef, format: FormatOptions, layout: Layout
) -> Iterator[Diagnostic]:
    wanted = format.name
    used_here = Label(ref.at("path"), f"used by '{unit.name}'")
    if layout.format is not None and layout.format != wanted:
        yield unit.problem(
            "E021",
            f"the layout is for {layout.format}, but '{unit.name}' is {wanted}",
            layout.at("format"),
            help=f"write 'format: {wanted}', or use another schema file",
            also=(used_here,),
        )
    elif format.needs_layout and layout.format is None:
        for each in layout.all_fields:
            for problem in positions(layout.resolved(each)):
                trail = (*problem.secondary, used_here, *unit.scope.trail)
                yield replace(problem, secondary=trail)
