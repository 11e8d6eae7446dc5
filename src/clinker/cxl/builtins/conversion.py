"""Conversions between types: `to_…` fails where a value has no counterpart, `try_…` gives null."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable
from typing import TypeAlias, TypeVar

from clinker.cxl.builtins.declare import LiteralProblem, Param, method
from clinker.cxl.failure import Failure, FailureKind, conversion_failed
from clinker.cxl.run import strftime
from clinker.cxl.run.date_names import ENGLISH, DateNames
from clinker.cxl.sql.operand import NotNative, Sql, SqlCall
from clinker.cxl.sql.strftime import date_sql, datetime_sql, iso_date_sql, iso_datetime_sql
from clinker.cxl.sql.text import text_literal
from clinker.cxl.sql.text_form import text_form_sql
from clinker.cxl.types import ANY, BOOL, DATE, DATETIME, FLOAT, INT, STRING, Kind, Type
from clinker.cxl.values import MAX_INT, MIN_INT, Value, midnight, text_of

# Zeros are kept apart: Python refuses to read more than some thousand digits.
_INT = re.compile(r"([+-]?)0*([0-9]{1,19})")
_DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?"
_FLOAT = re.compile(rf"{_DECIMAL}|[+-]?(?:inf|infinity|nan)", re.IGNORECASE | re.ASCII)
_BOOLS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}

_SAFE_FOR_INT = Kind.INT | Kind.BOOL
_SAFE_FOR_FLOAT = Kind.INT | Kind.FLOAT
_SAFE_FOR_BOOL = Kind.INT | Kind.BOOL
_SAFE_FOR_DATES = Kind.DATE | Kind.DATETIME

_T = TypeVar("_T")


def _or_null(convert: Callable[..., _T], *args: Value | DateNames) -> _T | None:
    try:
        return convert(*args)
    except Failure:
        return None


# In the engine a conversion is SQL for the receivers that have a counterpart, null where it fails;
# None for other receivers.
_Converting: TypeAlias = Callable[[SqlCall], str | None]
_Form: TypeAlias = Callable[[SqlCall], Sql]


def _try_sql(sql_type: str, convert: _Converting) -> _Form:
    """The form of a conversion that gives null where it fails."""
    return lambda call: Sql(convert(call) or f"CAST(NULL AS {sql_type})")


def _to_sql(sql_type: str, convert: _Converting, safe_for: Kind) -> _Form:
    """The form of a conversion that fails, except for receivers of some kinds."""

    def form(call: SqlCall) -> Sql:
        x, converted = call.receiver, convert(call)
        if converted is None:
            return Sql(f"CAST(NULL AS {sql_type})", f"{x.text} IS NOT NULL")
        if x.type.only(safe_for):
            return Sql(converted)
        value = call.bind(converted)
        return Sql(value, f"{value} IS NULL AND {x.text} IS NOT NULL")

    return form


def _kind(call: SqlCall) -> Kind:
    return call.receiver.type.kinds & ~Kind.NULL


def _matches_sql(x: str, regex: str) -> str:
    """Whether a whole text matches."""
    whole = rf"\A(?:{regex})\z"
    return f"{x} RLIKE {text_literal(whole)}"


def _int_sql(call: SqlCall) -> str | None:
    x = call.receiver.text
    match _kind(call):
        case Kind.INT:
            return x
        case Kind.BOOL:
            return f"CAST({x} AS BIGINT)"
        case Kind.FLOAT:
            fits = f"{x} >= -9223372036854775808D AND {x} < 9223372036854775808D"
            return f"if({fits}, CAST({x} AS BIGINT), NULL)"
        case Kind.STRING:
            return f"if({_matches_sql(x, '[+-]?[0-9]+')}, TRY_CAST({x} AS BIGINT), NULL)"
    return None


@method(
    "to_int",
    ANY,
    INT,
    fails=[FailureKind.CONVERSION_FAILED],
    safe_for=_SAFE_FOR_INT,
    sql=_to_sql("BIGINT", _int_sql, _SAFE_FOR_INT),
)
def to_int(value: Value) -> int:
    """A whole number. Floats lose their fraction, true is 1 and false 0; text may hold a sign and
    the digits 0 to 9, nothing else.

    >>> "42".to_int()
    42
    >>> 3.9.to_int()
    3
    >>> (-3.9).to_int()
    -3
    >>> true.to_int()
    1
    >>> "-007".to_int()
    -7
    >>> null.to_int()
    null
    >>> "abc".to_int()
    error: cannot convert 'abc' to Int
    >>> " 42".to_int()
    error: cannot convert ' 42' to Int
    >>> "42.0".to_int()
    error: cannot convert '42.0' to Int
    >>> "9223372036854775808".to_int()
    error: cannot convert '9223372036854775808' to Int
    """
    number = None
    match value:
        case int():
            number = int(value)
        case float() if math.isfinite(value):
            number = int(value)
        case str() if match := _INT.fullmatch(value):
            number = int(match[1] + match[2])
    if number is None or not MIN_INT <= number <= MAX_INT:
        raise conversion_failed(text_of(value), "Int")
    return number


@method("try_int", ANY, INT.nullable(), sql=_try_sql("BIGINT", _int_sql))
def try_int(value: Value) -> int | None:
    """A whole number, like `to_int`, or null where that would fail.

    >>> "42".try_int()
    42
    >>> "abc".try_int()
    null
    >>> "+5".try_int()
    5
    >>> "1,000".try_int()
    null
    >>> "".try_int()
    null
    >>> #2024-03-15#.try_int()
    null
    """
    return _or_null(to_int, value)


def _float_sql(call: SqlCall) -> str | None:
    x = call.receiver.text
    match _kind(call):
        case Kind.INT:
            return f"CAST({x} AS DOUBLE)"
        case Kind.FLOAT:
            return x
        case Kind.STRING:
            return (
                f"CASE WHEN {_matches_sql(x, f'(?i){_DECIMAL}')} THEN TRY_CAST({x} AS DOUBLE)"
                f" WHEN lower({x}) IN ('inf', '+inf', 'infinity', '+infinity')"
                " THEN double('Infinity')"
                f" WHEN lower({x}) IN ('-inf', '-infinity') THEN double('-Infinity')"
                f" WHEN lower({x}) IN ('nan', '+nan', '-nan') THEN double('NaN') END"
            )
    return None


@method(
    "to_float",
    ANY,
    FLOAT,
    fails=[FailureKind.CONVERSION_FAILED],
    safe_for=_SAFE_FOR_FLOAT,
    sql=_to_sql("DOUBLE", _float_sql, _SAFE_FOR_FLOAT),
)
def to_float(value: Value) -> float:
    """A number with a fraction. Text may have an exponent or be `inf` or `nan`, but holds no
    blanks and no thousands separators.

    >>> "3.14".to_float()
    3.14
    >>> 42.to_float()
    42.0
    >>> "1e5".to_float()
    100000.0
    >>> ".5".to_float()
    0.5
    >>> "5.".to_float()
    5.0
    >>> "+1".to_float()
    1.0
    >>> "-Infinity".to_float().to_string()
    "-inf"
    >>> "1,000".to_float()
    error: cannot convert '1,000' to Float
    >>> "".to_float()
    error: cannot convert '' to Float
    >>> true.to_float()
    error: cannot convert 'true' to Float
    """
    match value:
        case int() | float() if not isinstance(value, bool):
            return float(value)
        case str() if _FLOAT.fullmatch(value):
            return float(value)
        case _:
            raise conversion_failed(text_of(value), "Float")


@method("try_float", ANY, FLOAT.nullable(), sql=_try_sql("DOUBLE", _float_sql))
def try_float(value: Value) -> float | None:
    """A number with a fraction, like `to_float`, or null where that would fail.

    >>> "3.14".try_float()
    3.14
    >>> "N/A".try_float()
    null
    >>> 42.try_float()
    42.0
    >>> "1_000".try_float()
    null
    >>> true.try_float()
    null
    """
    return _or_null(to_float, value)


def _bool_sql(call: SqlCall) -> str | None:
    x = call.receiver.text
    match _kind(call):
        case Kind.INT:
            return f"{x} <> 0"
        case Kind.BOOL:
            return x
        case Kind.STRING:
            cases = " ".join(
                f"WHEN '{text}' THEN {str(value).upper()}" for text, value in _BOOLS.items()
            )
            return f"CASE lower({x}) {cases} END"
    return None


@method(
    "to_bool",
    ANY,
    BOOL,
    fails=[FailureKind.CONVERSION_FAILED],
    safe_for=_SAFE_FOR_BOOL,
    sql=_to_sql("BOOLEAN", _bool_sql, _SAFE_FOR_BOOL),
)
def to_bool(value: Value) -> bool:
    """True or false. The texts true, 1, yes and false, 0, no count in any case; the number 0 is
    false and every other whole number true.

    >>> "yes".to_bool()
    true
    >>> 0.to_bool()
    false
    >>> "NO".to_bool()
    false
    >>> (-2).to_bool()
    true
    >>> "on".to_bool()
    error: cannot convert 'on' to Bool
    >>> 1.0.to_bool()
    error: cannot convert '1' to Bool
    """
    match value:
        case int():
            return value != 0
        case str() if value.lower() in _BOOLS:
            return _BOOLS[value.lower()]
        case _:
            raise conversion_failed(text_of(value), "Bool")


@method("try_bool", ANY, BOOL.nullable(), sql=_try_sql("BOOLEAN", _bool_sql))
def try_bool(value: Value) -> bool | None:
    """True or false, like `to_bool`, or null where that would fail.

    >>> "yes".try_bool()
    true
    >>> "maybe".try_bool()
    null
    >>> "False".try_bool()
    false
    >>> 1.0.try_bool()
    null
    """
    return _or_null(to_bool, value)


def _string_sql(call: SqlCall) -> Sql:
    return Sql(text_form_sql(call.receiver.text, call.receiver.type))


@method("to_string", ANY, STRING, sql=_string_sql, sql_takes_tagged=True)
def to_string(value: Value) -> str:
    """The text form of any value. Whole floats show no decimals, and a null inside an array or a
    map shows as nothing.

    >>> 42.to_string()
    "42"
    >>> true.to_string()
    "true"
    >>> 42.0.to_string()
    "42"
    >>> 0.1.to_string()
    "0.1"
    >>> 0.0000001.to_string()
    "0.0000001"
    >>> #2024-03-15#.to_string()
    "2024-03-15"
    >>> "2024-03-15T14:30:00".to_datetime().to_string()
    "2024-03-15 14:30:00"
    >>> [1, "x", null, true].to_string()
    "[1, x, , true]"
    >>> {"k": 1.5}.to_string()
    "{k: 1.5}"
    >>> null.to_string()
    null
    """
    return text_of(value)


def _date_pattern(text: str, names: DateNames = ENGLISH) -> strftime.Pattern:
    pattern = strftime.compile_pattern(text, names)
    if not pattern.gives_date:
        raise strftime.PatternError("this format does not determine a date", 0)
    return pattern


def _datetime_pattern(text: str, names: DateNames = ENGLISH) -> strftime.Pattern:
    pattern = strftime.compile_pattern(text, names)
    if not pattern.gives_datetime:
        raise strftime.PatternError("this format does not determine a date, hour and minute", 0)
    return pattern


_PatternOf: TypeAlias = Callable[..., strftime.Pattern]


def _format(pattern_of: _PatternOf) -> Param:
    """The optional parameter that says how a text is to be read."""

    def check(text: str, _: Type) -> None:
        try:
            pattern_of(text)
        except strftime.PatternError as problem:
            raise LiteralProblem(str(problem), problem.offset) from None

    return Param("format", STRING, optional=True, check=check)


def _usable(pattern_of: _PatternOf, format: str, names: DateNames) -> strftime.Pattern:
    try:
        return pattern_of(format, names)
    except strftime.PatternError as problem:
        detail = f"invalid format '{format}': {problem}"
        raise Failure(FailureKind.INVALID_FORMAT, detail, format) from None


def _literal_format(call: SqlCall) -> str | None:
    """The format that was given, if any; it has to be known."""
    format = call.arg("format")
    if format is None or (format.is_literal and format.value is None):
        return None
    if not isinstance(format.value, str):
        raise NotNative
    return format.value


def _date_sql(call: SqlCall) -> str | None:
    x = call.receiver.text
    match _kind(call):
        case Kind.DATE:
            return x
        case Kind.DATETIME:
            return f"CAST({x} AS DATE)"
        case Kind.STRING:
            format = _literal_format(call)
            if format is None:
                return iso_date_sql(x, call.bind)
            return date_sql(x, _date_pattern(format, call.names), call.bind)
    return None


def _datetime_sql(call: SqlCall) -> str | None:
    x = call.receiver.text
    match _kind(call):
        case Kind.DATE:
            return f"CAST({x} AS TIMESTAMP_NTZ)"
        case Kind.DATETIME:
            return x
        case Kind.STRING:
            format = _literal_format(call)
            if format is None:
                return iso_datetime_sql(x, call.bind)
            return datetime_sql(x, _datetime_pattern(format, call.names), call.bind)
    return None


_READING = (FailureKind.CONVERSION_FAILED, FailureKind.INVALID_FORMAT)


@method(
    "to_date",
    ANY,
    DATE,
    params=[_format(_date_pattern)],
    fails=_READING,
    safe_for=_SAFE_FOR_DATES,
    sql=_to_sql("DATE", _date_sql, _SAFE_FOR_DATES),
    takes_names=True,
)
def to_date(value: Value, format: str | None = None, names: DateNames = ENGLISH) -> dt.date:
    """A date, read from text of the form year-month-day or of the given strftime format. A
    date-time loses its time of day.

    >>> "2024-03-15".to_date()
    "2024-03-15"
    >>> "15/03/2024".to_date("%d/%m/%Y")
    "2024-03-15"
    >>> "2024-1-5".to_date()
    "2024-01-05"
    >>> "15-Mar-2024".to_date("%d-%b-%Y")
    "2024-03-15"
    >>> "2024-03-15T14:30:00".to_datetime().to_date()
    "2024-03-15"
    >>> #2024-03-15#.to_date()
    "2024-03-15"
    >>> "2023-02-29".to_date()
    error: cannot convert '2023-02-29' to Date
    >>> "03/15/2024".to_date()
    error: cannot convert '03/15/2024' to Date
    >>> 20240315.to_date()
    error: cannot convert '20240315' to Date
    """
    date = None
    match value:
        case dt.datetime():
            date = value.date()
        case dt.date():
            date = value
        case str():
            if format is None:
                date = strftime.parse_iso_date(value)
            else:
                date = strftime.parse_date(value, _usable(_date_pattern, format, names))
    if date is None:
        raise conversion_failed(text_of(value), "Date")
    return date


@method(
    "try_date",
    ANY,
    DATE.nullable(),
    params=[_format(_date_pattern)],
    sql=_try_sql("DATE", _date_sql),
    takes_names=True,
)
def try_date(value: Value, format: str | None = None, names: DateNames = ENGLISH) -> dt.date | None:
    """A date, like `to_date`, or null where that would fail.

    >>> "2024-03-15".try_date()
    "2024-03-15"
    >>> "not a date".try_date()
    null
    >>> "03/15/2024".try_date("%m/%d/%Y")
    "2024-03-15"
    >>> "31/02/2024".try_date("%d/%m/%Y")
    null
    >>> "03/15/2024".try_date("%Y-%m-%d") ?? "03/15/2024".try_date("%m/%d/%Y")
    "2024-03-15"
    """
    return _or_null(to_date, value, format, names)


@method(
    "to_datetime",
    ANY,
    DATETIME,
    params=[_format(_datetime_pattern)],
    fails=_READING,
    safe_for=_SAFE_FOR_DATES,
    sql=_to_sql("TIMESTAMP_NTZ", _datetime_sql, _SAFE_FOR_DATES),
    takes_names=True,
)
def to_datetime(value: Value, format: str | None = None, names: DateNames = ENGLISH) -> dt.datetime:
    """A date-time, read from ISO text or text of the given strftime format. A zone offset in ISO
    text is converted to UTC; a date becomes its midnight.

    >>> "2024-03-15T14:30:00".to_datetime()
    "2024-03-15T14:30:00"
    >>> "2024-03-15 14:30:00".to_datetime()
    "2024-03-15T14:30:00"
    >>> "2024-03-15T14:30:00+02:00".to_datetime()
    "2024-03-15T12:30:00"
    >>> "15.03.2024 14:30".to_datetime("%d.%m.%Y %H:%M")
    "2024-03-15T14:30:00"
    >>> #2024-03-15#.to_datetime()
    "2024-03-15T00:00:00"
    >>> "2024-03-15".to_datetime()
    error: cannot convert '2024-03-15' to DateTime
    >>> "2024-03-15T25:00:00".to_datetime()
    error: cannot convert '2024-03-15T25:00:00' to DateTime
    """
    moment = None
    match value:
        case dt.date():
            moment = midnight(value)
        case str():
            if format is None:
                moment = strftime.parse_iso_datetime(value)
            else:
                moment = strftime.parse_datetime(value, _usable(_datetime_pattern, format, names))
    if moment is None:
        raise conversion_failed(text_of(value), "DateTime")
    return moment


@method(
    "try_datetime",
    ANY,
    DATETIME.nullable(),
    params=[_format(_datetime_pattern)],
    sql=_try_sql("TIMESTAMP_NTZ", _datetime_sql),
    takes_names=True,
)
def try_datetime(
    value: Value, format: str | None = None, names: DateNames = ENGLISH
) -> dt.datetime | None:
    """A date-time, like `to_datetime`, or null where that would fail.

    >>> "2024-03-15T14:30:00".try_datetime()
    "2024-03-15T14:30:00"
    >>> "invalid".try_datetime()
    null
    >>> "15/03/2024 2:30 PM".try_datetime("%d/%m/%Y %I:%M %p")
    "2024-03-15T14:30:00"
    >>> "2024-03-15".try_datetime()
    null
    """
    return _or_null(to_datetime, value, format, names)
