"""Analytic windows: which records each `$window` function looks at, and whether it can."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from clinker.config.nodes import CombineNode, SourceNode, TransformNode
from clinker.config.window import AnalyticWindow, Extent
from clinker.config.window import Frame as ConfiguredFrame
from clinker.cxl.builtins.windows import Shape, WindowFunction
from clinker.cxl.check import typed
from clinker.cxl.check.resolve import OPEN_ROW, Row
from clinker.cxl.run.window_spec import FrameSpec, FrameUnit, SortKey, WindowSpec
from clinker.cxl.types import Kind
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.analyses.correlation import Correlation, driver_position
from clinker.plan.analyses.ordering import Ordering, Orders, sort_keys
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.nodes.planned import Planned, PlannedTransform

_PASSING_ON = ("route", "state")
"""Nodes that hand on the records of the node before them."""
_MEASURABLE = Kind.INT | Kind.FLOAT | Kind.DATE | Kind.DATETIME
_WHOLE_PARTITION = FrameSpec(FrameUnit.ROWS, None, None)


@frozen
class Window:
    """The window of a transform."""

    spec: WindowSpec
    root: str
    """The node whose records it covers."""
    lookup: tuple[str, ...] | None
    """When it covers another source: the fields of the current record that `group_by` must equal.

    None when it covers the transform's own input.
    """
    reads: tuple[str, ...]
    """The fields it needs of the records it covers."""
    buffered: bool
    """Whether it is computed again when records are taken back."""
    already_sorted: bool
    """Whether the records arrive in the order of the window."""


def plan_windows(
    graph: Graph, nodes: Mapping[str, Planned], correlation: Correlation, orders: Orders
) -> tuple[dict[str, Window], list[Diagnostic]]:
    """The window of every transform that has one, and what is wrong with them."""
    windows: dict[str, Window] = {}
    problems: list[Diagnostic] = []
    for unit in graph:
        if not isinstance(unit.node, TransformNode) or not unit.node.config.analytic_window:
            continue
        config = unit.node.config.analytic_window
        root = _foreign_root(graph, unit, config) if config.source else _own_root(graph, unit)
        if root is None:
            if config.source:
                problems.append(_unknown_source(graph, unit, config.source, config.at("source")))
            continue
        placed = _Placed(graph, nodes, correlation, unit, unit.node, config, root)
        problems += placed.problems()
        windows[unit.name] = placed.window(orders.orderings.get(root.name, Ordering()))
    return windows, problems


# Roots


def _foreign_root(graph: Graph, unit: Unit, window: AnalyticWindow) -> Unit | None:
    root = graph.units.get(f"{unit.scope.prefix}{window.source}")
    return root if root and isinstance(root.node, SourceNode) else None


def _own_root(graph: Graph, unit: Unit) -> Unit | None:
    """The nearest node before the window that makes records of its own."""
    passed = {unit.name}
    root = graph.units.get(unit.inputs[0].upstream)
    while root and root.kind in _PASSING_ON and root.name not in passed:
        passed.add(root.name)
        root = graph.units.get(root.inputs[0].upstream)
    return root


def _unknown_source(graph: Graph, unit: Unit, name: str, location: Location) -> Diagnostic:
    sources = [
        other.name.removeprefix(unit.scope.prefix)
        for other in graph
        if isinstance(other.node, SourceNode) and other.scope is unit.scope
    ]
    choice = did_you_mean(name, sources) or f"the sources are: {', '.join(sources)}"
    if not sources:  # only in a composition: every record of a pipeline comes from a source
        choice = "a composition looks up its own sources only: add one to it, or use a combine"
    other = graph.units.get(f"{unit.scope.prefix}{name}")
    if other is None:
        message = f"the window looks up records of unknown source '{name}'"
        return unit.problem("E041", message, location, help=choice)
    return unit.problem(
        "E041",
        f"a window looks up records of a source, but '{name}' is a {other.kind}",
        location,
        help=choice,
        also=(Label(other.node.at("name"), "named here"),),
    )


@frozen
class _Placed:
    """A window whose root is known."""

    graph: Graph
    nodes: Mapping[str, Planned]
    correlation: Correlation
    unit: Unit
    node: TransformNode
    config: AnalyticWindow
    root: Unit

    @property
    def is_lookup(self) -> bool:
        return self.config.source is not None

    @property
    def incoming(self) -> Row:
        upstream = self.nodes.get(self.unit.inputs[0].upstream)
        return upstream.row if upstream else OPEN_ROW

    @property
    def covered(self) -> Row:
        """The columns of the records in the window."""
        return self.nodes[self.root.name].row if self.is_lookup else self.incoming

    @property
    def buffered(self) -> bool:
        keys = self.correlation.visible[self.root.name]
        return bool(self.correlation.relaxed and keys.omitted_by(self.config.group_by))

    @property
    def lookup(self) -> tuple[str, ...] | None:
        if not self.is_lookup:
            return None
        on, group_by = self.config.on, self.config.group_by
        return group_by if on is None or on in group_by else (on,)

    @property
    def keys(self) -> tuple[SortKey, ...]:
        return sort_keys(self.config.sort_by)

    def calls(self) -> Iterator[typed.Window]:
        planned = self.nodes[self.unit.name]
        if isinstance(planned, PlannedTransform):
            yield from window_calls(planned.program)

    def window(self, ordering: Ordering) -> Window:
        keyed = [*self.config.group_by, *(key.field for key in self.keys)]
        read = {name for call in self.calls() for name in _fields_of(call)}
        return Window(
            spec=WindowSpec(self.config.group_by, self.keys, self._frame()),
            root=self.root.name,
            lookup=self.lookup,
            reads=tuple(dict.fromkeys([*keyed, *sorted(read)])),
            buffered=self.buffered,
            already_sorted=ordering.sorts_groups(self.config.group_by, self.keys),
        )

    def _frame(self) -> FrameSpec:
        # No record of another source is the current one, so a lookup sees all that match.
        return _WHOLE_PARTITION if self.is_lookup else frame_spec(self.config.frame)

    # Findings

    def problems(self) -> Iterator[Diagnostic]:
        yield from self._absent_fields()
        yield from self._array_fields()
        yield from self._sort_problems()
        yield from self._keyed_sources()
        if self.is_lookup:
            yield from self._lookup_problems()
            yield from self._without_position()

    def _keyed_by(self) -> Iterator[tuple[str, Location]]:
        """The fields that divide and sort the window, each with its place."""
        for position, name in enumerate(self.config.group_by):
            yield name, self.config.at("group_by", position)
        for key in self.config.sort_by:
            yield key.field, key.at("field")

    def _absent_fields(self) -> Iterator[Diagnostic]:
        for name, location in self._keyed_by():
            if self.covered.get(name) is None:
                yield self.unit.problem(
                    "E150b",
                    f"the window has no field '{name}': '{self.root.name}' gives none",
                    location,
                    help=did_you_mean(name, self.covered.columns)
                    or f"emit it upstream, or use one of: {', '.join(self.covered.columns)}",
                    also=(self._root_label(),),
                )

    def _root_label(self) -> Label:
        return Label(self.root.node.at("name"), "the window covers these records")

    def _array_fields(self) -> Iterator[Diagnostic]:
        node = self.root.node
        if not isinstance(node, CombineNode) or node.config.match != "collect":
            return
        driver = self.root.inputs[driver_position(self.root, node)].label
        arrays = {edge.label for edge in self.root.inputs if edge.label != driver}
        read = [
            (part.name, part.location)
            for call in self.calls()
            if call.argument
            for part in call.argument.walk()
            if isinstance(part, typed.Field)
        ]
        for name, location in (*self._keyed_by(), *read):
            if name in arrays:
                yield self.unit.problem(
                    "E150e",
                    f"a window cannot read '{name}', the array that '{self.root.name}' collects",
                    location,
                    help="join with 'match: first' or 'match: all', or emit what you need of the "
                    "array in a transform between the two",
                    also=(Label(node.config.at("match"), "collected here"),),
                )

    def _sort_problems(self) -> Iterator[Diagnostic]:
        for key in self.config.sort_by:
            if key.null_order == "drop":
                yield self.unit.problem(
                    "E042",
                    f"a window cannot drop the records without '{key.field}': "
                    "every record gets its values",
                    key.at("null_order"),
                    help="use 'first' or 'last', or filter the records before",
                )
        frame = self.config.frame
        if frame is None or frame.range is None or len(self.config.sort_by) != 1:
            return
        key = self.config.sort_by[0]
        type_ = self.covered.get(key.field)
        if type_ and not type_.maybe(_MEASURABLE):
            yield self.unit.problem(
                "E044",
                f"a frame by range needs a number or a date to measure, '{key.field}' is "
                f"{type_.noun}",
                frame.at("range"),
                help="count 'rows' instead, or sort by a number or a date",
                also=(Label(key.at("field"), "sorted by this"),),
            )

    def _keyed_sources(self) -> Iterator[Diagnostic]:
        if self.buffered:
            return
        for name in _sources_behind(self.graph, self.root):
            key = self.correlation.sources.get(name)
            if key:
                yield self.unit.problem(
                    "E150",
                    f"the window covers records as '{name}' reads them, but they stand or fall "
                    f"together by {', '.join(key.fields)}",
                    self.node.config.key_at("analytic_window"),
                    help="put the window after an aggregate or another transform, or remove the "
                    "correlation key",
                    also=(Label(key.location, f"the correlation key of '{name}'"),),
                )

    def _lookup_problems(self) -> Iterator[Diagnostic]:
        on, group_by = self.config.on, self.config.group_by
        if on is None:
            for position, name in enumerate(group_by):
                if self.incoming.get(name) is None and self.covered.get(name) is not None:
                    yield self._unknown_lookup(name, self.config.at("group_by", position))
            return
        if self.incoming.get(on) is None:
            yield self._unknown_lookup(on, self.config.at("on"))
        if on not in group_by and len(group_by) != 1:
            yield self.unit.problem(
                "E043",
                f"'on' gives one value to look up, but group_by has {len(group_by)} fields",
                self.config.at("on"),
                help=f"group by the one field of '{self.config.source}' that equals '{on}'",
                also=(Label(self.config.at("group_by"), "the fields to match"),),
            )

    def _unknown_lookup(self, name: str, location: Location) -> Diagnostic:
        return self.unit.problem(
            "E043",
            f"the window looks up records by '{name}', which the current record does not have",
            location,
            help=did_you_mean(name, self.incoming.columns)
            or f"name one of its fields with 'on': {', '.join(self.incoming.columns)}",
            also=(Label(self.config.at("source"), "looked up here"),),
        )

    def _without_position(self) -> Iterator[Diagnostic]:
        """The current record is not among those looked up."""
        if self.config.frame:
            yield self._position_problem("a frame", self.config.key_at("frame"))
        for call in self.calls():
            if _needs_position(call):
                yield self._position_problem(f"'$window.{call.function.name}'", call.location)

    def _position_problem(self, what: str, location: Location) -> Diagnostic:
        return self.unit.problem(
            "E045",
            f"{what} needs the place of the current record in the window, but it looks up records "
            f"of '{self.config.source}'",
            location,
            help="use functions of the whole window, such as first, last, count or sum",
            also=(Label(self.config.at("source"), "looked up here"),),
        )


def _sources_behind(graph: Graph, root: Unit) -> list[str]:
    """The sources whose records reach the root as they were read."""
    found: dict[str, None] = {}
    passed: set[str] = set()
    todo = [root.name]
    while todo:
        unit = graph.units.get(todo.pop(0))
        if unit is None or unit.name in passed:
            continue
        passed.add(unit.name)
        if isinstance(unit.node, SourceNode):
            found[unit.name] = None
        elif unit.kind in (*_PASSING_ON, "merge"):
            todo += (edge.upstream for edge in unit.inputs)
    return list(found)


def window_calls(program: typed.Program) -> Iterator[typed.Window]:
    for expression in program.expressions():
        for part in expression.walk():
            if isinstance(part, typed.Window):
                yield part


def _fields_of(call: typed.Window) -> set[str]:
    return {name for _, name in call.argument.fields_read} if call.argument else set()


def _needs_position(call: typed.Window) -> bool:
    function = call.function
    assert isinstance(function, WindowFunction)
    ranks = function.shape is Shape.RANK and function.name != "count"
    return ranks or function.shape is Shape.OFFSET


def frame_spec(frame: ConfiguredFrame | None) -> FrameSpec:
    """The frame as configured; by default all records up to the current one."""
    if frame is None:
        return FrameSpec()
    if frame.rows is not None:
        return _extent(FrameUnit.ROWS, frame.rows)
    assert frame.range is not None
    return _extent(FrameUnit.RANGE, frame.range)


def _extent(unit: FrameUnit, extent: Extent) -> FrameSpec:
    def bound(value: float) -> float | None:
        return None if math.isinf(value) else value

    return FrameSpec(unit, bound(extent.start), bound(extent.end))
