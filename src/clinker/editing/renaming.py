"""A column or a node under another name, everywhere in its file.

Whether a renaming is right is not guessed: the changed text is compiled, and must mean the same but
for the name. Where it does not, nothing is renamed, and the reason is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from clinker.cxl.syntax.lexer import KEYWORDS
from clinker.diagnostics import Location, Span, errors
from clinker.editing.columns import At, Columns, Mention
from clinker.editing.formatting import Edit, apply
from clinker.editing.model import Analysis, Model, analyse
from clinker.editing.navigation import Atlas
from clinker.editing.nodes import NodeMention
from clinker.plan.compile import Draft

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NODE_NAME = re.compile(r"[^.\s\"'#:,\[\]{}&*!|>%@`\\][^.\"'#:,\[\]{}\\\n\r]*")


class CannotRename(Exception):
    """Why something keeps its name; the message is for the user."""


def renameable(atlas: Atlas, offset: int) -> Location | None:
    """The name at a place, if it can be changed."""
    found: Mention | NodeMention | None = atlas.column_at(offset) or atlas.node_at(offset)
    return found.location if found else None


def rename(atlas: Atlas, analysis: Analysis, offset: int, name: str) -> list[Edit]:
    """The edits of the file that give what stands at a place another name."""
    problem = next(errors(analysis.diagnostics), None)
    if problem:
        raise CannotRename(f"mend the errors of the file first: {problem.message}")
    if mention := atlas.column_at(offset):
        return _rename_column(atlas, mention, name)
    if found := atlas.node_at(offset):
        return _rename_node(atlas, found, name)
    raise CannotRename("there is no column or node here")


# Columns


def _rename_column(atlas: Atlas, mention: Mention, name: str) -> list[Edit]:
    columns = atlas.columns
    assert columns is not None
    old = mention.at[1]
    if name == old:
        return []
    _check_column_name(name)
    if columns.is_lost(mention.at):
        raise CannotRename(f"'{old}' is read in a way that does not name it; write it out first")
    _check_taken(atlas, columns, mention.at, name)
    _check_ports(atlas, columns, mention.at)
    locations = [m.location for m in columns.same(mention.at)]
    edits = _edits(atlas.model, locations, old, name)
    root = columns.column(mention.at)

    def renamed(at: At) -> str:
        return name if at[1] == old and columns.column(at) == root else at[1]

    _check_meaning(atlas, edits, column_name=renamed)
    return edits


def _check_column_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise CannotRename(f"'{name}' is no name: use letters, digits and _")
    if name in KEYWORDS:
        raise CannotRename(f"'{name}' is a word of the language")


def _check_taken(atlas: Atlas, columns: Columns, at: At, name: str) -> None:
    assert atlas.model.draft is not None
    for unit, _ in columns.everywhere(at):
        if name in atlas.model.draft.nodes[unit].row.columns:
            shown = unit.removeprefix(atlas.model.prefix)
            raise CannotRename(f"'{shown}' has a column '{name}' already")


def _check_ports(atlas: Atlas, columns: Columns, at: At) -> None:
    """What enters or leaves a composition is named by the pipelines that call it."""
    draft, prefix = atlas.model.draft, atlas.model.prefix
    if draft is None or not prefix:
        return
    units = {unit for unit, _ in columns.everywhere(at)}
    if any(not unit.startswith(prefix) for unit in units):
        raise CannotRename(f"'{at[1]}' enters by a port: the pipelines that call this name it, too")
    exits = {edge.upstream for call in draft.graph.calls.values() for edge in call.outputs.values()}
    if units & exits:
        raise CannotRename(f"'{at[1]}' leaves by a port: the pipelines that call this name it, too")


# Nodes


def _rename_node(atlas: Atlas, found: NodeMention, name: str) -> list[Edit]:
    if name == found.name:
        return []
    if not _NODE_NAME.fullmatch(name) or name != name.strip():
        raise CannotRename(f"'{name}' cannot name a node: use letters, digits and _")
    if any(node.name == name for node in atlas.model.nodes):
        raise CannotRename(f"there is a node '{name}' already")
    mentions = [m for m in atlas.nodes if m.name == found.name]
    if not any(m.defines for m in mentions):
        raise CannotRename(f"'{found.name}' is a port: the pipelines that call this name it, too")
    edits = _edits(atlas.model, [m.location for m in mentions], found.name, name)
    old_unit, new_unit = f"{atlas.model.prefix}{found.name}", f"{atlas.model.prefix}{name}"

    def moved(unit: str) -> str:
        if unit == old_unit:
            return new_unit
        is_within = unit.startswith(f"{old_unit}/")
        return new_unit + unit[len(old_unit) :] if is_within else unit

    _check_meaning(atlas, edits, unit_name=moved)
    return edits


# Edits


def _edits(model: Model, locations: Iterable[Location], old: str, new: str) -> list[Edit]:
    edits: dict[Span, Edit] = {}
    for location in locations:
        if not model.is_here(location):
            file = Path(location.source.name).name
            raise CannotRename(f"'{old}' is also named in {file}; rename it there by hand")
        if location.source.text[location.span.start : location.span.end] != old:
            line = location.start.line
            raise CannotRename(f"'{old}' is written in a special way in line {line}")
        edits[location.span] = Edit(location.span, new)
    return list(edits.values())


def _check_meaning(
    atlas: Atlas,
    edits: Sequence[Edit],
    unit_name: Callable[[str], str] = lambda unit: unit,
    column_name: Callable[[At], str] = lambda at: at[1],
) -> None:
    """Compile the changed text: all nodes must read and give what they did, under the new names."""
    model = atlas.model
    again = analyse(model.path, apply(model.text, edits), model.kind, atlas.options)
    problem = next(errors(again.diagnostics), None)
    if problem:
        raise CannotRename(f"that would not compile: {problem.message}")
    assert model.draft is not None
    assert again.model is not None
    assert again.model.draft is not None
    expected = _meaning(model.draft, unit_name, column_name)
    if _meaning(again.model.draft, lambda unit: unit, lambda at: at[1]) != expected:
        raise CannotRename("that would change what the pipeline does")


def _meaning(
    draft: Draft, unit_name: Callable[[str], str], column_name: Callable[[At], str]
) -> dict[str, object]:
    """What each node reads, and the columns it gives."""
    return {
        unit_name(unit): (
            [(unit_name(edge.upstream), edge.port) for edge in planned.unit.inputs],
            [(column_name((unit, name)), t) for name, t in planned.row.columns.items()],
        )
        for unit, planned in draft.nodes.items()
    }
