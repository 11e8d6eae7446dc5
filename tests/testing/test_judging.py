"""What counts as a difference."""

from __future__ import annotations

from textwrap import dedent

import orjson
import pytest

from clinker.config import load_cases
from clinker.config.case import Case
from clinker.engine.report.views import View
from clinker.formats.files.dead_letter_file import Entry
from clinker.testing.attempt import Attempt
from clinker.testing.judging import differences


def _case(expect: str) -> Case:
    text = f"pipeline: p.yaml\ncases:\n  - name: a\n    expect: {expect}\n"
    loaded = load_cases(dedent(text).encode())
    assert loaded.value, loaded.diagnostics
    return loaded.value.cases[0]


def _attempt(*records: object, rejected: tuple[Entry, ...] = ()) -> Attempt:
    view = View(
        outlet="n",
        content=b"".join(orjson.dumps(record) + b"\n" for record in records),
        count=len(records),
        known=(),
        rejected=(),
        rejected_before=(),
    )
    return Attempt(exit_code=2 if rejected else 0, views={"n": view}, rejected=rejected)


@pytest.mark.parametrize(
    ("expected", "found", "is_same"),
    [
        ("1", 1, True),
        ("1", 1.0, True),
        ("1.5", 1.5, True),
        ("1", True, False),
        ("true", True, True),
        ("0", False, False),
        ('"1"', 1, False),
        ("1", "1", False),
        ("null", None, True),
        ('""', None, False),
        ("2024-01-31", "2024-01-31", True),
        ("[1, { a: 2.0 }]", [1.0, {"a": 2}], True),
        ("{ a: 1, b: 2 }", {"b": 2, "a": 1}, False),
        ("0.1", 0.1 + 1e-12, False),
        ("9007199254740993", 9007199254740993, True),
    ],
)
def test_values_are_the_same_if_they_are_of_one_kind_and_equal(
    expected: str, found: object, is_same: bool
) -> None:
    case = _case(f"{{ records: {{ n: [{{ x: {expected} }}] }} }}")
    assert (not differences(case, _attempt({"x": found}))) is is_same


def test_only_named_fields_are_compared() -> None:
    case = _case("{ records: { n: [{ x: 1 }, { y: 2 }] } }")
    assert not differences(case, _attempt({"x": 1, "z": 9}, {"y": 2, "z": 9}))
    [difference] = differences(case, _attempt({"x": 1, "y": 0}, {"y": 2}))
    assert difference.columns == ["x", "y"]
    assert [line.mark for line in difference.lines] == ["-", "+", " "]


def test_order_and_number_count() -> None:
    case = _case("{ records: { n: [{ x: 1 }, { x: 2 }] } }")
    assert differences(case, _attempt({"x": 2}, {"x": 1}))
    assert differences(case, _attempt({"x": 1}, {"x": 2}, {"x": 3}))
    assert differences(case, _attempt({"x": 1}))


def test_of_rejected_records_each_is_compared_by_what_is_said_about_it() -> None:
    first = Entry("a.csv", "a", 1, "n", "", "", "c", "no", "x", "1", None)
    second = first._replace(source_row=2, detail="never")
    case = _case("{ rejected: [{ row: 1 }, { detail: never }] }")
    assert not differences(case, _attempt(rejected=(first, second)))
    assert differences(case, _attempt(rejected=(second, first)))
    assert differences(case, _attempt(rejected=(first,)))
    [more] = differences(case, _attempt(rejected=(first, second, second)))
    assert more.title == "rejected: 2 records expected, 3 records found"


def test_rejected_records_that_nobody_expects_are_shown() -> None:
    entry = Entry("a.csv", "a", 1, "n", "", "", "c", "no", "x", "1", None)
    titles = [d.title for d in differences(_case("{ exit_code: 0 }"), _attempt(rejected=(entry,)))]
    assert titles == [
        "the exit code is 2, not 0",
        "rejected: 0 records expected, 1 record found",
    ]
