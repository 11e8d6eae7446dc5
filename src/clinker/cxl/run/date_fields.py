"""The fields of moments, such as years and weekdays: facts that are printed and read.

Some follow from others, and some determine a day together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta

from clinker.frozen import frozen

FieldValues = Mapping[str, int]

EPOCH = datetime(1970, 1, 1)
_SECOND = timedelta(seconds=1)
# A two-digit year below this belongs to the 21st century, any other to the 20th.
_CENTURY_PIVOT = 70


@frozen
class Field:
    """One fact about a moment and the values it may take."""

    low: int
    high: int
    get: Callable[[datetime], int]
    sql: str
    """The same as SQL, of a date or date-time `{v}`."""
    timed: bool = False


def _day_of_year(value: datetime) -> int:
    return value.toordinal() - date(value.year, 1, 1).toordinal() + 1


FIELDS: dict[str, Field] = {
    "year": Field(1, 9999, lambda v: v.year, "year({v})"),
    "century": Field(0, 99, lambda v: v.year // 100, "year({v}) DIV 100"),
    "year_of_century": Field(0, 99, lambda v: v.year % 100, "year({v}) % 100"),
    "quarter": Field(1, 4, lambda v: (v.month + 2) // 3, "quarter({v})"),
    "month": Field(1, 12, lambda v: v.month, "month({v})"),
    "day": Field(1, 31, lambda v: v.day, "day({v})"),
    "day_of_year": Field(1, 366, _day_of_year, "dayofyear({v})"),
    "weekday": Field(1, 7, lambda v: v.isoweekday(), "weekday({v}) + 1"),
    "weekday_from_sunday": Field(0, 6, lambda v: v.isoweekday() % 7, "dayofweek({v}) - 1"),
    "week_from_sunday": Field(
        *(0, 53, lambda v: (_day_of_year(v) + 6 - v.isoweekday() % 7) // 7),
        "(dayofyear({v}) + 7 - dayofweek({v})) DIV 7",
    ),
    "week_from_monday": Field(
        *(0, 53, lambda v: (_day_of_year(v) + 6 - v.weekday()) // 7),
        "(dayofyear({v}) + 6 - weekday({v})) DIV 7",
    ),
    "iso_year": Field(1, 9999, lambda v: v.isocalendar().year, "extract(YEAROFWEEK FROM {v})"),
    "iso_year_of_century": Field(
        0, 99, lambda v: v.isocalendar().year % 100, "extract(YEAROFWEEK FROM {v}) % 100"
    ),
    "iso_week": Field(1, 53, lambda v: v.isocalendar().week, "weekofyear({v})"),
    "hour": Field(0, 23, lambda v: v.hour, "hour({v})", timed=True),
    "hour12": Field(1, 12, lambda v: v.hour % 12 or 12, "(hour({v}) + 11) % 12 + 1", timed=True),
    "half_day": Field(0, 1, lambda v: v.hour // 12, "CAST(hour({v}) DIV 12 AS INT)", timed=True),
    "minute": Field(0, 59, lambda v: v.minute, "minute({v})", timed=True),
    "second": Field(0, 59, lambda v: v.second, "second({v})", timed=True),
    "nanosecond": Field(
        *(0, 999_999_999, lambda v: v.microsecond * 1000),
        "CAST(extract(SECOND FROM {v}) % 1 * 1000000 AS INT) * 1000",
        timed=True,
    ),
    "unix_second": Field(
        (datetime.min - EPOCH) // _SECOND,
        (datetime.max - EPOCH) // _SECOND,
        lambda v: (v - EPOCH) // _SECOND,
        "unix_date(CAST({v} AS DATE)) * 86400L + hour({v}) * 3600 + minute({v}) * 60 + second({v})",
        timed=True,
    ),
}


@frozen
class Derivation:
    """A field that follows from others."""

    target: str
    sources: tuple[str, ...]
    derive: Callable[[FieldValues], int]
    sql: str  # of fields such as `{year}`


def _full_year(year_of_century: int) -> int:
    return year_of_century + (2000 if year_of_century < _CENTURY_PIVOT else 1900)


def _full_year_sql(year_of_century: str) -> str:
    return f"{year_of_century} + if({year_of_century} < {_CENTURY_PIVOT}, 2000, 1900)"


DERIVATIONS = (
    Derivation(
        "year",
        ("century", "year_of_century"),
        lambda f: f["century"] * 100 + f["year_of_century"],
        "{century} * 100 + {year_of_century}",
    ),
    Derivation(
        "year",
        ("year_of_century",),
        lambda f: _full_year(f["year_of_century"]),
        _full_year_sql("{year_of_century}"),
    ),
    Derivation(
        "iso_year",
        ("iso_year_of_century",),
        lambda f: _full_year(f["iso_year_of_century"]),
        _full_year_sql("{iso_year_of_century}"),
    ),
    Derivation(
        "weekday",
        ("weekday_from_sunday",),
        lambda f: f["weekday_from_sunday"] or 7,
        "({weekday_from_sunday} + 6) % 7 + 1",
    ),
    Derivation(
        "hour",
        ("hour12", "half_day"),
        lambda f: f["hour12"] % 12 + 12 * f["half_day"],
        "{hour12} % 12 + 12 * {half_day}",
    ),
)


@frozen
class DayRule:
    """A way to determine a day."""

    sources: tuple[str, ...]
    day: Callable[[FieldValues], date]
    sql: str


def _day_in_week(year: int, week: int, days_into_week: int, new_year_into_week: int) -> date:
    """The day of a week counted from the first one that starts in the year."""
    days = -new_year_into_week % 7 + 7 * (week - 1) + days_into_week
    return date(year, 1, 1) + timedelta(days)


def _day_in_week_from_sunday(f: FieldValues) -> date:
    new_year = date(f["year"], 1, 1).isoweekday() % 7
    return _day_in_week(f["year"], f["week_from_sunday"], f["weekday"] % 7, new_year)


def _day_in_week_from_monday(f: FieldValues) -> date:
    new_year = date(f["year"], 1, 1).weekday()
    return _day_in_week(f["year"], f["week_from_monday"], f["weekday"] - 1, new_year)


_NEW_YEAR = "make_date({year}, 1, 1)"
_JANUARY_4 = "make_date({iso_year}, 1, 4)"  # always in the first week

# The ways to determine a day, the preferred one first.
DAY_RULES: tuple[DayRule, ...] = (
    DayRule(
        ("year", "month", "day"),
        lambda f: date(f["year"], f["month"], f["day"]),
        "CAST(try_make_timestamp_ntz({year}, {month}, {day}, 0, 0, 0) AS DATE)",
    ),
    DayRule(
        ("year", "day_of_year"),
        lambda f: date(f["year"], 1, 1) + timedelta(f["day_of_year"] - 1),
        f"date_add({_NEW_YEAR}, {{day_of_year}} - 1)",
    ),
    DayRule(
        ("year", "week_from_sunday", "weekday"),
        _day_in_week_from_sunday,
        f"date_add({_NEW_YEAR}, (8 - dayofweek({_NEW_YEAR})) % 7"
        " + 7 * ({week_from_sunday} - 1) + {weekday} % 7)",
    ),
    DayRule(
        ("year", "week_from_monday", "weekday"),
        _day_in_week_from_monday,
        f"date_add({_NEW_YEAR}, (7 - weekday({_NEW_YEAR})) % 7"
        " + 7 * ({week_from_monday} - 1) + {weekday} - 1)",
    ),
    DayRule(
        ("iso_year", "iso_week", "weekday"),
        lambda f: date.fromisocalendar(f["iso_year"], f["iso_week"], f["weekday"]),
        f"date_add({_JANUARY_4}, 7 * ({{iso_week}} - 1) + {{weekday}} - 1 - weekday({_JANUARY_4}))",
    ),
)
