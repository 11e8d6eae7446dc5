"""Dates and times as text in the engine: what `strftime` does, as SQL."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from clinker.cxl.run.date_fields import FIELDS
from clinker.cxl.run.strftime import ISO_DATE, ISO_DATETIME, Pattern, compile_pattern
from clinker.cxl.sql.dialect import current_dialect
from clinker.cxl.sql.operand import NotNative
from clinker.cxl.sql.text import text_literal
from clinker.frozen import frozen

Bind = Callable[[str], str]

_EPOCH = "TIMESTAMP_NTZ'1970-01-01 00:00:00'"
# What Python takes for blanks; Java's own class knows ASCII only.
_BLANK = (
    r"[\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
)


# Printing


def format_sql(value: str, pattern: Pattern) -> str:
    """A date or date-time printed with a pattern that suits it."""
    written = [item.write_sql for item in pattern.items if item.write_sql is not None]
    if len(written) < len(pattern.items):
        raise NotNative
    texts = ", ".join(template.format(v=value) for template in written)
    text = f"concat({texts})" if len(written) > 1 else texts or "''"
    if any(item.specifier for item in pattern.items):
        return text
    return f"if({value} IS NULL, NULL, {text})"


# Reading


@frozen
class _Reading:
    """The numbers found in a text, as SQL that is null where the text does not match."""

    pattern: Pattern
    fields: dict[str, str]
    """The read ones and those derived from them."""

    @property
    def is_stamped(self) -> bool:
        return "unix_second" in self.fields

    def written(self, template: str) -> str:
        return template.format_map(self.fields)


def date_sql(text: str, pattern: Pattern, bind: Bind) -> str:
    """The date read from a text with a pattern that gives one; null if it does not match."""
    return _read_sql(text, _plain_date(pattern), lambda rest: _date_sql(rest, pattern, bind), bind)


def _date_sql(text: str, pattern: Pattern, bind: Bind) -> str:
    reading = _reading(text, pattern, bind)
    checked = _checked(reading)
    if reading.is_stamped or any(FIELDS[name].timed for name in checked):
        moment = bind(_moment_sql(reading, bind))
        return _agreeing(reading, moment, f"CAST({moment} AS DATE)", _determined(reading))
    day = _day_sql(reading)
    if not checked and not _ranges(reading, _DAY):
        return day
    day = bind(day)
    return _agreeing(reading, day, day, _DAY)


def datetime_sql(text: str, pattern: Pattern, bind: Bind) -> str:
    """The date-time read from a text with a pattern that gives one; null if it does not match."""

    def read(rest: str) -> str:
        reading = _reading(rest, pattern, bind)
        moment = bind(_moment_sql(reading, bind))
        return _agreeing(reading, moment, moment, _determined(reading))

    return _read_sql(text, _plain_datetime(pattern), read, bind)


@frozen
class _Plain:
    """Texts in which every number has all its digits: Spark reads them fast."""

    regex: str
    sql: str
    """What Spark reads of such a text `{x}`."""


def _read_sql(text: str, plain: _Plain | None, read: Callable[[str], str], bind: Bind) -> str:
    if not current_dialect().reads_dates:
        raise NotNative
    if plain is None:
        return read(text)
    regex = text_literal(rf"\A{plain.regex}\z")
    is_plain = bind(f"{text} RLIKE {regex}")
    fast = plain.sql.format(x=text)
    return f"if({is_plain}, {fast}, {read(f'if({is_plain}, NULL, {text})')})"


_WIDTHS = {"year": 4, "month": 2, "day": 2, "hour": 2, "minute": 2, "second": 2}


def _plain_date(pattern: Pattern) -> _Plain | None:
    places = _places(pattern)
    if places is None or places.keys() != _DAY:
        return None
    return _Plain(_plain_regex(pattern), f"TRY_CAST({_plain_day(places)} AS DATE)")


def _plain_datetime(pattern: Pattern) -> _Plain | None:
    places = _places(pattern)
    if places is None or not _WIDTHS.keys() >= places.keys() >= _WIDTHS.keys() - {"second"}:
        return None
    second = places.get("second", "'00'")
    time = f"{places['hour']}, ':', {places['minute']}, ':', {second}"
    moment = f"concat({_plain_day(places)}, ' ', {time})"
    return _Plain(_plain_regex(pattern), f"TRY_CAST({moment} AS TIMESTAMP_NTZ)")


def _plain_day(places: dict[str, str]) -> str:
    return f"concat({places['year']}, '-', {places['month']}, '-', {places['day']})"


def _places(pattern: Pattern) -> dict[str, str] | None:
    """Where each number stands, as SQL; None if there are others than those of `_WIDTHS`."""
    places: dict[str, str] = {}
    position = 1
    for item in pattern.items:
        if item.specifier is None:
            if item.write is None:
                return None
            position += len(item.write(datetime.min))
            continue
        field = item.specifier.field
        if item.specifier.width is None or field not in _WIDTHS or field in places:
            return None
        places[field] = f"substr({{x}}, {position}, {_WIDTHS[field]})"
        position += _WIDTHS[field]
    return places


def _plain_regex(pattern: Pattern) -> str:
    pieces = []
    for item in pattern.items:
        if item.specifier:
            digits = f"[0-9]{{{_WIDTHS[item.specifier.field]}}}"
            # To Spark there is a year zero.
            pieces.append(f"(?!0000){digits}" if item.specifier.field == "year" else digits)
        elif item.write:
            pieces.append(re.escape(item.write(datetime.min)))
    return "".join(pieces)


_DAY = frozenset({"year", "month", "day"})
_TIME = frozenset({"hour", "minute", "second"})


def _determined(reading: _Reading) -> frozenset[str]:
    """The fields a moment is made of, so that it exists only if they are in range."""
    return frozenset({"unix_second"}) if reading.is_stamped else _DAY | _TIME


def _reading(text: str, pattern: Pattern, bind: Bind) -> _Reading:
    names = [reader.field for reader in pattern.readers]
    templates = [reader.read_sql for reader in pattern.readers if reader.read_sql]
    if len(set(names)) < len(names) or len(templates) < len(names):
        raise NotNative
    groups = bind(_groups_sql(text, "".join(item.regex for item in pattern.items), len(names)))
    fields = {
        name: _in_range(name, template.format(text=f"{groups}[{at}]"))
        for at, (name, template) in enumerate(zip(names, templates, strict=True))
    }
    for derivation in pattern.derivations:
        derived = derivation.sql.format_map(fields)
        fields[derivation.target] = _in_range(derivation.target, f"({derived})")
    return _Reading(pattern, fields)


def _groups_sql(text: str, regex: str, count: int) -> str:
    """An ARRAY of what the groups of an expression hold; empty texts if there is no full match."""
    pattern = rf"\A(?:{_java(regex)})\z|(?s:\A.*\z)"
    groups = ",".join(f"${at}" for at in range(1, count + 1))
    return f"split(regexp_replace({text}, {text_literal(pattern)}, {text_literal(groups)}), ',')"


def _java(regex: str) -> str:
    """A regular expression that means to Java what `regex` means to Python."""
    return re.sub(r"\\(.)", lambda match: _BLANK if match[1] == "s" else match[0], regex)


def _in_range(name: str, number: str) -> str:
    """A field that is null where it is out of range, which Spark would accept or fail on."""
    if name not in ("year", "iso_year", "second", "unix_second"):
        return number
    low, high = FIELDS[name].low, FIELDS[name].high
    return f"if({number} BETWEEN {low} AND {high}, {number}, NULL)"


def _day_sql(reading: _Reading) -> str:
    assert reading.pattern.day
    return reading.written(reading.pattern.day.sql)


def _moment_sql(reading: _Reading, bind: Bind) -> str:
    fields, rule = reading.fields, reading.pattern.day
    microsecond = f"{fields['nanosecond']} DIV 1000" if "nanosecond" in fields else None
    if reading.is_stamped:
        moment = f"timestampadd(SECOND, {fields['unix_second']}, {_EPOCH})"
        return f"timestampadd(MICROSECOND, {microsecond}, {moment})" if microsecond else moment
    assert rule
    hour, minute, second = (fields.get(name, "0") for name in ("hour", "minute", "second"))
    if microsecond:
        digits = f"lpad(CAST({microsecond} AS STRING), 6, '0')"
        second = f"CAST(concat({second}, '.', {digits}) AS DECIMAL(16, 6))"
    if set(rule.sources) == _DAY:
        day = ", ".join(fields[name] for name in ("year", "month", "day"))
    else:
        date = bind(_day_sql(reading))
        day = f"year({date}), month({date}), day({date})"
    return f"try_make_timestamp_ntz({day}, {hour}, {minute}, {second})"


def _agreeing(reading: _Reading, moment: str, result: str, determined: frozenset[str]) -> str:
    """The result where the moment has all the fields that were read."""
    conditions = [
        f"{reading.fields[name]} = {FIELDS[name].sql.format(v=moment)}"
        for name in _checked(reading)
    ]
    conditions += _ranges(reading, determined)
    if "iso_year" in reading.fields:  # the last week of the calendar is not complete
        conditions.append(f"year({moment}) <= {FIELDS['year'].high}")
    return f"if({' AND '.join(conditions)}, {result}, NULL)" if conditions else result


def _checked(reading: _Reading) -> list[str]:
    """The fields that may contradict the moment, which is made of others."""
    pattern = reading.pattern
    assert pattern.day or reading.is_stamped
    made_of = set() if reading.is_stamped or pattern.day is None else set(pattern.day.sources)
    settled = (_TIME | _DAY if made_of == _DAY else _TIME) if made_of else {"unix_second"}
    settled |= {s for d in pattern.derivations if d.target in settled for s in d.sources}
    return [name for name in pattern.checked if name not in settled]


def _ranges(reading: _Reading, determined: frozenset[str]) -> list[str]:
    """Conditions on the range of fields that the moment and comparisons with it leave open."""
    covered = {*determined, *_checked(reading), "nanosecond"}
    return [
        f"{reading.fields[reader.field]} BETWEEN {field.low} AND {field.high}"
        for reader in reading.pattern.readers
        if reader.field not in covered and (field := FIELDS[reader.field])
    ]


# ISO 8601


_PLAIN_ISO_DATE = _plain_date(compile_pattern("%Y-%m-%d"))
_PLAIN_ISO_DATETIME = _Plain(
    "(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.][0-9]{1,6})?",
    "TRY_CAST({x} AS TIMESTAMP_NTZ)",
)


def iso_date_sql(text: str, bind: Bind) -> str:
    """The date in a text, as `parse_iso_date` reads it."""
    return _read_sql(text, _PLAIN_ISO_DATE, lambda rest: _date_sql(rest, ISO_DATE, bind), bind)


def iso_datetime_sql(text: str, bind: Bind) -> str:
    """The date-time in a text, as `parse_iso_datetime` reads it."""
    return _read_sql(text, _PLAIN_ISO_DATETIME, lambda rest: _iso_datetime_sql(rest, bind), bind)


def _iso_datetime_sql(text: str, bind: Bind) -> str:
    groups = bind(_groups_sql(text, f"(?x:{ISO_DATETIME.pattern})", ISO_DATETIME.groups))
    year, month, day, hour, minute, second = (f"TRY_CAST({groups}[{at}] AS INT)" for at in range(6))
    fraction = f"left(rpad({groups}[6], 6, '0'), 6)"
    moment = bind(
        f"try_make_timestamp_ntz({_in_range('year', year)}, {month}, {day}, {hour}, {minute},"
        f" TRY_CAST(if({second} < 60, concat({second}, '.', {fraction}), NULL) AS DECIMAL(16, 6)))"
    )
    offset = f"TRY_CAST({groups}[8] AS INT) * 60 + TRY_CAST({groups}[9] AS INT)"
    shift = f"if({groups}[7] = '+', -1, 1) * ({offset})"
    shifted = bind(f"if({groups}[7] = '', {moment}, timestampadd(MINUTE, {shift}, {moment}))")
    return f"if(year({shifted}) BETWEEN 1 AND 9999, {shifted}, NULL)"
