"""The graph: which node reads from which, and in what order they can be planned.

Compositions are expanded by then: the graph holds the nodes of their bodies under the name of the
call, as `call/node`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeVar

from clinker.config.composition import Signature
from clinker.config.nodes import CompositionNode, GraphNode, NodeBase
from clinker.cxl.types import Type
from clinker.diagnostics import Diagnostic, Label, Location, Severity
from clinker.frozen import frozen

NodeT = TypeVar("NodeT", bound=NodeBase)


@frozen
class Crossing:
    """An input port that records pass on their way into the body of a composition."""

    call: str
    port: str


@frozen
class Edge:
    """One input of a node: what it is called there, and where its records come from."""

    label: str
    """The qualifier of a combine's input, the name a merge knows it by; empty elsewhere."""
    upstream: str
    port: str | None
    location: Location = field(repr=False, compare=False)
    through: tuple[Crossing, ...] = ()
    """The input ports between the two, the innermost first."""


@frozen(eq=False)
class Unit:
    """A node of the pipeline as it is planned."""

    name: str
    node: GraphNode
    inputs: tuple[Edge, ...]
    scope: CallScope
    """The pipeline itself, or the composition call the node belongs to."""

    @property
    def kind(self) -> str:
        return self.node.type

    @property
    def passed_on(self) -> tuple[Edge, ...]:
        """The inputs whose records leave the node: of a combine the driver, at the others it only
        looks."""
        driver = self.node.driver
        return self.inputs if driver is None else self._labelled(driver)

    def _labelled(self, label: str) -> tuple[Edge, ...]:
        return tuple(edge for edge in self.inputs if edge.label == label)

    def problem(
        self,
        code: str,
        message: str,
        location: Location,
        *,
        help: str | None = None,
        also: Sequence[Label] = (),
    ) -> Diagnostic:
        """A finding about this node; inside a composition it names the calls that led here."""
        return self.scope.problem(code, message, location, help=help, also=also)


@frozen(eq=False)
class CallScope:
    """Where a node stands: in the pipeline, or in the body of a composition call."""

    prefix: str = ""
    trail: tuple[Label, ...] = ()
    """The calls that led here, the innermost first."""
    config: Mapping[str, object] = field(default_factory=dict)
    """The values of `$config`."""
    config_types: Mapping[str, Type] = field(default_factory=dict)
    """Their types; what has no value may be null."""
    opted_in: Mapping[str, frozenset[str]] | None = None
    """The variables of the caller that the body lists as its own; None in the pipeline itself."""

    def problem(
        self,
        code: str,
        message: str,
        location: Location,
        *,
        help: str | None = None,
        also: Sequence[Label] = (),
        severity: Severity = Severity.ERROR,
    ) -> Diagnostic:
        """A finding about something that stands here; it names the calls that led here."""
        return Diagnostic(code, message, Label(location), (*also, *self.trail), help, severity)


@frozen(eq=False)
class Call:
    """A composition call: the scope of its body, and what enters and leaves it."""

    node: CompositionNode
    signature: Signature
    scope: CallScope
    outer: CallScope
    inputs: Mapping[str, Edge]
    """What feeds the connected input ports."""
    outputs: Mapping[str, Edge]
    """The nodes of the body behind the output ports."""

    @property
    def name(self) -> str:
        return self.scope.prefix.removesuffix("/")


@frozen
class Graph:
    """All units, each after everything it reads from."""

    units: Mapping[str, Unit]
    calls: Mapping[str, Call] = field(default_factory=dict)
    """The composition calls that were expanded, by the prefix of their nodes."""

    def __iter__(self) -> Iterator[Unit]:
        return iter(self.units.values())

    def of(self, model: type[NodeT]) -> Iterator[tuple[Unit, NodeT]]:
        """The units of one kind, each with what the user wrote for it."""
        for unit in self:
            if isinstance(unit.node, model):
                yield unit, unit.node

    def consumers(self, name: str) -> list[tuple[Unit, Edge]]:
        return [(unit, edge) for unit in self for edge in unit.inputs if edge.upstream == name]

    def ancestors(self, name: str) -> list[str]:
        """Every unit whose records reach `name`, in planning order."""
        reaching: set[str] = set()
        todo = [name]
        while todo:
            for edge in self.units[todo.pop()].inputs:
                if edge.upstream not in reaching and edge.upstream in self.units:
                    reaching.add(edge.upstream)
                    todo.append(edge.upstream)
        return [unit for unit in self.units if unit in reaching]

    def descendants(self, name: str) -> list[str]:
        """Every unit that records of `name` reach, in planning order."""
        reached = {name}
        for unit in self:
            if any(edge.upstream in reached for edge in unit.inputs):
                reached.add(unit.name)
        return [unit for unit in self.units if unit in reached and unit != name]


def in_planning_order(units: Iterable[Unit]) -> tuple[list[Unit], list[list[Unit]]]:
    """Units after what they read from, else as declared; and the cycles that prevent it.

    Units in a cycle, and all that wait for one, come last.
    """
    waiting = {unit.name: unit for unit in units}
    ordered: list[Unit] = []
    while True:
        ready = [u for u in waiting.values() if all(e.upstream not in waiting for e in u.inputs)]
        if not ready:
            break
        for unit in ready:
            del waiting[unit.name]
        ordered.extend(ready)
    return [*ordered, *waiting.values()], list(_cycles(waiting))


def _cycles(waiting: dict[str, Unit]) -> Iterator[list[Unit]]:
    """Of the units that wait for each other, every circle once."""
    explored: set[str] = set()
    for start in waiting:
        path: list[str] = []
        name = start
        while name not in explored and name not in path:
            path.append(name)
            blocking = [e.upstream for e in waiting[name].inputs if e.upstream in waiting]
            name = blocking[0]
        if name in path:
            yield [waiting[member] for member in path[path.index(name) :]]
        explored.update(path)
