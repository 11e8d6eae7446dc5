"""Dead-letter entries: what becomes of rejected records, and when they are too many."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.config.error_handling import Queue
from clinker.config.nodes import CombineNode, SourceNode
from clinker.cxl.failure import shown
from clinker.cxl.run.tagged import decode
from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.values import Value, text_of
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.engine.flow.flow import (
    FILE_SHIFT,
    FIRST_POSITION,
    FIRST_SOURCE,
    IS_MERGED,
    POSITION,
    SOURCE,
)
from clinker.engine.reading.inputs import SourceInput
from clinker.engine.rejects.origins import NO_POSITION, Places, typed_fields, with_origins
from clinker.engine.rejects.payload import carried_leaves
from clinker.engine.rejects.places import ROW_MASK
from clinker.engine.rejects.reject_texts import REJECTS
from clinker.engine.rejects.sites import Demand, Reason, RunAgain, Site, Sites
from clinker.engine.report.facts import Counts, Exit, RunError
from clinker.engine.run.observer import Observer
from clinker.engine.writing.destinations import dead_letter_target
from clinker.formats.common.rejecting import CATEGORY_MISSING_REQUIRED
from clinker.formats.files.dead_letter_file import (
    Entries,
    Entry,
    in_pieces,
    prepare_dead_letter_file,
)
from clinker.formats.files.publication import Publication
from clinker.frozen import frozen
from clinker.plan.analyses.reach import keeps_every_record
from clinker.plan.compile import Plan
from clinker.plan.files.dead_letters import Limit
from clinker.plan.nodes.planned import Planned, PlannedAggregate, PlannedCombine, PlannedTransform

LATE_RECORD = "late_record"
MERGED = "<merged>"
"""The source that is named for a group of records of several."""
_IS_GROUP, _IS_MERGED = "$is_group", "$is_merged"
_PLACED = pa.schema([*REJECTS, (_IS_GROUP, pa.bool_()), (_IS_MERGED, pa.bool_())])
_REMEMBERED = 1 << 14
"""How many explanations are kept, for records that were rejected alike."""


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


def explained(tables: Sequence[pa.Table], sites: Sites, inputs: Sequence[SourceInput]) -> Rejected:
    """The rejected records with their reasons."""
    table = pa.concat_tables([REJECTS.empty_table(), *tables])
    for demand in Demand:
        if pc.index(table["site"], demand).as_py() >= 0:
            raise RunAgain(demand)
    table = _in_order(_placed(table))
    causes = _Causes(sites)
    which: list[int] = []
    for batch in in_pieces(table):
        which += map(causes.number, batch["site"].to_pylist(), batch["inputs"].to_pylist())
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
        entries, places, [fatal[n] for n in which], [locations[n] for n in which], inputs
    )


class _Causes:
    """The sites that rejected records and their reasons, each pair of them once."""

    def __init__(self, sites: Sites) -> None:
        self._sites = sites
        self._numbers: dict[tuple[int, Reason], int] = {}
        self.number = lru_cache(_REMEMBERED)(self._number)

    @property
    def found(self) -> list[tuple[Site, Reason]]:
        return [(self._sites[site], reason) for site, reason in self._numbers]

    def columns(self) -> dict[str, list[str]]:
        """What dead-letter entries show of each."""
        found = self.found
        return {
            "node": [site.node for site, _ in found],
            "route": [site.branch for site, _ in found],
            "trigger": [reason.rule for _, reason in found],
            "category": [reason.category for _, reason in found],
            "detail": [reason.detail for _, reason in found],
            "field": [reason.field for _, reason in found],
            "value": [reason.value for _, reason in found],
        }

    def _number(self, site: int, inputs: str) -> int:
        """Which of them it was that rejected a record of which the site had read `inputs`."""
        cause = site, self._sites.reason(site, inputs)
        return self._numbers.setdefault(cause, len(self._numbers))


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


def _placed(rejects: pa.Table) -> pa.Table:
    """Rejects of which each has a place: groups that of their first record, which they carry."""
    is_group = rejects[SOURCE].is_null()
    records = rejects.filter(pc.invert(is_group))
    no = pa.repeat(False, len(records))
    placed = [*records.columns, no, no]
    groups = map(_placed_groups, in_pieces(rejects.filter(is_group)))
    return pa.concat_tables([pa.table(placed, schema=_PLACED), *groups])


def _placed_groups(groups: pa.RecordBatch) -> pa.Table:
    origins = [carried_leaves(text) for text in groups["origin"].to_pylist()]
    sources, positions, is_merged = (
        [origin.pop(name) for origin in origins]
        for name in (FIRST_SOURCE, FIRST_POSITION, IS_MERGED)
    )
    placed = {
        SOURCE: sources,
        POSITION: [NO_POSITION if position is None else position for position in positions],
        "site": groups["site"],
        "inputs": groups["inputs"],
        "origin": [orjson.dumps(origin).decode() for origin in origins],
        _IS_GROUP: pa.repeat(True, len(groups)),
        _IS_MERGED: is_merged,
    }
    return pa.table(placed, schema=_PLACED)


def _in_order(table: pa.Table) -> pa.Table:
    keys = (_IS_MERGED, SOURCE, POSITION, _IS_GROUP, "site", "inputs")
    return table.take(pc.sort_indices(table, [(name, "ascending") for name in keys]))


# Limits


def check_limits(plan: Plan, rejected: Rejected, totals: Mapping[str, int]) -> None:
    """End the run if rejected records are not acceptable, or too many of them."""
    handling = plan.pipeline.error_handling
    counts = Counts(total=sum(totals.values()), dlq=len(rejected.entries))
    fails_fast = handling.strategy == "fail_fast"
    if fails_fast or any(rejected.is_fatal):
        for at, entry in enumerate(rejected.entries):
            if rejected.is_fatal[at]:
                raise _missed(plan, entry, counts)
            if fails_fast and entry.category != LATE_RECORD:
                raise _stopped_by(plan, rejected, at, counts)
    found = next(_exceeded_limits(plan, rejected, totals), None)
    if found:
        message, queue = found
        help = "nothing was written; correct the input, or allow more rejected records"
        diagnostics = []
        if queue:
            diagnostics = [Diagnostic("E316", message, Label(queue.at("max_rate")), help=help)]
        raise RunError(message, Exit.EVALUATION, diagnostics, help, counts)


def check_counts(plan: Plan, rejected: int, written: int, total: int) -> None:
    """Records that were read are written or rejected: end the run if some are neither, or both.

    Where records may be dropped, joined or taken twice, nobody can tell.
    """
    if written + rejected == total or not keeps_every_record(plan.graph, plan.nodes):
        return
    raise RunError(
        f"the numbers do not add up: {total} records were read, "
        f"but {written} written and {rejected} rejected",
        Exit.INTERNAL,
        help="nothing was published; if no input changed while it was read, this is a defect of "
        "clinker: please report it",
    )


def _exceeded_limits(
    plan: Plan, rejected: Rejected, totals: Mapping[str, int]
) -> Iterator[tuple[str, Queue | None]]:
    """The limits that were passed, each with the queue that sets it if it is one."""
    queue = plan.pipeline.error_handling.dlq
    total, found = sum(totals.values()), len(rejected.entries)
    # A share is one of records, of which none is rejected more than once.
    records = rejected.records
    most = plan.options.error_threshold
    if most and found > most:
        yield f"{found} records were rejected, more than --error-threshold {most}", None
    rate = plan.pipeline.error_handling.type_error_threshold
    if rate is not None and total and records / total > rate:
        yield (
            f"{records} of {total} records were rejected, "
            f"more than 'type_error_threshold: {rate}' allows",
            None,
        )
    for source, limit in plan.dead_letters.limits.items():
        count = rejected.records_by_source.get(source, 0)
        if _is_exceeded(limit, count, totals[source]):
            yield (
                f"{count} of {totals[source]} records of '{source}' were rejected, "
                f"'max_rate' is {limit.max_rate}",
                queue.per_source[source],
            )
    common = plan.dead_letters.limit
    if common and _is_exceeded(common, records, total):
        yield f"{records} of {total} records were rejected, 'max_rate' is {common.max_rate}", queue


def _is_exceeded(limit: Limit, count: int, total: int) -> bool:
    return total >= max(limit.min_records, 1) and count > 0 and count / total >= limit.max_rate


def _stopped_by(plan: Plan, rejected: Rejected, at: int, counts: Counts) -> RunError:
    (entry,) = rejected.take([at]).whole().entries
    location = rejected.locations[at]
    rule = f" (rule '{entry.trigger}')" if entry.trigger else ""
    is_read = entry.node == entry.source_name or entry.category == CATEGORY_MISSING_REQUIRED
    is_computed = not (is_read or entry.trigger)
    field = f" while computing '{entry.field}'" if entry.field and is_computed else ""
    # What tells a group from the others is said first; no single record is to blame.
    place = "" if rejected.places.is_group[at] else f"{_place(entry)}: "
    message = f"{place}{entry.detail}{rule}{field}, in '{entry.node}'"
    help = "'error_handling: { strategy: continue }' collects such records"
    notes = []
    if location:
        notes.append(f"expression: {_statement_at(plan.nodes[entry.node], location)}")
    record = decode(entry.origin)
    if isinstance(record, dict) and any(value is not None for value in record.values()):
        fields = (f"{shown(name)}: {_shown(value)}" for name, value in record.items())
        notes.append(f"record: {{{', '.join(fields)}}}")
    return RunError(message, Exit.EVALUATION, help=help, counts=counts, notes=notes)


def _statement_at(planned: Planned, location: Location) -> str:
    """The statement of a node in which something failed, or what failed if it has none."""
    place = location
    if isinstance(planned, PlannedTransform | PlannedAggregate | PlannedCombine):
        statements = planned.program.every_statement() if planned.program else ()
        around = (s.location for s in statements if _is_inside(location, s.location))
        place = next(around, location)
    return " ".join(place.source.text[slice(*place.span)].split())


def _is_inside(inner: Location, outer: Location) -> bool:
    (start, end), (first, last) = inner.span, outer.span
    return inner.source is outer.source and first <= start <= end <= last


def _shown(value: Value) -> str:
    return "null" if value is None else shown(text_of(value))


def _missed(plan: Plan, entry: Entry, counts: Counts) -> RunError:
    """A record without the match that its combine insists on."""
    unit = plan.graph.units[entry.node]
    assert isinstance(unit.node, CombineNode)
    message = f"{_place(entry)}: {entry.detail.removeprefix('E319: ')}, in '{entry.node}'"
    help = "repair the input, or let misses pass with 'on_miss: null_fields' or 'skip'"
    found = unit.problem("E319", message, unit.node.config.at("on_miss"), help=help)
    return RunError(message, Exit.EVALUATION, [found], help, counts)


def _place(entry: Entry) -> str:
    return f"{entry.source_file}, row {entry.source_row}"


# Files


def prepare_files(
    plan: Plan, rejected: Rejected, inputs: Sequence[SourceInput], publication: Publication
) -> None:
    """Prepare the dead-letter files, each with the entries of its sources.

    A file of an earlier run that would be replaced vanishes if there is nothing to replace it with.
    """
    dlq = plan.pipeline.error_handling.dlq
    if dlq.include_source_row and plan.dead_letters.files:
        rejected = rejected.whole()
    columns = _source_columns(rejected, inputs) if dlq.include_source_row else []
    for path in plan.dead_letters.files:
        entries = _entries_to(path, plan, rejected)
        target = dead_letter_target(plan, path)
        written = prepare_dead_letter_file(
            publication,
            target,
            entries,
            source_columns=columns,
            include_reason=dlq.include_reason,
            include_source_row=dlq.include_source_row,
        )
        if not written and target.if_exists == "overwrite":
            publication.remove(path)


def _source_columns(rejected: Rejected, inputs: Sequence[SourceInput]) -> list[str]:
    """The fields of all sources: declared ones in order, then what else their records have.

    Of that, what headers tell comes first, as declared fields do in the order of the sources.
    """
    columns = {
        column.name: None
        for source in inputs
        if isinstance(source.unit.node, SourceNode)
        for column in source.unit.node.config.schema_columns
    }
    others: dict[str, None] = {}
    for batch in rejected.entries.batches():
        origins = ",".join(batch["origin"].drop_null().to_pylist())
        for record in orjson.loads(f"[{origins}]"):
            if not record.keys() <= others.keys():
                others |= dict.fromkeys(record)
    told = [name for source in inputs for name in source.inventory.undeclared if name in others]
    return list(columns | dict.fromkeys(told) | others)


def log_unfiled(plan: Plan, rejected: Rejected, observer: Observer) -> None:
    """Tell about entries that no file takes; a preview writes none."""
    entries = rejected.entries if plan.options.preview else _entries_to(None, plan, rejected)
    for entry in entries:
        where = f"{entry.source_file} row {entry.source_row}: " if entry.source_file else ""
        text = f"rejected: {where}{entry.category}: {entry.detail}"
        observer.logged(TraceLevel.WARN, text, entry.node)


def _entries_to(path: Path | None, plan: Plan, rejected: Rejected) -> Entries:
    """The entries that go to a file, or to none."""
    paths, common = plan.dead_letters.paths, plan.dead_letters.common_path
    sources = [name for name in rejected.by_source if paths.get(name, common) == path]
    return rejected.entries.of_sources(sources)
