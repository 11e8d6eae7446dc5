"""Which run it was, what has become of it, and how many records there were."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.diagnostics import Diagnostic, errors
from clinker.engine.report.as_html.values import (
    code,
    duration,
    moment,
    number,
    source_line,
)
from clinker.engine.report.facts import Exit, RunError, RunReport
from clinker.engine.report.notation import duration_ms
from clinker.markup import Content, Markup, element

_VERDICTS = {
    Exit.OK: ("good", "Succeeded", "all outputs are in place"),
    Exit.DEAD_LETTERS: ("careful", "Finished with rejected records", "all outputs are in place"),
    Exit.INTERRUPTED: ("bad", "Interrupted", "nothing was written"),
    Exit.INTERNAL: ("bad", "Failed", "through a defect of clinker"),
}
_FAILED = ("bad", "Failed", "nothing was written")


def masthead(report: RunReport) -> Markup:
    return element(
        "header",
        element("p", "Report of a run", class_="eyebrow"),
        element("h1", report.pipeline),
        _verdict(report),
        element(
            "p",
            moment(report.started),
            " · took ",
            duration(duration_ms(report) / 1000),
            " · batch ",
            code(report.batch_id),
            class_="when",
        ),
        class_="masthead",
    )


def _verdict(report: RunReport) -> Markup:
    """What has become of the run, in words and colour."""
    tone, word, meaning = _VERDICTS.get(Exit(report.exit_code), _FAILED)
    return element(
        "p",
        element("strong", word),
        element("span", f"exit code {int(report.exit_code)}: {meaning}"),
        class_=f"verdict {tone}",
    )


def tiles(report: RunReport) -> Markup:
    """The numbers that matter most."""
    counts = report.counts
    shown: list[tuple[str, int | None, str | None]] = [
        ("read", counts.total, None),
        ("ok", counts.ok, None),
        ("written", counts.written, None),
        ("dead letters", counts.dlq, "careful" if counts.dlq else None),
        ("filtered", counts.filtered, None),
        ("duplicates", counts.distinct, None),
    ]
    return element(
        "dl",
        (
            element("div", element("dt", name), element("dd", number(count)), class_=tone)
            for name, count, tone in shown
        ),
        class_="tiles",
    )


def what_went_wrong(error: RunError) -> Iterator[Content]:
    """The error that ended the run, as the command line tells it."""
    found = list(errors(error.diagnostics))
    if found:
        yield (finding(each) for each in found)
        return
    yield element("p", error.message, class_="message")
    if error.notes:
        yield element("ul", (element("li", note) for note in error.notes), class_="notes")
    if error.help:
        yield _help(error.help)


def finding(diagnostic: Diagnostic) -> Markup:
    """A finding with its place in what the user wrote, and the way out."""
    primary = diagnostic.primary
    word = "error" if diagnostic.is_error else "warning"
    return element(
        "div",
        element(
            "p",
            element("strong", f"{word} {diagnostic.code}"),
            ": ",
            diagnostic.message,
            class_="message",
        ),
        source_line(primary.location) if primary else None,
        _help(diagnostic.help) if diagnostic.help else None,
        class_=f"finding {word}",
    )


def _help(text: str) -> Markup:
    return element("p", element("strong", "Help:"), " ", text, class_="help")
