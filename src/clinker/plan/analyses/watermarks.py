"""Event time: the watermarks of sources, and the time windows that depend on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clinker.config.nodes import AggregateNode, CombineNode, SourceNode
from clinker.cxl.types import Kind
from clinker.diagnostics import Diagnostic, Label
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.analyses.correlation import driver_position
from clinker.plan.graph.graph import Graph, Unit

_TIMES = Kind.DATE | Kind.DATETIME


@frozen
class EventTimes:
    """Where event times come from, and what is grouped by them."""

    columns: Mapping[str, str]
    """By source, the column that holds the event time."""
    time_windows: Mapping[str, tuple[str, ...]]
    """By time-windowed aggregate, the sources whose watermarks close its windows."""


def plan_event_times(graph: Graph) -> tuple[EventTimes, list[Diagnostic]]:
    """The event times of a pipeline, and the time windows that could never close."""
    columns: dict[str, str] = {}
    time_windows: dict[str, tuple[str, ...]] = {}
    problems: list[Diagnostic] = []
    timeless = _timeless(graph)
    for unit in graph:
        if isinstance(unit.node, SourceNode) and unit.node.config.watermark:
            columns[unit.name] = unit.node.config.watermark.column
            problems += _watermark_problems(unit, unit.node)
        elif isinstance(unit.node, AggregateNode) and unit.node.config.time_window:
            sources = _sources_of(graph, unit)
            time_windows[unit.name] = tuple(source.name for source in sources)
            problems += _missing_watermarks(unit, unit.node, sources)
            lost_at = timeless.get(unit.inputs[0].upstream)
            if lost_at:
                problems.append(_no_event_time(unit, unit.node, lost_at))
    return EventTimes(columns, time_windows), problems


def _watermark_problems(unit: Unit, node: SourceNode) -> Iterator[Diagnostic]:
    config, watermark = node.config, node.config.watermark
    assert watermark
    column = next((c for c in config.schema_columns if c.name == watermark.column), None)
    if column is None:
        names = [c.name for c in config.schema_columns]
        yield unit.problem(
            "E154",
            f"the watermark names '{watermark.column}', which is not a column of '{unit.name}'",
            watermark.at("column"),
            help=did_you_mean(watermark.column, names)
            or f"add '{watermark.column}' to the schema, or remove 'watermark'",
            also=(Label(config.key_at("columns"), "its columns are declared here"),),
        )
    elif not column.type.only(_TIMES):
        yield unit.problem(
            "E155",
            f"the watermark column '{column.name}' is {column.type.noun}, not a point in time",
            watermark.at("column"),
            help=f"declare '{column.name}' as date_time or date, or name a column that is",
            also=(Label(column.at("type"), "declared here"),),
        )


def _sources_of(graph: Graph, unit: Unit) -> list[Unit]:
    """The sources whose records reach the unit."""
    return [
        source
        for source in graph
        if isinstance(source.node, SourceNode) and unit.name in graph.descendants(source.name)
    ]


def _missing_watermarks(
    unit: Unit, node: AggregateNode, sources: list[Unit]
) -> Iterator[Diagnostic]:
    without = [
        source
        for source in sources
        if isinstance(source.node, SourceNode) and source.node.config.watermark is None
    ]
    if not without:
        return
    names = ", ".join(f"'{source.name}'" for source in without)
    yield unit.problem(
        "E156",
        f"the time windows of '{unit.name}' never close: {names} "
        f"{'has' if len(without) == 1 else 'have'} no watermark",
        node.config.key_at("time_window"),
        help="add 'watermark: { column: <event-time column> }' to each of these sources, "
        "or remove 'time_window'",
        also=[Label(source.node.at("name"), "has no watermark") for source in without],
    )


def _timeless(graph: Graph) -> dict[str, Unit]:
    """The nodes whose records have no event time, each with the aggregate that dropped it."""
    found: dict[str, Unit] = {}
    for unit in graph:
        inputs = unit.inputs
        if isinstance(unit.node, CombineNode):
            inputs = (inputs[driver_position(unit, unit.node)],)
        lost_at = next((found[edge.upstream] for edge in inputs if edge.upstream in found), None)
        if isinstance(unit.node, AggregateNode):
            lost_at = unit
        if lost_at:
            found[unit.name] = lost_at
    return found


def _no_event_time(unit: Unit, node: AggregateNode, lost_at: Unit) -> Diagnostic:
    return unit.problem(
        "E047",
        f"the records that reach '{unit.name}' have no event time: "
        f"they are groups that '{lost_at.name}' formed",
        node.config.key_at("time_window"),
        help=f"read the records before '{lost_at.name}', or remove 'time_window'",
        also=(Label(lost_at.node.at("name"), "the event time ends here"),),
    )
