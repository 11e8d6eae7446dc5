"""Analytic windows: which records each `$window` function looks at, and whether it can."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from clinker.config.nodes import SourceNode, TransformNode
from clinker.config.window import AnalyticWindow, Extent
from clinker.config.window import Frame as ConfiguredFrame
from clinker.cxl.builtins.windows import Shape as CallShape
from clinker.cxl.builtins.windows import WindowFunction
from clinker.cxl.check import typed
from clinker.cxl.check.resolve import OPEN_ROW, Row
from clinker.cxl.run.window_spec import FrameSpec, FrameUnit, SortKey, WindowSpec
from clinker.cxl.types import Kind
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.analyses.correlation import Correlation
from clinker.plan.analyses.ordering import Ordering, Orders, sort_keys
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.nodes import Planned, Shape
from clinker.plan.nodes.window import Window, window_calls

__all__ = ["Window", "frame_spec", "plan_windows", "window_calls"]

_MEASURABLE = Kind.INT | Kind.FLOAT | Kind.DATE | Kind.DATETIME
_WHOLE_PARTITION = FrameSpec(FrameUnit.ROWS, None, None)


def plan_windows(
    graph: Graph, nodes: Mapping[str, Planned], correlation: Correlation, orders: Orders
) -> tuple[dict[str, Window], list[Diagnostic]]:
    """The window of every transform that has one, and what is wrong with them."""
    windows: dict[str, Window] = {}
    problems: list[Diagnostic] = []
    for unit, node in graph.of(TransformNode):
        config = node.config.analytic_window
        if config is None:
            continue
        root = _foreign_root(nodes, unit, config) if config.source else _own_root(nodes, unit)
        if root is None:
            if config.source:
                problems.append(_unknown_source(graph, unit, config.source, config.at("source")))
            continue
        placed = _Placed(nodes, correlation, unit, node, config, root)
        problems += placed.problems()
        windows[unit.name] = placed.window(orders.orderings.get(root.name, Ordering()))
    return windows, problems


# Roots


def _foreign_root(
    nodes: Mapping[str, Planned], unit: Unit, window: AnalyticWindow
) -> Planned | None:
    root = nodes.get(f"{unit.scope.prefix}{window.source}")
    return root if root and root.shape is Shape.READS else None


def _own_root(nodes: Mapping[str, Planned], unit: Unit) -> Planned | None:
    """The nearest node before the window that makes records of its own."""
    passed = {unit.name}
    root = nodes.get(unit.inputs[0].upstream)
    while root and _hands_on(root) and root.name not in passed:
        passed.add(root.name)
        root = nodes.get(root.unit.inputs[0].upstream)
    return root


def _hands_on(planned: Planned) -> bool:
    """Whether records leave a node as they came: it passes them on and has nothing to emit."""
    return planned.shape is Shape.PASSES and planned.body is None


def _unknown_source(graph: Graph, unit: Unit, name: str, location: Location) -> Diagnostic:
    sources = [
        other.name.removeprefix(unit.scope.prefix)
        for other, _ in graph.of(SourceNode)
        if other.scope is unit.scope
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

    nodes: Mapping[str, Planned]
    correlation: Correlation
    unit: Unit
    node: TransformNode
    config: AnalyticWindow
    root: Planned

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
        return self.root.row if self.is_lookup else self.incoming

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
        program = self.nodes[self.unit.name].body
        yield from window_calls(program) if program else ()

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
        root = self.root
        if root.shape is not Shape.JOINS or root.node.config.match != "collect":
            return
        arrays = root.inputs.keys() - {root.driver}
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
                    also=(Label(root.node.config.at("match"), "collected here"),),
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
        for name in _sources_behind(self.nodes, self.root):
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


def _sources_behind(nodes: Mapping[str, Planned], root: Planned) -> list[str]:
    """The sources whose records reach the root as they were read."""
    sources: dict[str, None] = {}
    passed: set[str] = set()
    todo = [root.name]
    while todo:
        planned = nodes.get(todo.pop(0))
        if planned is None or planned.name in passed:
            continue
        passed.add(planned.name)
        if planned.shape is Shape.READS:
            sources[planned.name] = None
        elif planned.shape is Shape.MERGES or _hands_on(planned):
            todo += (edge.upstream for edge in planned.unit.inputs)
    return list(sources)


def _fields_of(call: typed.Window) -> set[str]:
    return {name for _, name in call.argument.fields_read} if call.argument else set()


def _needs_position(call: typed.Window) -> bool:
    function = call.function
    assert isinstance(function, WindowFunction)
    ranks = function.shape is CallShape.RANK and function.name != "count"
    return ranks or function.shape is CallShape.OFFSET


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
