"""Scoped variables across the graph: every value that is read has been written by then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import assert_never

from clinker.config.nodes import StateNode
from clinker.cxl.check import typed
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.frozen import frozen
from clinker.plan.graph.graph import Call, Graph, Unit
from clinker.plan.nodes import Planned, Shape
from clinker.plan.variables import SCOPES, Registry

Variable = tuple[str, str]
"""A scope and a name in it."""


def check_variable_flow(
    graph: Graph, nodes: Mapping[str, Planned], registry: Registry
) -> list[Diagnostic]:
    """E069, E164 and E171 to E175."""
    flow = _Flow(graph, nodes, registry)
    return [*flow.imports(), *flow.accesses(), *flow.init_consumers()]


# Flow


@frozen
class _Access:
    """A place where a node reads or writes a variable."""

    unit: Unit
    variable: Variable
    location: Location
    input: str | None = None
    """The input by which `$source.<input>.<key>` addresses it."""

    @property
    def shown(self) -> str:
        return f"${self.variable[0]}.{self.variable[1]}"


@frozen(eq=False)
class _Flow:
    graph: Graph
    nodes: Mapping[str, Planned]
    registry: Registry

    @cached_property
    def writes(self) -> list[_Access]:
        return [
            _Access(unit, (node.config.scope, assignment.var), assignment.at("var"))
            for unit, node in self.graph.of(StateNode)
            for assignment in node.config.set
        ]

    @cached_property
    def reads(self) -> list[_Access]:
        reads = {}
        for unit in self.graph:
            cxl = self.nodes[unit.name].cxl
            for expr in (*cxl.incoming, *cxl.outgoing) if cxl else ():
                for part in expr.walk():
                    if isinstance(part, typed.System) and part.namespace in SCOPES:
                        access = self._read(unit, part)
                        reads[unit.name, access.variable, access.location] = access
        return [read for read in reads.values() if self._is_declared(read.variable)]

    def _read(self, unit: Unit, part: typed.System) -> _Access:
        input_ = part.path[0] if len(part.path) > 1 else None
        return _Access(unit, (part.namespace, part.path[-1]), part.location, input_)

    def _is_declared(self, variable: Variable) -> bool:
        return variable[1] in self.registry.types(variable[0])

    @cached_property
    def own(self) -> Mapping[str, frozenset[Variable]]:
        """The variables that the transforms of each body declare, by its prefix."""
        own: dict[str, frozenset[Variable]] = {}
        for unit in self.graph:
            declared = frozenset((d.scope, d.name) for d in unit.node.declarations)
            own[unit.scope.prefix] = own.get(unit.scope.prefix, frozenset()) | declared
        return own

    # The seal of compositions

    def imports(self) -> Iterator[Diagnostic]:
        """E174: what a composition takes from its caller must be there, with the same type."""
        for call in self.graph.calls.values():
            for scope in SCOPES:
                wanted = getattr(call.signature.scoped_vars, scope)
                for name, imported in wanted.items():
                    at = imported.at("type")
                    yield from self._import_problem(call, (scope, name), imported.type, at)

    def _import_problem(
        self, call: Call, variable: Variable, wanted: str, location: Location
    ) -> Iterator[Diagnostic]:
        scope, name = variable
        shown = f"${scope}.{name}"
        declared = self._declared_type(variable)
        place = self.registry.places.get(variable)
        if declared is None:
            yield call.scope.problem(
                "E174",
                f"the composition takes {shown}, which the pipeline does not declare",
                location,
                help=f"declare it under pipeline.vars.{scope}, or remove it here",
            )
        elif declared != wanted:
            yield call.scope.problem(
                "E174",
                f"the composition takes {shown} as {wanted}, but it is {declared}",
                location,
                help=f"write type: {declared}",
                also=(Label(place, f"declared as {declared}"),) if place else (),
            )
        elif not self._may_access(call.outer.prefix, variable):
            yield call.scope.problem(
                "E174",
                f"the composition takes {shown}, which the one that calls it cannot see",
                location,
                help=f"list it under scoped_vars.{scope} of the calling composition too",
            )

    def _declared_type(self, variable: Variable) -> str | None:
        scope, name = variable
        declared = self.registry.scope(scope).get(name)
        if declared is None and scope == "source":
            added = (v[name] for v in self.registry.by_source.values() if name in v)
            declared = next(added, None)
        return declared.type if declared else None

    def _may_access(self, prefix: str, variable: Variable) -> bool:
        call = self.graph.calls.get(prefix)
        if call is None or variable in self.own.get(prefix, ()):
            return True
        opted_in = call.scope.opted_in or {}
        return variable[1] in opted_in.get(variable[0], ())

    # Readers and writers

    def accesses(self) -> Iterator[Diagnostic]:
        for write in self.writes:
            if self._is_declared(write.variable) and not self._allowed(write):
                yield self._sealed(write, "writes")
        for read in self.reads:
            if not self._allowed(read):
                yield self._sealed(read, "reads")
                continue
            yield from self._order_problem(read)
            yield from self._ambiguity(read)

    def _allowed(self, access: _Access) -> bool:
        return self._may_access(access.unit.scope.prefix, access.variable)

    def _sealed(self, access: _Access, verb: str) -> Diagnostic:
        scope, name = access.variable
        place = self.registry.places.get(access.variable)
        declared = self._declared_type(access.variable)
        return access.unit.problem(
            "E173",
            f"the composition {verb} {access.shown} of its caller without saying so",
            access.location,
            help=f"add '{name}: {{ type: {declared} }}' under _compose.scoped_vars.{scope}",
            also=(Label(place, "declared here"),) if place else (),
        )

    def _order_problem(self, read: _Access) -> Iterator[Diagnostic]:
        writers = [w for w in self.writes if w.variable == read.variable]
        if not writers or any(w.unit is read.unit for w in writers):
            return
        before_the_run = [w for w in writers if self._in_init_pass(w.unit)]
        if self._in_init_pass(read.unit):
            if not before_the_run:
                yield self._too_early(read, writers[0])
                return
            writers = before_the_run
        elif before_the_run:
            yield from self._circle(read, before_the_run)
            return
        upstream = self.graph.ancestors(read.unit.name)
        if not any(w.unit.name in upstream for w in writers):
            yield self._not_downstream(read, writers)

    def _circle(self, read: _Access, writers: list[_Access]) -> Iterator[Diagnostic]:
        """What is written before the run cannot be made of records that depend on it."""
        for writer in writers:
            if read.unit.name in self.graph.ancestors(writer.unit.name):
                yield read.unit.problem(
                    "E069",
                    f"'{read.unit.name}' reads {read.shown}, which '{writer.unit.name}' writes "
                    f"before the run from the records of '{read.unit.name}'",
                    read.location,
                    help=f"let '{writer.unit.name}' read from a node before '{read.unit.name}'",
                    also=(Label(writer.location, "written here"),),
                )

    def _too_early(self, read: _Access, writer: _Access) -> Diagnostic:
        return read.unit.problem(
            "E175",
            f"{read.shown} is read before the run, but only written during it",
            read.location,
            help=f"add 'phase: init' to '{writer.unit.name}', or read it during the run",
            also=(Label(writer.location, "written here"),),
        )

    def _not_downstream(self, read: _Access, writers: list[_Access]) -> Diagnostic:
        return read.unit.problem(
            "E171",
            f"'{read.unit.name}' reads {read.shown}, but no record reaches it from where that "
            "is written",
            read.location,
            help=f"move the reader behind '{writers[0].unit.name}', or write the variable before "
            "the run with 'phase: init'",
            also=tuple(Label(w.location, "written here") for w in writers),
        )

    def _ambiguity(self, read: _Access) -> Iterator[Diagnostic]:
        if read.variable[0] != "source" or read.input is not None:
            return
        joining = self._joining(read.unit)
        if joining is None:
            return
        name = read.variable[1]
        forms = [f"$source.{edge.label}.{name}" for edge in joining.inputs]
        yield read.unit.problem(
            "E172",
            f"{read.shown} is ambiguous after '{joining.name}', which brings sources together",
            read.location,
            help=f"write {' or '.join(forms)}",
            also=(Label(joining.node.at("name"), f"the {joining.kind}"),),
        )

    def _joining(self, unit: Unit) -> Unit | None:
        """The nearest merge or combine at or before a unit."""
        reached = [*self.graph.ancestors(unit.name), unit.name]
        nodes = (self.nodes[name] for name in reversed(reached))
        return next((n.unit for n in nodes if _brings_sources_together(n.shape)), None)

    # Before the run

    def init_consumers(self) -> Iterator[Diagnostic]:
        """E164: what runs before the run hands nothing on to it."""
        for unit in self.graph:
            phase = unit.node.init_phase
            if phase is None:
                continue
            for consumer, edge in self.graph.consumers(unit.name):
                if not self._in_init_pass(consumer):
                    yield consumer.problem(
                        "E164",
                        f"'{consumer.name}' reads from '{unit.name}', which only runs before "
                        "the run",
                        edge.location,
                        help=f"read from the node before '{unit.name}' instead",
                        also=(Label(phase, "only before the run"),),
                    )

    @cached_property
    def _init_pass(self) -> frozenset[str]:
        """The nodes that work before the run: those of phase `init`, and what only feeds them."""
        if not any(unit.node.init_phase for unit in self.graph):
            return frozenset()
        before_the_run: set[str] = set()
        for unit in reversed(list(self.graph)):
            consumers = [consumer.name for consumer, _ in self.graph.consumers(unit.name)]
            if unit.node.init_phase or (consumers and before_the_run.issuperset(consumers)):
                before_the_run.add(unit.name)
        return frozenset(before_the_run)

    def _in_init_pass(self, unit: Unit) -> bool:
        return unit.name in self._init_pass


def _brings_sources_together(shape: Shape) -> bool:
    match shape:
        case Shape.MERGES | Shape.JOINS:
            return True
        case Shape.READS | Shape.PASSES | Shape.GROUPS | Shape.WRITES:
            return False
        case other:
            assert_never(other)
