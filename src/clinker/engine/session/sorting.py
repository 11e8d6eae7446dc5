"""Frames whose rows are sorted last: for engines that keep no order between the steps of a query.

Spark's rows stand as they were sorted until something shuffles them. Where every step may mix the
rows, what they are sorted by has to come along, to be sorted by when nothing else is left to do.
"""

from __future__ import annotations

from clinker.engine.flow.frame import (
    Cut,
    Extend,
    Frame,
    Group,
    Number,
    RunInArrow,
    Select,
    Sort,
    SortBy,
    Where,
    quoted,
)
from clinker.frozen import frozen

_KEY = "$sort"


@frozen(eq=False)
class Arranged:
    """A frame without its order, and what its rows are to be sorted by in the end."""

    frame: Frame
    by: tuple[SortBy, ...] = ()

    @property
    def numbering(self) -> str:
        """SQL of numbers that grow from row to row as they are to stand."""
        if not self.by:
            return "monotonically_increasing_id()"
        return f"row_number() OVER (ORDER BY {', '.join(key.sql for key in self.by)})"


def sorted_last(frame: Frame) -> Frame:
    """The same rows, sorted by nothing but the last step, which may need more columns."""
    arranged = arrange(frame)
    return arranged.frame.sort(arranged.by) if arranged.by else arranged.frame


def arrange(frame: Frame) -> Arranged:
    """A frame apart from the order of its rows."""
    match frame:
        case Sort():
            return Arranged(arrange(frame.below).frame, frame.by)
        case Cut():
            return Arranged(arrange(frame.below).frame, _ascending(frame))
        case RunInArrow(below=Cut() as cut):
            return Arranged(frame, _ascending(cut))  # the function needs them sorted, too
        case Group():
            grouped = arrange(frame.below).frame  # in which numbers may tell of an order
            is_same = grouped is frame.below
            return Arranged(frame if is_same else grouped.group(frame.by, frame.aggregates))
        case Select() | Extend() | Where() | Number() | RunInArrow():
            below = arrange(frame.below)
            is_same = below.frame is frame.below and not below.by
            return Arranged(frame) if is_same else _stacked(frame, below)
    return Arranged(frame)


def _stacked(step: Select | Extend | Where | Number | RunInArrow, below: Arranged) -> Arranged:
    """A step on top of a frame whose rows have an order."""
    match step:
        case Select():
            return _selected(step, below)
        case Extend():
            frame = below.frame.extend(step.columns)
        case Where():
            frame = below.frame.where(step.test)
        case Number():
            frame = below.frame.extend([(step.name, f"CAST({below.numbering} AS BIGINT)")])
        case RunInArrow():
            frame = below.frame.run_in_arrow(step.function, step.added, step.work)
    return Arranged(frame, below.by)


def _selected(step: Select, below: Arranged) -> Arranged:
    """The columns of a step, and those that the rows are sorted by, unless they are among them."""
    names = {text: name for name, text in reversed(step.columns)}
    added: list[tuple[str, str]] = []
    by: list[SortBy] = []
    for key in below.by:
        if key.text not in names:
            names[key.text] = f"{_KEY}{len(added)}"
            added.append((names[key.text], key.text))
        by.append(SortBy(quoted(names[key.text]), key.descending, key.nulls_first))
    return Arranged(below.frame.select([*step.columns, *added]), tuple(by))


def _ascending(cut: Cut) -> tuple[SortBy, ...]:
    return tuple(map(SortBy, cut.order))
