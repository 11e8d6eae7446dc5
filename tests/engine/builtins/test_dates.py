"""Methods of dates mean the same to Spark and to the interpreter, edges included."""

from __future__ import annotations

import datetime as dt
from itertools import product

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.run.locales import date_names
from clinker.cxl.types import DATE, DATETIME, INT, Type
from clinker.cxl.values import MAX_INT, MIN_INT, Value
from tests.engine.expressions.running import agree

DATES = [
    *(dt.date.min, dt.date(1, 1, 31), dt.date(4, 2, 29), dt.date(1582, 10, 10)),
    *(dt.date(1899, 12, 31), dt.date(1900, 2, 28), dt.date(1969, 12, 31), dt.date(1970, 1, 1)),
    *(dt.date(2000, 2, 29), dt.date(2023, 1, 1), dt.date(2024, 1, 31), dt.date(2024, 2, 28)),
    *(dt.date(2024, 2, 29), dt.date(2024, 3, 31), dt.date(2024, 12, 29), dt.date(2024, 12, 30)),
    *(
        dt.date(2026, 1, 4),
        dt.date(2026, 12, 31),
        dt.date(2027, 1, 3),
        dt.date(9999, 1, 1),
        dt.date.max,
    ),
]
TIMES = [
    *(dt.time(), dt.time(0, 59, 1), dt.time(11, 5, 9), dt.time(12), dt.time(13, 7, 8, 90_000)),
    *(dt.time(1, 2, 3, 1), dt.time(23, 59, 59, 999_999), dt.time(9, 0, 0, 123_000)),
]
DATETIMES = [dt.datetime.combine(d, t) for d, t in product(DATES, TIMES)]
EITHER = (DATE | DATETIME).nullable()
VALUES: dict[Type, list[Value]] = {
    DATE: [*DATES, None],
    DATETIME: [*DATETIMES, None],
    DATE | DATETIME: [*DATES, *DATETIMES[::3]],
}


@pytest.mark.parametrize("type_", VALUES)
def test_components(spark: SparkSession, type_: Type) -> None:
    names = ("year", "month", "day", "hour", "minute", "second")
    records = [{"d": value} for value in VALUES[type_]]
    agree(spark, [f"d.{name}()" for name in names], records, {"d": type_.nullable()})


STEPS = [0, 1, -1, 2, -2, 11, 12, -13, 31, 365, -366, 7976, 119_987, 3_652_058, -3_652_058, 2**31]
STEPS += [-(2**31), MAX_INT, MIN_INT]


@pytest.mark.parametrize("type_", VALUES)
def test_moving(spark: SparkSession, type_: Type) -> None:
    records = [{"d": d, "n": n} for d, n in product(VALUES[type_][::2], [*STEPS, None])]
    texts = [f"d.add_{unit}({n})" for unit in ("days", "months", "years") for n in ("n", 1, -30)]
    agree(spark, texts, records, {"d": type_.nullable(), "n": INT.nullable()})


@pytest.mark.parametrize(("type_", "other"), list(product((DATE, DATETIME), repeat=2)))
def test_differences(spark: SparkSession, type_: Type, other: Type) -> None:
    firsts, seconds = VALUES[type_][-90:], VALUES[other][-90:]
    records = [{"a": a, "b": b} for a, b in product(firsts, seconds)]
    texts = [f"a.diff_{unit}(b)" for unit in ("days", "months", "years")]
    agree(spark, texts, records, {"a": type_.nullable(), "b": other.nullable()})


def test_differences_of_values_of_either_kind(spark: SparkSession) -> None:
    values = [dt.date(2024, 1, 31), dt.datetime(2024, 2, 29, 1), dt.datetime(2023, 1, 31), None]
    records = [{"a": a, "b": b} for a, b in product(values, repeat=2)]
    agree(
        spark,
        ["a.diff_days(b)", "a.diff_months(b)", "a.diff_years(b)"],
        records,
        {"a": EITHER, "b": EITHER},
    )


OF_DAYS = "Y C y q m b h B d e j a A u w U W G g V D x F v".split()
OF_TIMES = "H k I l P p M S f .f .3f .6f .9f 3f 6f 9f s R T X r c".split()
PADDED = [f"{pad}{name}" for pad in "-_0" for name in ("Y", "m", "e", "j", "U", "V")]


def test_printing_dates(spark: SparkSession) -> None:
    texts = [f'd.format_date("%{name}")' for name in (*OF_DAYS, *PADDED)]
    texts += [
        f'd.format_date("{text}")'
        for text in ("", "100%%", "{d} it's %d.%m. \\\\ $1 `%Y`", "日%d%n%t")
    ]
    agree(spark, texts, [{"d": d} for d in VALUES[DATE]], {"d": DATE.nullable()})


def test_printing_datetimes(spark: SparkSession) -> None:
    padded = [f"{pad}{name}" for pad in "-_0" for name in ("H", "I", "f")]
    texts = [f'd.format_date("%{name}")' for name in (*OF_DAYS, *OF_TIMES, *padded)]
    agree(spark, texts, [{"d": d} for d in VALUES[DATETIME]], {"d": DATETIME.nullable()})


def test_a_date_has_no_time_to_print(spark: SparkSession) -> None:
    values: list[Value] = [dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 7), None]
    records = [{"d": value} for value in values]
    agree(spark, ['d.format_date("%H:%M")', 'd.format_date("%Y")'], records, {"d": EITHER})


def test_iso_texts_pass_for_dates(spark: SparkSession) -> None:
    texts = [
        "2024-02-29",
        "2024-2-9",
        "2024-02-29T23:59:58.5",
        "2024-02-29 01:00:00-02:00",
        "x",
        None,
    ]
    calls = ["d.year()", "d.hour()", "d.add_months(12)", "d.diff_days(#2024-01-01#)"]
    agree(spark, [*calls, 'd.format_date("%d.%m.%Y")'], [{"d": text} for text in texts])


PRINTED_WORDS = ["%A", "%a", "%B", "%b", "%d. %B %Y", "%c", "%v", "%I %p %P"]


@pytest.mark.parametrize("locale", ["de", "fr", "es", "tr", "uk", "br", "yav"])
def test_printing_names_of_other_languages(spark: SparkSession, locale: str) -> None:
    days = [dt.datetime(2024, month, month + 7, 2 * month - 1) for month in range(1, 13)]
    texts = [f'd.format_date("{format}")' for format in PRINTED_WORDS]
    texts += [f'd.format("{format}")' for format in PRINTED_WORDS]
    schema = {"d": DATETIME.nullable()}
    agree(spark, texts, [{"d": d} for d in [*days, None]], schema, names=date_names(locale))
