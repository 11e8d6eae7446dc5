"""Patterns of dates and times: what they print, what they read, what they refuse."""

from __future__ import annotations

import pickle
from dataclasses import replace
from datetime import date, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clinker.cxl.run.date_names import ENGLISH, Words
from clinker.cxl.run.locales import date_names
from clinker.cxl.run.strftime import (
    PatternError,
    check_format,
    compile_pattern,
    format_value,
    parse_date,
    parse_datetime,
    parse_iso_date,
    parse_iso_datetime,
)

SUNDAY = date(2001, 7, 8)
NIGHT = datetime(2001, 7, 8, 0, 34, 59, 26490)
AFTERNOON = datetime(2024, 3, 15, 15, 4, 5)


# --- Printing ---


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("%Y", "2001"),
        ("%C", "20"),
        ("%y", "01"),
        ("%q", "3"),
        ("%m", "07"),
        ("%b", "Jul"),
        ("%h", "Jul"),
        ("%B", "July"),
        ("%d", "08"),
        ("%e", " 8"),
        ("%a", "Sun"),
        ("%A", "Sunday"),
        ("%w", "0"),
        ("%u", "7"),
        ("%U", "27"),
        ("%W", "27"),
        ("%G", "2001"),
        ("%g", "01"),
        ("%V", "27"),
        ("%j", "189"),
        ("%D", "07/08/01"),
        ("%x", "07/08/01"),
        ("%F", "2001-07-08"),
        ("%v", " 8-Jul-2001"),
        ("%t%n%%", "\t\n%"),
        ("%-d", "8"),
        ("%_d", " 8"),
        ("%0e", "08"),
        ("%-m/%-d/%-y", "7/8/1"),
        ("%_m", " 7"),
        ("%_j", "189"),
        ("%-u", "7"),
        ("", ""),
        ("plain été 😽  text", "plain été 😽  text"),
        ("[%d] 100%%d", "[08] 100%d"),
    ],
)
def test_printing_a_date(pattern: str, expected: str) -> None:
    assert format_value(SUNDAY, compile_pattern(pattern)) == expected
    assert format_value(NIGHT, compile_pattern(pattern)) == expected


@pytest.mark.parametrize(
    ("value", "pattern", "expected"),
    [
        (NIGHT, "%H", "00"),
        (NIGHT, "%k", " 0"),
        (NIGHT, "%I", "12"),
        (NIGHT, "%l", "12"),
        (NIGHT, "%P", "am"),
        (NIGHT, "%p", "AM"),
        (NIGHT, "%M", "34"),
        (NIGHT, "%S", "59"),
        (NIGHT, "%f", "026490000"),
        (NIGHT, "%-f", "26490000"),
        (NIGHT, "%_f", " 26490000"),
        (NIGHT, "%.f", ".026490"),
        (NIGHT, "%.3f", ".026"),
        (NIGHT, "%.6f", ".026490"),
        (NIGHT, "%.9f", ".026490000"),
        (NIGHT, "%3f", "026"),
        (NIGHT, "%6f", "026490"),
        (NIGHT, "%9f", "026490000"),
        (NIGHT, "%R", "00:34"),
        (NIGHT, "%T", "00:34:59"),
        (NIGHT, "%X", "00:34:59"),
        (NIGHT, "%r", "12:34:59 AM"),
        (NIGHT, "%c", "Sun Jul  8 00:34:59 2001"),
        (NIGHT, "%s", "994552499"),
        (AFTERNOON, "%I %l %p %P", "03  3 PM pm"),
        (AFTERNOON, "%-I:%M", "3:04"),
        (AFTERNOON, "%f%.f", "000000000"),
        (AFTERNOON, "%.3f %.6f %.9f %3f", ".000 .000000 .000000000 000"),
        (AFTERNOON.replace(microsecond=120_000), "%.f", ".120"),
        (AFTERNOON.replace(hour=12), "%I %p", "12 PM"),
        (datetime(1969, 12, 31, 23, 59, 58, 500_000), "%s", "-2"),
        (datetime(1970, 1, 1, 0, 1), "%s %0s", "60 000000060"),
    ],
)
def test_printing_a_datetime(value: datetime, pattern: str, expected: str) -> None:
    assert format_value(value, compile_pattern(pattern)) == expected


@pytest.mark.parametrize(
    ("value", "pattern", "expected"),
    [
        (date(7, 1, 2), "%Y %C %y %F", "0007 00 07 0007-01-02"),
        (date(7, 1, 2), "%-Y|%_Y", "7|   7"),
        (date(9999, 12, 31), "%F %G-%V-%u", "9999-12-31 9999-52-5"),
        (date(2021, 1, 3), "%G-W%V-%u %g", "2020-W53-7 20"),
        (date(2024, 12, 30), "%G-W%V-%u", "2025-W01-1"),
        (date(2024, 12, 31), "%j %q", "366 4"),
        (date(2023, 1, 1), "%U %W", "01 00"),
        (date(2024, 1, 1), "%U %W %j", "00 01 001"),
        (date(2022, 1, 1), "%U %W", "00 00"),
    ],
)
def test_printing_at_the_edges_of_years(value: date, pattern: str, expected: str) -> None:
    assert format_value(value, compile_pattern(pattern)) == expected


# --- Refused patterns ---


@pytest.mark.parametrize(
    ("pattern", "offset", "reason"),
    [
        ("%", 0, "lacks a specifier"),
        ("%Y-%", 3, "lacks a specifier"),
        ("100%%%", 5, "lacks a specifier"),
        ("%-", 0, "lacks a specifier"),
        ("%Q", 0, "'%Q' is not a known specifier"),
        ("%Y %E", 3, "'%E' is not a known specifier"),
        ("%ü", 0, "'%ü' is not a known specifier"),
        ("%\n", 0, "is not a known specifier"),
        ("%4f", 0, "'%4f' is not a known specifier"),
        ("%.4f", 0, "'%.4f' is not a known specifier"),
        ("%.", 0, "'%.' is not a known specifier"),
        ("%2d", 0, "'%2d' is not a known specifier"),
        ("%F%Z", 2, "'%Z' is not supported: values have no time zone"),
        ("%+", 0, "'%+' is not supported"),
        ("%:z", 0, "'%:z' is not supported"),
        ("%::z", 0, "'%::z' is not supported"),
        ("%#z", 0, "'%#z' is not supported"),
        ("%-B", 0, "'%-B' cannot be padded"),
        ("%0p", 0, "'%0p' cannot be padded"),
        ("%-D", 0, "'%-D' cannot be padded"),
        ("%_3f", 0, "'%_3f' cannot be padded"),
        ("%-%", 0, "'%-%' cannot be padded"),
        ("%-z", 0, "'%-z' cannot be padded"),
    ],
)
def test_invalid_patterns(pattern: str, offset: int, reason: str) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(pattern)
    assert reason in str(caught.value)
    assert caught.value.offset == offset


TIMED = ["%H", "%k", "%I", "%l", "%P", "%p", "%M", "%S", "%f", "%.f", "%.3f", "%9f"]
TIMED += ["%R", "%T", "%X", "%r", "%c", "%s", "%-H"]


@pytest.mark.parametrize("specifier", TIMED)
def test_a_date_has_no_time_of_day_to_print(specifier: str) -> None:
    pattern = f"%Y {specifier}"
    message = f"'{specifier}' needs a time of day, but the value is a Date"
    with pytest.raises(PatternError) as printing:
        format_value(SUNDAY, compile_pattern(pattern))
    with pytest.raises(PatternError) as checking:
        check_format(pattern, has_time=False)
    assert str(printing.value) == str(checking.value) == message
    assert printing.value.offset == checking.value.offset == 3
    assert compile_pattern(pattern).needs_time
    check_format(pattern, has_time=True)
    check_format(pattern, has_time=None)


@pytest.mark.parametrize("has_time", [True, False, None])
def test_a_zone_offset_is_never_printed(has_time: bool | None) -> None:
    with pytest.raises(PatternError, match="'%z' can only be read") as caught:
        check_format("%F %z", has_time)
    assert caught.value.offset == 3
    with pytest.raises(PatternError, match="'%z' can only be read"):
        format_value(NIGHT, compile_pattern("%F %z"))


def test_only_an_offset_is_to_blame_when_the_kind_of_value_is_unknown() -> None:
    with pytest.raises(PatternError, match="'%z' can only be read"):
        check_format("%H%z", has_time=None)


@pytest.mark.parametrize("has_time", [True, False, None])
def test_date_patterns_print_any_value(has_time: bool | None) -> None:
    check_format("%a %F %%", has_time)
    with pytest.raises(PatternError):
        check_format("%Q", has_time)


# --- Reading dates ---


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("%Y-%m-%d", "2024-03-15", date(2024, 3, 15)),
        ("%Y-%m-%d", "2024-3-5", date(2024, 3, 5)),
        ("%Y-%m-%d", "24-3-5", date(24, 3, 5)),
        ("%Y-%m-%d", "+2024-03-15", date(2024, 3, 15)),
        ("%Y-%m-%d", " 2024- 3-  5", date(2024, 3, 5)),
        ("%Y%m%d", "20240315", date(2024, 3, 15)),
        ("%d.%m.%Y", "1.2.2024", date(2024, 2, 1)),
        ("%D", "03/15/69", date(2069, 3, 15)),
        ("%D", "03/15/70", date(1970, 3, 15)),
        ("%C%y-%m-%d", "1805-01-02", date(1805, 1, 2)),
        ("%d %b %Y", "15 mAr 2024", date(2024, 3, 15)),
        ("%d %h %Y", "15 MAR 2024", date(2024, 3, 15)),
        ("%d %B %Y", "15 march 2024", date(2024, 3, 15)),
        ("%d %B %Y", "15 Mar 2024", date(2024, 3, 15)),
        ("%B %-d, %Y", "December 1, 2024", date(2024, 12, 1)),
        ("%v", " 8-Jul-2001", SUNDAY),
        ("%a %F", "fri 2024-03-15", date(2024, 3, 15)),
        ("%A %F", "FRIDAY 2024-03-15", date(2024, 3, 15)),
        ("%A %F", "Fri 2024-03-15", date(2024, 3, 15)),
        ("%Y-%j", "2024-366", date(2024, 12, 31)),
        ("%Y-%j", "2024-1", date(2024, 1, 1)),
        ("%G-%V-%u", "2025-01-1", date(2024, 12, 30)),
        ("%g-W%V-%w", "20-W53-0", date(2021, 1, 3)),
        ("%Y %U %w", "2023 01 0", date(2023, 1, 1)),
        ("%Y %W %a", "2024 1 Mon", date(2024, 1, 1)),
        ("%Y %U %u", "2024 00 1", date(2024, 1, 1)),
        ("%F Q%q", "2024-03-15 Q1", date(2024, 3, 15)),
        ("%d/%d %F", "15/15 2024-03-15", date(2024, 3, 15)),
        ("%%%F%%", "%2024-03-15%", date(2024, 3, 15)),
        ("am %F", "am 2024-03-15", date(2024, 3, 15)),
        # Blanks in the pattern stand for any run of blanks.
        ("%d %m %Y", "15032024", date(2024, 3, 15)),
        ("%d %m %Y", "15 \t\n 03   2024", date(2024, 3, 15)),
        ("%d%t%m%n%Y", "15 03 2024", date(2024, 3, 15)),
        (" %F ", "2024-03-15", date(2024, 3, 15)),
        # A time of day is read and dropped.
        ("%F %T", "2024-03-15 10:20:30", date(2024, 3, 15)),
        ("%F %I", "2024-03-15 10", date(2024, 3, 15)),
        ("%F %p", "2024-03-15 pm", date(2024, 3, 15)),
        ("%F %T%z", "2024-03-15 23:20:30-05:00", date(2024, 3, 15)),
        ("%F %s", "1970-01-02 86400", date(1970, 1, 2)),
    ],
)
def test_reading_a_date(pattern: str, text: str, expected: date) -> None:
    result = parse_date(text, compile_pattern(pattern))
    assert result == expected
    assert type(result) is date


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("%Y-%m-%d", ""),
        ("%Y-%m-%d", "2024-03-15x"),
        ("%Y-%m-%d", "2024-03-15 "),
        ("%Y-%m-%d", "2024/03/15"),
        ("%Y-%m-%d", "2024 -03-15"),
        ("%Y-%m-%d", "12024-03-15"),
        ("%Y-%m-%d", "+12024-03-15"),
        ("%Y-%m-%d", "-2024-03-15"),
        ("%Y-%m-%d", "0000-03-15"),
        ("%Y-%m-%d", "2024-13-15"),
        ("%Y-%m-%d", "2024-00-15"),
        ("%Y-%m-%d", "2024-02-30"),
        ("%Y-%m-%d", "2023-02-29"),
        ("%Y-%m-%d", "2024-003-15"),
        ("%Y-%m-%d", "\u0662\u0660\u0662\u0664-03-15"),
        ("%Y-%m-%d", "2024-03-1\uff15"),
        ("%Y-%m-%dT", "2024-03-15t"),
        # Digits are taken greedily: no earlier number gives one back.
        ("%Y%m%d", "20241"),
        ("%Y%m%d", "2024315"),
        ("%d %b %Y", "15 March 2024"),
        ("%d %B %Y", "15 Marc 2024"),
        ("%d %B %Y", "15 März 2024"),
        ("%a %F", "Friday 2024-03-15"),
        ("%a %F", "\u017fun 2024-03-17"),
        # Contradictions
        ("%a %F", "Mon 2024-03-15"),
        ("%u %F", "1 2024-03-15"),
        ("%w %F", "0 2024-03-15"),
        ("%F %j", "2024-03-15 001"),
        ("%F Q%q", "2024-03-15 Q2"),
        ("%d/%d %F", "15/16 2024-03-15"),
        ("%Y %y-%m-%d", "2024 23-01-01"),
        ("%Y %C %m-%d", "2024 19 01-01"),
        ("%F %H %p", "2024-03-15 13 AM"),
        ("%F %s", "1970-01-02 86399"),
        # Fields out of range, even of a time that is dropped
        ("%Y-%j", "2023-366"),
        ("%Y-%j", "2023-000"),
        ("%w %F", "7 2024-03-17"),
        ("%G-%V-%u", "2024-53-1"),
        ("%G-%V-%u", "9999-52-7"),
        ("%Y %U %w", "2023 00 6"),
        ("%Y %W %u", "2024 53 3"),
        ("%F %H", "2024-03-15 24"),
        ("%F %I", "2024-03-15 0"),
        ("%F %M", "2024-03-15 60"),
        # Patterns that do not determine a date
        ("", ""),
        ("%Y-%m", "2024-03"),
        ("%m-%d", "03-15"),
        ("%C-%m-%d", "20-03-15"),
        ("%Y-%V-%u", "2024-01-1"),
        ("%T", "10:20:30"),
        ("%s", "86400"),
    ],
)
def test_text_that_is_no_date(pattern: str, text: str) -> None:
    assert parse_date(text, compile_pattern(pattern)) is None


# --- Reading datetimes ---


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("%FT%T", "2024-03-15T15:04:05", AFTERNOON),
        ("%F %H:%M", "2024-03-15 15:4", AFTERNOON.replace(second=0)),
        ("%F %R", "2024-03-15 15:04", AFTERNOON.replace(second=0)),
        ("%F %r", "2024-03-15 03:04:05 PM", AFTERNOON),
        ("%F %l:%M:%S%P", "2024-03-15  3:04:05pM", AFTERNOON),
        ("%F %I:%M %p", "2024-03-15 12:04 am", datetime(2024, 3, 15, 0, 4)),
        ("%F %I:%M %p", "2024-03-15 12:04 PM", datetime(2024, 3, 15, 12, 4)),
        ("%F %T %p", "2024-03-15 15:04:05 PM", AFTERNOON),
        ("%F %k:%M", "2024-03-15  9:04", datetime(2024, 3, 15, 9, 4)),
        ("%c", "Sun Jul  8 00:34:59 2001", NIGHT.replace(microsecond=0)),
        ("%Y%m%d%H%M%S", "20240315150405", AFTERNOON),
        ("%Y-%jT%R", "2024-075T15:04", AFTERNOON.replace(second=0)),
        # Fractions
        ("%FT%T%.f", "2001-07-08T00:34:59.02649", NIGHT),
        ("%FT%T%.f", "2001-07-08T00:34:59", NIGHT.replace(microsecond=0)),
        ("%FT%T%.3f", "2001-07-08T00:34:59.026490", NIGHT),
        ("%FT%T%.f", "2001-07-08T00:34:59.0264909999999", NIGHT),
        ("%FT%T.%f", "2001-07-08T00:34:59.026490000", NIGHT),
        ("%FT%T.%f", "2001-07-08T00:34:59.5000", NIGHT.replace(microsecond=5)),
        ("%FT%T,%3f", "2001-07-08T00:34:59,026", NIGHT.replace(microsecond=26_000)),
        ("%FT%T%6f", "2001-07-08T00:34:59026490", NIGHT),
        # Zone offsets are ignored.
        ("%FT%T%z", "2024-03-15T15:04:05+0200", AFTERNOON),
        ("%FT%T%z", "2024-03-15T15:04:05-05:30", AFTERNOON),
        ("%FT%T %z", "2024-03-15T15:04:05 +02 00", AFTERNOON),
        # Unix seconds
        ("%s", "0", datetime(1970, 1, 1)),
        ("%s", "-2", datetime(1969, 12, 31, 23, 59, 58)),
        ("%s%.f", "994552499.02649", NIGHT),
        ("%s %a", "994552499 Sun", NIGHT.replace(microsecond=0)),
        ("%s", "253402300799", datetime(9999, 12, 31, 23, 59, 59)),
    ],
)
def test_reading_a_datetime(pattern: str, text: str, expected: datetime) -> None:
    assert parse_datetime(text, compile_pattern(pattern)) == expected


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("%FT%T", "2024-03-15 15:04:05"),
        ("%FT%T", "2024-03-15t15:04:05"),
        ("%FT%T", "2024-03-15T15:04"),
        ("%FT%T", "2024-03-15T15:04:05Z"),
        ("%FT%T", "2024-03-15T24:00:00"),
        ("%FT%T", "2024-03-15T23:60:00"),
        ("%FT%T", "2024-03-15T23:59:60"),
        ("%FT%T%.f", "2024-03-15T15:04:05."),
        ("%FT%T%.f", "2024-03-15T15:04:05,5"),
        ("%FT%T.%f", "2024-03-15T15:04:05.1234567890"),
        ("%FT%T.%3f", "2024-03-15T15:04:05.12"),
        ("%FT%T%z", "2024-03-15T15:04:05"),
        ("%FT%T%z", "2024-03-15T15:04:05+02"),
        ("%FT%T%z", "2024-03-15T15:04:05+0260"),
        ("%F %I:%M %p", "2024-03-15 13:04 PM"),
        ("%F %I:%M %p", "2024-03-15 00:04 AM"),
        ("%F %I:%M %p", "2024-03-15 03:04 xm"),
        ("%F %T %p", "2024-03-15 15:04:05 AM"),
        ("%H %k %F %M", "1 2 2024-03-15 0"),
        ("%s", "253402300800"),
        ("%s", "-62135596801"),
        ("%s", "9" * 5000),
        ("%s", ""),
        ("%s %a", "994552499 Mon"),
        ("%s %p", "994552499 PM"),
        # Patterns that do not determine a date, an hour and a minute
        ("%F", "2024-03-15"),
        ("%F %H", "2024-03-15 15"),
        ("%F %I:%M", "2024-03-15 03:04"),
        ("%F %M", "2024-03-15 04"),
        ("%T", "15:04:05"),
        ("", ""),
    ],
)
def test_text_that_is_no_datetime(pattern: str, text: str) -> None:
    assert parse_datetime(text, compile_pattern(pattern)) is None


@pytest.mark.parametrize(
    ("pattern", "gives_date", "gives_datetime"),
    [
        ("%F", True, False),
        ("%F %R", True, True),
        ("%s", False, True),
        ("%Y-%m", False, False),
        ("%R", False, False),
    ],
)
def test_what_reading_gives(pattern: str, gives_date: bool, gives_datetime: bool) -> None:
    compiled = compile_pattern(pattern)
    assert (compiled.gives_date, compiled.gives_datetime) == (gives_date, gives_datetime)


# --- ISO 8601 ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-15", date(2024, 3, 15)),
        ("2024-3-5", date(2024, 3, 5)),
        ("24-01-01", date(24, 1, 1)),
        ("  2024 - 03 -\t15\n", date(2024, 3, 15)),
        ("", None),
        ("03/15/2024", None),
        ("20240315", None),
        ("2024-03", None),
        ("2024-02-30", None),
        ("20 24-03-15", None),
        ("0000-01-01", None),
        ("10000-01-01", None),
        ("2024-03-15T00:00:00", None),
        ("2024-03-15 00:00:00", None),
        ("\u0662\u0660\u0662\u0664-03-15", None),
    ],
)
def test_iso_dates(text: str, expected: date | None) -> None:
    assert parse_iso_date(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-15T15:04:05", AFTERNOON),
        ("2024-3-15T15:4:5", AFTERNOON),
        (" 2024 - 03 - 15 T 15 : 04 : 05 ", AFTERNOON),
        ("2024-03-15 15:04:05", AFTERNOON),
        ("2024-03-15   15:04:05", AFTERNOON),
        ("24-03-15T15:04:05", AFTERNOON.replace(year=24)),
        ("2001-07-08T00:34:59.02649", NIGHT),
        ("2001-07-08T00:34:59.026490999999999999", NIGHT),
        ("2024-03-15T15:04:05Z", AFTERNOON),
        ("2024-03-15T15:04:05 Z", AFTERNOON),
        ("2024-03-15T17:04:05+02:00", AFTERNOON),
        ("2024-03-15T17:04:05.000+0200", AFTERNOON),
        ("2024-03-15 09:34:05-05:30", AFTERNOON),
        ("2024-03-16T01:04:05 +1000", AFTERNOON),
        ("0001-01-01T00:30:00+01:00", None),
        ("9999-12-31T23:30:00-01:00", None),
        ("2024-03-15T15:04:05+24:00", None),
        ("2024-03-15T15:04:05+02:60", None),
        ("2024-03-15T15:04:05+02", None),
        ("2024-03-15T15:04:05z", None),
        ("2024-03-15t15:04:05", None),
        ("2024-03-15T15:04", None),
        ("2024-03-15T15:04:05.", None),
        ("2024-03-1515:04:05", None),
        ("2024-03-15", None),
        ("2024-02-30T15:04:05", None),
        ("2024-03-15T24:00:00", None),
        ("2024-03-15T23:59:60", None),
        ("2024-03-15T15:04:05 x", None),
        ("\u0662\u0660\u0662\u0664-03-15T15:04:05", None),
        ("", None),
    ],
)
def test_iso_datetimes(text: str, expected: datetime | None) -> None:
    assert parse_iso_datetime(text) == expected


# --- Properties ---

# The %y and %g of a few centuries are ambiguous by design, so they stay out.
FULL_DATES = ["%F", "%Y%m%d", "%d/%m/%Y", "%-d.%-m.%Y", "%e %B %Y", "%v", "%C%y %b %_d", "%Y-%j"]
FULL_DATES += ["%G-W%V-%u", "%Y %U %a", "%Y/%W/%w", "%A, %d %B %Y (Q%q, week %V of %G)"]
FULL_TIMES = ["%T%.f", "%H%M%S%6f", "%I:%M:%S%.9f %p", "%l.%M.%S %P %f", "%k h %-M m %-S.%6f"]


@given(st.dates(), st.sampled_from(FULL_DATES))
@example(date.min, "%Y %U %a")
@example(date.max, "%Y/%W/%w")
def test_a_printed_date_reads_back(value: date, pattern: str) -> None:
    compiled = compile_pattern(pattern)
    assert parse_date(format_value(value, compiled), compiled) == value


@given(st.datetimes(), st.sampled_from(FULL_DATES), st.sampled_from(FULL_TIMES))
def test_a_printed_datetime_reads_back(value: datetime, day: str, clock: str) -> None:
    compiled = compile_pattern(f"{day} {clock}")
    assert parse_datetime(format_value(value, compiled), compiled) == value


@given(st.datetimes())
@example(datetime.min)
@example(datetime.max)
def test_other_texts_of_a_datetime_read_back(value: datetime) -> None:
    compiled = compile_pattern("%s %f")
    assert parse_datetime(format_value(value, compiled), compiled) == value
    assert parse_iso_datetime(value.isoformat()) == value
    assert parse_iso_datetime(value.isoformat(" ") + "Z") == value
    assert parse_iso_date(value.date().isoformat()) == value.date()


@given(st.dates())
def test_calendar_numbers_agree_with_first_principles(value: date) -> None:
    new_year = date(value.year, 1, 1).toordinal()
    days = range(new_year, value.toordinal() + 1)
    sundays = sum(day % 7 == 0 for day in days)  # day 1 of the calendar is a Monday
    mondays = sum(day % 7 == 1 for day in days)
    printed = format_value(value, compile_pattern("%-j %-U %-W"))
    assert printed == f"{len(days)} {sundays} {mondays}"


SPECIFIER_SOUP = st.text(st.sampled_from("%%%%%YmdHMSfpsjGVuUWyCzBbaA.369-_0: T\t1x"), max_size=12)
DATE_SOUP = st.text(st.sampled_from("0123456789-+:.TZ /apmJuly"), max_size=30)


@given(st.text(max_size=8) | SPECIFIER_SOUP, st.text(max_size=20) | DATE_SOUP, st.datetimes())
def test_arbitrary_input_fails_only_with_a_pattern_error(
    pattern: str, text: str, value: datetime
) -> None:
    parse_iso_date(text)
    parse_iso_datetime(text)
    try:
        compiled = compile_pattern(pattern)
    except PatternError as error:
        assert 0 <= error.offset < len(pattern)
        return
    parse_date(text, compiled)
    parse_datetime(text, compiled)
    for printed in (value, value.date()):
        try:
            format_value(printed, compiled)
        except PatternError as error:
            assert 0 <= error.offset < len(pattern)


# --- Compiled patterns and errors as objects ---


def test_a_pattern_is_compiled_once_and_can_be_sent_to_another_process() -> None:
    compiled = compile_pattern("%F %T")
    assert compile_pattern("%F %T") is compiled
    assert pickle.loads(pickle.dumps(compiled)) is compiled


def test_a_pattern_error_can_be_sent_to_another_process() -> None:
    error = pickle.loads(pickle.dumps(PatternError("'%Q' is not a known specifier", 3)))
    assert (str(error), error.offset) == ("'%Q' is not a known specifier", 3)


# --- Names in other languages ---

MARCH = date(2024, 3, 15)


@pytest.mark.parametrize(
    ("locale", "printed"),
    [
        ("de", "Freitag, 15. März 2024 | Fr. März"),
        ("fr_FR", "vendredi, 15. mars 2024 | ven. mars"),
        ("es", "viernes, 15. marzo 2024 | vie mar"),
        ("uk", "пʼятниця, 15. березня 2024 | пт бер."),  # noqa: RUF001
        ("en_US", "Friday, 15. March 2024 | Fri Mar"),
    ],
)
def test_printing_names_of_other_languages(locale: str, printed: str) -> None:
    pattern = compile_pattern("%A, %d. %B %Y | %a %b", date_names(locale))
    assert format_value(MARCH, pattern) == printed


@pytest.mark.parametrize(
    ("locale", "pattern", "texts"),
    [
        ("de", "%d. %B %Y", ["15. März 2024", "15. MÄRZ 2024", "15. mär 2024", "15. Mär. 2024"]),
        ("de", "%d-%b-%Y", ["15-Mär-2024", "15-März-2024", "15-mär.-2024"]),
        ("de", "%d. %b. %Y", ["15. Mär. 2024", "15. Mär.. 2024"]),
        ("fr", "%A %d %B %Y", ["vendredi 15 mars 2024", "VEN. 15 Mars 2024", "ven 15 mars 2024"]),
        ("es", "%d de %B de %Y", ["15 de marzo de 2024", "15 de Mar. de 2024"]),
        ("uk", "%A %d %B %Y", ["п'ятниця 15 березня 2024", "П\u2019ЯТНИЦЯ 15 березень 2024"]),  # noqa: RUF001
        ("el", "%d %B %Y", ["15 Μαρτίου 2024", "15 Μάρτιος 2024", "15 ΜΆΡΤΙΟΣ 2024"]),
        ("ja", "%Y年%B%d日", ["2024年3月15日"]),
    ],
)
def test_reading_names_of_other_languages(locale: str, pattern: str, texts: list[str]) -> None:
    compiled = compile_pattern(pattern, date_names(locale))
    assert {text: parse_date(text, compiled) for text in texts} == dict.fromkeys(texts, MARCH)


def test_turkish_capitals() -> None:
    pattern = compile_pattern("%d %B %Y", date_names("tr"))
    for text in ("5 NİSAN 2024", "5 Nisan 2024", "5 nis 2024"):
        assert parse_date(text, pattern) == date(2024, 4, 5)
    assert parse_date("5 MAYIS 2024", pattern) == date(2024, 5, 5)


def test_other_names_are_not_read() -> None:
    german = compile_pattern("%d %B %Y", date_names("de"))
    assert parse_date("15 March 2024", german) is None
    assert parse_date("15 Oktember 2024", german) is None
    assert parse_date("15 März 2024", compile_pattern("%d %B %Y")) is None
    assert parse_date("15 Mar. 2024", compile_pattern("%d %b %Y")) is None


def test_halves_of_days() -> None:
    spanish = compile_pattern("%d/%m/%Y %I:%M %p", date_names("es"))
    assert format_value(AFTERNOON, spanish) == "15/03/2024 03:04 p.\u202fm."
    for half in ("p. m.", "p.\u00a0m.", "P. M", "PM"):
        moment = parse_datetime(f"15/03/2024 3:04 {half}", spanish)
        assert moment == datetime(2024, 3, 15, 15, 4)


def test_a_word_that_means_two_days_is_not_read() -> None:
    words = Words(tuple("MTWTFSS"), tuple(zip("MTWTFSS", range(7), strict=True)))
    narrow = compile_pattern("%a %F", replace(ENGLISH, locale="narrow", short_weekdays=words))
    tuesday, wednesday = date(2024, 3, 12), date(2024, 3, 13)
    assert format_value(tuesday, narrow) == "T 2024-03-12"
    assert parse_date("T 2024-03-12", narrow) is None
    assert parse_date("W 2024-03-13", narrow) == wednesday


@pytest.mark.parametrize("locale", ["af", "ar", "cs", "he", "hi", "ru", "th", "vi", "yav", "zh_TW"])
def test_what_is_printed_can_be_read(locale: str) -> None:
    pattern = compile_pattern("%A %d %B %Y, %a %b", date_names(locale))
    for month in range(1, 13):
        value = date(2024, month, month + 9)
        assert parse_date(format_value(value, pattern), pattern) == value


def test_a_pattern_takes_its_names_to_another_process() -> None:
    french = compile_pattern("%B", date_names("fr-FR"))
    assert pickle.loads(pickle.dumps(french)) is french
    assert pickle.loads(pickle.dumps(date_names("fr_FR"))) == date_names("fr_FR")
