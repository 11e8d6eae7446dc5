"""Limits: when rejected records are not acceptable, or too many of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clinker.config.error_handling import Queue
from clinker.config.nodes import CombineNode
from clinker.cxl.failure import Category, shown
from clinker.cxl.run.tagged import decode
from clinker.cxl.values import Value, text_of
from clinker.diagnostics import Diagnostic, Label, Location
from clinker.engine.rejects.entries import Rejected
from clinker.engine.report.facts import Counts, Exit, RunError
from clinker.formats.files.dead_letter_file import Entry
from clinker.plan.analyses.reach import keeps_every_record
from clinker.plan.compile import Plan
from clinker.plan.files.dead_letters import Limit
from clinker.plan.nodes import Planned


def check_limits(plan: Plan, rejected: Rejected, totals: Mapping[str, int]) -> None:
    """End the run if rejected records are not acceptable, or too many of them."""
    handling = plan.pipeline.error_handling
    counts = Counts(total=sum(totals.values()), dlq=len(rejected.entries))
    fails_fast = handling.strategy == "fail_fast"
    if fails_fast or any(rejected.is_fatal):
        for at, entry in enumerate(rejected.entries):
            if rejected.is_fatal[at]:
                raise _missed(plan, entry, counts)
            if fails_fast and entry.category != Category.LATE_RECORD:
                raise _stopped_by(plan, rejected, at, counts)
    exceeded = next(_exceeded_limits(plan, rejected, totals), None)
    if exceeded:
        message, queue = exceeded
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
    total, entries = sum(totals.values()), len(rejected.entries)
    # A share is one of records, of which none is rejected more than once.
    records = rejected.records
    most = plan.options.error_threshold
    if most and entries > most:
        yield f"{entries} records were rejected, more than --error-threshold {most}", None
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
    is_read = entry.node == entry.source_name or entry.category == Category.MISSING_REQUIRED
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
    if planned.body:
        statements = planned.body.every_statement()
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
    combines = {unit.name: (unit, node) for unit, node in plan.graph.of(CombineNode)}
    unit, node = combines[entry.node]
    message = f"{_place(entry)}: {entry.detail.removeprefix('E319: ')}, in '{entry.node}'"
    help = "repair the input, or let misses pass with 'on_miss: null_fields' or 'skip'"
    miss = unit.problem("E319", message, node.config.at("on_miss"), help=help)
    return RunError(message, Exit.EVALUATION, [miss], help, counts)


def _place(entry: Entry) -> str:
    return f"{entry.source_file}, row {entry.source_row}"
