"""From a place in a file to what it names, and to all other places that name it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from clinker.config.nodes import CompositionNode
from clinker.config.tree import MappingNode, ScalarNode, find
from clinker.cxl.check import typed
from clinker.cxl.check.modules import Module, ModuleLibrary
from clinker.cxl.syntax import ast
from clinker.cxl.syntax.ast import children
from clinker.diagnostics import EmbeddedSource, Location, Source, Span
from clinker.editing.checking import target_of
from clinker.editing.columns import Columns, Mention
from clinker.editing.cxl_parts import expressions_of, statements_of, walk
from clinker.editing.kinds import FileKind
from clinker.editing.model import Model
from clinker.editing.nodes import NodeMention, node_mentions
from clinker.editing.yaml_places import ANY, inside, scalars_at
from clinker.frozen import frozen
from clinker.plan.compile import Draft
from clinker.plan.lone_composition import source_of
from clinker.plan.nodes import PlannedSource
from clinker.plan.nodes.binder import Reading
from clinker.plan.options import Options


@frozen(eq=False)
class Atlas:
    """A model with all that can be looked up in it."""

    model: Model
    options: Options

    @cached_property
    def columns(self) -> Columns | None:
        draft = self.model.draft
        return Columns(draft, _mentions_around(self.model, draft)) if draft else None

    @cached_property
    def nodes(self) -> tuple[NodeMention, ...]:
        return tuple(node_mentions(self.model))

    # What stands at a place

    def column_at(self, offset: int) -> Mention | None:
        here = str(self.model.path)
        for mention in self.columns.mentions if self.columns else ():
            if _holds(mention.location, here, offset):
                return mention
        return None

    def node_at(self, offset: int) -> NodeMention | None:
        here = str(self.model.path)
        return next((m for m in self.nodes if _holds(m.location, here, offset)), None)

    def reading_at(self, offset: int) -> tuple[str, Reading, int] | None:
        """The CXL at a place: the unit, the text, and where in that text the place is."""
        for unit, reading in self.model.readings:
            last = len(reading.source.text)
            start = reading.source.at(Span(0, 0)).span.start
            end = reading.source.at(Span(last, last)).span.start
            if start <= offset <= end:
                return unit, reading, _embedded(reading.source, offset)
        return None

    # Definitions

    def definitions(self, offset: int) -> list[Location]:
        """Where what stands at a place was defined."""
        if mention := self.column_at(offset):
            assert self.columns is not None
            return [origin.location for origin in self.columns.origins(mention.at)]
        if found := self.node_at(offset):
            named = [m.location for m in self.nodes if m.name == found.name and m.defines]
            return named or self._port(found.name)
        if reading := self.reading_at(offset):
            return list(self._in_cxl(reading[1], reading[2]))
        return list(self._files(offset))

    def _port(self, name: str) -> list[Location]:
        """An input port of a composition, which its nodes name like a node."""
        ports = find(self.model.tree, "_compose", "inputs") if self.model.tree else None
        entry = ports.entries.get(name) if isinstance(ports, MappingNode) else None
        return [entry.key.location] if entry else []

    def _in_cxl(self, reading: Reading, offset: int) -> Iterator[Location]:
        node = syntax_at(reading.syntax, offset)
        if isinstance(node, ast.ModuleRef):
            yield from self._member(reading, node)
        elif isinstance(node, ast.Use):
            library = self._modules
            if library and (module := library.load(node.path)):
                yield module.source.at(Span(0, 0))
        else:
            yield from self._variable_or_local(reading, offset)

    @property
    def _modules(self) -> ModuleLibrary | None:
        if self.model.lone:
            return self.model.lone.context.modules
        return self.model.draft.modules if self.model.draft else None

    def _member(self, reading: Reading, node: ast.ModuleRef) -> Iterator[Location]:
        module = self.module_of(reading, node.alias)
        member = module and (module.functions.get(node.member) or module.constants.get(node.member))
        if module and member:
            yield module.source.at(member.name_span)

    def module_of(self, reading: Reading, alias: str) -> Module | None:
        """The module that a program calls `alias`."""
        uses = (s for s in statements_of(reading.syntax) if isinstance(s, ast.Use))
        used = next((use for use in uses if use.bound_name == alias), None)
        return self._modules.load(used.path) if used and self._modules else None

    def _variable_or_local(self, reading: Reading, offset: int) -> Iterator[Location]:
        part = expression_at(reading, offset)
        if isinstance(part, typed.System) and self.model.draft:
            place = self.model.draft.registry.places.get((part.namespace, part.path[0]))
            if place:
                yield place
            if part.namespace == "config" and self.model.tree:
                entry = find(self.model.tree, "_compose", "config_schema", part.path[0])
                if entry:
                    yield entry.location
        elif isinstance(part, typed.Local):
            for statement in statements_of(reading.syntax):
                if isinstance(statement, ast.Let) and statement.name == part.symbol.name:
                    yield reading.source.at(statement.name_span)

    def _files(self, offset: int) -> Iterator[Location]:
        """The file that is named at a place: a composition, or what a channel is for."""
        here = str(self.model.path)
        if self.model.kind is FileKind.CHANNEL and self.model.tree:
            target = find(self.model.tree, "channel", "target")
            if isinstance(target, ScalarNode) and _holds(inside(target), here, offset):
                file = target_of(self.model.path, str(target.value), self.options)
                if file:
                    yield Source(str(file), "").at(Span(0, 0))
            return
        for node in self.model.nodes:
            use = find(node.node, "use")
            if isinstance(node, CompositionNode) and isinstance(use, ScalarNode):
                if not _holds(inside(use), here, offset):
                    continue
                for call in self.model.draft.graph.calls.values() if self.model.draft else ():
                    if call.node is node:
                        yield call.signature.at("name")

    # References

    def references(self, offset: int) -> list[Location]:
        """All places that name what stands at one, its definition among them."""
        if mention := self.column_at(offset):
            assert self.columns is not None
            return [m.location for m in self.columns.same(mention.at)]
        if found := self.node_at(offset):
            return [m.location for m in self.nodes if m.name == found.name]
        return []


def _mentions_around(model: Model, draft: Draft) -> Iterator[Mention]:
    """The places outside of nodes that name columns."""
    tree = model.tree
    if tree is None:
        return
    for scalar in scalars_at(tree, ("error_handling", "correlation_key", ANY)):
        for planned in draft.nodes.values():
            if isinstance(planned, PlannedSource) and scalar.value in planned.row.columns:
                yield Mention((planned.name, scalar.value), inside(scalar))
    ports = find(tree, "_compose", "inputs")
    for port, entry in ports.entries.items() if isinstance(ports, MappingNode) else ():
        for scalar in scalars_at(entry.value, ("schema", ANY, "name")):
            at = (source_of(port), str(scalar.value))
            yield Mention(at, inside(scalar), defines=True)


def _holds(location: Location, path: str, offset: int) -> bool:
    return location.source.name == path and location.span.start <= offset <= location.span.end


def _embedded(source: Source, offset: int) -> int:
    """The character of a text that stands at an offset of the file around it."""
    if not isinstance(source, EmbeddedSource):
        return offset
    return min(bisect_left(source.offsets, offset), len(source.text))


def syntax_at(node: object, offset: int) -> ast.Node | None:
    """The smallest part of a program at a place."""
    if not isinstance(node, ast.Node) or not node.span.start <= offset <= node.span.end:
        return None
    for child in children(node):
        if found := syntax_at(child, offset):
            return found
    return node


def expression_at(reading: Reading, offset: int) -> typed.Expr | None:
    """The smallest typed expression at a place of a text."""
    place = reading.source.at(Span(offset, offset)).span.start
    best: typed.Expr | None = None
    for expression in expressions_of(reading.sketch):
        for part, _ in walk(expression):
            span = part.location.span
            is_here = part.location.source is getattr(reading.source, "host", reading.source)
            if is_here and span.start <= place <= span.end and not isinstance(part, typed.Promote):
                size = span.end - span.start
                if best is None or size <= best.location.span.end - best.location.span.start:
                    best = part
    return best
