"""CSV files: what stands between cells, and whether the first row names the columns."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence

from clinker.formats.csv.cells import CellReader
from clinker.formats.csv.dialect import CsvDialect
from clinker.formats.csv.header import name_by_position
from clinker.infer.evidence import looks_like_value
from clinker.infer.guess import Guess
from clinker.infer.text import Text

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
_ROWS = 200
_LIKELY = 0.8
"""What share of rows has the same number of cells if a delimiter is the right one."""
_YEAR = re.compile(r"(19|20)\d\d")


def guess_delimited(text: Text, *, is_whole: bool, delimiter: str | None = None) -> Guess:
    """How a CSV file is written."""
    delimiter = delimiter or find_delimiter(text.content) or ","
    rows = _rows(text.content, delimiter)
    header, why = _has_header(rows)
    content = text.content.encode()
    if not is_whole:
        content = _whole_records(content, delimiter)
    options: dict[str, object] = {}
    if delimiter != ",":
        options["delimiter"] = delimiter
    if not header:
        options["has_header"] = False
    reading = dict(options)
    if not text.is_utf8:
        options["encoding"] = text.encoding
    shown = _DELIMITERS.get(delimiter, f"'{delimiter}'")
    cells = f"cells separated by {shown}" if len(rows[0] if rows else ()) > 1 else "one column"
    names = "the first row names the columns" if header else "no header: columns named by position"
    doubts = [] if why is None else [why]
    return Guess(
        format="csv",
        options=options,
        content=content,
        reading=reading,
        facts=(cells, names),
        doubts=doubts,
    )


def find_delimiter(text: str) -> str | None:
    """What cuts most rows into the same number of cells, more than one; None if nothing does."""
    best: tuple[float, int] = (0.0, 0)
    found = None
    for delimiter in _DELIMITERS:
        widths = Counter(len(row) for row in _rows(text, delimiter))
        width, count = widths.most_common(1)[0] if widths else (0, 0)
        share = count / max(1, widths.total())
        if width > 1 and share >= _LIKELY and (share, width) > best:
            best, found = (share, width), delimiter
    return found


def _rows(text: str, delimiter: str) -> list[list[str]]:
    """The first rows; of more text than they take, the last may be incomplete."""
    lines = iter(text.splitlines(keepends=True))
    rows: list[list[str]] = []
    before, csv_limit = csv.field_size_limit(), len(text) + 1
    csv.field_size_limit(max(before, csv_limit))
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            if row:
                rows.append(row)
            if len(rows) == _ROWS:
                break
    finally:
        csv.field_size_limit(before)
    return rows


def _has_header(rows: Sequence[Sequence[str]]) -> tuple[bool, str | None]:
    """Whether the first row names the columns, and what to say if that is not sure."""
    if not rows:
        return True, None
    first, rest = rows[0], rows[1:]
    filled = [cell for cell in first if cell]
    if any(looks_like_value(cell) for cell in filled) and not _are_years(filled):
        named = f"{name_by_position(0)}, {name_by_position(1)} …"
        return False, (
            f"the first row holds values, not names, so columns are called {named}: give them "
            "names in the schema, or set 'has_header: true'"
        )
    if rest and not any(looks_like_value(cell) for row in rest for cell in row if cell):
        return True, "all cells are words: the first row is taken for the names of the columns"
    return True, None


def _are_years(cells: Sequence[str]) -> bool:
    """Whether what looks like values in a row is a list of years above columns."""
    values = [cell for cell in cells if looks_like_value(cell)]
    distinct = len(set(values)) == len(values) < len(cells)
    return distinct and all(_YEAR.fullmatch(value) for value in values)


def _whole_records(content: bytes, delimiter: str) -> bytes:
    reader = CellReader(CsvDialect(delimiter=delimiter))
    ends = reader.scanner().record_ends(content)
    return content[: int(ends[-1]) + 1] if len(ends) else content
