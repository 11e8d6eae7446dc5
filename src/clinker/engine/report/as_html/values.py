"""Numbers, sizes, times and places as a page shows them."""

from __future__ import annotations

from datetime import datetime

from clinker.diagnostics import Location
from clinker.engine.report import notation
from clinker.engine.report.facts import RunReport
from clinker.engine.report.notation import absolute, timestamp
from clinker.markup import Content, Markup, element
from clinker.stores.urls import FilePath

_LONGEST_LINE = 200
_TAB = 4


def anchor(report: RunReport, name: str) -> str:
    """The name of a place in a page, which is its own also beside the pages of other runs."""
    return f"run-{report.execution_id[-12:]}-{name}"


def number(value: int | None) -> Markup:
    if value is None:
        return element("span", "not known", class_="unknown")
    return element("data", f"{value:,}", value=value)


def counted(value: int, noun: str, plural: str | None = None) -> Markup:
    word = noun if value == 1 else plural or f"{noun}s"
    return element("span", number(value), " ", word, class_="counted")


def byte_size(value: int) -> Markup:
    return element("data", notation.byte_size(value), value=value)


def duration(seconds: float) -> str:
    """As short as it can be said."""
    if seconds < 1:
        return f"{round(seconds * 1000)} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def moment(time: datetime) -> Markup:
    shown = time.strftime("%Y-%m-%d %H:%M:%S UTC")
    return element("time", shown, datetime=timestamp(time))


def path(file: FilePath) -> Markup:
    return element("code", absolute(file), class_="path")


def code(text: str) -> Markup:
    return element("code", text)


def source_line(location: Location) -> Markup:
    """A line of what the user wrote, the place in it marked."""
    start, end = location.start, location.end
    line = location.source.line(start.line)
    stop = end.column if end.line == start.line else len(line) + 1
    before, marked, after = _window(line, start.column - 1, stop - 1)
    return element(
        "figure",
        element("figcaption", code(f"{location.source.name}:{start.line}")),
        element("pre", before, element("mark", marked) if marked else None, after),
        class_="source-line",
    )


def _window(line: str, start: int, stop: int) -> tuple[str, str, str]:
    """A line in three parts, without its indentation, and shortened when it is very long."""
    before, marked, after = line[:start].lstrip(), line[start:stop], line[stop:]
    if len(line) > _LONGEST_LINE:
        marked = marked if len(marked) <= 120 else marked[:119] + "…"
        before = before if len(before) <= 60 else "…" + before[-59:]
        after = after if len(after) <= 60 else after[:59] + "…"
    first, second, third = (part.expandtabs(_TAB) for part in (before, marked, after))
    return first, second, third


def facts(*pairs: tuple[str, Content]) -> Markup:
    """Terms, each with what it stands for."""
    return element(
        "dl",
        (element("div", element("dt", term), element("dd", value)) for term, value in pairs),
        class_="facts",
    )
