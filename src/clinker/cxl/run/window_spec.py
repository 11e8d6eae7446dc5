"""What a window is: how records are divided, ordered and framed."""

from __future__ import annotations

import enum

from clinker.frozen import frozen


@frozen
class SortKey:
    field: str
    descending: bool = False
    nulls_first: bool = False


class FrameUnit(enum.Enum):
    ROWS = enum.auto()
    RANGE = enum.auto()


@frozen
class FrameSpec:
    """Which records around the current one a function sees.

    Offsets are relative to the current record, None is unbounded. They count records for ROWS;
    for RANGE they are a distance of the sort key: a number, or days for dates.
    """

    unit: FrameUnit = FrameUnit.ROWS
    start: float | None = None
    end: float | None = 0


@frozen
class WindowSpec:
    """How records are divided into windows and ordered in them."""

    group_by: tuple[str, ...] = ()
    sort_by: tuple[SortKey, ...] = ()
    frame: FrameSpec = FrameSpec()
