"""What is told about a place: types, where values come from, documentation. In Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from clinker.config.nodes import CompositionNode
from clinker.config.tree import MappingNode, Node, ScalarNode, SequenceNode, plain
from clinker.cxl.builtins import AGGREGATES, METHODS, WINDOW_FUNCTIONS
from clinker.cxl.builtins.declare import Builtin
from clinker.cxl.check import typed
from clinker.cxl.syntax import ast
from clinker.cxl.types import Type
from clinker.diagnostics import Location, Span
from clinker.editing import schema
from clinker.editing.columns import Mention
from clinker.editing.documentation import code, document, fenced, plain_text
from clinker.editing.navigation import Atlas, expression_at, syntax_at
from clinker.frozen import frozen
from clinker.plan.nodes import Planned
from clinker.plan.nodes.binder import Reading

_MOST_COLUMNS = 30


@frozen
class Hover:
    """What is told, in Markdown, and of which stretch of the file."""

    text: str
    span: Span


def hover(atlas: Atlas, offset: int) -> Hover | None:
    if mention := atlas.column_at(offset):
        return Hover(_column(atlas, mention), mention.location.span)
    if found := atlas.node_at(offset):
        return Hover(_node(atlas, found.name), found.location.span)
    if reading := atlas.reading_at(offset):
        return _cxl(atlas, reading[1], reading[2])
    return _key(atlas, offset)


# Columns and nodes


def _column(atlas: Atlas, mention: Mention) -> str:
    """The type of a column and where it comes from."""
    assert atlas.columns is not None
    unit, name = mention.at
    assert atlas.model.draft is not None
    planned = atlas.model.draft.nodes.get(unit)
    type_ = planned.row.get(name) if planned else None
    origins = [_origin(atlas, origin) for origin in atlas.columns.origins(mention.at)]
    told = "; ".join(dict.fromkeys(origins))
    if not told:
        told = f"a field of the records of {code(unit)} that no schema declares"
    return f"{_typed(name, type_)}\n\n{told}"


def _origin(atlas: Atlas, origin: Mention) -> str:
    assert atlas.model.draft is not None
    planned = atlas.model.draft.nodes[origin.at[0]]
    kind = planned.unit.kind
    verb = "declared by" if kind == "source" else "emitted by"
    if atlas.model.prefix and kind == "source" and not planned.unit.scope.prefix:
        kind = "input"
    name = code(planned.name.removeprefix(atlas.model.prefix))
    return f"{verb} {kind} {name}, {_line(atlas, origin.location)}"


def _line(atlas: Atlas, location: Location) -> str:
    line = f"line {location.start.line}"
    return line if atlas.model.is_here(location) else f"{line} of {code(location.source.name)}"


def _node(atlas: Atlas, name: str) -> str:
    """What a node is and what it gives."""
    node = atlas.model.node(name)
    planned = atlas.model.units.get(name)
    if node is None:
        return f"input port {code(name)}" if name else ""
    kind = str(getattr(node, "type", ""))
    parts = [f"**{kind}** {code(name)}"]
    if node.description:
        parts.append(plain_text(node.description))
    elif isinstance(node, CompositionNode):
        parts.append(f"uses {code(node.use)}")
    if node.ports:
        parts.append("ports: " + ", ".join(map(code, node.ports)))
    if planned:
        parts.append(_row(planned))
    return "\n\n".join(parts)


def _row(planned: Planned) -> str:
    columns = list(planned.row.columns.items())
    lines = [f"{name}: {type_}" for name, type_ in columns[:_MOST_COLUMNS]]
    if len(columns) > _MOST_COLUMNS:
        lines.append(f"… and {len(columns) - _MOST_COLUMNS} more")
    if planned.row.is_open or planned.have_undeclared:
        lines.append("… and what no schema declares")
    return fenced("\n".join(lines), "text")


# CXL


def _cxl(atlas: Atlas, reading: Reading, offset: int) -> Hover | None:
    node = syntax_at(reading.syntax, offset)
    for name, span, builtins in _called(node):
        if span.start <= offset <= span.end:
            return Hover(_builtins(builtins, name), reading.source.at(span).span)
    if isinstance(node, ast.ModuleRef):
        return _member(atlas, reading, node)
    if isinstance(node, ast.Let | ast.Emit | ast.EmitMeta):
        return _assigned(reading, node)
    part = expression_at(reading, offset)
    if part is None or isinstance(part, typed.Broken):
        return None
    text = part.location.source.text[part.location.span.start : part.location.span.end]
    shown = " ".join(text.split())
    return Hover(_typed(shown, part.type) + _variable(atlas, part), part.location.span)


def _called(node: ast.Node | None) -> Iterator[tuple[str, Span, list[Builtin]]]:
    """The built-ins that a part of a program calls by name."""
    match node:
        case ast.MethodCall():
            yield node.method, node.method_span, [*METHODS.get(node.method, ())]
        case ast.FunctionCall() if node.name in AGGREGATES:
            yield node.name, node.name_span, [AGGREGATES[node.name]]
        case ast.WindowCall() if node.function in WINDOW_FUNCTIONS:
            yield node.function, node.function_span, [WINDOW_FUNCTIONS[node.function]]


def _builtins(builtins: Iterable[Builtin], name: str) -> str:
    pages = [document(builtin) for builtin in builtins]
    return "\n\n---\n\n".join(pages) or f"no built-in is named {code(name)}"


def _member(atlas: Atlas, reading: Reading, node: ast.ModuleRef) -> Hover | None:
    module = atlas.module_of(reading, node.alias)
    member = module and (module.functions.get(node.member) or module.constants.get(node.member))
    if not module or not member:
        return None
    text = module.source.text[member.span.start : member.span.end]
    told = f"{fenced(text)}\n\nof {code(module.source.name)}"
    return Hover(told, reading.source.at(node.span).span)


def _assigned(reading: Reading, node: ast.Let | ast.Emit | ast.EmitMeta) -> Hover | None:
    sketch = reading.sketch
    if not isinstance(sketch, typed.Program):
        return None
    place = reading.source.at(node.span).span.start
    for statement in sketch.every_statement():
        if statement.location.span.start == place:
            value = getattr(statement, "value", None)
            span = reading.source.at(node.name_span).span
            return Hover(_typed(node.name, value.type if value else None), span)
    return None


def _variable(atlas: Atlas, part: typed.Expr) -> str:
    if not isinstance(part, typed.System) or atlas.model.draft is None:
        return ""
    registry = atlas.model.draft.registry
    scopes: Mapping[str, str] = {"vars": "constant", "pipeline": "variable of the run"}
    declared = getattr(registry, part.namespace, {}) if part.namespace in vars(registry) else {}
    variable = declared.get(part.path[0]) if isinstance(declared, Mapping) else None
    if variable is None:
        return ""
    told = scopes.get(part.namespace, f"variable of each {part.namespace}")
    if variable.has("default"):
        told += f", {code(variable.default)} unless something else is said"
    if variable.description:
        told += f"\n\n{plain_text(variable.description)}"
    return f"\n\n{told}"


# Keys


def _key(atlas: Atlas, offset: int) -> Hover | None:
    tree = atlas.model.tree
    if tree is None:
        return None
    found = _path_to(tree, offset, ())
    if found is None:
        return None
    path, span = found
    key = schema.key_at(atlas.model.kind, path, plain(tree))
    if key is None or not key.description:
        return None
    parts = [f"**{key.name}** — {plain_text(key.description)}"]
    if key.words:
        parts.append("one of: " + ", ".join(map(code, key.words)))
    if key.default not in (None, {}, [], ""):
        parts.append(f"default: {code(key.default)}")
    return Hover("\n\n".join(parts), span)


def _path_to(
    node: Node, offset: int, path: tuple[str | int, ...]
) -> tuple[tuple[str | int, ...], Span] | None:
    """The key that stands at a place, or whose value does."""
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            if item.span.start <= offset <= item.span.end:
                return _path_to(item, offset, (*path, index))
    if isinstance(node, MappingNode):
        for key, entry in node.entries.items():
            if _is_written(entry.key) and entry.key.span.start <= offset <= entry.key.span.end:
                return (*path, key), entry.key.span
            if entry.value.span.start <= offset <= entry.value.span.end:
                if isinstance(entry.value, ScalarNode):
                    return (*path, key), entry.key.span
                return _path_to(entry.value, offset, (*path, key))
    return None


def _is_written(key: ScalarNode) -> bool:
    """Whether a key stands in the file; abbreviations leave some out."""
    written = key.source.text[key.span.start : key.span.end]
    return bool(written.strip("\"'") == key.value)


# Markdown


def _typed(name: str, type_: Type | None) -> str:
    return fenced(f"{name}: {type_}" if type_ else name)
