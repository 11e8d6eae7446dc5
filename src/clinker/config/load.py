"""Files to models: one function per kind of file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from clinker.config.case import CaseFile
from clinker.config.channel import Channel
from clinker.config.columns import ColumnFile
from clinker.config.composition import Composition
from clinker.config.interpolate import Expanded, interpolate, verbatim
from clinker.config.layout import Layout
from clinker.config.model import Model
from clinker.config.nodes import PipelineNode
from clinker.config.pipeline import Pipeline
from clinker.config.shorthand import (
    Rewrite,
    spell_out_cases,
    spell_out_channel,
    spell_out_columns,
    spell_out_composition,
    spell_out_pipeline,
)
from clinker.config.toml import parse_toml
from clinker.config.tree import Entry, MappingNode, Node, ScalarNode, SequenceNode, find, plain
from clinker.config.workspace import Workspace
from clinker.config.yaml import parse_yaml
from clinker.diagnostics import Diagnostic, Label, Source, Span, in_reading_order
from clinker.frozen import frozen

M = TypeVar("M", bound=Model)

MAX_BYTES = 2 * 2**20
"""Far more than anyone writes, and still read while a user waits."""


@frozen
class Loaded(Generic[M]):
    """What a file says, or None if it has errors, and what there is to say about it."""

    value: M | None
    diagnostics: tuple[Diagnostic, ...]
    source: Source
    text: str
    """What was parsed: the file with its environment variables filled in."""
    readable: M | None = None
    """As much as could be read in spite of errors, so that the rest can be checked as well."""
    unread: frozenset[str] = frozenset()
    """The names of the nodes that are missing in `readable`."""
    tree: Node | None = None
    """The file as it was parsed, abbreviations spelled out; None if it cannot be parsed."""


Parse = Callable[[Expanded], tuple[Node | None, list[Diagnostic]]]


def load_pipeline(
    content: Source | bytes, env: Mapping[str, str], name: str = "pipeline.yaml"
) -> Loaded[Pipeline]:
    """A pipeline file; the only one in which environment variables are replaced."""
    source, problems = _read(content, name)
    if problems:
        return _failed(source, problems)
    text, problems = interpolate(source, env)
    if problems:
        return _failed(source, problems)
    return _load(Pipeline, text, parse_yaml, spell_out_pipeline, _without_wrong_nodes)


def load_channel(content: Source | bytes, name: str = "channel.yaml") -> Loaded[Channel]:
    return _load_verbatim(Channel, content, name, parse_yaml, spell_out_channel)


def load_cases(content: Source | bytes, name: str = "pipeline_test.yaml") -> Loaded[CaseFile]:
    return _load_verbatim(CaseFile, content, name, parse_yaml, spell_out_cases)


def load_composition(
    content: Source | bytes, name: str = "composition.comp.yaml"
) -> Loaded[Composition]:
    return _load_verbatim(Composition, content, name, parse_yaml, spell_out_composition)


def load_schema_file(content: Source | bytes, name: str = "schema.yaml") -> Loaded[Layout]:
    return _load_verbatim(Layout, content, name, parse_yaml)


def load_columns(content: Source | bytes, name: str = "schema.yaml") -> Loaded[ColumnFile]:
    return _load_verbatim(ColumnFile, content, name, parse_yaml, spell_out_columns)


def load_workspace(content: Source | bytes, name: str = "clinker.toml") -> Loaded[Workspace]:
    return _load_verbatim(Workspace, content, name, parse_toml)


def _load_verbatim(
    model: type[M],
    content: Source | bytes,
    name: str,
    parse: Parse,
    spell_out: Rewrite = lambda node: node,
) -> Loaded[M]:
    source, problems = _read(content, name)
    if problems:
        return _failed(source, problems)
    return _load(model, verbatim(source), parse, spell_out)


Rescue = Callable[[MappingNode], tuple[M | None, frozenset[str]]]


def _nothing(_: MappingNode) -> tuple[None, frozenset[str]]:
    return None, frozenset()


def _load(
    model: type[M],
    text: Expanded,
    parse: Parse,
    spell_out: Rewrite,
    rescue: Rescue[M] = _nothing,
) -> Loaded[M]:
    tree, problems = parse(text)
    if tree is None:
        return _failed(text.source, problems, text.text)
    tree = spell_out(tree)
    readable: M | None = None
    unread: frozenset[str] = frozenset()
    if isinstance(tree, MappingNode):
        try:
            readable = model.model_validate(plain(tree), context=problems)
        except ValidationError:
            # Every problem has been reported into the list by the mapping it was found in.
            assert problems
            readable, unread = rescue(tree)
    else:
        expected = "expected a mapping of keys to values at the top of the file"
        problems.append(Diagnostic("E007", expected, Label(tree.location)))
    value = None if any(problem.is_error for problem in problems) else readable
    found = tuple(in_reading_order(problems))
    return Loaded(value, found, text.source, text.text, readable, unread, tree)


def _without_wrong_nodes(tree: MappingNode) -> tuple[Pipeline | None, frozenset[str]]:
    """The pipeline made of the nodes that are right by themselves, and the names of the others."""
    nodes = tree.get("nodes")
    if not isinstance(nodes, SequenceNode):
        return None, frozenset()
    adapter: TypeAdapter[PipelineNode] = TypeAdapter(PipelineNode)
    right, wrong = [], set()
    for node in nodes.items:
        try:
            adapter.validate_python(plain(node), context=[])
            right.append(node)
        except ValidationError:
            name = find(node, "name")
            wrong.add(str(name.value) if isinstance(name, ScalarNode) else "")
    kept = SequenceNode(nodes.origin, nodes.place, tuple(right))
    entries = {**tree.entries, "nodes": Entry(tree.entries["nodes"].key, kept)}
    reduced = MappingNode(tree.origin, tree.place, entries)
    try:
        return Pipeline.model_validate(plain(reduced), context=[]), frozenset(wrong)
    except ValidationError:
        return None, frozenset()


def _failed(source: Source, problems: list[Diagnostic], text: str = "") -> Loaded[M]:
    return Loaded(None, tuple(in_reading_order(problems)), source, text or source.text)


def _read(content: Source | bytes, name: str) -> tuple[Source, list[Diagnostic]]:
    if isinstance(content, Source):
        size = len(content.text)
        source = content
    else:
        size = len(content)
        if size > MAX_BYTES:
            content = b""
        try:
            source = Source(name, content.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            return _not_utf8(name, content, error)
    if size > MAX_BYTES:
        label = Label(source.at(Span(0, 0)))
        return source, [Diagnostic("E009", "the file is larger than 2 MiB", label)]
    return source, []


def _not_utf8(
    name: str, content: bytes, error: UnicodeDecodeError
) -> tuple[Source, list[Diagnostic]]:
    source = Source(name, content.decode("utf-8-sig", errors="replace"))
    at = len(content[: error.start].decode("utf-8-sig", errors="replace"))
    byte = content[error.start]
    problem = Diagnostic(
        "E000",
        f"the file is not UTF-8: byte 0x{byte:02X} is not part of a character",
        Label(source.at(Span(at, at + 1))),
        help="save the file as UTF-8",
    )
    return source, [problem]
