"""Why records were rejected, some of them, and the lines of the pipeline that rejected them."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.engine.report.as_html.tables import Column, table
from clinker.engine.report.as_html.values import code, counted, number, source_line
from clinker.engine.report.facts import RejectedAlike, RejectedRecord, RunReport
from clinker.markup import Content, Markup, element

_OPEN = 3
"""So many reasons are shown with their records without being asked for."""


def rejects(report: RunReport) -> Iterator[Content]:
    counts = _categories(report)
    if not counts:
        known = report.counts.dlq
        text = f"{known:,} records were rejected." if known else "No record was rejected."
        yield element("p", text)
        return
    rows = [(code(category), number(count)) for category, count in counts.items()]
    yield table("Dead letters by category", ("Category", Column("Entries", is_number=True)), rows)
    for place, alike in enumerate(report.rejected_alike):
        yield _reason(alike, is_open=place < _OPEN)
    left = sum(counts.values()) - sum(alike.count for alike in report.rejected_alike)
    if left > 0:
        yield element("p", counted(left, "entry", "entries"), " for other reasons.")


def _categories(report: RunReport) -> dict[str, int]:
    """How many entries each category has; of a run that failed, as far as they were sorted."""
    if report.rejections:
        return dict(report.rejections)
    counts: dict[str, int] = {}
    for alike in report.rejected_alike:
        counts[alike.category] = counts.get(alike.category, 0) + alike.count
    return counts


def _reason(alike: RejectedAlike, *, is_open: bool) -> Markup:
    return element(
        "details",
        element("summary", _title(alike)),
        source_line(alike.location) if alike.location else None,
        _samples(alike) if alike.samples else None,
        class_="reason",
        open=is_open,
    )


def _title(alike: RejectedAlike) -> tuple[Content, ...]:
    what = f"rule '{alike.rule}'" if alike.rule else alike.category
    field = (", field ", code(alike.field)) if alike.field else ()
    return (
        element("strong", counted(alike.count, "entry", "entries")),
        ": ",
        what,
        " in ",
        code(alike.node),
        *field,
    )


def _samples(alike: RejectedAlike) -> Markup:
    caption = f"{'The' if alike.count <= len(alike.samples) else 'The first'} records rejected"
    return table(
        f"{caption} in {alike.node}",
        ("Record", "Field", "Why"),
        [(sample.place, _value(sample), sample.detail) for sample in alike.samples],
    )


def _value(sample: RejectedRecord) -> Content:
    """The field to blame, and what was in it where that is known."""
    name = code(sample.field) if sample.field else None
    if not sample.value:
        return name
    return name, " = " if name else None, element("code", sample.value, class_="value")
