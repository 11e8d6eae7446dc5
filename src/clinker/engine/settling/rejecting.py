"""What is rejected in a round, in columns: only what tells something new is taken out of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clinker.engine.flow.flow import POSITION, SOURCE
from clinker.engine.rejects.reject_texts import MEMBERSHIP
from clinker.engine.rejects.sites import Site, Sites
from clinker.engine.settling.fallen import Cause, Record
from clinker.frozen import frozen

Chosen = npt.NDArray[np.bool_]
"""Some of the rejects."""
_ORDER, _AT = "$order", "$at"
_NOTHING = -1
"""In place of the source and the position of a group."""
_AT_ONCE = 4096
"""So many failures are objects at a time: as such they take many times as much memory."""
_IN_ORDER = [(name, "ascending") for name in (SOURCE, POSITION, _ORDER, "site", "inputs", "origin")]


class Failure(NamedTuple):
    """A rejected record or group, as far as it matters for others."""

    at: int
    """Its row among the rejects of all rounds."""
    site: Site
    record: Record | None
    """None for a group of an aggregate."""
    membership: str | None
    cause: Cause


@frozen(eq=False)
class Failures:
    """Failures in columns, the least cause first."""

    table: pa.Table
    sites: Mapping[int, Site]

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[Failure]:
        names = (_AT, SOURCE, POSITION, _ORDER, "site", "inputs", MEMBERSHIP)
        for batch in self.table.to_batches(_AT_ONCE):
            rows = zip(*(batch[name].to_pylist() for name in names), strict=True)
            for at, source, position, place, number, inputs, membership in rows:
                record = (source, position)
                cause = Cause(record, place, number, inputs)
                is_group = source == _NOTHING
                yield Failure(
                    at, self.sites[number], None if is_group else record, membership, cause
                )

    @property
    def rows(self) -> list[int]:
        """Their rows among the rejects of all rounds."""
        return self.table[_AT].to_pylist()  # type: ignore[no-any-return]

    @property
    def lack_members(self) -> bool:
        """Whether there are groups of which it is not known what they are made of."""
        is_group = pc.equal(self.table[SOURCE], _NOTHING)
        return bool(pc.any(pc.and_(is_group, self.table[MEMBERSHIP].is_null())).as_py())

    def with_consequences(self, sources: Collection[int]) -> Failures:
        """Those of records of some sources, and those of groups behind aggregates that are made of
        any records."""
        is_behind = self._at_sites(n for n, site in self.sites.items() if site.region.level > 0)
        has_members = np.asarray(pc.not_equal(self.table[MEMBERSHIP], "[]").fill_null(True))
        of_source = np.asarray(self.table[SOURCE])
        is_group = of_source == _NOTHING
        return self._chosen(
            np.where(is_group, is_behind & has_members, np.isin(of_source, list(sources)))
        )

    def of_first_level(self) -> Failures:
        """Those with the fewest aggregates before them."""
        levels = {number: site.region.level for number, site in self.sites.items()}
        first = min(levels[number] for number in pc.unique(self.table["site"]).to_pylist())
        return self._chosen(self._at_sites(n for n, level in levels.items() if level == first))

    def _at_sites(self, sites: Iterable[int]) -> Chosen:
        return np.isin(np.asarray(self.table["site"]), list(sites))

    def _chosen(self, chosen: Chosen) -> Failures:
        return Failures(self.table.filter(pa.array(chosen)), self.sites)


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

    def failures(self, known: Iterable[Record]) -> Failures:
        """What was rejected for a reason of its own, but for records of which that is known."""
        at = np.flatnonzero(~self._is_collateral & ~self._are(known))
        table = self._taken(at)
        for name, instead in ((SOURCE, _NOTHING), (POSITION, _NOTHING), ("origin", "")):
            place = table.column_names.index(name)
            table = table.set_column(place, name, table[name].fill_null(instead))
        return Failures(table.sort_by(_IN_ORDER), self._known_sites)

    def collaterals(self, known: Iterable[Record]) -> Iterator[tuple[int, int, str, str | None]]:
        """The records that fall with others, each of them once: its row among the rejects of all
        rounds, its source, what it fell for, its membership."""
        is_record = np.asarray(self.table[SOURCE].is_valid())
        at = np.flatnonzero(self._is_collateral & is_record & ~self._are(known))
        chosen = self._taken(at).sort_by(_IN_ORDER)
        sources, positions = (np.asarray(chosen[name]) for name in (SOURCE, POSITION))
        is_next = (np.diff(sources) != 0) | (np.diff(positions) != 0)
        chosen = chosen.take(pa.array(np.flatnonzero([True, *is_next])[: len(chosen)]))
        for batch in chosen.to_batches(_AT_ONCE):
            columns = (batch[name].to_pylist() for name in (_AT, SOURCE, "inputs", MEMBERSHIP))
            yield from zip(*columns, strict=True)

    def _taken(self, at: npt.NDArray[np.int64]) -> pa.Table:
        """Some of the rejects, with the places of their nodes and their rows among all."""
        places = {number: self._place(site) for number, site in self._known_sites.items()}
        order = [places[number] for number in self._site_numbers[at].tolist()]
        taken = self.table.take(pa.array(at)).append_column(_ORDER, pa.array(order, pa.int64()))
        return taken.append_column(_AT, pa.array(at + self.first_row))

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
