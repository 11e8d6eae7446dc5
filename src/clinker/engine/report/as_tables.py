"""Views as tables for people: on a terminal as wide as that is, else in plain text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import Literal, TextIO

from rich.box import Box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from clinker.cxl.failure import printable
from clinker.engine.report.views import Record, View, show_value
from clinker.formats.files.dead_letter_file import Entry

_LONGEST_CELL, _LONGEST_PLAIN_CELL = 40, 200
_SHORTEST_CELL, _MARGIN = 8, 12
_UNBOUNDED = 1 << 20
_GAP = 3
_NUMBER = "#"
_PROFILE = ("kind", "values", "nulls", "distinct", "min", "max")
_LINE_BELOW_HEAD = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")


class Screen:
    """Where tables are shown."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._console = Console(file=stream, highlight=False, soft_wrap=True)
        self._is_terminal = self._console.is_terminal
        self._width = self._console.width if self._is_terminal else _UNBOUNDED
        self._longest = _LONGEST_PLAIN_CELL
        if self._is_terminal:
            self._longest = max(_SHORTEST_CELL, min(_LONGEST_CELL, self._width - _MARGIN))

    def show(self, view: View, most: int, *, with_title: bool, with_profile: bool) -> None:
        """The first records of a view, and below them what was rejected."""
        records = list(view.records(most))
        if with_title:
            self._line(printable(view.outlet), "bold")
        columns = view.columns(records)
        numbers = [str(number) for number in range(1, len(records) + 1)]
        if records:
            rows = [[_cell(record.get(name)) for name in columns] for record in records]
            self._table((_NUMBER, numbers), columns, rows, _right_aligned(columns, records))
        self._line(_count_records(len(records), view.count), "dim")
        if with_profile:
            self._profile(view)
        self._rejected(view, most)

    def _profile(self, view: View) -> None:
        rows = [
            (p.kinds, *map(_number, (p.values, p.nulls, p.distinct)), p.least, p.greatest)
            for p in view.profile
        ]
        names = [column.name for column in view.profile]
        self._line()
        cells = [list(map(Text, row)) for row in rows]
        self._table(("column", names), _PROFILE, cells, {"values", "nulls", "distinct"})

    def _rejected(self, view: View, most: int) -> None:
        count = len(view.rejected)
        if count:
            self._line()
            what = "1 record was" if count == 1 else f"{count:,} records were"
            more = f", the first {most}" if count > most else ""
            self._line(f"{what} rejected here{more}:", "bold yellow")
            for entry in view.rejected[:most]:
                self._line(f"  {_describe(entry)}")
        if view.rejected_before:
            shown = ", ".join(
                f"{_number(n)} at {printable(name)}" for name, n in view.rejected_before
            )
            self._line(f"rejected before: {shown}", "yellow")

    def line(self, text: str) -> None:
        """A remark below all tables."""
        self._line(text, "dim")

    def _line(self, text: str = "", style: str = "") -> None:
        self._console.print(Text(text, style))

    def _table(
        self,
        keys: tuple[str, Sequence[str]],
        heads: Sequence[str],
        rows: Sequence[Sequence[Text]],
        right: set[str],
    ) -> None:
        """Rows below their heads, each beside its key; columns that do not fit beside the others
        stand below them, with the keys once more."""
        cells = [[Text(self._cut(cell.plain), cell.style) for cell in row] for row in rows]
        names = [Text(self._cut(head)) for head in heads]
        widths = [
            max([name.cell_len, *(row[at].cell_len for row in cells)])
            for at, name in enumerate(names)
        ]
        title, shown = keys[0], [Text(self._cut(key), "dim") for key in keys[1]]
        first = max([len(title), *(key.cell_len for key in shown)]) + _GAP
        for number, block in enumerate(_blocks(widths, self._width - first)):
            if number:
                self._line()
            table = Table(box=_LINE_BELOW_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
            table.add_column(title, justify="right" if title == _NUMBER else "left", no_wrap=True)
            for at in block:
                justify: Literal["left", "right"] = "right" if heads[at] in right else "left"
                table.add_column(names[at], justify=justify, no_wrap=True)
            for key, row in zip(shown, cells, strict=True):
                table.add_row(key, *(row[at] for at in block))
            self._print(table)

    def _print(self, table: Table) -> None:
        if self._is_terminal:
            self._console.print(table, soft_wrap=False, width=self._width, crop=False)
            return
        with self._console.capture() as captured:
            self._console.print(table, soft_wrap=False, width=self._width, crop=False)
        lines = (line.rstrip() for line in captured.get().splitlines())
        self._stream.write("".join(f"{line}\n" for line in lines))

    def _cut(self, text: str) -> str:
        line = printable(text)
        return line if len(line) <= self._longest else line[: self._longest - 1] + "…"


def _blocks(widths: Sequence[int], available: int) -> Iterator[list[int]]:
    """Columns that fit beside each other, block after block."""
    block: list[int] = []
    used = 0
    for at, width in enumerate(widths):
        if block and used + width + _GAP > available:
            yield block
            block, used = [], 0
        block.append(at)
        used += width + _GAP
    if block:
        yield block


def _cell(value: object) -> Text:
    return Text("null", "dim") if value is None else Text(show_value(value))


def _right_aligned(columns: Sequence[str], records: Sequence[Record]) -> set[str]:
    """The columns that hold numbers."""
    return {
        name
        for name in columns
        if all(
            value is None or (isinstance(value, int | float) and not isinstance(value, bool))
            for value in (record.get(name) for record in records)
        )
    }


def _count_records(shown: int, count: int) -> str:
    every = "no records" if not count else "1 record" if count == 1 else f"{count:,} records"
    return every if shown == count else f"the first {shown:,} of {every}"


def _number(number: int) -> str:
    return f"{number:,}"


def _describe(entry: Entry) -> str:
    """A rejected record on a line: where it stands, and why it was rejected."""
    where = f"{entry.source_file} row {entry.source_row}: " if entry.source_file else ""
    rule = f" (rule '{entry.trigger}')" if entry.trigger else ""
    return printable(f"{where}{entry.category}: {entry.detail}{rule}")


def as_csv(view: View, most: int) -> str:
    """The first records as CSV, null as an empty cell."""
    records = list(view.records(most))
    columns = view.columns(records)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    for record in records:
        values = (record.get(name) for name in columns)
        writer.writerow(["" if value is None else show_value(value) for value in values])
    return stream.getvalue()


def as_json(view: View, most: int) -> str:
    """The first records as a JSON array."""
    lines = [line.decode() for line in view.lines(most)]
    return "[\n" + ",\n".join(lines) + "\n]\n" if lines else json.dumps([]) + "\n"
