"""Dates at the edges: the ends of the calendar, month ends, mixed kinds, symmetry."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clinker.cxl.builtins.dates import (
    add_days,
    add_months,
    add_years,
    diff_days,
    diff_months,
    diff_years,
    format_date,
    hour,
    minute,
    second,
    year,
)
from clinker.cxl.builtins.declare import METHODS, LiteralProblem
from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.types import ANY, DATE, DATETIME, INT, STRING, Type
from clinker.cxl.values import MAX_INT, MIN_INT, midnight

Add: TypeAlias = Callable[[dt.date, int], dt.date | None]

DAY = dt.date
MOMENT = dt.datetime
DATED = st.one_of(st.dates(), st.datetimes())


def test_components_of_the_first_and_last_moment() -> None:
    assert [part(MOMENT.max) for part in (year, hour, minute, second)] == [9999, 23, 59, 59]
    assert [part(MOMENT.min) for part in (year, hour, minute, second)] == [1, 0, 0, 0]


@pytest.mark.parametrize("name", ["hour", "minute", "second"])
def test_time_components_are_null_only_where_the_time_may_be_missing(name: str) -> None:
    (declared,) = METHODS[name]
    assert declared.result_type(DATETIME, ()) == INT
    assert declared.result_type(DATE, ()) == INT.nullable()
    assert declared.result_type(DATE | DATETIME, ()) == INT.nullable()


@pytest.mark.parametrize("name", ["add_days", "add_months", "add_years"])
@pytest.mark.parametrize("kind", [DATE, DATETIME, DATE | DATETIME])
def test_arithmetic_keeps_the_kind(name: str, kind: Type) -> None:
    assert METHODS[name][0].result_type(kind, (INT,)) == kind.nullable()


@pytest.mark.parametrize("add", [add_days, add_months, add_years])
@pytest.mark.parametrize("n", [MAX_INT, MIN_INT, 10**9, -(10**9), 2**31, 3_700_000, -3_700_000])
@pytest.mark.parametrize("value", [DAY(2024, 2, 29), MOMENT(2024, 2, 29, 12)])
def test_leaving_the_calendar_gives_null(add: Add, n: int, value: dt.date) -> None:
    assert add(value, n) is None


@pytest.mark.parametrize(
    ("add", "value", "n", "expected"),
    [
        (add_days, DAY.max, 0, DAY.max),
        (add_days, DAY.min, 3652058, DAY.max),
        (add_days, DAY.min, -1, None),
        (add_days, MOMENT(1, 1, 1, 23), -1, None),
        (add_days, MOMENT(2024, 2, 28, 1, 2, 3, 4), 1, MOMENT(2024, 2, 29, 1, 2, 3, 4)),
        (add_months, DAY(2024, 3, 31), -1, DAY(2024, 2, 29)),
        (add_months, DAY(2023, 3, 31), -1, DAY(2023, 2, 28)),
        (add_months, DAY(1900, 1, 31), 1, DAY(1900, 2, 28)),
        (add_months, DAY(2000, 1, 31), 1, DAY(2000, 2, 29)),
        (add_months, DAY(9999, 11, 30), 1, DAY(9999, 12, 30)),
        (add_months, DAY(9999, 12, 1), 1, None),
        (add_months, DAY(1, 2, 1), -1, DAY(1, 1, 1)),
        (add_months, DAY(1, 1, 31), -1, None),
        (add_months, MOMENT(2024, 1, 31, 1, 2, 3, 4), 1, MOMENT(2024, 2, 29, 1, 2, 3, 4)),
        (add_years, DAY(1, 1, 1), 9998, DAY(9999, 1, 1)),
        (add_years, DAY(1, 1, 1), -1, None),
        (add_years, MOMENT(2024, 2, 29, 5), -1, MOMENT(2023, 2, 28, 5)),
    ],
)
def test_arithmetic(add: Add, value: dt.date, n: int, expected: dt.date | None) -> None:
    result = add(value, n)
    assert result == expected
    assert type(result) is type(expected)


@pytest.mark.parametrize(
    ("a", "b", "days"),
    [
        (DAY.max, DAY.min, 3652058),
        (MOMENT(2024, 3, 2), MOMENT(2024, 3, 1, 0, 0, 0, 1), 0),
        (MOMENT(2024, 3, 2), MOMENT(2024, 3, 1), 1),
        (MOMENT(2024, 3, 1, 23, 59, 59), DAY(2024, 3, 1), 0),
        (DAY(2024, 3, 1), MOMENT(2024, 3, 3, 23), -2),
    ],
)
def test_diff_days(a: dt.date, b: dt.date, days: int) -> None:
    assert diff_days(a, b) == days
    assert diff_days(b, a) == -days


@pytest.mark.parametrize(
    ("a", "b", "months"),
    [
        (DAY.max, DAY.min, 9998 * 12 + 11),
        (DAY(2024, 2, 29), DAY(2024, 1, 30), 1),
        (DAY(2024, 2, 28), DAY(2024, 1, 29), 0),
        (DAY(2024, 3, 30), DAY(2024, 1, 31), 1),
        (DAY(2024, 3, 31), DAY(2024, 2, 29), 1),
        (DAY(2024, 4, 30), DAY(2024, 3, 31), 1),
        (MOMENT(2024, 2, 29, 11), MOMENT(2024, 1, 31, 12), 0),
        (MOMENT(2024, 2, 29, 12), MOMENT(2024, 1, 31, 12), 1),
        (DAY(2024, 2, 15), MOMENT(2024, 1, 15, 0, 0, 1), 0),
        (MOMENT(2024, 2, 15, 1), DAY(2024, 1, 15), 1),
    ],
)
def test_diff_months(a: dt.date, b: dt.date, months: int) -> None:
    assert diff_months(a, b) == months
    assert diff_months(b, a) == -months


@pytest.mark.parametrize(
    ("a", "b", "years"),
    [
        (DAY.max, DAY.min, 9998),
        (DAY(2023, 2, 28), DAY(2020, 2, 29), 3),
        (DAY(2024, 2, 28), DAY(2020, 2, 29), 3),
        (DAY(2024, 2, 29), DAY(2023, 2, 28), 1),
        (MOMENT(2024, 1, 1, 11), MOMENT(2023, 1, 1, 12), 0),
    ],
)
def test_diff_years(a: dt.date, b: dt.date, years: int) -> None:
    assert diff_years(a, b) == years
    assert diff_years(b, a) == -years


@given(DATED, DATED)
@example(DAY(2024, 1, 31), DAY(2024, 2, 29))
@example(DAY(2020, 2, 29), MOMENT(2021, 2, 28))
def test_differences_are_symmetric(a: dt.date, b: dt.date) -> None:
    for diff in (diff_days, diff_months, diff_years):
        assert diff(a, b) == -diff(b, a)
        assert diff(a, a) == 0


@given(DATED, DATED)
@example(DAY(2024, 1, 31), DAY(2024, 2, 29))
@example(DAY(2020, 2, 29), DAY(2021, 2, 28))
def test_differences_count_how_often_one_can_be_added(a: dt.date, b: dt.date) -> None:
    earlier, later = sorted((a, b), key=midnight)
    for diff, add in ((diff_days, add_days), (diff_months, add_months), (diff_years, add_years)):
        n = diff(later, earlier)
        reached, beyond = add(earlier, n), add(earlier, n + 1)
        assert reached is not None
        assert midnight(reached) <= midnight(later)
        assert beyond is None or midnight(beyond) > midnight(later)


@given(DATED, st.integers(-2000, 2000))
def test_adding_months_lands_in_that_month(value: dt.date, n: int) -> None:
    result = add_months(value, n)
    if result is not None:
        assert (result.year - value.year) * 12 + result.month - value.month == n
        assert type(result) is type(value)
        if value.day <= 28:
            assert result.day == value.day


@pytest.mark.parametrize(
    ("value", "format", "expected"),
    [
        (DAY(2024, 3, 15), "", ""),
        (DAY(2024, 3, 15), "no specifier, ünïcode", "no specifier, ünïcode"),
        (DAY(33, 1, 2), "%Y-%m-%d", "0033-01-02"),
        (
            MOMENT(2024, 3, 15, 14, 30, 5, 250000),
            "%Y-%m-%dT%H:%M:%S%.3f",
            "2024-03-15T14:30:05.250",
        ),
    ],
)
def test_format_date(value: dt.date, format: str, expected: str) -> None:
    assert format_date(value, format) == expected


@pytest.mark.parametrize(
    ("value", "format"),
    [
        (DAY(2024, 3, 15), "%Y-%m-%d %H"),
        (DAY(2024, 3, 15), "%!"),
        (MOMENT(2024, 3, 15), "%"),
        (MOMENT(2024, 3, 15), "%Z"),
    ],
)
def test_format_date_fails_on_what_cannot_be_printed(value: dt.date, format: str) -> None:
    with pytest.raises(Failure) as failure:
        format_date(value, format)
    assert failure.value.kind is FailureKind.INVALID_FORMAT
    assert failure.value.value == format


def literal_problem(format: str, receiver: Type) -> int | None:
    """Where the compiler finds fault with a literal format."""
    check = METHODS["format_date"][0].params[0].check
    assert check is not None
    try:
        check(format, receiver)
    except LiteralProblem as problem:
        return problem.offset
    return None


@pytest.mark.parametrize(
    ("format", "receiver", "offset"),
    [
        ("%Y-%m-%d", DATE, None),
        ("%Y %H", DATE, 3),
        ("%Y %H", DATE.nullable(), 3),
        ("%Y %H", DATETIME, None),
        ("%Y %H", DATE | DATETIME, None),
        ("%Y %H", STRING, None),
        ("%Y %H", ANY, None),
        ("%Y-%!", ANY, 3),
        ("%Y-%!", DATETIME, 3),
    ],
)
def test_literal_formats_are_checked(format: str, receiver: Type, offset: int | None) -> None:
    assert literal_problem(format, receiver) == offset
