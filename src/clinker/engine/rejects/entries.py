"""Dead-letter entries: what becomes of rejected records, and when they are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.values import Value
from clinker.diagnostics import Location
from clinker.engine.flow.flow import (
    POSITION,
    SOURCE,
)
from clinker.engine.flow.hidden import FIRST_POSITION, FIRST_SOURCE, IS_MERGED
from clinker.engine.reading.inputs import SourceInput
from clinker.engine.rejects.origins import (
    NO_POSITION,
    Numbers,
    Places,
    typed_fields,
    with_origins,
)
from clinker.engine.rejects.payload import payload_leaves
from clinker.engine.rejects.reject_texts import MEMBERSHIP
from clinker.engine.rejects.sites import TIME_WINDOW, Reason, Site, Sites
from clinker.engine.settling.rounds import GROUP_NUMBER, IS_COLLATERAL, SETTLED
from clinker.formats.common.read_spec import FILE_SHIFT, ROW_MASK
from clinker.formats.files.dead_letter_file import (
    Entries,
    Entry,
    in_pieces,
)
from clinker.frozen import frozen

MERGED = "<merged>"
"""The source that is named for a group of records of several."""
_IS_GROUP, _IS_MERGED = "$is_group", "$is_merged"
_PLACED = pa.schema([*SETTLED, (_IS_GROUP, pa.bool_()), (_IS_MERGED, pa.bool_())])


@frozen(eq=False)
class Rejected:
    """All rejected records of a run, in the order of sources, files and rows."""

    entries: Entries
    """Those of records that a source has read are without their fields; see `whole`."""
    places: Places
    is_fatal: Sequence[bool]
    """For each entry, whether its site ends the run under every strategy."""
    locations: Sequence[Location | None]
    """For each entry, where in the pipeline something could not be computed."""
    inputs: Sequence[SourceInput]
    order: Numbers | None = None
    """In which order they are told; None if in that in which they are."""

    @property
    def records(self) -> int:
        """How many source records were rejected, however often."""
        return sum(self.records_by_source.values())

    @cached_property
    def records_by_source(self) -> Mapping[str, int]:
        is_record = ~self.places.is_group
        records = pa.table(
            [self.places.sources[is_record], self.places.positions[is_record]], [SOURCE, POSITION]
        )
        distinct = records.group_by([SOURCE, POSITION], use_threads=False).aggregate([])
        counts = np.bincount(distinct[SOURCE], minlength=len(self.inputs)).tolist()
        return {source.name: count for source, count in zip(self.inputs, counts, strict=True)}

    @property
    def by_source(self) -> Mapping[str, int]:
        return self._counted("source_name")

    @property
    def by_node(self) -> Mapping[str, int]:
        """How many each node has rejected; sites that have names of their own count for theirs."""
        counts: Counter[str] = Counter()
        for label, count in self._counted("node").items():
            counts[label.removeprefix(TIME_WINDOW)] += count
        return counts

    @property
    def categories(self) -> Mapping[str, int]:
        return self._counted("category")

    def _counted(self, column: str) -> Mapping[str, int]:
        """How often each value of a column occurs, in the order of their first entries."""
        return _value_counts(self.entries.columns[column].cast(pa.string()))

    def take(self, chosen: Sequence[int]) -> Rejected:
        """Some of them, in their order."""
        return Rejected(
            Entries(self.entries.columns.take(pa.array(chosen, pa.int64()))),
            self.places.take(chosen),
            [self.is_fatal[at] for at in chosen],
            [self.locations[at] for at in chosen],
            self.inputs,
        )

    def told(self) -> Rejected:
        """The same in the order in which they are told; records are not looked up any more."""
        return self if self.order is None else self.take(self.order.tolist())

    def whole(self) -> Rejected:
        """The same, their entries with the fields of the records."""
        columns = self.entries.columns
        origins = with_origins(columns["origin"], self.places, self.inputs)
        at = columns.column_names.index("origin")
        return replace(self, entries=Entries(columns.set_column(at, "origin", origins)))

    def values(
        self, chosen: Sequence[int], names: Collection[str]
    ) -> Iterator[Mapping[str, Value]]:
        """The values of some fields of chosen records, as their sources deliver them."""
        if not names:
            yield from ({} for _ in chosen)
            return
        some = self.take(chosen).whole()
        sources = iter(np.where(some.places.is_group, -1, some.places.sources).tolist())
        for batch in some.entries.batches():
            # In this order no number is lost when a batch ends.
            records = zip(batch["origin"].to_pylist(), sources, strict=False)
            for number, same in groupby(records, itemgetter(1)):
                origins = [origin for origin, _ in same]
                yield from typed_fields(origins, None if number < 0 else self.inputs[number], names)


def _value_counts(values: pa.ChunkedArray) -> Mapping[str, int]:
    return {count["values"]: count["counts"] for count in pc.value_counts(values).to_pylist()}


def explained(settled: pa.Table, sites: Sites, inputs: Sequence[SourceInput]) -> Rejected:
    """The rejected records with their reasons."""
    table = _in_order(_placed(settled, sites))
    causes = _Causes(sites)
    which = [number for batch in in_pieces(table) for number in causes.numbers(batch)]
    places = Places(*(np.asarray(table[n]) for n in (SOURCE, POSITION, _IS_GROUP, _IS_MERGED)))
    columns = {
        **_shown_places(places, inputs),
        **{name: _repeated(which, values) for name, values in causes.columns().items()},
        "origin": table["origin"],
    }
    fatal = [site.is_fatal for site, _ in causes.found]
    locations = [reason.location for _, reason in causes.found]
    entries = Entries(pa.table(columns).select(Entry._fields))
    return Rejected(
        entries,
        places,
        [fatal[n] for n in which],
        [locations[n] for n in which],
        inputs,
        _standing_together(table),
    )


def _standing_together(table: pa.Table) -> Numbers | None:
    """The order of entries of which groups stand together, each at the place of its first; in a
    group, what made the others fall comes first. None if no entry belongs to a group."""
    if table[GROUP_NUMBER].null_count == len(table):
        return None
    place = np.lexsort((np.asarray(table[POSITION]), np.asarray(table[SOURCE])))
    rank = np.empty(len(table), np.int64)
    rank[place] = np.arange(len(table))
    numbers = np.asarray(table[GROUP_NUMBER].fill_null(-1))
    first = np.full(int(numbers.max()) + 2, len(table), np.int64)
    np.minimum.at(first, numbers, rank)
    group = np.where(numbers < 0, rank, first[numbers])
    return np.lexsort((rank, np.asarray(table[IS_COLLATERAL]), group))


class _Causes:
    """The sites that rejected records and their reasons, each pair of them once."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._numbers: dict[tuple[int, Reason], int] = {}

    @property
    def found(self) -> list[tuple[Site, Reason]]:
        return [(self._sites[site], reason) for site, reason in self._numbers]

    def columns(self) -> dict[str, list[str]]:
        """What dead-letter entries show of each."""
        found = self.found
        return {
            "node": [site.stage for site, _ in found],
            "route": [site.branch for site, _ in found],
            "trigger": [reason.rule for _, reason in found],
            "category": [reason.category for _, reason in found],
            "detail": [reason.detail for _, reason in found],
            "field": [reason.field for _, reason in found],
            "value": [reason.value for _, reason in found],
        }

    def numbers(self, rejects: pa.RecordBatch) -> list[int]:
        """Which of them rejected each record."""
        inputs = rejects["inputs"].dictionary_encode()
        texts = inputs.dictionary.to_pylist()
        pairs = [*zip(rejects["site"].to_pylist(), inputs.indices.to_pylist(), strict=True)]
        numbers: dict[tuple[int, int], int] = {}
        for site, text in dict.fromkeys(pairs):
            cause = site, self._sites.reason(site, texts[text])
            numbers[site, text] = self._numbers.setdefault(cause, len(self._numbers))
        return [numbers[pair] for pair in pairs]


def _shown_places(places: Places, inputs: Sequence[SourceInput]) -> dict[str, pa.Array]:
    """Where the records stand, as dead-letter entries show it."""
    has_row = places.positions != NO_POSITION
    positions = np.where(has_row, places.positions, 0)
    files = [file.name for source in inputs for file in source.files]
    first_files = np.cumsum([0, *(len(source.files) for source in inputs)])
    file_numbers = first_files[places.sources] + (positions >> FILE_SHIFT)
    names = np.where(places.is_merged, len(inputs), places.sources)
    return {
        "source_file": _repeated(np.where(has_row, file_numbers, len(files)), [*files, ""]),
        "source_name": _repeated(names, [*(source.name for source in inputs), MERGED]),
        "source_row": pa.array(positions & ROW_MASK, mask=~has_row),
    }


def _repeated(which: Any, values: Sequence[str]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(
        pa.array(which, pa.int32()), pa.array(values, pa.string())
    )


def _placed(rejects: pa.Table, sites: Sites) -> pa.Table:
    """Rejects of which each has a place: groups that of their first record, which they carry."""
    is_group = rejects[SOURCE].is_null()
    records = rejects.filter(pc.invert(is_group)) if pc.any(is_group).as_py() else rejects
    no = pa.repeat(False, len(records))
    placed = [*records.columns, no, no]
    groups = (_placed_groups(batch, sites) for batch in in_pieces(rejects.filter(is_group)))
    return pa.concat_tables([pa.table(placed, schema=_PLACED), *groups])


def _placed_groups(groups: pa.RecordBatch, sites: Sites) -> pa.Table:
    origins = [payload_leaves(text) for text in groups["origin"].to_pylist()]
    sources, positions, is_merged = (
        [origin.pop(name) for origin in origins]
        for name in (FIRST_SOURCE.name, FIRST_POSITION.name, IS_MERGED.name)
    )
    placed = {
        SOURCE: sources,
        POSITION: [NO_POSITION if position is None else position for position in positions],
        "site": groups["site"],
        "inputs": groups["inputs"],
        "origin": [orjson.dumps(origin).decode() for origin in origins],
        **{name: groups[name] for name in (MEMBERSHIP, GROUP_NUMBER, IS_COLLATERAL)},
        _IS_GROUP: pa.repeat(True, len(groups)),
        _IS_MERGED: [
            merged or sites[site].region.is_relaxed
            for merged, site in zip(is_merged, groups["site"].to_pylist(), strict=True)
        ],
    }
    return pa.table(placed, schema=_PLACED)


def _in_order(table: pa.Table) -> pa.Table:
    keys = (_IS_MERGED, SOURCE, POSITION, _IS_GROUP, "site", "inputs")
    return table.take(pc.sort_indices(table, [(name, "ascending") for name in keys]))
