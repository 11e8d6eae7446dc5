"""Event time: the watermarks of sources, and the time windows that depend on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clinker.config.nodes.source import Watermark
from clinker.cxl.types import Kind
from clinker.diagnostics import Diagnostic, Label
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.nodes import Planned, PlannedAggregate, PlannedSource, Shape

_TIMES = Kind.DATE | Kind.DATETIME


@frozen
class EventTimes:
    """Where event times come from, and what is grouped by them."""

    columns: Mapping[str, str]
    """By source, the column that holds the event time."""
    time_windows: Mapping[str, tuple[str, ...]]
    """By time-windowed aggregate, the sources whose watermarks close its windows."""


def plan_event_times(
    graph: Graph, nodes: Mapping[str, Planned]
) -> tuple[EventTimes, list[Diagnostic]]:
    """The event times of a pipeline, and the time windows that could never close."""
    columns: dict[str, str] = {}
    time_windows: dict[str, tuple[str, ...]] = {}
    problems: list[Diagnostic] = []
    timeless = _timeless(nodes)
    for name, planned in nodes.items():
        if planned.shape is Shape.READS and planned.node.config.watermark:
            columns[name] = planned.node.config.watermark.column
            problems += _watermark_problems(planned, planned.node.config.watermark)
        elif planned.shape is Shape.GROUPS and planned.node.config.time_window:
            sources = _sources_of(graph, nodes, name)
            time_windows[name] = tuple(source.name for source in sources)
            problems += _missing_watermarks(planned, sources)
            lost_at = timeless.get(planned.unit.inputs[0].upstream)
            if lost_at:
                problems.append(_no_event_time(planned, lost_at))
    return EventTimes(columns, time_windows), problems


def _watermark_problems(source: PlannedSource, watermark: Watermark) -> Iterator[Diagnostic]:
    config = source.node.config
    column = next((c for c in config.schema_columns if c.name == watermark.column), None)
    if column is None:
        names = [c.name for c in config.schema_columns]
        yield source.unit.problem(
            "E154",
            f"the watermark names '{watermark.column}', which is not a column of '{source.name}'",
            watermark.at("column"),
            help=did_you_mean(watermark.column, names)
            or f"add '{watermark.column}' to the schema, or remove 'watermark'",
            also=(Label(config.key_at("columns"), "its columns are declared here"),),
        )
    elif not column.type.only(_TIMES):
        yield source.unit.problem(
            "E155",
            f"the watermark column '{column.name}' is {column.type.noun}, not a point in time",
            watermark.at("column"),
            help=f"declare '{column.name}' as date_time or date, or name a column that is",
            also=(Label(column.at("type"), "declared here"),),
        )


def _sources_of(graph: Graph, nodes: Mapping[str, Planned], name: str) -> list[PlannedSource]:
    """The sources whose records reach a node."""
    return [
        node
        for node in nodes.values()
        if node.shape is Shape.READS and name in graph.descendants(node.name)
    ]


def _missing_watermarks(
    planned: PlannedAggregate, sources: list[PlannedSource]
) -> Iterator[Diagnostic]:
    without = [source for source in sources if source.node.config.watermark is None]
    if not without:
        return
    names = ", ".join(f"'{source.name}'" for source in without)
    yield planned.unit.problem(
        "E156",
        f"the time windows of '{planned.name}' never close: {names} "
        f"{'has' if len(without) == 1 else 'have'} no watermark",
        planned.node.config.key_at("time_window"),
        help="add 'watermark: { column: <event-time column> }' to each of these sources, "
        "or remove 'time_window'",
        also=[Label(source.node.at("name"), "has no watermark") for source in without],
    )


def _timeless(nodes: Mapping[str, Planned]) -> dict[str, Unit]:
    """The nodes whose records have no event time, each with the aggregate that dropped it."""
    timeless: dict[str, Unit] = {}
    for name, planned in nodes.items():
        lost = [timeless[e.upstream] for e in planned.passed_on if e.upstream in timeless]
        if planned.shape is Shape.GROUPS:
            timeless[name] = planned.unit
        elif lost:
            timeless[name] = lost[0]
    return timeless


def _no_event_time(planned: PlannedAggregate, lost_at: Unit) -> Diagnostic:
    return planned.unit.problem(
        "E047",
        f"the records that reach '{planned.name}' have no event time: "
        f"they are groups that '{lost_at.name}' formed",
        planned.node.config.key_at("time_window"),
        help=f"read the records before '{lost_at.name}', or remove 'time_window'",
        also=(Label(lost_at.node.at("name"), "the event time ends here"),),
    )
