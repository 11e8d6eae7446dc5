"""What was read and written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clinker.engine.report.as_html.tables import Column, table
from clinker.engine.report.as_html.values import byte_size, number, path
from clinker.engine.report.facts import RunReport
from clinker.markup import Content, Markup, element, together
from clinker.stores.urls import FilePath

_RECORDS, _SIZE = Column("Records", is_number=True), Column("Size", is_number=True)
_MOST_FILES = 10


def sources(report: RunReport) -> Iterator[Content]:
    if not report.sources:
        yield element("p", "No source was opened.")
        return
    columns = ("Source", _RECORDS, Column("Rejected", is_number=True), _SIZE, "Files")
    rows = [
        (
            source.name,
            number(source.records),
            number(source.rejected),
            byte_size(source.bytes),
            _files(source.files) or "a web service",
        )
        for source in report.sources
    ]
    yield table("What was read", columns, rows)


def outputs(report: RunReport) -> Iterator[Content]:
    if not report.outputs:
        yield element("p", "Nothing was written: outputs appear all together, or not at all.")
        return
    rows: list[tuple[Content, ...]] = [
        (
            output.name,
            number(output.records),
            byte_size(output.bytes),
            _files(output.paths) or "no file",
        )
        for output in report.outputs
    ]
    for file in report.dead_letter_files:
        rows.append(("dead letters", number(file.entries), byte_size(file.bytes), path(file.path)))
    yield table("What was written", ("Output", _RECORDS, _SIZE, "Files"), rows)


def _files(files: Sequence[FilePath]) -> Markup | None:
    """The first files, and how many more there are."""
    if not files:
        return None
    left = len(files) - _MOST_FILES
    shown = (element("div", path(file)) for file in files[:_MOST_FILES])
    return together(shown, element("div", f"and {left:,} more") if left > 0 else None)
