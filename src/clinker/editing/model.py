"""A file as it was last understood: what stands where in it, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from clinker.config import (
    Composition,
    Loaded,
    Pipeline,
    load_channel,
    load_composition,
    load_schema_file,
    load_workspace,
)
from clinker.config.nodes import NodeBase
from clinker.config.tree import MappingNode, Node
from clinker.cxl.check.lone import lone_context
from clinker.cxl.check.modules import read_source
from clinker.cxl.check.typecheck import check
from clinker.cxl.syntax.parser import parse
from clinker.diagnostics import Diagnostic, Location, Source, Span
from clinker.editing.checking import check_content, for_file, look_at, modules_of
from clinker.editing.kinds import FileKind
from clinker.frozen import frozen
from clinker.plan.compile import Draft
from clinker.plan.graph.graph import Call
from clinker.plan.lone_composition import CALL
from clinker.plan.nodes import Planned
from clinker.plan.nodes.binder import Reading
from clinker.plan.options import Options


@frozen(eq=False)
class Model:
    """What is known of a file."""

    path: Path
    kind: FileKind
    text: str
    tree: Node | None = None
    draft: Draft | None = None
    nodes: tuple[NodeBase, ...] = ()
    """The nodes that the file itself holds, as far as they can be read."""
    lone: Reading | None = None
    """The program of a file that is nothing else."""

    @property
    def prefix(self) -> str:
        """What the names of its nodes begin with in the graph."""
        return f"{CALL}/" if self.kind is FileKind.COMPOSITION else ""

    @cached_property
    def units(self) -> Mapping[str, Planned]:
        """The planned nodes of the file, by the names they have in it."""
        if self.draft is None:
            return {}
        start = len(self.prefix)
        return {
            name[start:]: planned
            for name, planned in self.draft.nodes.items()
            if planned.unit.scope.prefix == self.prefix
        }

    @cached_property
    def readings(self) -> tuple[tuple[str, Reading], ...]:
        """All CXL in the file, each with the unit it belongs to."""
        if self.lone:
            return (("", self.lone),)
        return tuple(self._readings())

    def _readings(self) -> Iterator[tuple[str, Reading]]:
        for planned in self.units.values():
            assert self.draft is not None
            for reading in self.draft.binder.readings.get(planned.name, ()):
                if self.is_here(reading.source.at(Span(0, 0))):
                    yield planned.name, reading

    def is_here(self, location: Location) -> bool:
        """Whether a place is in this file."""
        return location.source.name == str(self.path)

    def call(self, name: str) -> Call | None:
        """The call that a composition node of the file is."""
        calls = self.draft.graph.calls.values() if self.draft else ()
        mine = (call for call in calls if call.outer.prefix == self.prefix)
        return next((call for call in mine if call.node.name == name), None)

    def node(self, name: str) -> NodeBase | None:
        return next((node for node in self.nodes if node.name == name), None)


@frozen(eq=False)
class Analysis:
    """What there is to say about a text, and what it means if that can be made out."""

    diagnostics: list[Diagnostic]
    model: Model | None


def analyse(path: Path, text: str, kind: FileKind, options: Options) -> Analysis:
    """Look at a text as the content of a file, saved or not."""
    content = text.encode("utf-8", "replace")
    options = for_file(path, options)
    match kind:
        case FileKind.PIPELINE | FileKind.COMPOSITION:
            compiled = look_at(path, content, kind, options)
            return Analysis(compiled.diagnostics, _model(path, text, kind, compiled.draft))
        case FileKind.PROGRAM:
            source = read_source(str(path), content)
            context = lone_context(modules_of(path, options))
            syntax = parse(source).program
            sketch = check(parse(source), context).sketch
            lone = Reading(source, context, syntax, sketch)
            findings = check_content(path, content, kind, options)
            return Analysis(findings, Model(path, kind, text, lone=lone))
        case _:
            findings = check_content(path, content, kind, options)
            tree = _TREES[kind](content, str(path)).tree
            return Analysis(findings, Model(path, kind, text, tree) if tree else None)


_TREES: Mapping[FileKind, Callable[[bytes, str], Loaded[Any]]] = {
    FileKind.CHANNEL: load_channel,
    FileKind.SCHEMA: load_schema_file,
    FileKind.WORKSPACE: load_workspace,
}


def _model(path: Path, text: str, kind: FileKind, draft: Draft | None) -> Model | None:
    loaded: Loaded[Pipeline] | Loaded[Composition]
    if kind is FileKind.COMPOSITION:
        loaded = load_composition(Source(str(path), text), str(path))
    elif draft:
        loaded = draft.loaded
    else:
        return None
    known = loaded.value or loaded.readable
    if known is None or not isinstance(loaded.tree, MappingNode):
        return None
    return Model(path, kind, text, loaded.tree, draft, known.nodes)
