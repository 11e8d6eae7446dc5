"""Every place that names a column, and which of them name the same one.

A column comes into being where a source declares it or a program emits it, and keeps its identity
along all nodes that pass it on. An emit that writes over a column writes into the same one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from clinker.config.tree import Node
from clinker.cxl.check import typed
from clinker.cxl.check.typed import Role
from clinker.diagnostics import Location, Span
from clinker.editing.column_places import OWN, READ
from clinker.editing.cxl_parts import emits_of, end_of, expressions_of, walk
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


@frozen
class Mention:
    """A place that names a column."""

    at: At
    location: Location
    defines: bool = False


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
        for place in OWN.get(kind, ()):
            for scalar in scalars_at(config, place):
                if isinstance(scalar.value, str):
                    defines = place == ("schema", ANY, "name")
                    yield Mention((planned.name, scalar.value), inside(scalar), defines)
        for place in READ.get(kind, ()):
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
