"""Time windows: which stretches of event time a record belongs to, and which of them are closed.

Times are numbers of microseconds since 1970 here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from clinker.config.nodes import SourceNode
from clinker.config.nodes.aggregate import Hopping, Session, Tumbling
from clinker.config.nodes.source import Watermark
from clinker.cxl.failure import Category
from clinker.cxl.sql.text import text_literal
from clinker.cxl.types import Type
from clinker.engine.expressions import representation
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import REJECT, SOURCE, Flow
from clinker.engine.flow.frame import quoted, selection
from clinker.engine.flow.hidden import MARK
from clinker.engine.rejects.mark import mark, origin_sql, reject_sql
from clinker.engine.rejects.sites import TIME_WINDOW
from clinker.formats.common.rejecting import Rejection
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes import PlannedAggregate

WINDOW = "$window"
"""Where the window of a record starts; null for rejected records."""
TIME, WATERMARK, ARRIVED = "$time", "$watermark", "$arrived"
"""The event time of a record, the watermark it meets, and whether it was not rejected before."""
_STARTS, _OPEN, _NUMBER = "$starts", "$open", "$number"
_BEGINS, _SESSION, _END = "$begins", "$session", "$end"

_LONGEST = 4 * 10**18
"""Longer durations reach from any time beyond all times, as this one does."""


def with_watermark(building: Building, unit: Unit, flow: Flow) -> Flow:
    """The flow with the event time of each record and the watermark it meets.

    The watermark is what all sources have reached before the record arrives; null while one of them
    has not sent any record.
    """
    sources = building.plan.event_times.time_windows[unit.name]
    numbers = {name: at for at, name in enumerate(building.system.files) if name in sources}
    numbers = {name: number for name, number in numbers.items() if name in flow.sources}
    flow = flow.built()
    times = " ".join(
        f"WHEN {number} THEN {_event_time(building, flow, name)}"
        for name, number in numbers.items()
    )
    order = ", ".join(selection(flow.order))
    before = f"OVER (ORDER BY {order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    reached: list[str] = []
    for name, number in numbers.items():
        own = f"CASE WHEN {quoted(SOURCE)} = {number} AND {quoted(ARRIVED)} THEN {quoted(TIME)} END"
        delay = _microseconds(_watermark(building, name).delay)
        reached.append(f"(max({own}) {before} - {delay})")
    least = reached[0] if len(reached) == 1 else f"least({', '.join(reached)})"
    all_known = " AND ".join(f"{each} IS NOT NULL" for each in reached)
    frame = flow.frame.extend(
        [(TIME, f"CASE {quoted(SOURCE)} {times} END"), (ARRIVED, flow.is_kept)]
    )
    frame = frame.extend([(WATERMARK, f"CASE WHEN {all_known} THEN {least} END")])
    return replace(flow, frame=frame)


def _event_time(building: Building, flow: Flow, source: str) -> str:
    column = flow.hidden_of(kinds.ORIGIN)[_watermark(building, source).column]
    return _time_of(quoted(column.name), column.type)


def _watermark(building: Building, source: str) -> Watermark:
    configs = {unit.name: node.config for unit, node in building.plan.graph.of(SourceNode)}
    watermark = configs[source].watermark
    assert watermark
    return watermark


def _time_of(text: str, type_: Type) -> str:
    if representation(type_).is_tagged:
        text = f"TRY_CAST(substr({text}, 2) AS TIMESTAMP_NTZ)"
    return f"unix_micros(CAST({text} AS TIMESTAMP))"


def _microseconds(duration: dt.timedelta | None) -> str:
    whole = (duration or dt.timedelta()) // dt.timedelta(microseconds=1)
    return f"{min(whole, _LONGEST)}L"


def in_windows(
    building: Building, planned: PlannedAggregate, flow: Flow, keys: Sequence[str]
) -> Flow:
    """Each record of such a flow once for every window it counts in.

    Late records are rejected, and those that have no event time. Sessions are told apart by the
    columns `keys`.
    """
    config = planned.node.config
    assert config.time_window
    windows = _Windows(building, planned.unit, flow, _microseconds(config.allowed_lateness))
    match config.time_window.shape:
        case Tumbling(size=size):
            return windows.tumbling(_microseconds(size))
        case Hopping(size=size, slide=slide):
            return windows.hopping(_microseconds(size), _microseconds(slide))
        case Session(gap=gap):
            return windows.sessions(_microseconds(gap), keys)
    raise AssertionError(planned.name)


class _Windows:
    def __init__(self, building: Building, unit: Unit, flow: Flow, lateness: str) -> None:
        self.unit = unit
        self.lateness = lateness
        # Dead letters name what told the windows, not what is computed in them.
        self.site = building.site(unit, None, label=f"{TIME_WINDOW}{unit.name}")
        self.flow = self._with_times(building, flow)

    def tumbling(self, size: str) -> Flow:
        time = quoted(TIME)
        self._add(WINDOW, f"{time} - pmod({time}, {size})")
        end = f"{quoted(WINDOW)} + {size}"
        return self._without_late(self._is_closed(end), quoted(WINDOW), end)

    def hopping(self, size: str, slide: str) -> Flow:
        """Records go to those of their windows that are still open; late is who finds none."""
        time, starts, still_open = quoted(TIME), quoted(_STARTS), quoted(_OPEN)
        first = f"{time} - {size} + {slide} - pmod({time} - {size}, {slide})"
        last = f"{time} - pmod({time}, {slide})"
        no_window = "CAST(array() AS ARRAY<BIGINT>)"
        self._add(
            _STARTS, f"if({first} <= {last}, sequence({first}, {last}, {slide}), {no_window})"
        )
        closed = self._is_closed(f"start + {size}")
        self._add(_OPEN, f"filter({starts}, start -> NOT ({closed}))")
        is_late = f"size({starts}) > 0 AND size({still_open}) = 0"
        earliest = f"{starts}[0]"
        flow = self._without_late(is_late, earliest, f"{earliest} + {size}")
        once = f"if({flow.is_kept}, {still_open}, array(CAST(NULL AS BIGINT)))"
        frame = flow.frame.explode(once, _NUMBER, WINDOW).drop(_STARTS, _OPEN, _NUMBER)
        return replace(flow, frame=frame)

    def sessions(self, gap: str, keys: Sequence[str]) -> Flow:
        """A session goes on until the next record of its group is more than a gap away."""
        apart = selection((*keys, ARRIVED))
        time, begins, session = quoted(TIME), quoted(_BEGINS), quoted(_SESSION)
        order = ", ".join((time, *selection(self.flow.order)))
        in_turn = f"PARTITION BY {', '.join(apart)} ORDER BY {order}"
        before = f"lag({time}) OVER ({in_turn})"
        self._add(_BEGINS, f"if({time} - {before} <= {gap}, 0, 1)")
        self._add(_SESSION, f"sum({begins}) OVER ({in_turn} ROWS UNBOUNDED PRECEDING)")
        together = f"PARTITION BY {', '.join((*apart, session))}"
        self._add(WINDOW, f"min({time}) OVER ({together})")
        self._add(_END, f"max({time}) OVER ({together}) + {gap}")
        return self._without_late(self._is_closed(quoted(_END)), quoted(WINDOW), quoted(_END))

    def _with_times(self, building: Building, flow: Flow) -> Flow:
        """The flow in which records that have no event time are rejected."""
        reasons = " ".join(
            f"WHEN {number} THEN {_timeless_reason(building, self.unit, source)}"
            for number, source in enumerate(building.system.files)
            if source in flow.sources
        )
        reason = f"CASE {quoted(SOURCE)} {reasons} END"
        reject = reject_sql(self.site, reason, origin_sql(flow))
        return _marked(flow, mark(flow, f"{quoted(TIME)} IS NULL", reject).text(REJECT))

    def _add(self, name: str, text: str) -> None:
        self.flow = replace(self.flow, frame=self.flow.frame.extend([(name, text)]))

    def _is_closed(self, end: str) -> str:
        return f"coalesce({quoted(WATERMARK)} >= {end} + {self.lateness}, FALSE)"

    def _without_late(self, is_late: str, start: str, end: str) -> Flow:
        """The flow in which late records, whose window has these bounds, are rejected.

        What else is wrong with a late record does not matter.
        """
        flow = self.flow
        reason = _late_reason(self.unit.name, start, end)
        reject = reject_sql(self.site, reason, origin_sql(flow))
        return _marked(flow, f"if({quoted(ARRIVED)} AND {is_late}, {reject}, {quoted(REJECT)})")


def _marked(flow: Flow, text: str) -> Flow:
    """The flow with this mark on its rejected records, and all that its frame has besides."""
    others = [(name, quoted(name)) for name in flow.frame.names if name != REJECT]
    frame = flow.frame.select([*others, (REJECT, text)])
    return replace(flow, frame=frame, hidden={**flow.hidden, REJECT: MARK})


def _timeless_reason(building: Building, unit: Unit, source: str) -> str:
    """The reason of a record without an event time, as a tagged map."""
    column = _watermark(building, source).column
    detail = (
        f"event time column '{column}' has no value: "
        f"the record is in no time window of '{unit.name}'"
    )
    facts = Rejection(Category.MISSING_REQUIRED, detail, column).facts
    assert facts
    return text_literal(facts)


def _late_reason(name: str, start: str, end: str) -> str:
    """The reason of a late record, as a tagged map."""
    category = f'{{"category":"\\"{Category.LATE_RECORD}","detail":"\\"'
    before = text_literal(f"{category}the record belongs to the time window [")
    behind = text_literal(f") of '{name}', in nanoseconds, which had already closed\"}}")
    return f"concat({before}, {_nanoseconds(start)}, ', ', {_nanoseconds(end)}, {behind})"


def _nanoseconds(time: str) -> str:
    return f"CAST(CAST({time} AS DECIMAL(20, 0)) * 1000 AS STRING)"
