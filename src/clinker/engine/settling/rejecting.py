"""What is rejected in a round, in columns: only what tells something new is taken out of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clinker.engine.flow.flow import POSITION, SOURCE
from clinker.engine.rejects.reject_texts import MEMBERSHIP
from clinker.engine.rejects.sites import Site, Sites
from clinker.engine.settling.fallen import Cause, Record
from clinker.frozen import frozen

Chosen = npt.NDArray[np.bool_]
"""Some of the rejects."""
_ORDER, _AT = "$order", "$at"


class Failure(NamedTuple):
    """A rejected record or group, as far as it matters for others."""

    at: int
    """Its row among the rejects of all rounds."""
    site: Site
    record: Record | None
    """None for a group of an aggregate."""
    membership: str | None
    cause: Cause
    rank: tuple[Any, ...]
    """What comes first where several are about one record."""


@frozen(eq=False)
class RoundRejects:
    """All that is rejected in a round."""

    table: pa.Table
    first_row: int
    """The number of its first row among the rejects of all rounds."""
    sites: Sites
    order: Mapping[str, int]
    """The nodes in the order in which they count."""

    @cached_property
    def _site_numbers(self) -> npt.NDArray[np.int32]:
        return np.asarray(self.table["site"])

    @cached_property
    def _known_sites(self) -> dict[int, Site]:
        return {number: self.sites[number] for number in np.unique(self._site_numbers).tolist()}

    @cached_property
    def _is_collateral(self) -> Chosen:
        return self._at_sites(n for n, site in self._known_sites.items() if site.is_collateral)

    def failures(self, known: Iterable[Record]) -> list[Failure]:
        """What was rejected for a reason of its own, but for records of which that is known."""
        at = np.flatnonzero(~self._is_collateral & ~self._are(known))
        columns = (SOURCE, POSITION, "site", "inputs", "origin", MEMBERSHIP)
        table = self.table.take(pa.array(at))
        rows = zip(at.tolist(), *(table[name].to_pylist() for name in columns), strict=True)
        failures: list[Failure] = []
        for row, source, position, number, inputs, origin, membership in rows:
            site = self._known_sites[number]
            record = None if source is None else (source, position)
            rank = (record or (-1, -1), self._place(site), number, inputs, origin or "")
            cause = number, inputs
            failures.append(Failure(self.first_row + row, site, record, membership, cause, rank))
        return failures

    def collaterals(self, known: Iterable[Record]) -> tuple[list[int], pa.Table]:
        """The records that fall with others, each of them once, and their numbers among the rejects
        of all rounds."""
        is_record = np.asarray(self.table[SOURCE].is_valid())
        at = np.flatnonzero(self._is_collateral & is_record & ~self._are(known))
        places = {number: self._place(site) for number, site in self._known_sites.items()}
        chosen = self.table.take(pa.array(at)).append_column(_AT, pa.array(at))
        order = pa.array([places[number] for number in self._site_numbers[at].tolist()], pa.int64())
        keys = (SOURCE, POSITION, _ORDER, "site", "inputs", "origin")
        chosen = chosen.append_column(_ORDER, order).sort_by([(key, "ascending") for key in keys])
        sources, positions = (np.asarray(chosen[name]) for name in (SOURCE, POSITION))
        is_next = (np.diff(sources) != 0) | (np.diff(positions) != 0)
        chosen = chosen.take(pa.array(np.flatnonzero([True, *is_next])[: len(chosen)]))
        return (np.asarray(chosen[_AT]) + self.first_row).tolist(), chosen

    def count_collaterals(self, nodes: Collection[str]) -> int:
        """How many records some nodes reject since others failed."""
        sites = (n for n, site in self._known_sites.items() if site.node in nodes)
        return int(np.count_nonzero(self._is_collateral & self._at_sites(sites)))

    def _place(self, site: Site) -> int:
        return self.order.get(site.node, len(self.order))

    def _at_sites(self, sites: Iterable[int]) -> Chosen:
        return np.isin(self._site_numbers, list(sites))

    def _are(self, records: Iterable[Record]) -> Chosen:
        """Which rejects are of some records."""
        by_source: dict[int, list[int]] = {}
        for source, position in records:
            by_source.setdefault(source, []).append(position)
        are = np.zeros(len(self.table), np.bool_)
        sources = np.asarray(self.table[SOURCE].fill_null(-1))
        positions = np.asarray(self.table[POSITION].fill_null(-1))
        for source, chosen in by_source.items():
            is_of_source = sources == source
            are[is_of_source] = np.isin(positions[is_of_source], chosen)
        return are
