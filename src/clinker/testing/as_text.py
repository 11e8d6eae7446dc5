"""The outcome of tests, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.text import Text

from clinker.cxl.failure import printable
from clinker.diagnostics.render import render_text
from clinker.engine.report.views import show_value
from clinker.testing.judging import Difference, Line
from clinker.testing.outcome import Outcome

_STYLES = {" ": "dim", "-": "red", "+": "green"}
_AROUND = 2
"""How many records as expected are shown beside one that is not."""
_LONGEST_CELL = 60
_GAP = "  "


class Screen:
    """Where outcomes are told as they come."""

    def __init__(self, stream: TextIO) -> None:
        self._console = Console(file=stream, highlight=False, soft_wrap=True)
        self._file = ""

    def show(self, outcome: Outcome) -> None:
        if outcome.file != self._file:
            self._file = outcome.file
            self._line(Text(printable(outcome.file), "bold"))
        if outcome.is_updated:
            verdict, style = "updated", "yellow"
        elif outcome.has_passed:
            verdict, style = "ok", "green"
        else:
            verdict, style = "FAILED", "bold red"
        title = Text.assemble(
            "  ",
            (f"{verdict:8}", style),
            printable(outcome.name),
            (f"  {outcome.seconds:.1f} s", "dim"),
        )
        self._line(title)
        if outcome.diagnostics and not outcome.has_passed:
            for line in render_text(outcome.diagnostics).splitlines():
                self._line(Text(f"      {line}"))
        for difference in outcome.differences:
            self._show_difference(difference)

    def finish(self, outcomes: Sequence[Outcome], seconds: float) -> None:
        """Tell how many passed."""
        failed = sum(not each.has_passed for each in outcomes)
        updated = sum(each.is_updated for each in outcomes)
        parts = [f"{len(outcomes) - failed - updated} passed"]
        parts += [f"{failed} failed"] if failed else []
        parts += [f"{updated} updated"] if updated else []
        style = "bold red" if failed else "bold green"
        self._line(Text(f"{', '.join(parts)} in {seconds:.1f} s", style))

    def _show_difference(self, difference: Difference) -> None:
        self._line(Text(f"      {printable(difference.title)}"))
        lines = list(_with_surroundings(difference.lines))
        if not difference.columns or not lines:
            return
        cells = [[_cell(line, name) for name in difference.columns] for line in lines if line]
        heads = [_cut(name) for name in difference.columns]
        widths = [max(len(head), *(len(row[at]) for row in cells)) for at, head in enumerate(heads)]
        self._row(" ", heads, widths, "bold")
        rows = iter(cells)
        for line in lines:
            if line is None:
                self._line(Text("      …", "dim"))
            else:
                self._row(line.mark, next(rows), widths, _STYLES[line.mark])

    def _row(self, mark: str, cells: Sequence[str], widths: Sequence[int], style: str) -> None:
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        self._line(Text(f"      {mark} {_GAP.join(padded)}".rstrip(), style))

    def _line(self, text: Text) -> None:
        self._console.print(text)


def _with_surroundings(lines: Sequence[Line]) -> Iterator[Line | None]:
    """The records that differ and those around them; None where others are left out."""
    changed = [at for at, line in enumerate(lines) if line.mark != " "]
    shown = {
        at
        for place in changed
        for at in range(place - _AROUND, place + _AROUND + 1)
        if 0 <= at < len(lines)
    }
    before = -1
    for at in sorted(shown):
        if at != before + 1:
            yield None
        yield lines[at]
        before = at
    if shown and before + 1 < len(lines):
        yield None


def _cell(line: Line, name: str) -> str:
    if name not in line.record:
        return ""
    value = line.record[name]
    return "null" if value is None else _cut(_quoted(show_value(value)))


def _quoted(text: str) -> str:
    """Texts whose ends could not be seen, in quotes."""
    return f"'{text}'" if not text or text != text.strip() or text == "null" else text


def _cut(text: str) -> str:
    line = printable(text)
    return line if len(line) <= _LONGEST_CELL else line[: _LONGEST_CELL - 1] + "…"
