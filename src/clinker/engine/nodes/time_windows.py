"""Time windows: which stretches of event time a record belongs to, and which of them are closed.

Times are numbers of microseconds since 1970 here.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace

from clinker.config.nodes import AggregateNode, SourceNode
from clinker.config.nodes.aggregate import Hopping, Session, Tumbling
from clinker.config.nodes.source import Watermark
from clinker.cxl.sql.text import text_literal
from clinker.cxl.types import Type
from clinker.engine.expressions import representation
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import REJECT, SOURCE, Flow, quoted, selection
from clinker.engine.rejects.entries import LATE_RECORD
from clinker.engine.rejects.mark import is_kept, reject_sql, rejecting
from clinker.formats.common.rejecting import CATEGORY_MISSING_REQUIRED, Rejection
from clinker.plan.graph.graph import Unit

WINDOW = "$window"
"""Where the window of a record starts; null for rejected records."""
TIME, WATERMARK, ARRIVED = "$time", "$watermark", "$arrived"
"""The event time of a record, the watermark it meets, and whether it was not rejected before."""
_STARTS, _OPEN, _SESSION, _END = "$starts", "$open", "$session", "$end"

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
    times = " ".join(
        f"when {number} then {_event_time(building, flow, name)}"
        for name, number in numbers.items()
    )
    order = ", ".join(selection(flow.order))
    before = f"over (order by {order} rows between unbounded preceding and 1 preceding)"
    reached: list[str] = []
    for name, number in numbers.items():
        own = f"case when {quoted(SOURCE)} = {number} and {quoted(ARRIVED)} then {quoted(TIME)} end"
        delay = _microseconds(_watermark(building, name).delay)
        reached.append(f"(max({own}) {before} - {delay})")
    least = reached[0] if len(reached) == 1 else f"least({', '.join(reached)})"
    all_known = " and ".join(f"{each} is not null" for each in reached)
    frame = flow.frame.selectExpr(
        "*",
        f"case {quoted(SOURCE)} {times} end as {quoted(TIME)}",
        f"{is_kept(flow)} as {quoted(ARRIVED)}",
    )
    frame = frame.selectExpr("*", f"case when {all_known} then {least} end as {quoted(WATERMARK)}")
    return flow.with_frame(frame)


def _event_time(building: Building, flow: Flow, source: str) -> str:
    column, type_ = flow.origin[_watermark(building, source).column]
    return _time_of(quoted(column), type_)


def _watermark(building: Building, source: str) -> Watermark:
    node = building.plan.graph.units[source].node
    assert isinstance(node, SourceNode)
    assert node.config.watermark
    return node.config.watermark


def _time_of(text: str, type_: Type) -> str:
    if representation(type_).is_tagged:
        text = f"try_cast(substr({text}, 2) as timestamp_ntz)"
    return f"unix_micros(cast({text} as timestamp))"


def _microseconds(duration: dt.timedelta | None) -> str:
    whole = (duration or dt.timedelta()) // dt.timedelta(microseconds=1)
    return f"{min(whole, _LONGEST)}L"


def in_windows(building: Building, unit: Unit, flow: Flow, keys: Sequence[str]) -> Flow:
    """Each record of such a flow once for every window it counts in.

    Late records are rejected, and those that have no event time. Sessions are told apart by the
    columns `keys`.
    """
    node = unit.node
    assert isinstance(node, AggregateNode)
    assert node.config.time_window
    windows = _Windows(building, unit, flow, _microseconds(node.config.allowed_lateness))
    match node.config.time_window.shape:
        case Tumbling(size=size):
            return windows.tumbling(_microseconds(size))
        case Hopping(size=size, slide=slide):
            return windows.hopping(_microseconds(size), _microseconds(slide))
        case Session(gap=gap):
            return windows.sessions(_microseconds(gap), keys)
    raise AssertionError(unit.name)


class _Windows:
    def __init__(self, building: Building, unit: Unit, flow: Flow, lateness: str) -> None:
        self.unit = unit
        self.lateness = lateness
        # Dead letters name what told the windows, not what is computed in them.
        telling = replace(unit, name=f"time_window:{unit.name}")
        self.site = building.site(telling, None)
        self.flow = self._with_times(building, flow)

    def tumbling(self, size: str) -> Flow:
        time = quoted(TIME)
        start = f"{time} - pmod({time}, {size})"
        self._add(f"{start} as {quoted(WINDOW)}")
        end = f"{quoted(WINDOW)} + {size}"
        return self._without_late(self._is_closed(end), quoted(WINDOW), end)

    def hopping(self, size: str, slide: str) -> Flow:
        """Records go to those of their windows that are still open; late is who finds none."""
        time, starts, found = quoted(TIME), quoted(_STARTS), quoted(_OPEN)
        first = f"{time} - {size} + {slide} - pmod({time} - {size}, {slide})"
        last = f"{time} - pmod({time}, {slide})"
        self._add(
            f"if({first} <= {last}, sequence({first}, {last}, {slide}), cast(array() as"
            f" array<bigint>)) as {starts}"
        )
        closed = self._is_closed(f"start + {size}")
        self._add(f"filter({starts}, start -> not ({closed})) as {found}")
        is_late = f"size({starts}) > 0 and size({found}) = 0"
        earliest = f"{starts}[0]"
        flow = self._without_late(is_late, earliest, f"{earliest} + {size}")
        once = f"if({is_kept(flow)}, {found}, array(cast(null as bigint)))"
        others = [name for name in flow.frame.columns if name not in (_STARTS, _OPEN)]
        return flow.with_frame(
            flow.frame.selectExpr(*selection(others), f"explode({once}) as {quoted(WINDOW)}")
        )

    def sessions(self, gap: str, keys: Sequence[str]) -> Flow:
        """A session goes on until the next record of its group is more than a gap away."""
        apart = selection((*keys, ARRIVED))
        time, session = quoted(TIME), quoted(_SESSION)
        order = ", ".join((time, *selection(self.flow.order)))
        in_turn = f"partition by {', '.join(apart)} order by {order}"
        before = f"lag({time}) over ({in_turn})"
        self._add(f"if({time} - {before} <= {gap}, 0, 1) as {session}")
        kept = [name for name in self.flow.frame.columns if name != _SESSION]
        counted = f"sum({session}) over ({in_turn} rows unbounded preceding) as {session}"
        self.flow = self.flow.with_frame(self.flow.frame.selectExpr(*selection(kept), counted))
        together = f"partition by {', '.join((*apart, session))}"
        self._add(
            f"min({time}) over ({together}) as {quoted(WINDOW)}",
            f"max({time}) over ({together}) + {gap} as {quoted(_END)}",
        )
        return self._without_late(self._is_closed(quoted(_END)), quoted(WINDOW), quoted(_END))

    def _with_times(self, building: Building, flow: Flow) -> Flow:
        """The flow in which records that have no event time are rejected."""
        reasons = " ".join(
            f"when {number} then {_timeless_reason(building, self.unit, source)}"
            for number, source in enumerate(building.system.files)
            if source in flow.sources
        )
        reject = reject_sql(flow, self.site, f"case {quoted(SOURCE)} {reasons} end")
        return _marked(flow, rejecting(flow, f"{quoted(TIME)} is null", reject))

    def _add(self, *columns: str) -> None:
        self.flow = self.flow.with_frame(self.flow.frame.selectExpr("*", *columns))

    def _is_closed(self, end: str) -> str:
        return f"coalesce({quoted(WATERMARK)} >= {end} + {self.lateness}, false)"

    def _without_late(self, is_late: str, start: str, end: str) -> Flow:
        """The flow in which late records, whose window has these bounds, are rejected.

        What else is wrong with a late record does not matter.
        """
        flow = self.flow
        reject = reject_sql(flow, self.site, _late_reason(self.unit.name, start, end))
        return _marked(flow, f"if({quoted(ARRIVED)} and {is_late}, {reject}, {quoted(REJECT)})")


def _marked(flow: Flow, mark: str) -> Flow:
    """The flow with this mark on its rejected records."""
    others = [name for name in flow.frame.columns if name != REJECT]
    frame = flow.frame.selectExpr(*selection(others), f"{mark} as {quoted(REJECT)}")
    return replace(flow, frame=frame, has_rejects=True)


def _timeless_reason(building: Building, unit: Unit, source: str) -> str:
    """The reason of a record without an event time, as a tagged map."""
    column = _watermark(building, source).column
    detail = (
        f"event time column '{column}' has no value: "
        f"the record is in no time window of '{unit.name}'"
    )
    facts = Rejection(CATEGORY_MISSING_REQUIRED, detail, column).facts
    assert facts
    return text_literal(facts)


def _late_reason(name: str, start: str, end: str) -> str:
    """The reason of a late record, as a tagged map."""
    category = f'{{"category":"\\"{LATE_RECORD}","detail":"\\"'
    before = text_literal(f"{category}the record belongs to the time window [")
    behind = text_literal(f") of '{name}', in nanoseconds, which had already closed\"}}")
    return f"concat({before}, {_nanoseconds(start)}, ', ', {_nanoseconds(end)}, {behind})"


def _nanoseconds(time: str) -> str:
    return f"cast(cast({time} as decimal(20, 0)) * 1000 as string)"
