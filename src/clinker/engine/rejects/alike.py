"""Rejected records brought together: those alike, with what of the pipeline rejected them.

Entries are looked at as they are: no record is looked up in its file for this.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clinker.cxl.failure import Category
from clinker.diagnostics import Location
from clinker.engine.rejects.entries import Rejected
from clinker.engine.rejects.sites import TIME_WINDOW
from clinker.engine.report.facts import RejectedAlike, RejectedRecord
from clinker.formats.files.dead_letter_file import Entry
from clinker.plan.compile import Plan
from clinker.plan.nodes import (
    Planned,
    PlannedAggregate,
    PlannedCombine,
    PlannedSource,
    PlannedTransform,
)

MOST_KINDS, MOST_SAMPLES = 30, 4
_LONGEST_VALUE, _LONGEST_DETAIL = 100, 240
_CORRELATED = Category.CORRELATED.value
_KEY = ("node", "category", "trigger", "field")

_Codes = npt.NDArray[np.int64]


def rejected_alike(plan: Plan, rejected: Rejected) -> tuple[RejectedAlike, ...]:
    """What was rejected for which reason: the most frequent first, what fell with others last."""
    if not rejected.entries:
        return ()
    codes = _codes(rejected)
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    is_collateral = np.asarray(rejected.entries.columns["category"].take(first)) == _CORRELATED
    ranked = np.lexsort((first, -counts, is_collateral))[:MOST_KINDS]
    most = MOST_SAMPLES if plan.pipeline.error_handling.dlq.include_reason else 0
    return tuple(
        _alike(plan, rejected, np.flatnonzero(codes == code), most) for code in ranked.tolist()
    )


def _codes(rejected: Rejected) -> _Codes:
    """Numbers for entries, the same for those that are alike, from 0 on without gaps."""
    places: dict[int, int] = {}
    at = [places.setdefault(id(location), len(places)) for location in rejected.locations]
    codes: _Codes = np.asarray(at, np.int64)
    for name in _KEY:
        texts = rejected.entries.columns[name].cast(pa.string()).combine_chunks()
        own = np.asarray(texts.dictionary_encode().indices)
        _, codes = np.unique(codes * (int(own.max()) + 1) + own, return_inverse=True)
    return codes


def _alike(plan: Plan, rejected: Rejected, which: _Codes, most: int) -> RejectedAlike:
    first, *_ = entries = _some(rejected, which[: max(most, 1)].tolist())
    location = rejected.locations[int(which[0])]
    return RejectedAlike(
        category=first.category,
        node=first.node,
        rule=first.trigger,
        field=first.field,
        location=location or _place(plan, first),
        count=len(which),
        samples=tuple(map(_sample, entries[:most])),
    )


def _some(rejected: Rejected, chosen: Sequence[int]) -> list[Entry]:
    return list(rejected.take(chosen).entries)


def _sample(entry: Entry) -> RejectedRecord:
    row = f", row {entry.source_row}" if entry.source_row is not None else ""
    return RejectedRecord(
        place=_cut(entry.source_file or entry.source_name, _LONGEST_VALUE) + row,
        field=_cut(entry.field, _LONGEST_VALUE),
        value=_cut(entry.value, _LONGEST_VALUE),
        detail=_cut(entry.detail, _LONGEST_DETAIL),
    )


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _place(plan: Plan, entry: Entry) -> Location | None:
    """What of the pipeline rejects records like this, where it is no expression."""
    if entry.category in (Category.CORRELATED, Category.GROUP_SIZE):
        source = plan.nodes.get(entry.source_name)
        return source.node.config.at("correlation_key") if source else None
    planned = plan.nodes.get(entry.node.removeprefix(TIME_WINDOW))
    if planned is None:
        return None
    return _part(planned, entry) or planned.node.at("name")


def _part(planned: Planned, entry: Entry) -> Location | None:
    """The part of a node that rejects them; None if it is the node as a whole."""
    match planned:
        case PlannedSource():
            columns = planned.node.config.schema_columns
            return next((c.at("type") for c in columns if c.name == entry.field), None)
        case PlannedTransform():
            rules = planned.node.config.validations
            return next((r.at("assertion") for r in rules if r.rule == entry.trigger), None)
        case PlannedCombine() if entry.category == Category.NO_MATCH:
            return planned.node.config.at("on_miss")
        case PlannedAggregate() if entry.category == Category.LATE_RECORD:
            return planned.node.config.at("time_window")
    return None
