"""Methods of dates and date-times: components, calendar arithmetic and printing."""

from __future__ import annotations

import datetime as dt
from calendar import monthrange
from collections.abc import Callable
from typing import TypeVar

from clinker.cxl.builtins.declare import LiteralProblem, Param, method
from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.run.date_names import ENGLISH, DateNames
from clinker.cxl.run.strftime import PatternError, check_format, compile_pattern, format_value
from clinker.cxl.sql.operand import NotNative, Operand, Sql, SqlCall
from clinker.cxl.sql.strftime import format_sql
from clinker.cxl.types import DATE, DATETIME, INT, STRING, Kind, Type
from clinker.cxl.values import midnight

_DATED = DATE | DATETIME
_EPOCH = dt.date(1970, 1, 1)
_ONE_DAY = dt.timedelta(days=1)
_MONTHS_PER_YEAR = 12

_Day = TypeVar("_Day", bound=dt.date)


# Components


@method("year", _DATED, INT, iso_text=True, sql="CAST(year({self}) AS BIGINT)")
def year(value: dt.date) -> int:
    """The year.

    >>> #2024-03-15#.year()
    2024
    >>> "2024-03-15".year()
    2024
    >>> "2024-03-15T14:30:00".to_datetime().year()
    2024
    >>> null.year()
    null
    """
    return value.year


@method("month", _DATED, INT, iso_text=True, sql="CAST(month({self}) AS BIGINT)")
def month(value: dt.date) -> int:
    """The month, 1 to 12.

    >>> #2024-03-15#.month()
    3
    >>> "2024-12-31T23:59:59".month()
    12
    """
    return value.month


@method("day", _DATED, INT, iso_text=True, sql="CAST(day({self}) AS BIGINT)")
def day(value: dt.date) -> int:
    """The day of the month, 1 to 31.

    >>> #2024-03-15#.day()
    15
    >>> "2024-12-31T23:59:59".to_datetime().day()
    31
    """
    return value.day


def _time_component(receiver: Type, _: tuple[Type, ...]) -> Type:
    return INT if receiver.only(Kind.DATETIME) else INT.nullable()


def _time_component_sql(function: str) -> Callable[[SqlCall], Sql]:
    def form(call: SqlCall) -> Sql:
        if call.receiver.type.only(Kind.DATE):
            return Sql("CAST(NULL AS BIGINT)")
        return Sql(f"CAST({function}({call.receiver.text}) AS BIGINT)")

    return form


@method("hour", _DATED, _time_component, iso_text=True, sql=_time_component_sql("hour"))
def hour(value: dt.date) -> int | None:
    """The hour of a DateTime, 0 to 23; null for a Date, which has no time of day.

    >>> "2024-03-15T14:30:00".to_datetime().hour()
    14
    >>> "2024-03-15T14:30:00".hour()
    14
    >>> #2024-03-15#.hour()
    null
    """
    return value.hour if isinstance(value, dt.datetime) else None


@method("minute", _DATED, _time_component, iso_text=True, sql=_time_component_sql("minute"))
def minute(value: dt.date) -> int | None:
    """The minute of a DateTime, 0 to 59; null for a Date, which has no time of day.

    >>> "2024-03-15T14:30:00".to_datetime().minute()
    30
    >>> #2024-03-15#.minute()
    null
    """
    return value.minute if isinstance(value, dt.datetime) else None


@method("second", _DATED, _time_component, iso_text=True, sql=_time_component_sql("second"))
def second(value: dt.date) -> int | None:
    """The second of a DateTime, 0 to 59; null for a Date, which has no time of day.

    >>> "2024-03-15T14:30:45".to_datetime().second()
    45
    >>> #2024-03-15#.second()
    null
    """
    return value.second if isinstance(value, dt.datetime) else None


# Arithmetic


def _moved(receiver: Type, _: tuple[Type, ...]) -> Type:
    """The same kind of date; null where the calendar ends."""
    return receiver.nullable()


def _in_month(value: _Day, year: int, month: int) -> _Day:
    """`value` moved to that month, on its last day if it is too short."""
    _, last_day = monthrange(year, month)
    return value.replace(year=year, month=month, day=min(value.day, last_day))


def _plus_months(value: dt.date, months: int) -> dt.date | None:
    year, month = divmod(value.year * _MONTHS_PER_YEAR + value.month - 1 + months, _MONTHS_PER_YEAR)
    if not dt.MINYEAR <= year <= dt.MAXYEAR:
        return None
    return _in_month(value, year, month + 1)


def _steps_sql(n: Operand | None, farthest: int) -> str:
    """As many steps as asked for, or as lead out of the calendar wherever one starts.

    The latter for null, too, so that the result is null.
    """
    assert n
    return f"CAST(greatest(least({n.text}, {farthest}L), -{farthest}L) AS INT)"


def _add_days_sql(call: SqlCall) -> Sql:
    x = call.receiver.text
    days = call.bind(_steps_sql(call.arg("n"), (dt.date.max - dt.date.min).days + 1))
    first, last = ((end - _EPOCH).days for end in (dt.date.min, dt.date.max))
    exists = f"unix_date(CAST({x} AS DATE)) + {days} BETWEEN {first} AND {last}"
    is_date = call.receiver.type.only(Kind.DATE)
    moved = f"date_add({x}, {days})" if is_date else f"timestampadd(DAY, {days}, {x})"
    return Sql(f"if({exists}, {moved}, NULL)")


def _add_months_sql(months_per_step: int) -> Callable[[SqlCall], Sql]:
    def form(call: SqlCall) -> Sql:
        x = call.receiver.text
        first, last = dt.MINYEAR * _MONTHS_PER_YEAR, (dt.MAXYEAR + 1) * _MONTHS_PER_YEAR - 1
        steps = _steps_sql(call.arg("n"), (last + 1) // months_per_step)
        months = call.bind(f"{steps} * {months_per_step}")
        position = f"year({x}) * {_MONTHS_PER_YEAR} + month({x}) - 1"
        exists = f"{position} + {months} BETWEEN {first} AND {last}"
        is_date = call.receiver.type.only(Kind.DATE)
        moved = f"add_months({x}, {months})" if is_date else f"timestampadd(MONTH, {months}, {x})"
        return Sql(f"if({exists}, {moved}, NULL)")

    return form


@method("add_days", _DATED, _moved, params=[Param("n", INT)], iso_text=True, sql=_add_days_sql)
def add_days(value: dt.date, n: int) -> dt.date | None:
    """The date `n` days later, or earlier if `n` is negative; a DateTime keeps its time of day.

    Null if the result is outside the years 1 to 9999.

    >>> #2024-01-15#.add_days(10)
    "2024-01-25"
    >>> #2024-01-15#.add_days(-5)
    "2024-01-10"
    >>> #2024-02-28#.add_days(1)
    "2024-02-29"
    >>> "2024-12-31T08:15:00".to_datetime().add_days(1)
    "2025-01-01T08:15:00"
    >>> "2024-01-15".add_days(1)
    "2024-01-16"
    >>> #2024-01-15#.add_days(null)
    null
    >>> #9999-12-31#.add_days(1)
    null
    >>> #2024-01-15#.add_days(9223372036854775807)
    null
    """
    try:
        return value + dt.timedelta(days=n)
    except OverflowError:
        return None


@method(
    "add_months", _DATED, _moved, params=[Param("n", INT)], iso_text=True, sql=_add_months_sql(1)
)
def add_months(value: dt.date, n: int) -> dt.date | None:
    """The date `n` months later, or earlier if `n` is negative; a DateTime keeps its time of day.

    Where the month is too short for the day, its last day is taken. Null if the result is outside
    the years 1 to 9999.

    >>> #2024-01-31#.add_months(1)
    "2024-02-29"
    >>> #2024-03-15#.add_months(-2)
    "2024-01-15"
    >>> #2024-11-30#.add_months(3)
    "2025-02-28"
    >>> #2024-01-15#.add_months(-1)
    "2023-12-15"
    >>> "2024-01-31T08:15:00".to_datetime().add_months(1)
    "2024-02-29T08:15:00"
    >>> #0001-01-15#.add_months(-1)
    null
    """
    return _plus_months(value, n)


@method(
    "add_years",
    _DATED,
    _moved,
    params=[Param("n", INT)],
    iso_text=True,
    sql=_add_months_sql(_MONTHS_PER_YEAR),
)
def add_years(value: dt.date, n: int) -> dt.date | None:
    """The date `n` years later, or earlier if `n` is negative; a DateTime keeps its time of day.

    29 February becomes 28 February in years that lack it. Null if the result is outside the years
    1 to 9999.

    >>> #2024-02-29#.add_years(1)
    "2025-02-28"
    >>> #2024-02-29#.add_years(-4)
    "2020-02-29"
    >>> "2024-02-29T08:15:00".to_datetime().add_years(1)
    "2025-02-28T08:15:00"
    >>> #2024-02-29#.add_years(7976)
    null
    """
    return _plus_months(value, n * _MONTHS_PER_YEAR)


# Differences


def _instants_sql(call: SqlCall) -> tuple[str, str]:
    """The receiver and the other date, both as instants if one of them is."""
    other = call.arg("other")
    assert other
    operands = (call.receiver, other)
    if all(operand.type.only(Kind.DATE) for operand in operands):
        return call.receiver.text, other.text
    value, other_value = (
        f"CAST({operand.text} AS TIMESTAMP_NTZ)" if operand.type.only(Kind.DATE) else operand.text
        for operand in operands
    )
    return call.bind(value), call.bind(other_value)


def _diff_days_sql(call: SqlCall) -> Sql:
    value, other = _instants_sql(call)
    return Sql(f"timestampdiff(DAY, {other}, {value})")


@method(
    "diff_days",
    _DATED,
    INT,
    params=[Param("other", _DATED, iso_text=True)],
    iso_text=True,
    sql=_diff_days_sql,
)
def diff_days(value: dt.date, other: dt.date) -> int:
    """The whole days from `other` to the receiver, negative if the receiver is the earlier one.

    With a DateTime involved the time of day counts, a Date standing for its midnight, and parts of
    a day are dropped.

    >>> #2024-03-15#.diff_days(#2024-03-01#)
    14
    >>> #2024-01-01#.diff_days(#2024-03-15#)
    -74
    >>> "2024-03-15".diff_days("2024-03-01")
    14
    >>> "2024-03-15T12:00:00".to_datetime().diff_days(#2024-03-01#)
    14
    >>> #2024-03-01#.diff_days("2024-03-02T12:00:00".to_datetime())
    -1
    >>> #2024-03-01#.diff_days(null)
    null
    """
    difference = midnight(value) - midnight(other)
    return difference // _ONE_DAY if difference >= dt.timedelta() else -(-difference // _ONE_DAY)


def _months_between(value: dt.date, other: dt.date) -> int:
    later, earlier = midnight(value), midnight(other)
    if later < earlier:
        return -_months_between(earlier, later)
    years, months = later.year - earlier.year, later.month - earlier.month
    incomplete = _in_month(earlier, later.year, later.month) > later
    return years * _MONTHS_PER_YEAR + months - incomplete


def _months_between_sql(call: SqlCall) -> str:
    value, other = _instants_sql(call)
    earlier, later = call.bind(f"least({value}, {other})"), call.bind(f"greatest({value}, {other})")
    years = f"(year({later}) - year({earlier}))"
    months = call.bind(f"{years} * {_MONTHS_PER_YEAR} + month({later}) - month({earlier})")
    incomplete = f"if(timestampadd(MONTH, {months}, {earlier}) > {later}, 1, 0)"
    # Null if one of them is, though there are an earlier and a later one.
    sign = f"CASE WHEN {value} < {other} THEN -1L WHEN {value} >= {other} THEN 1L END"
    return f"{sign} * ({months} - {incomplete})"


def _diff_months_sql(call: SqlCall) -> Sql:
    return Sql(_months_between_sql(call))


@method(
    "diff_months",
    _DATED,
    INT,
    params=[Param("other", _DATED, iso_text=True)],
    iso_text=True,
    sql=_diff_months_sql,
)
def diff_months(value: dt.date, other: dt.date) -> int:
    """The whole months from `other` to the receiver, negative if the receiver is the earlier one.

    It is how often `add_months(1)` fits: the largest n for which the earlier date plus n months is
    not after the later one. So 31 January to 29 February is one month. With a DateTime involved
    the time of day counts, a Date standing for its midnight.

    >>> #2024-03-15#.diff_months(#2024-01-15#)
    2
    >>> #2024-03-14#.diff_months(#2024-01-15#)
    1
    >>> #2024-01-15#.diff_months(#2024-03-15#)
    -2
    >>> #2024-01-15#.diff_months(#2024-03-14#)
    -1
    >>> #2024-02-29#.diff_months(#2024-01-31#)
    1
    >>> #2024-02-28#.diff_months(#2024-01-31#)
    0
    >>> #2025-01-01#.diff_months(#2023-12-31#)
    12
    >>> "2024-02-15T07:59:59".to_datetime().diff_months("2024-01-15T08:00:00".to_datetime())
    0
    """
    return _months_between(value, other)


def _diff_years_sql(call: SqlCall) -> Sql:
    return Sql(f"({_months_between_sql(call)}) DIV {_MONTHS_PER_YEAR}")


@method(
    "diff_years",
    _DATED,
    INT,
    params=[Param("other", _DATED, iso_text=True)],
    iso_text=True,
    sql=_diff_years_sql,
)
def diff_years(value: dt.date, other: dt.date) -> int:
    """The whole years from `other` to the receiver, negative if the receiver is the earlier one.

    It is how often `add_years(1)` fits, which makes it the age of someone born on `other`. Born on
    29 February, one turns a year older on the 28th in years that lack it.

    >>> #2024-03-15#.diff_years(#2000-03-15#)
    24
    >>> #2024-03-14#.diff_years(#2000-03-15#)
    23
    >>> #2000-03-15#.diff_years(#2024-03-14#)
    -23
    >>> #2025-02-28#.diff_years(#2024-02-29#)
    1
    >>> "2024-03-15".diff_years("2024-03-15")
    0
    """
    months = _months_between(value, other)
    years = abs(months) // _MONTHS_PER_YEAR
    return years if months >= 0 else -years


# Printing


def _check_format(text: str, receiver: Type) -> None:
    has_time = False if receiver.without_null() == DATE else None
    try:
        check_format(text, has_time)
    except PatternError as problem:
        raise LiteralProblem(str(problem), problem.offset) from None


def _format_date_sql(call: SqlCall) -> Sql:
    format = call.arg("format")
    assert format
    if not isinstance(format.value, str):
        raise NotNative
    pattern = compile_pattern(format.value, call.names)
    if pattern.needs_time and call.receiver.type.only(Kind.DATE):
        return Sql("CAST(NULL AS STRING)", f"{call.receiver.text} IS NOT NULL")
    return Sql(format_sql(call.receiver.text, pattern))


@method(
    "format_date",
    _DATED,
    STRING,
    params=[Param("format", STRING, check=_check_format)],
    fails=[FailureKind.INVALID_FORMAT],
    iso_text=True,
    sql=_format_date_sql,
    takes_names=True,
)
def format_date(value: dt.date, format: str, names: DateNames = ENGLISH) -> str:
    """Prints a date with strftime specifiers such as `%Y`, `%m` and `%d`; names are English, or
    those of the pipeline's `date_locale`.

    Specifiers for the time of day need a DateTime.

    >>> #2024-03-15#.format_date("%B %d, %Y")
    "March 15, 2024"
    >>> #2024-03-15#.format_date("%Y/%m/%d")
    "2024/03/15"
    >>> #2024-03-15#.format_date("%A, %b %-d")
    "Friday, Mar 15"
    >>> #2024-03-15#.format_date("%Y-W%V")
    "2024-W11"
    >>> #2024-12-30#.format_date("%G-W%V")
    "2025-W01"
    >>> "2024-03-15T14:30:05".to_datetime().format_date("%H:%M:%S")
    "14:30:05"
    >>> "2024-03-15".format_date("%d.%m.%Y")
    "15.03.2024"
    >>> #2024-03-15#.format_date("100%%")
    "100%"
    >>> "2024-03-15".format_date("%H:%M")
    error: '%H' needs a time of day, but the value is a Date
    """
    try:
        return format_value(value, compile_pattern(format, names))
    except PatternError as problem:
        raise Failure(FailureKind.INVALID_FORMAT, str(problem), format) from None
