"""Cursors: how far the records of each source have come, for those who go on from there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.failure import Category
from clinker.engine.rejects.entries import Rejected
from clinker.engine.rejects.origins import Numbers


def rollback_cursors(rejected: Rejected) -> Mapping[str, int]:
    """By source, the number of the last record that was not rejected, over all its files.

    A group that was too large takes it back to the group's first record. A source of which nothing
    is left has none.
    """
    places = rejected.places
    categories = rejected.entries.columns["category"].cast(pa.string())
    is_oversized = np.asarray(pc.equal(categories, Category.GROUP_SIZE))
    found: dict[str, int] = {}
    for source in rejected.inputs:
        own = ~places.is_group & (places.sources == source.number)
        positions = np.unique(places.positions[own])
        gone = source.numbered(positions) if len(positions) else positions
        last = _last_left(source.records, gone)
        if last:
            begins = places.positions[own & is_oversized]
            found[source.name] = int(min([last, *(source.numbered(begins) if len(begins) else ())]))
    return found


def _last_left(count: int, gone: Numbers) -> int:
    """The last of the numbers from 1 to `count` that is not gone; 0 if all are."""
    from_behind = gone[::-1]
    is_run = from_behind == count - np.arange(len(gone))
    return count - (len(gone) if is_run.all() else int(np.argmin(is_run)))
