"""From the nodes of a pipeline and its compositions to a graph: names, references, cycles checked.

References are followed through the ports of compositions, so that the graph joins nodes to nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from clinker.config.nodes import CompositionNode, PipelineNode
from clinker.config.reference import Ref
from clinker.diagnostics import Diagnostic, Label, Location, Severity
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.graph.compositions import Body, Called
from clinker.plan.graph.graph import (
    Call,
    CallScope,
    Crossing,
    Edge,
    Graph,
    Unit,
    in_planning_order,
)

# No node has a name with a dot.
UNKNOWN = "."
"""Upstream of an input that names no node: nothing is ever bound under it."""

UNCONNECTED = ".."
"""Upstream of an input that reads from an optional port to which no node is connected."""


def wire(body: Body, unread: frozenset[str] = frozenset()) -> tuple[Graph, list[Diagnostic]]:
    """The graph of all nodes that can be placed, and everything wrong with the wiring.

    Nothing is said about references to `unread` nodes, which exist but could not be read.
    """
    wiring = _Wiring(unread)
    wiring.place(_Place(body, {node.name: node for node in reversed(body.nodes)}))
    units, problems = _connected(list(wiring.units.values()))
    ordered, cycles = in_planning_order(units)
    # A node that reads from itself was reported as that already.
    circles = (cycle for cycle in cycles if len(cycle) > 1)
    problems = [*wiring.problems, *problems, *map(_cycle_problem, circles)]
    return Graph({unit.name: unit for unit in ordered}, wiring.calls), problems


@frozen(eq=False)
class _Place:
    """A body, and how it is reached from the one around it."""

    body: Body
    nodes: Mapping[str, PipelineNode]
    call: Called | None = None
    outer: _Place | None = None
    inner: dict[str, _Place] = field(default_factory=dict)

    @property
    def scope(self) -> CallScope:
        return self.body.scope

    @property
    def ports(self) -> Sequence[str]:
        return tuple(self.call.signature.inputs) if self.call else ()

    @property
    def exits(self) -> Sequence[str]:
        return tuple(self.call.signature.outputs) if self.call else ()

    def behind(self, port: str) -> Ref:
        """What an output port delivers."""
        assert self.call is not None
        declared = self.call.signature.outputs[port]
        return declared.ref or Ref(self.body.nodes[-1].name)


@frozen
class _Target:
    """The node that a reference leads to."""

    upstream: str
    port: str | None = None
    through: tuple[Crossing, ...] = ()


@dataclass
class _Wiring:
    unread: frozenset[str]
    units: dict[str, Unit] = field(default_factory=dict)
    calls: dict[str, Call] = field(default_factory=dict)
    problems: list[Diagnostic] = field(default_factory=list)

    def place(self, root: _Place) -> None:
        self._open(root)
        self._connect(root)

    def _open(self, place: _Place) -> None:
        """Make every body reachable before references are followed."""
        for name, call in place.body.calls.items():
            nodes = {node.name: node for node in reversed(call.body.nodes)}
            place.inner[name] = _Place(call.body, nodes, call, place)
            self._open(place.inner[name])

    def _connect(self, place: _Place) -> None:
        self.problems += _name_problems(place)
        for node in place.body.nodes:
            if place.nodes[node.name] is not node:
                continue
            edges = tuple(self._edges(place, node))
            if isinstance(node, CompositionNode):
                self.problems += _handed_on(place, node)
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

    def _connect_call(self, outer: _Place, inner: _Place) -> None:
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

    def _edges(self, place: _Place, node: PipelineNode) -> Iterator[Edge]:
        for ref, path in node.references:
            location = node.at(str(path[0]), *path[1:])
            edge = self._edge(place, ref, location, f"'{node.name}'", node.name)
            yield replace(edge, label=node.label(ref, path))

    def _edge(
        self, place: _Place, ref: Ref, location: Location, shown: str, reader: str = ""
    ) -> Edge:
        if place.outer is None and ref.node in self.unread:
            return Edge("", UNKNOWN, None, location)
        problem = _reference_problem(place, ref, location, shown, reader)
        if problem:
            self.problems.append(problem)
            if problem.code != "E002":
                return Edge("", UNKNOWN, None, location)
        return self._follow_edge(place, ref, location, reader)

    def _follow_edge(self, place: _Place, ref: Ref, location: Location, reader: str) -> Edge:
        target = self._follow(place, ref, reader, location, frozenset())
        return Edge("", target.upstream, target.port, location, target.through)

    def _follow(
        self,
        place: _Place,
        ref: Ref,
        reader: str,
        location: Location,
        seen: frozenset[tuple[_Place, Ref]],
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
        place: _Place,
        port: str,
        location: Location,
        seen: frozenset[tuple[_Place, Ref]],
    ) -> _Target:
        assert place.call is not None
        assert place.outer is not None
        crossing = Crossing(place.scope.prefix, port)
        feed = place.call.feeds.get(port)
        if feed is None:
            return _Target(UNCONNECTED, None, (crossing,))
        target = self._follow(place.outer, feed[0], place.call.node.name, location, seen)
        return replace(target, through=(crossing, *target.through))


def _exit_for(reader: str, node: CompositionNode, inner: _Place) -> str | None:
    """The port a node reads when it names none: the one handed to it, else the first."""
    handed = (port for port, name in node.outputs.items() if name == reader)
    return next(handed, next(iter(inner.exits), None))


# Names


def _name_problems(place: _Place) -> Iterator[Diagnostic]:
    first: dict[str, PipelineNode] = {}
    trail = place.scope.trail
    for node in place.body.nodes:
        same = first.get(node.name)
        if same:
            yield node.problem(
                "E001",
                f"two nodes are named '{node.name}'",
                "name",
                also=(Label(same.at("name"), "first used here"), *trail),
                help="rename one of them",
            )
            continue
        if place.call and node.name in place.ports:
            port = Label(place.call.signature.key_at("inputs", node.name), "the port")
            yield node.problem(
                "E053",
                f"an input port is named '{node.name}' as well",
                "name",
                also=(port, *trail),
                help="rename the node",
            )
        alike = next((n for n in first if n.lower() == node.name.lower()), None)
        if alike:
            yield node.problem(
                "W002",
                f"'{node.name}' and '{alike}' differ only in upper and lower case",
                "name",
                also=(Label(first[alike].at("name"), "the other one"), *trail),
                help="rename one of them",
                warning=True,
            )
        first[node.name] = node


# References


def _reference_problem(
    place: _Place, ref: Ref, location: Location, shown: str, reader: str
) -> Diagnostic | None:
    """What is wrong with a reference where it stands, whatever lies behind a port."""
    if ref.node == reader and reader not in place.ports:
        message = f"{shown} reads from itself"
        return place.scope.problem("E002", message, location, help="name the node before it")
    if ref.node in place.ports:
        return _port_of_port(place, ref, location)
    upstream = place.nodes.get(ref.node)
    if upstream is None:
        return _unknown_node(place, ref, location, shown)
    return _port_problem(place, ref, location, shown, reader, upstream)


def _port_of_port(place: _Place, ref: Ref, location: Location) -> Diagnostic | None:
    if ref.port is None:
        return None
    message = f"input port '{ref.node}' has no port '{ref.port}'"
    return place.scope.problem("E036", message, location, help=f"write '{ref.node}'")


def _unknown_node(place: _Place, ref: Ref, location: Location, shown: str) -> Diagnostic:
    known = [*place.ports, *place.nodes]
    outer = place.outer
    while outer:
        if ref.node in outer.nodes:
            return place.scope.problem(
                "E108",
                f"{shown} reads '{ref.node}', which is outside the composition",
                location,
                help="declare an input port and connect it in the call",
                also=(Label(outer.nodes[ref.node].at("name"), "the node"),),
            )
        outer = outer.outer
    return place.scope.problem(
        "E004",
        f"{shown} reads from unknown node '{ref.node}'",
        location,
        help=did_you_mean(ref.node, known) or f"known nodes: {', '.join(known)}",
    )


def _port_problem(
    place: _Place, ref: Ref, location: Location, shown: str, reader: str, upstream: PipelineNode
) -> Diagnostic | None:
    if isinstance(upstream, CompositionNode):
        return _exit_problem(place, ref, location, shown)
    ports = upstream.ports
    if ref.port in ports:
        return None
    if ref.port is not None:
        known = f"its branches are: {', '.join(ports)}" if ports else "remove the port"
        return place.scope.problem(
            "E036",
            f"'{ref.node}' has no port '{ref.port}'",
            location,
            also=(Label(upstream.at("name"), f"a {upstream.type}"),),
            help=did_you_mean(ref.port, ports) or known,
        )
    if ports and reader not in ports:
        return place.scope.problem(
            "E036",
            f"{shown} does not say which branch of '{ref.node}' it reads",
            location,
            help=f"write one of: {', '.join(f'{ref.node}.{port}' for port in ports)}",
        )
    return None


def _exit_problem(place: _Place, ref: Ref, location: Location, shown: str) -> Diagnostic | None:
    inner = place.inner.get(ref.node)
    if inner is None or ref.port in inner.exits or (ref.port is None and inner.exits):
        return None
    assert inner.call is not None
    called = Label(inner.call.signature.at("name"), "the composition")
    if ref.port is None or not inner.exits:
        return place.scope.problem(
            "E036",
            f"{shown} reads from '{ref.node}', which has no output port",
            location,
            also=(called,),
            help="declare what it delivers under 'outputs' of the composition",
        )
    return place.scope.problem(
        "E036",
        f"'{ref.node}' has no port '{ref.port}'",
        location,
        also=(called,),
        help=did_you_mean(ref.port, inner.exits) or f"its ports are: {', '.join(inner.exits)}",
    )


def _handed_on(place: _Place, node: CompositionNode) -> Iterator[Diagnostic]:
    """`outputs` of a call names the nodes that read its ports: they must do so."""
    for port, name in node.outputs.items():
        reader = place.nodes.get(name)
        if reader is None:
            message = f"port '{port}' is handed to unknown node '{name}'"
            help = did_you_mean(name, place.nodes) or f"known nodes: {', '.join(place.nodes)}"
            yield place.scope.problem("E004", message, node.at("outputs", port), help=help)
        elif not any(ref.node == node.name for ref, _ in reader.references):
            yield place.scope.problem(
                "E054",
                f"'{name}' does not read from '{node.name}'",
                node.at("outputs", port),
                help=f"write 'input: {node.name}.{port}' in '{name}'",
                also=(Label(reader.at("name"), "the node"),),
            )


# Optional ports


def _connected(units: list[Unit]) -> tuple[list[Unit], list[Diagnostic]]:
    """Without what an unconnected optional port would feed, inside its composition."""
    absent: dict[str, str] = {}
    size = -1
    while len(absent) > size:
        size = len(absent)
        for unit in units:
            calls = [call for edge in unit.inputs if (call := _absent_in(edge, absent))]
            inside = [call for call in calls if unit.scope.prefix.startswith(call)]
            if inside and _ends_without(unit, absent):
                absent.setdefault(unit.name, inside[0])
    problems: list[Diagnostic] = []
    kept: list[Unit] = []
    for unit in units:
        if unit.name in absent:
            continue
        edges: list[Edge] = []
        for edge in unit.inputs:
            call = _absent_in(edge, absent)
            if call is None:
                edges.append(edge)
            elif not unit.node.goes_on_without_inputs or not unit.scope.prefix.startswith(call):
                problems.append(_needs_port(unit, edge, call))
                edges.append(Edge(edge.label, UNKNOWN, None, edge.location))
        kept.append(replace(unit, inputs=tuple(edges)))
    return kept, problems


def _absent_in(edge: Edge, absent: Mapping[str, str]) -> str | None:
    """The call whose unconnected port leaves this input without records."""
    if edge.upstream == UNCONNECTED:
        return edge.through[-1].call
    return absent.get(edge.upstream)


def _ends_without(unit: Unit, absent: Mapping[str, str]) -> bool:
    """Whether a node has nothing to do now that some of its inputs are absent."""
    return all(_absent_in(edge, absent) for edge in unit.passed_on)


def _needs_port(unit: Unit, edge: Edge, call: str) -> Diagnostic:
    return unit.problem(
        "E104",
        f"'{unit.node.name}' reads what an unconnected port of '{call[:-1]}' would deliver",
        edge.location,
        help="connect the port under 'inputs' of the call",
    )


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
