"""Dates and times as text: printing and reading with chrono-style strftime patterns.

A pattern is compiled once: every specifier is looked up in one table (`date_specifiers`) that says
which field of a moment (`date_fields`) it stands for, how that field is printed and how it is read.
The reading side becomes a single regular expression. Months and days have the names they are
compiled with, digits are ASCII only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from clinker.cxl.run.date_fields import (
    DAY_RULES,
    DERIVATIONS,
    EPOCH,
    FIELDS,
    DayRule,
    Derivation,
    FieldValues,
)
from clinker.cxl.run.date_names import ENGLISH, DateNames
from clinker.cxl.run.date_specifiers import (
    NUMBERS,
    SHORTHANDS,
    ZONE_OFFSET,
    ZONED,
    Specifier,
    as_template,
    pad_number,
    pad_number_sql,
    words_of,
)
from clinker.cxl.sql.text import text_literal
from clinker.frozen import frozen


class PatternError(ValueError):
    """A pattern cannot be used: which specifier is to blame, why, and where it stands."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset

    def __reduce__(self) -> tuple[type[PatternError], tuple[str, int]]:
        return PatternError, (str(self), self.offset)


# --- Compilation ---


@frozen
class Item:
    """A stretch of a pattern: literal text, blanks or one specifier."""

    source: str
    offset: int
    regex: str
    write: Callable[[datetime], str] | None  # None: can be read, but not printed
    write_sql: str | None  # of a value `{v}`; None: not in SQL
    specifier: Specifier | None = None

    @property
    def timed(self) -> bool:
        """Whether a time of day is needed to print this."""
        return self.specifier is not None and FIELDS[self.specifier.field].timed


@frozen
class Pattern:
    """A compiled pattern: how to print with it, how to read with it and what reading gives."""

    text: str
    names: DateNames
    items: tuple[Item, ...]
    needs_time: bool  # printing takes a time of day
    gives_date: bool  # reading determines a whole date
    gives_datetime: bool  # reading determines a date, an hour and a minute
    _writers: tuple[Callable[[datetime], str], ...] | None  # None: cannot be printed
    _regex: re.Pattern[str]
    readers: tuple[Specifier, ...]  # one for each group of the expression
    derivations: tuple[Derivation, ...]
    day: DayRule | None
    checked: tuple[str, ...]  # fields the resulting moment has to agree with

    def __reduce__(self) -> tuple[Callable[..., Pattern], tuple[str, DateNames]]:
        # Patterns travel to other processes, the functions in them cannot.
        return compile_pattern, (self.text, self.names)


_TOKEN = re.compile(
    r"(?P<blanks>\s+) | (?P<literal>[^%\s]+) | %(?P<pad>[-_0]?)(?P<name>[.:\#]*[0-9]?(?s:.)?)",
    re.VERBOSE,
)


def _items(text: str, names: DateNames) -> Iterator[Item]:
    for token in _TOKEN.finditer(text):
        source, offset = token[0], token.start()
        if token["literal"]:
            yield _text(source, offset, source, re.escape(source))
        elif token["blanks"]:
            yield _text(source, offset, source, r"\s*+")
        else:
            yield from _specified(source, offset, token["pad"], token["name"], names)


def _text(source: str, offset: int, text: str, regex: str) -> Item:
    return Item(source, offset, regex, lambda _: text, as_template(text_literal(text)))


def _specified(source: str, offset: int, pad: str, name: str, names: DateNames) -> Iterator[Item]:
    """The items of one specifier; a shorthand stands for several."""
    if not name:
        raise PatternError(f"'{source}' lacks a specifier; write '%%' for a percent sign", offset)
    specifier = NUMBERS.get(name) or words_of(names).get(name)
    if specifier is not None:
        yield _printed(specifier, source, offset, pad)
        return
    if name in ZONED:
        raise PatternError(f"'{source}' is not supported: values have no time zone", offset)
    if name not in SHORTHANDS and name not in ("%", "z"):
        raise PatternError(f"'{source}' is not a known specifier", offset)
    if pad:
        raise PatternError(f"'{source}' cannot be padded: only numbers can", offset)
    if name == "%":
        yield _text(source, offset, "%", "%")
    elif name == "z":
        yield Item(source, offset, ZONE_OFFSET, write=None, write_sql=None)
    else:
        for item in _items(SHORTHANDS[name], names):
            yield replace(item, source=source, offset=offset)


def _printed(specifier: Specifier, source: str, offset: int, pad: str) -> Item:
    field = FIELDS[specifier.field]
    get, show, show_sql = field.get, specifier.show, specifier.show_sql
    if pad:
        if specifier.width is None:
            raise PatternError(f"'{source}' cannot be padded: only numbers can", offset)
        show = pad_number(specifier.width, pad)
        show_sql = pad_number_sql(specifier.field, specifier.width, pad)
    return Item(
        source,
        offset,
        specifier.regex,
        lambda value: show(get(value)),
        show_sql.replace("{n}", f"({field.sql})") if show_sql else None,
        specifier,
    )


def _applicable_derivations(read: set[str]) -> Iterator[Derivation]:
    known = set(read)
    for derivation in DERIVATIONS:
        if derivation.target not in known and known.issuperset(derivation.sources):
            known.add(derivation.target)
            yield derivation


def compile_pattern(text: str, names: DateNames = ENGLISH) -> Pattern:
    """Compile a pattern; PatternError if it has an unknown or unsupported specifier."""
    return _compiled(text, names)


@lru_cache(maxsize=512)
def _compiled(text: str, names: DateNames) -> Pattern:
    items = tuple(_items(text, names))
    writers = tuple(item.write for item in items if item.write is not None)
    readers = tuple(item.specifier for item in items if item.specifier is not None)
    read = {reader.field for reader in readers}
    derivations = tuple(_applicable_derivations(read))
    known = read | {derivation.target for derivation in derivations}
    day = next((rule for rule in DAY_RULES if known.issuperset(rule.sources)), None)
    stamped = "unix_second" in known
    # Nanoseconds lose digits when they become microseconds. A 12-hour clock without am/pm, or the
    # reverse, says nothing that a moment could contradict, unless the moment is known anyway.
    unchecked = {"nanosecond"}
    if "hour" not in known and not stamped:
        unchecked |= {"hour12", "half_day"}
    return Pattern(
        text=text,
        names=names,
        items=items,
        needs_time=any(item.timed for item in items),
        gives_date=day is not None,
        gives_datetime=stamped or (day is not None and known.issuperset({"hour", "minute"})),
        _writers=writers if len(writers) == len(items) else None,
        _regex=re.compile("".join(item.regex for item in items)),
        readers=readers,
        derivations=derivations,
        day=day,
        checked=tuple(sorted(read - unchecked)),
    )


# --- Printing ---


def format_value(value: date | datetime, pattern: Pattern) -> str:
    """Print a value; PatternError if the pattern asks for something the value does not have."""
    has_time = isinstance(value, datetime)
    if pattern._writers is None or (pattern.needs_time and not has_time):
        raise _unprintable(pattern, has_time)
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return "".join([write(moment) for write in pattern._writers])


def check_format(text: str, has_time: bool | None) -> None:
    """PatternError if no value can be printed with this pattern.

    `has_time` tells whether the values have a time of day, None that this is not known.
    """
    pattern = compile_pattern(text)
    if pattern._writers is None or (pattern.needs_time and has_time is False):
        raise _unprintable(pattern, has_time)


def _unprintable(pattern: Pattern, has_time: bool | None) -> PatternError:
    culprit = next(i for i in pattern.items if i.write is None or (i.timed and has_time is False))
    if culprit.write is None:
        reason = "can only be read, not printed: values have no time zone"
    else:
        reason = "needs a time of day, but the value is a Date"
    return PatternError(f"'{culprit.source}' {reason}", culprit.offset)


# --- Reading ---


def parse_date(text: str, pattern: Pattern) -> date | None:
    """Read a date, dropping any time of day; None if the text does not match."""
    moment = _parse(text, pattern) if pattern.gives_date else None
    return None if moment is None else moment.date()


def parse_datetime(text: str, pattern: Pattern) -> datetime | None:
    """Read a date and time; None if the text does not match."""
    return _parse(text, pattern) if pattern.gives_datetime else None


def _parse(text: str, pattern: Pattern) -> datetime | None:
    fields = _read_fields(text, pattern)
    if fields is None:
        return None
    try:
        moment = _moment(fields, pattern.day)
    except (ValueError, OverflowError):  # no such day
        return None
    agrees = all(FIELDS[name].get(moment) == fields[name] for name in pattern.checked)
    return moment if agrees else None


def _read_fields(text: str, pattern: Pattern) -> FieldValues | None:
    match = pattern._regex.fullmatch(text)
    if match is None:
        return None
    fields: dict[str, int] = {}
    for reader, word in zip(pattern.readers, match.groups(), strict=True):
        if word is None:  # an absent fraction
            continue
        number = reader.read(word)
        field = FIELDS[reader.field]
        out_of_range = not field.low <= number <= field.high
        if out_of_range or fields.setdefault(reader.field, number) != number:
            return None
    for derivation in pattern.derivations:
        fields[derivation.target] = derivation.derive(fields)
    return fields


def _moment(fields: FieldValues, rule: DayRule | None) -> datetime:
    microsecond = fields.get("nanosecond", 0) // 1000
    if rule is None or "unix_second" in fields:
        return EPOCH + timedelta(seconds=fields["unix_second"], microseconds=microsecond)
    hour, minute, second = (fields.get(name, 0) for name in ("hour", "minute", "second"))
    return datetime.combine(rule.day(fields), time(hour, minute, second, microsecond))


# --- ISO 8601, the default of conversions ---

ISO_DATE = compile_pattern(" %Y - %m - %d ")
ISO_DATETIME = re.compile(
    r"""\s*+ (\+?[0-9]{1,4}) \s*+ - \s*+ ([0-9]{1,2}) \s*+ - \s*+ ([0-9]{1,2})
    (?: \s*+T | \s ) \s*+ ([0-9]{1,2}) \s*+ : \s*+ ([0-9]{1,2}) \s*+ : \s*+ ([0-9]{1,2})
    (?: \. ([0-9]++) )?
    \s*+ (?: Z | ([+-]) ([01][0-9]|2[0-3]) :? ([0-5][0-9]) )? \s*+""",
    re.VERBOSE,
)


def parse_iso_date(text: str) -> date | None:
    """Read year-month-day; zeros may be left out and blanks stand anywhere but inside numbers."""
    return parse_date(text, ISO_DATE)


def parse_iso_datetime(text: str) -> datetime | None:
    """Read a date, `T` or a blank, and hours:minutes:seconds with an optional fraction.

    A zone offset is applied, so that the result is in UTC.
    """
    match = ISO_DATETIME.fullmatch(text)
    if match is None:
        return None
    *numbers, fraction, sign, hours, minutes = match.groups()
    year, month, day, hour, minute, second = map(int, numbers)
    microsecond = int((fraction or "")[:6].ljust(6, "0"))
    try:
        moment = datetime(year, month, day, hour, minute, second, microsecond)
        if sign is None:
            return moment
        offset = timedelta(hours=int(hours), minutes=int(minutes))
        return moment - offset if sign == "+" else moment + offset
    except (ValueError, OverflowError):  # no such moment, or none between the years 1 and 9999
        return None
