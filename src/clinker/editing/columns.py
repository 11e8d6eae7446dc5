"""Every place that names a column, and which of them name the same one.

A column comes into being where a source declares it or a program emits it, and keeps its identity
along all nodes that pass it on. An emit that writes over a column writes into the same one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from clinker.config.tree import Node
from clinker.cxl.check import typed
from clinker.cxl.check.typed import Role
from clinker.cxl.syntax import ast
from clinker.diagnostics import Location, Span
from clinker.editing.yaml_places import ANY, inside, scalars_at
from clinker.frozen import frozen
from clinker.plan.compile import Draft
from clinker.plan.lone_composition import CALLER
from clinker.plan.nodes import (
    Planned,
    PlannedAggregate,
    PlannedCombine,
    PlannedSource,
    PlannedTransform,
)
from clinker.plan.nodes.binder import Reading

At: TypeAlias = tuple[str, str]
"""A unit and the name of a column of the records that leave it."""

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


@frozen
class Mention:
    """A place that names a column."""

    at: At
    location: Location
    defines: bool = False


_OWN: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "source": (
        ("schema", ANY, "name"),
        ("correlation_key", ANY),
        ("watermark", "column"),
        ("sort_order", ANY, "field"),
        ("array_paths", ANY, "path"),
        ("schema_overrides", ANY, "name"),
        ("format_schema", "inline", "fields", ANY, "name"),
        ("format_schema", "inline", "records", ANY, "fields", ANY, "name"),
    ),
    "transform": (
        ("validations", ANY, "field"),
        ("log", ANY, "fields", ANY),
    ),
}
"""By kind of node, the places in its settings that name columns of what leaves it."""

_READ: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "transform": (
        ("analytic_window", "group_by", ANY),
        ("analytic_window", "sort_by", ANY, "field"),
        ("analytic_window", "on"),
    ),
    "aggregate": (("group_by", ANY),),
    "combine": (("propagate_ck", "named", ANY),),
    "output": (
        ("mapping", ANY),
        ("exclude", ANY),
        ("sort_order", ANY, "field"),
        ("split", "group_key"),
    ),
}
"""By kind of node, the places in its settings that name columns of what reaches it."""


def column_places(kind: str) -> tuple[tuple[str, ...], ...]:
    """The places in the settings of a kind of node that name columns."""
    return (*_OWN.get(kind, ()), *_READ.get(kind, ()))


class Columns:
    """The columns of a graph and every mention of them."""

    def __init__(self, draft: Draft, more: Iterable[Mention] = ()) -> None:
        self._nodes = draft.nodes
        self._readings = draft.binder.readings
        self._parents: dict[At, At] = {}
        self.mentions = list(more)
        self.lost: set[At] = set()
        """Columns that something names without a place of its own."""
        for planned in draft.nodes.values():
            self.mentions += self._of_settings(planned)
            for reading in self._readings.get(planned.name, ()):
                self.mentions += self._of_reading(planned, reading)
        for planned in draft.nodes.values():
            for name in planned.row.columns:
                self.column((planned.name, name))
        self._by_column: dict[At, list[Mention]] = defaultdict(list)
        for mention in self.mentions:
            self._by_column[self.column(mention.at)].append(mention)

    # Identity

    def column(self, at: At) -> At:
        """What stands for a column, wherever along its way it is asked for."""
        ways: dict[At, list[At]] = {}
        todo = [at]
        while todo:
            here = todo.pop()
            if here not in self._parents:
                self._parents[here] = here
                ways[here] = list(self._before(here))
                todo += ways[here]
        for here, before in ways.items():
            for other in before:
                self._parents[self._root(here)] = self._root(other)
        return self._root(at)

    def _root(self, at: At) -> At:
        while (parent := self._parents[at]) != at:
            self._parents[at] = self._parents[parent]
            at = parent
        return at

    def _before(self, at: At) -> Iterator[At]:
        """The same column in the records that reach a unit."""
        unit, name = at
        planned = self._nodes.get(unit)
        if planned is None:
            return
        match planned:
            case PlannedSource():
                return
            case PlannedAggregate():
                passes = name in planned.node.config.group_by
            case PlannedCombine():
                passes = planned.program is None and name in planned.inputs[planned.driver].columns
            case _:
                passes = True
        if not passes:
            return
        for edge in planned.passed_on:
            upstream = self._nodes.get(edge.upstream)
            if upstream is None:
                continue
            written = planned.body.fields_written if planned.body else {}
            if name in upstream.row.columns or (upstream.row.is_open and name not in written):
                yield edge.upstream, name

    def same(self, at: At) -> list[Mention]:
        """All mentions of a column, each place once."""
        places: dict[tuple[str, Span], Mention] = {}
        for mention in self._by_column[self.column(at)]:
            key = (mention.location.source.name, mention.location.span)
            if key not in places or mention.defines:
                places[key] = mention
        return list(places.values())

    def everywhere(self, at: At) -> set[At]:
        """A column in the records of every unit that it passes."""
        root = self.column(at)
        return {
            (unit, at[1])
            for unit, planned in self._nodes.items()
            if at[1] in planned.row.columns and self.column((unit, at[1])) == root
        }

    def is_lost(self, at: At) -> bool:
        root = self.column(at)
        return any(self.column(other) == root for other in self.lost)

    def origins(self, at: At) -> list[Mention]:
        """Where a column as a unit gives it comes from: emits and declarations, the nearest."""
        found: list[Mention] = []
        seen: set[At] = set()
        todo = [at]
        while todo:
            here = todo.pop()
            if here in seen:
                continue
            seen.add(here)
            mentions = self._by_column[self.column(here)]
            defining = [m for m in mentions if m.at == here and m.defines]
            found += defining
            if not defining:
                todo += self._before(here)
        return found

    # Mentions

    def _of_settings(self, planned: Planned) -> Iterator[Mention]:
        kind, tree = planned.unit.kind, planned.node.node
        if tree.source.name.endswith(CALLER):
            return
        config: Node = tree.get("config") or tree
        for place in _OWN.get(kind, ()):
            for scalar in scalars_at(config, place):
                if isinstance(scalar.value, str):
                    defines = place == ("schema", ANY, "name")
                    yield Mention((planned.name, scalar.value), inside(scalar), defines)
        for place in _READ.get(kind, ()):
            for scalar in scalars_at(config, place):
                if isinstance(scalar.value, str):
                    in_window = place[0] == "analytic_window"
                    for unit in self._read_by(planned, None, in_window):
                        yield Mention((unit, scalar.value), inside(scalar))

    def _read_by(self, planned: Planned, qualifier: str | None, in_window: bool) -> list[str]:
        """The units whose records a name in a node belongs to."""
        if in_window and isinstance(planned, PlannedTransform):
            window = planned.node.config.analytic_window
            if window and window.source:
                return [planned.unit.scope.prefix + window.source]
        edges = planned.unit.inputs
        if qualifier is not None:
            edges = tuple(edge for edge in edges if edge.label == qualifier)
        return [edge.upstream for edge in edges if edge.upstream in self._nodes]

    def _of_reading(self, planned: Planned, reading: Reading) -> Iterator[Mention]:
        for statement in emits_of(reading.syntax):
            location = reading.source.at(statement.name_span)
            yield Mention((planned.name, statement.name), location, defines=True)
        for expression in expressions_of(reading.sketch):
            for part, in_window in walk(expression):
                yield from self._of_expression(planned, reading, part, in_window)

    def _of_expression(
        self, planned: Planned, reading: Reading, part: typed.Expr, in_window: bool
    ) -> Iterator[Mention]:
        match part:
            case typed.Field(name=name, qualifier=qualifier):
                places = [(unit, name) for unit in self._read_by(planned, qualifier, in_window)]
                if qualifier is None and isinstance(planned, PlannedCombine):
                    places = [at for at in places if name in self._nodes[at[0]].row.columns]
            case typed.Local(symbol=symbol) if symbol.role is Role.EMIT:
                name, places = symbol.name, [(planned.name, symbol.name)]
            case _:
                return
        location = end_of(part.location, name)
        for at in places:
            if location is None:
                self.lost.add(at)
            else:
                yield Mention(at, location)


def end_of(location: Location, name: str) -> Location | None:
    """The name that an expression ends with, as `amount` in `orders.amount`."""
    text = location.source.text[location.span.start : location.span.end]
    if not text.endswith(name) or (_WORD.match(text[: -len(name)][-1:] or " ")):
        return None
    return Location(location.source, Span(location.span.end - len(name), location.span.end))


def emits_of(syntax: ast.Node | None) -> Iterator[ast.Emit]:
    """The emits of a program, those in `emit each` bodies included."""
    for statement in statements_of(syntax):
        if isinstance(statement, ast.Emit):
            yield statement


def statements_of(syntax: ast.Node | None) -> Iterator[ast.Statement]:
    if isinstance(syntax, ast.Program | ast.EmitEach):
        body = syntax.statements if isinstance(syntax, ast.Program) else syntax.body
        for statement in body:
            yield statement
            yield from statements_of(statement)


def expressions_of(sketch: typed.Program | typed.Expr | None) -> Iterator[typed.Expr]:
    if isinstance(sketch, typed.Program):
        for statement in sketch.every_statement():
            for part in vars(statement).values():
                for expression in _flat(part):
                    # Without a key of its own, `distinct` names nothing.
                    is_own = getattr(expression, "location", None) != statement.location
                    if isinstance(expression, typed.Expr) and is_own:
                        yield expression
    elif sketch is not None:
        yield sketch


def _flat(part: object) -> Iterator[object]:
    if isinstance(part, tuple):
        for item in part:
            yield from _flat(item)
    else:
        yield part


def walk(expression: typed.Expr, in_window: bool = False) -> Iterator[tuple[typed.Expr, bool]]:
    """All parts of an expression, and whether each is read of the records of a window."""
    yield expression, in_window
    inner = in_window or isinstance(expression, typed.Window)
    for child in expression.children():
        yield from walk(child, inner)


def mentioned(columns: Columns, path: str, offset: int) -> Mention | None:
    """The mention of a column at a place of a file."""
    for mention in columns.mentions:
        location = mention.location
        if location.source.name == path and location.span.start <= offset <= location.span.end:
            return mention
    return None
