"""The outline of a file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from clinker.config.tree import MappingNode, Node, ScalarNode, SequenceNode, find
from clinker.cxl.syntax import ast
from clinker.diagnostics import Source, Span
from clinker.editing.cxl_parts import statements_of
from clinker.editing.model import Model
from clinker.frozen import frozen


@frozen
class Symbol:
    name: str
    detail: str
    whole: Span
    """All that belongs to it."""
    name_span: Span
    children: tuple[Symbol, ...] = ()


def outline(model: Model) -> list[Symbol]:
    """The nodes of a file with what they emit, or the keys at its top."""
    if model.lone:
        return list(_statements(model.lone.syntax))
    tree = model.tree
    if not isinstance(tree, MappingNode):
        return []
    emits: dict[str, list[Symbol]] = defaultdict(list)
    for unit, reading in model.readings:
        emits[unit] += _emits(reading.syntax, reading.source)
    symbols: list[Symbol] = []
    for key, entry in tree.entries.items():
        if key == "nodes" and isinstance(entry.value, SequenceNode):
            symbols += (s for item in entry.value.items if (s := _node(item, model.prefix, emits)))
        else:
            whole = entry.key.span.to(entry.value.span)
            symbols.append(Symbol(key, "", _around(whole, entry.key.span), entry.key.span))
    return symbols


def _node(node: Node, prefix: str, emits: Mapping[str, Sequence[Symbol]]) -> Symbol | None:
    name = find(node, "name")
    kind = find(node, "type")
    if not isinstance(name, ScalarNode):
        return None
    detail = str(kind.value) if isinstance(kind, ScalarNode) else ""
    inner = tuple(emits.get(prefix + str(name.value), ()))
    return Symbol(str(name.value), detail, _around(node.span, name.span), name.span, inner)


def _emits(syntax: ast.Node | None, source: Source) -> Iterator[Symbol]:
    for statement in statements_of(syntax):
        if isinstance(statement, ast.Emit | ast.EmitMeta):
            name_span = source.at(statement.name_span).span
            whole = _around(source.at(statement.span).span, name_span)
            yield Symbol(statement.name, "emit", whole, name_span)


def _statements(syntax: ast.Node | None) -> Iterator[Symbol]:
    kinds = {ast.Let: "let", ast.Emit: "emit", ast.EmitMeta: "emit meta", ast.Function: "fn"}
    for statement in statements_of(syntax):
        if isinstance(statement, ast.Let | ast.Emit | ast.EmitMeta | ast.Function):
            detail = kinds[type(statement)]
            yield Symbol(statement.name, detail, statement.span, statement.name_span)


def _around(whole: Span, part: Span) -> Span:
    """A span that holds another one, as editors demand."""
    return Span(min(whole.start, part.start), max(whole.end, part.end))
