"""The windows of event time that records count in, and those who come too late for theirs.

Times are whole microseconds.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from clinker.config.nodes.aggregate import AggregateConfig, Hopping, Session, Tumbling
from clinker.cxl.values import Value, midnight

from .rows import Row

_EPOCH = dt.datetime(1970, 1, 1)
_MICROSECOND = dt.timedelta(microseconds=1)


@dataclass(frozen=True)
class Arrival:
    """A record that reaches a node."""

    row: Row
    time: int | None
    watermark: int | None
    """What all sources have passed by then; None while one of them has sent nothing."""


def arrivals(
    rows: Sequence[Row], times: Sequence[Value], delays: Mapping[int, dt.timedelta]
) -> list[Arrival]:
    """The records as they arrive, with what their sources have reached; delays are by source."""
    late_by = {s: delay // _MICROSECOND for s, delay in delays.items()}
    newest: dict[int, int] = {}
    found: list[Arrival] = []
    for row, value in zip(rows, times, strict=True):
        assert row.record
        time = None if value is None else _micros(value)
        reached = [newest[s] - delay for s, delay in late_by.items() if s in newest]
        watermark = min(reached) if len(reached) == len(delays) else None
        found.append(Arrival(row, time, watermark))
        if time is not None:
            newest[row.record[0]] = max(time, newest.get(row.record[0], time))
    return found


def _micros(value: Value) -> int:
    assert isinstance(value, dt.date)
    return (midnight(value) - _EPOCH) // _MICROSECOND


class Windows:
    """The time windows of an aggregate."""

    def __init__(self, config: AggregateConfig) -> None:
        assert config.time_window
        self.shape = config.time_window.shape
        self.lateness = (config.allowed_lateness or dt.timedelta()) // _MICROSECOND

    def starts(
        self, arrived: Sequence[Arrival], keys: Sequence[Hashable]
    ) -> list[list[int] | None]:
        """The starts of the windows that each record counts in; None for one that is late."""
        if isinstance(self.shape, Session):
            return self._sessions(arrived, keys, self.shape.gap // _MICROSECOND)
        return [self._open_ones(each) for each in arrived]

    def _open_ones(self, arrival: Arrival) -> list[int] | None:
        assert arrival.time is not None
        match self.shape:
            case Tumbling(size=size):
                length = step = size // _MICROSECOND
            case Hopping(size=size, slide=slide):
                length, step = size // _MICROSECOND, slide // _MICROSECOND
        last = arrival.time - arrival.time % step
        every = [s for s in range(last, last - length - step, -step) if s + length > arrival.time]
        still_open = [s for s in every if not self._is_closed(arrival, s + length)]
        return None if every and not still_open else sorted(still_open)

    def _is_closed(self, arrival: Arrival, end: int) -> bool:
        return arrival.watermark is not None and arrival.watermark >= end + self.lateness

    def _sessions(
        self, arrived: Sequence[Arrival], keys: Sequence[Hashable], gap: int
    ) -> list[list[int] | None]:
        """Sessions of a key go on until nothing comes for longer than the gap."""
        by_key: dict[Hashable, list[int]] = {}
        for number, key in enumerate(keys):
            by_key.setdefault(key, []).append(number)
        found: list[list[int] | None] = [None] * len(arrived)
        for members in by_key.values():
            for session in _chains(arrived, members, gap):
                times = [arrived[number].time or 0 for number in session]
                for number in session:
                    is_late = self._is_closed(arrived[number], max(times) + gap)
                    found[number] = None if is_late else [min(times)]
        return found


def _chains(arrived: Sequence[Arrival], members: Sequence[int], gap: int) -> list[list[int]]:
    chains: list[list[int]] = []
    newest: int | None = None
    for number in sorted(members, key=lambda number: (arrived[number].time, number)):
        time = arrived[number].time
        assert time is not None
        if newest is not None and time - newest <= gap:
            chains[-1].append(number)
        else:
            chains.append([number])
        newest = time
    return chains
