"""Views as tables, CSV and JSON."""

from __future__ import annotations

import io
from typing import Any

import orjson
import pytest
from rich.text import Text

from clinker.engine.report.as_tables import Screen, as_csv, as_json
from clinker.engine.report.views import View
from clinker.formats.files.dead_letter_file import Entry


def _view(*records: dict[str, Any], known: tuple[str, ...] = (), rejected: int = 0) -> View:
    entry = Entry("a.csv", "a", 3, "a", "", "", "type_coercion_failure", "no\nint", "id", "x", None)
    return View(
        outlet="orders",
        content=b"".join(orjson.dumps(record) + b"\n" for record in records),
        count=len(records),
        known=known,
        rejected=[entry] * rejected,
        rejected_before=(),
    )


def _plain(view: View, most: int = 20, *, profile: bool = False) -> str:
    stream = io.StringIO()
    Screen(stream).show(view, most, with_title=False, with_profile=profile)
    return stream.getvalue()


def test_plain_text_is_aligned_and_escaped() -> None:
    view = _view({"id": 1, "name": "A\x1b[31m\n"}, {"id": 20, "name": None}, rejected=1)
    assert _plain(view) == (
        "#   id   name\n"
        "────────────────────\n"
        "1    1   A\\x1b[31m\\n\n"
        "2   20   null\n"
        "2 records\n"
        "\n"
        "1 record was rejected here:\n"
        "  a.csv row 3: type_coercion_failure: no\\nint\n"
    )


def test_no_records_are_told() -> None:
    assert _plain(_view(known=("id",))) == "no records\n"


def test_of_many_records_the_first_are_shown() -> None:
    shown = _plain(_view(*({"id": n} for n in range(30)), rejected=3), most=2)
    assert "the first 2 of 30 records\n" in shown
    assert "3 records were rejected here, the first 2:\n" in shown


def test_markup_in_data_is_data() -> None:
    assert "[bold]x[/bold]" in _plain(_view({"id": "[bold]x[/bold]", "[red]": 1}))


def test_columns_that_do_not_fit_stand_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    record = {f"column_{n}": "x" * 100 for n in range(4)}
    lines = Text.from_ansi(_plain(_view(record))).plain.splitlines()
    assert max(map(len, lines)) <= 40
    assert sum("column_" in line for line in lines) == 4


def test_a_profile_has_a_line_for_each_column() -> None:
    shown = _plain(_view({"id": 1, "tags": [1]}, {"id": None, "tags": [1]}), profile=True)
    lines = [line.split() for line in shown.splitlines()]
    assert ["id", "Int", "1", "1", "1", "1", "1"] in lines
    assert ["tags", "Array", "2", "0", "1"] in lines


def test_csv_and_json_hold_only_records() -> None:
    view = _view({"id": 1, "name": 'a,"b'}, {"id": 2.0, "name": None, "more": [1, "x"]})
    assert as_csv(view, 20) == 'id,name,more\n1,"a,""b",\n2.0,,"[1,""x""]"\n'
    assert as_json(view, 1) == '[\n{"id":1,"name":"a,\\"b"}\n]\n'
    assert as_json(_view(), 1) == "[]\n"
