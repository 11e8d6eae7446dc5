"""From the nodes of a pipeline and its compositions to a graph: names, references, cycles checked.

References are followed through the ports of compositions, so that the graph joins nodes to nodes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace

from clinker.config.nodes import CompositionNode, PipelineNode
from clinker.config.reference import Ref
from clinker.diagnostics import Diagnostic, Label, Location, Severity
from clinker.frozen import frozen
from clinker.plan.graph.compositions import Body
from clinker.plan.graph.graph import (
    Call,
    Crossing,
    Edge,
    Graph,
    Unit,
    in_planning_order,
)
from clinker.plan.graph.optional_ports import leave_out_unconnected
from clinker.plan.graph.places import UNCONNECTED, UNKNOWN, Place
from clinker.plan.graph.references import check_handed_on, check_names, check_reference


def wire(body: Body, unread: frozenset[str] = frozenset()) -> tuple[Graph, list[Diagnostic]]:
    """The graph of all nodes that can be placed, and everything wrong with the wiring.

    Nothing is said about references to `unread` nodes, which exist but could not be read.
    """
    wiring = _Wiring(unread)
    wiring.place(Place(body, {node.name: node for node in reversed(body.nodes)}))
    units, problems = leave_out_unconnected(list(wiring.units.values()))
    ordered, cycles = in_planning_order(units)
    # A node that reads from itself was reported as that already.
    circles = (cycle for cycle in cycles if len(cycle) > 1)
    problems = [*wiring.problems, *problems, *map(_cycle_problem, circles)]
    return Graph({unit.name: unit for unit in ordered}, wiring.calls), problems


@frozen
class _Target:
    """The node that a reference leads to."""

    upstream: str
    port: str | None = None
    through: tuple[Crossing, ...] = ()


@frozen(eq=False)
class _Wiring:
    unread: frozenset[str]
    units: dict[str, Unit] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)

    def place(self, root: Place) -> None:
        self._open(root)
        self._connect(root)

    def _open(self, place: Place) -> None:
        """Make every body reachable before references are followed."""
        for name, call in place.body.calls.items():
            nodes = {node.name: node for node in reversed(call.body.nodes)}
            place.inner[name] = Place(call.body, nodes, call, place)
            self._open(place.inner[name])

    def _connect(self, place: Place) -> None:
        self.problems.extend(check_names(place))
        for node in place.body.nodes:
            if place.nodes[node.name] is not node:
                continue
            edges = tuple(self._edges(place, node))
            if isinstance(node, CompositionNode):
                self.problems.extend(check_handed_on(place, node))
                if node.name in place.inner:
                    self._connect_call(place, place.inner[node.name])
            else:
                self._add(Unit(place.scope.prefix + node.name, node, edges, place.scope))

    def _add(self, unit: Unit) -> None:
        taken = self.units.setdefault(unit.name, unit)
        if taken is not unit:
            self.problems.append(
                unit.problem(
                    "E053",
                    f"a node of a composition is named '{unit.name}' as well",
                    unit.node.at("name"),
                    help="rename one of them, or give the call an alias",
                    also=(Label(taken.node.at("name"), "the other one"),),
                )
            )

    def _connect_call(self, outer: Place, inner: Place) -> None:
        call = inner.call
        assert call is not None
        outputs: dict[str, Edge] = {}
        for port in inner.exits:
            at = call.signature.at("outputs", port, "ref")
            if not call.signature.outputs[port].ref:
                at = call.signature.key_at("outputs", port)
            outputs[port] = self._edge(inner, inner.behind(port), at, f"output port '{port}'")
        inputs = {
            port: self._follow_edge(outer, ref, at, call.node.name)
            for port, (ref, at) in call.feeds.items()
        }
        scope = inner.scope
        self.calls[scope.prefix] = Call(
            call.node, call.signature, scope, outer.scope, inputs, outputs
        )
        self._connect(inner)

    def _edges(self, place: Place, node: PipelineNode) -> Iterator[Edge]:
        for ref, path in node.references:
            location = node.at(str(path[0]), *path[1:])
            edge = self._edge(place, ref, location, f"'{node.name}'", node.name)
            yield replace(edge, label=node.label(ref, path))

    def _edge(
        self, place: Place, ref: Ref, location: Location, shown: str, reader: str = ""
    ) -> Edge:
        if place.outer is None and ref.node in self.unread:
            return Edge("", UNKNOWN, None, location)
        problem = check_reference(place, ref, location, shown, reader)
        if problem:
            self.problems.append(problem)
            if problem.code != "E002":
                return Edge("", UNKNOWN, None, location)
        return self._follow_edge(place, ref, location, reader)

    def _follow_edge(self, place: Place, ref: Ref, location: Location, reader: str) -> Edge:
        target = self._follow(place, ref, reader, location, frozenset())
        return Edge("", target.upstream, target.port, location, target.through)

    def _follow(
        self,
        place: Place,
        ref: Ref,
        reader: str,
        location: Location,
        seen: frozenset[tuple[Place, Ref]],
    ) -> _Target:
        if (place, ref) in seen:
            problem = place.scope.problem(
                "E003",
                "these compositions hand their input on to each other in a circle",
                location,
                help="connect one of the calls to a node",
            )
            if problem not in self.problems:
                self.problems.append(problem)
            return _Target(UNKNOWN)
        seen |= {(place, ref)}
        if ref.node in place.ports:
            return self._follow_port(place, ref.node, location, seen)
        node = place.nodes.get(ref.node)
        if isinstance(node, CompositionNode):
            inner = place.inner.get(ref.node)
            exit_ = ref.port or (_exit_for(reader, node, inner) if inner else None)
            if inner is None or exit_ is None or exit_ not in inner.exits:
                return _Target(UNKNOWN)
            return self._follow(inner, inner.behind(exit_), "", location, seen)
        if node is None:
            return _Target(UNKNOWN)
        port = ref.port
        if port is None and reader in node.ports:
            port = reader
        return _Target(place.scope.prefix + ref.node, port)

    def _follow_port(
        self,
        place: Place,
        port: str,
        location: Location,
        seen: frozenset[tuple[Place, Ref]],
    ) -> _Target:
        assert place.call is not None
        assert place.outer is not None
        crossing = Crossing(place.scope.prefix, port)
        feed = place.call.feeds.get(port)
        if feed is None:
            return _Target(UNCONNECTED, None, (crossing,))
        target = self._follow(place.outer, feed[0], place.call.node.name, location, seen)
        return replace(target, through=(crossing, *target.through))


def _exit_for(reader: str, node: CompositionNode, inner: Place) -> str | None:
    """The port a node reads when it names none: the one handed to it, else the first."""
    handed = (port for port, name in node.outputs.items() if name == reader)
    return next(handed, next(iter(inner.exits), None))


def _cycle_problem(cycle: list[Unit]) -> Diagnostic:
    names = [unit.name for unit in cycle]
    path = " → ".join([*reversed(names), names[-1]])
    first, *others = cycle
    return Diagnostic(
        "E003",
        f"these nodes read from each other in a circle: {path}",
        Label(first.inputs[0].location),
        (*(Label(unit.inputs[0].location, "and here") for unit in others), *first.scope.trail),
        help="remove one of these inputs",
        severity=Severity.ERROR,
    )
