"""Window functions over records."""

from __future__ import annotations

import datetime as dt

import pytest

from clinker.cxl.failure import Failure
from clinker.cxl.run.window_spec import FrameSpec, FrameUnit, SortKey, WindowSpec
from clinker.cxl.values import Value
from tests.cxl.running import windowed

SALES: list[dict[str, Value]] = [
    {"store": "n", "day": 2, "revenue": 20},
    {"store": "s", "day": 1, "revenue": 5},
    {"store": "n", "day": 1, "revenue": 10},
    {"store": "n", "day": 3, "revenue": 20},
]
BY_DAY = WindowSpec(("store",), (SortKey("day"),))


def column(expression: str, spec: WindowSpec, records: list[dict[str, Value]]) -> list[Value]:
    found = windowed(f"emit result = {expression}", records, spec)
    return [record["result"] for record in found]


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("$window.sum(revenue)", [30, 5, 10, 50]),
        ("$window.avg(revenue)", [15.0, 5.0, 10.0, 50 / 3]),
        ("$window.count()", [2, 1, 1, 3]),
        ("$window.row_number()", [2, 1, 1, 3]),
        ("$window.first().revenue", [10, 5, 10, 10]),
        ("$window.last(revenue)", [20, 5, 10, 20]),
        ("revenue - ($window.lag(1) ?? revenue)", [10, 0, 0, 0]),
        ("$window.lead(revenue, 1)", [20, None, 20, None]),
        ("$window.distinct(revenue)", [[10, 20], [5], [10], [10, 20]]),
        ("$window.sum(revenue * 2)", [60, 10, 20, 100]),
    ],
)
def test_functions_see_their_partition_up_to_the_record(
    expression: str, values: list[Value]
) -> None:
    assert column(expression, BY_DAY, SALES) == values


def test_lets_are_computed_on_every_record_of_the_window() -> None:
    found = windowed("let net = revenue - day emit run = $window.sum(net)", SALES, BY_DAY)
    assert [r["run"] for r in found] == [27, 4, 9, 44]


def test_filters_do_not_change_the_window() -> None:
    found = windowed("filter day > 1 emit run = $window.sum(revenue)", SALES, BY_DAY)
    assert [r["run"] for r in found] == [30, 50]


@pytest.mark.parametrize(
    ("key", "order"),
    [
        (SortKey("x"), [2, 3, 1]),
        (SortKey("x", descending=True), [1, 3, 2]),
        (SortKey("x", nulls_first=True), [3, 1, 2]),
        (SortKey("x", descending=True, nulls_first=True), [2, 1, 3]),
    ],
)
def test_sort_direction_and_nulls(key: SortKey, order: list[Value]) -> None:
    records: list[dict[str, Value]] = [{"x": 2}, {"x": None}, {"x": 1}]
    spec = WindowSpec((), (key,))
    assert column("$window.row_number()", spec, records) == order


def test_ties_share_a_rank() -> None:
    spec = WindowSpec((), (SortKey("x", descending=True),))
    records: list[dict[str, Value]] = [{"x": 1}, {"x": 2}, {"x": 2}, {"x": 0}]
    assert column("$window.rank()", spec, records) == [3, 1, 1, 4]
    assert column("$window.dense_rank()", spec, records) == [2, 1, 1, 3]


@pytest.mark.parametrize(
    ("frame", "sums"),
    [
        (FrameSpec(FrameUnit.ROWS, None, None), [15, 15, 15, 15, 15]),
        (FrameSpec(FrameUnit.ROWS, -1, 1), [3, 6, 9, 12, 9]),
        (FrameSpec(FrameUnit.ROWS, 1, None), [14, 12, 9, 5, None]),
        (FrameSpec(FrameUnit.RANGE, -2, 0), [1, 3, 5, 7, 5]),
        (FrameSpec(FrameUnit.RANGE, None, 0), [1, 3, 6, 10, 15]),
    ],
)
def test_frames(frame: FrameSpec, sums: list[Value]) -> None:
    records: list[dict[str, Value]] = [
        {"t": t, "x": x} for t, x in [(1, 1), (2, 2), (4, 3), (5, 4), (9, 5)]
    ]
    assert column("$window.sum(x)", WindowSpec((), (SortKey("t"),), frame), records) == sums


def test_an_unbounded_range_reaches_past_nulls() -> None:
    records: list[dict[str, Value]] = [{"t": None}, {"t": 1}, {"t": 2}]
    key = (SortKey("t"),)
    upto = WindowSpec((), key, FrameSpec(FrameUnit.RANGE, None, 0))
    near = WindowSpec((), key, FrameSpec(FrameUnit.RANGE, -1, 0))
    assert column("$window.count()", upto, records) == [3, 1, 2]
    assert column("$window.count()", near, records) == [1, 1, 2]


def test_range_frames_count_days_between_dates() -> None:
    days = [dt.date(2024, 2, 27), dt.date(2024, 2, 29), dt.date(2024, 3, 1)]
    records: list[dict[str, Value]] = [{"d": d} for d in days]
    spec = WindowSpec((), (SortKey("d"),), FrameSpec(FrameUnit.RANGE, -1, 0))
    assert column("$window.count()", spec, records) == [1, 1, 2]


def test_a_failure_on_a_covered_record_is_the_functions_own() -> None:
    with pytest.raises(Failure, match="sum expects Numeric, got String"):
        windowed("emit s = $window.sum(x)", [{"x": 1}, {"x": "a"}])
