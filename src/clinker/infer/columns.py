"""The columns of a sample, each with its type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clinker.infer.evidence import Column, converts, judge_texts, judge_values
from clinker.infer.guess import Guess
from clinker.infer.reading import Records
from clinker.xml_names import TEXT

_KNOWN_FORMATS = ("%Y-%m-%d", "%m/%d/%Y", "%Y/%m/%d", "%m-%d-%Y")
_KNOWN_MOMENTS = ("%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M")
"""What sources read without being told."""

Row = Mapping[str, Any]


def judge_columns(guess: Guess, records: Records) -> list[Column]:
    """The columns of one file, as far as it tells by itself."""
    rows, names = records.rows, records.names
    if guess.format == "xml":
        rows = [_flat(row) for row in rows]
        names = list(dict.fromkeys(name for row in rows for name in row))
    columns: list[Column] = []
    for name in names:
        values = [row.get(name) for row in rows]
        if any(isinstance(value, list) for value in values):
            # One occurrence is an array of one.
            values = [v if v is None or isinstance(v, list) else [v] for v in values]
            columns.append(judge_values(name, values))
        elif guess.has_texts:
            columns.append(_checked(judge_texts(name, values), values))
        else:
            columns.append(judge_values(name, values))
    return columns


def _checked(column: Column, values: Sequence[Any]) -> Column:
    if column.form is not None or converts(_texts(values), column, ()):
        return column
    return replace(column, type="string", remark="values that are not all of one type")


def agree_on_dates(
    files: Sequence[tuple[list[Column], Records]],
) -> tuple[list[str], list[list[Column]]]:
    """The date formats that all files need, and the columns, of which those that formats of others
    would read in another way stay texts."""
    forms = [column.form for columns, _ in files for column in columns if column.form]
    formats: list[str] = []
    for form in forms:
        known = _KNOWN_FORMATS if form.type == "date" else _KNOWN_MOMENTS
        if form.pattern and form.pattern not in (*known, *formats):
            formats.append(form.pattern)
    agreed = [
        [_agreeing(column, records, formats) for column in columns] for columns, records in files
    ]
    return formats, agreed


def _agreeing(column: Column, records: Records, formats: Sequence[str]) -> Column:
    if column.form is None:
        return column
    texts = _texts([row.get(column.name) for row in records.rows])
    if not texts:  # of a nested element
        texts = _texts([_flat(row).get(column.name) for row in records.rows])
    if converts(texts, column, formats):
        return column
    pattern = column.form.pattern or "ISO 8601"
    doubt = (
        f"dates written {pattern}, which the date_formats above would read in another way: "
        "convert them in CXL"
    )
    return column.as_text(doubt)


def _texts(values: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(value for value in values if isinstance(value, str) and value))


def _flat(row: Row, prefix: str = "") -> dict[str, Any]:
    """The fields of an element and of those inside of it, by their paths."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        path = prefix.removesuffix(".") if name == TEXT and prefix else f"{prefix}{name}"
        if isinstance(value, dict):
            flat |= _flat(value, f"{path}.")
        else:
            flat[path] = value
    return flat
