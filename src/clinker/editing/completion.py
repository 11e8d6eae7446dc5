"""What can be written at a place: keys, words, nodes, columns, and all that CXL has names for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from clinker.config.composition import InputPort, Parameter, Resource
from clinker.config.nodes import NODE_MODELS
from clinker.config.shorthand import spell_out_composition, spell_out_pipeline
from clinker.config.toml import last_table
from clinker.config.tree import Node, ScalarNode, find, plain
from clinker.cxl.check.resolve import OPEN_ROW, Context, ProgramKind, Row
from clinker.cxl.types import SCHEMA_TYPES, Type
from clinker.editing import schema
from clinker.editing.blocks import Block, find_blocks
from clinker.editing.column_places import column_places
from clinker.editing.cursor import MARK, Cursor, locate
from clinker.editing.cxl_completion import complete_cxl
from clinker.editing.documentation import plain_text
from clinker.editing.kinds import FileKind
from clinker.editing.model import Model
from clinker.editing.nodes import input_ports, ports_of
from clinker.editing.suggestion import Kind, Suggestion
from clinker.editing.yaml_places import ANY

_SPELL_OUT: Mapping[FileKind, Callable[[Node], Node]] = {
    FileKind.PIPELINE: spell_out_pipeline,
    FileKind.COMPOSITION: spell_out_composition,
}


def complete(
    kind: FileKind, text: str, offset: int, model: Model | None, in_cxl: bool = True
) -> list[Suggestion]:
    """What can be written at a place of a text; `model` is the file as it was last understood.

    Without `in_cxl` the question is about YAML only.
    """
    if kind is FileKind.PROGRAM:
        if not in_cxl:
            return []
        context = model.lone.context if model and model.lone else Context(row=OPEN_ROW)
        return list(complete_cxl(text[:offset], context))
    if kind is FileKind.WORKSPACE:
        return list(_in_toml(text, offset))
    cursor = locate(text, offset)
    spelled = cursor and cursor.spelled(_SPELL_OUT.get(kind, lambda node: node))
    if cursor is None or spelled is None:
        return []
    for block in find_blocks(spelled.tree):
        before, mark, _ = str(block.scalar.value).partition(MARK)
        if mark and not in_cxl:
            return []
        if mark:
            return list(complete_cxl(before, _context(spelled, model, block)))
    return [*_names(spelled, model), *_of_calls(cursor, model), *_in_yaml(kind, cursor)]


def _in_yaml(kind: FileKind, cursor: Cursor) -> Iterator[Suggestion]:
    """What the schema of the file has at a place."""
    data = _without_mark(plain(cursor.tree))
    if cursor.is_key:
        yield from _keys(kind, cursor, data)
        return
    for word in schema.words_at(kind, cursor.path, data):
        yield Suggestion(word, Kind.WORD, documentation=_word(cursor.path, word))
    if cursor.begins_line:
        yield from _keys(kind, cursor, data)


def _keys(kind: FileKind, cursor: Cursor, data: object) -> Iterator[Suggestion]:
    written = cursor.parent.entries if cursor.is_key and cursor.parent else {}
    keys = schema.keys_at(kind, cursor.path, data)
    for place, key in enumerate(sorted(keys.values(), key=lambda key: not key.is_required)):
        if key.name not in written:
            detail = "required" if key.is_required else ""
            yield Suggestion(
                key.name,
                Kind.KEY,
                detail,
                key.description,
                insert=f"{key.name}: ",
                rank=place,
            )


def _word(path: tuple[str | int, ...], word: str) -> str:
    """What a word stands for, where it names a kind of node."""
    is_kind = len(path) == 3 and path[0] == "nodes" and path[2] == "type"
    model = NODE_MODELS.get(word) if is_kind else None
    return (model.__doc__ or "") if model else ""


def _without_mark(data: object) -> object:
    """What is written, without the value at the cursor."""
    if isinstance(data, dict):
        return {k: _without_mark(v) for k, v in data.items() if MARK not in k}
    if isinstance(data, tuple):
        return tuple(_without_mark(item) for item in data)
    return None if isinstance(data, str) and MARK in data else data


# Names of the pipeline's own


def _names(cursor: Cursor, model: Model | None) -> Iterator[Suggestion]:
    if cursor.is_key:
        return
    match cursor.path:
        case ("nodes", int(index), "input" | "inputs", *_):
            yield from _nodes(cursor, model, index)
        case ("nodes", int(index), "config", "analytic_window", "source"):
            yield from _nodes(cursor, model, index)
        case ("nodes", int(index), "config", *rest):
            yield from _columns(cursor, model, index, rest)


def _of_calls(cursor: Cursor, model: Model | None) -> Iterator[Suggestion]:
    """The ports and parameters of the composition that a node calls."""
    match cursor.path:
        case ("nodes", int(index), "config" | "inputs" | "resources" as block):
            name = _text(cursor.tree, "nodes", index, "name")
        case _:
            return
    call = model.call(name) if model else None
    if call is None or not (cursor.is_key or cursor.begins_line):
        return
    signature = call.signature
    blocks: Mapping[str, Mapping[str, InputPort | Parameter | Resource]] = {
        "config": signature.config_schema,
        "inputs": signature.inputs,
        "resources": signature.resources_schema,
    }
    for key, facts in blocks[block].items():
        detail = facts.type if isinstance(facts, Parameter) else ""
        about = plain_text(facts.description or "")
        yield Suggestion(key, Kind.KEY, detail, about, insert=f"{key}: ")


def _nodes(cursor: Cursor, model: Model | None, index: int) -> Iterator[Suggestion]:
    """The nodes that one can read from, and their ports."""
    own = _text(cursor.tree, "nodes", index, "name")
    for name, ports in (ports_of(model) if model else {}).items():
        if name == own:
            continue
        node = model.node(name) if model else None
        detail = str(getattr(node, "type", ""))
        if detail == "output":
            continue
        about = plain_text((node.description or "") if node else "")
        if detail != "route":
            yield Suggestion(name, Kind.NODE, detail, about)
        for port in ports:
            yield Suggestion(f"{name}.{port}", Kind.NODE, f"port of {detail}", about)
    for port in input_ports(model) if model else ():
        yield Suggestion(port, Kind.NODE, "input port")


def _columns(
    cursor: Cursor, model: Model | None, index: int, rest: list[str | int]
) -> Iterator[Suggestion]:
    kind = _text(cursor.tree, "nodes", index, "type")
    if not any(_matches(place, rest) for place in column_places(kind)):
        return
    for name, type_ in _known_columns(cursor, model, index).items():
        yield Suggestion(name, Kind.FIELD, str(type_))


def _matches(place: tuple[str, ...], path: list[str | int]) -> bool:
    # A list that is being begun is still a single word.
    short = place[:-1] if place[-1] == ANY else place
    return _fits(place, path) or _fits(short, path)


def _fits(place: tuple[str, ...], path: list[str | int]) -> bool:
    return len(place) == len(path) and all(
        wanted in (ANY, part) for wanted, part in zip(place, path, strict=True)
    )


def _known_columns(cursor: Cursor, model: Model | None, index: int) -> Mapping[str, Type]:
    """The columns of what reaches a node, or of what a source declares."""
    if _text(cursor.tree, "nodes", index, "type") == "source":
        columns = find(cursor.tree, "nodes", index, "config", "schema")
        names = plain(columns) if columns else ()
        return {
            str(c["name"]): SCHEMA_TYPES.get(str(c.get("type")), SCHEMA_TYPES["any"])
            for c in (names if isinstance(names, tuple) else ())
            if isinstance(c, dict) and "name" in c and MARK not in str(c["name"])
        }
    return _incoming(cursor, model, index)


def _incoming(cursor: Cursor, model: Model | None, index: int) -> dict[str, Type]:
    """The columns of all inputs that a node names."""
    columns: dict[str, Type] = {}
    for key in ("input", "inputs"):
        written = find(cursor.tree, "nodes", index, key)
        for name in _references(plain(written)) if written else ():
            planned = model.units.get(name.partition(".")[0]) if model else None
            columns |= planned.row.columns if planned else {}
    return columns


def _references(written: object) -> Iterable[str]:
    if isinstance(written, str):
        return (written,)
    values = written.values() if isinstance(written, dict) else written
    return [v for v in values if isinstance(v, str)] if isinstance(values, Iterable) else ()


def _text(tree: Node, *path: str | int) -> str:
    scalar = find(tree, *path)
    return str(scalar.value) if isinstance(scalar, ScalarNode) else ""


def _context(cursor: Cursor, model: Model | None, block: Block) -> Context:
    """What CXL at the cursor may name: as it was last understood, else what the inputs give."""
    if model and model.draft:
        readings = model.draft.binder.readings.get(model.prefix + block.node, ())
        if readings:
            # Validations and logs look at what leaves the node.
            return readings[-1 if block.path[0] in ("validations", "log") else 0].context
    index = cursor.path[1] if len(cursor.path) > 1 else 0
    columns = _incoming(cursor, model, index) if isinstance(index, int) else {}
    kind = ProgramKind.AGGREGATE if block.kind == "aggregate" else ProgramKind.ROW
    modules = model.draft.modules if model and model.draft else None
    return Context(row=Row(columns), kind=kind, modules=modules)


# clinker.toml


def _in_toml(text: str, offset: int) -> Iterator[Suggestion]:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    table = last_table(text[:offset])
    if "=" in line:
        key = line.partition("=")[0].strip()
        for word in schema.words_at(FileKind.WORKSPACE, (*table, key), {}):
            is_word = word in ("true", "false")
            yield Suggestion(word, Kind.WORD, insert=word if is_word else f'"{word}"')
    elif line.lstrip().startswith("["):
        for name, facts in schema.keys_at(FileKind.WORKSPACE, (), {}).items():
            yield Suggestion(name, Kind.KEY, documentation=facts.description)
            for inner, more in schema.keys_at(FileKind.WORKSPACE, (name,), {}).items():
                if schema.keys_at(FileKind.WORKSPACE, (name, inner), {}):
                    full = f"{name}.{inner}"
                    yield Suggestion(full, Kind.KEY, documentation=more.description)
    else:
        for name, facts in schema.keys_at(FileKind.WORKSPACE, table, {}).items():
            if not schema.keys_at(FileKind.WORKSPACE, (*table, name), {}):
                insert = f"{name} = "
                yield Suggestion(name, Kind.KEY, documentation=facts.description, insert=insert)
