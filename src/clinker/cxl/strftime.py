"""Dates and times as text: printing and reading with chrono-style strftime patterns.

A pattern is compiled once: every specifier is looked up in one table that says which field of a
moment it stands for, how that field is printed and how it is read. The reading side becomes a
single regular expression. Names are English whatever the locale, digits are ASCII only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from clinker.frozen import frozen

_Fields = Mapping[str, int]

_EPOCH = datetime(1970, 1, 1)
_SECOND = timedelta(seconds=1)
# A two-digit year below this belongs to the 21st century, any other to the 20th.
_CENTURY_PIVOT = 70


class PatternError(ValueError):
    """A pattern cannot be used: which specifier is to blame, why, and where it stands."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset

    def __reduce__(self) -> tuple[type[PatternError], tuple[str, int]]:
        return PatternError, (str(self), self.offset)


# --- Fields: the facts about a moment that specifiers print and read ---


@frozen
class _Field:
    """One fact about a moment and the values it may take."""

    low: int
    high: int
    get: Callable[[datetime], int]
    timed: bool = False


def _day_of_year(value: datetime) -> int:
    return value.toordinal() - date(value.year, 1, 1).toordinal() + 1


_FIELDS: dict[str, _Field] = {
    "year": _Field(1, 9999, lambda v: v.year),
    "century": _Field(0, 99, lambda v: v.year // 100),
    "year_of_century": _Field(0, 99, lambda v: v.year % 100),
    "quarter": _Field(1, 4, lambda v: (v.month + 2) // 3),
    "month": _Field(1, 12, lambda v: v.month),
    "day": _Field(1, 31, lambda v: v.day),
    "day_of_year": _Field(1, 366, _day_of_year),
    "weekday": _Field(1, 7, lambda v: v.isoweekday()),
    "weekday_from_sunday": _Field(0, 6, lambda v: v.isoweekday() % 7),
    "week_from_sunday": _Field(0, 53, lambda v: (_day_of_year(v) + 6 - v.isoweekday() % 7) // 7),
    "week_from_monday": _Field(0, 53, lambda v: (_day_of_year(v) + 6 - v.weekday()) // 7),
    "iso_year": _Field(1, 9999, lambda v: v.isocalendar().year),
    "iso_year_of_century": _Field(0, 99, lambda v: v.isocalendar().year % 100),
    "iso_week": _Field(1, 53, lambda v: v.isocalendar().week),
    "hour": _Field(0, 23, lambda v: v.hour, timed=True),
    "hour12": _Field(1, 12, lambda v: v.hour % 12 or 12, timed=True),
    "half_day": _Field(0, 1, lambda v: v.hour // 12, timed=True),
    "minute": _Field(0, 59, lambda v: v.minute, timed=True),
    "second": _Field(0, 59, lambda v: v.second, timed=True),
    "nanosecond": _Field(0, 999_999_999, lambda v: v.microsecond * 1000, timed=True),
    "unix_second": _Field(
        (datetime.min - _EPOCH) // _SECOND,
        (datetime.max - _EPOCH) // _SECOND,
        lambda v: (v - _EPOCH) // _SECOND,
        timed=True,
    ),
}


# --- Specifiers: how a field is written in text ---


@frozen
class _Specifier:
    """How one specifier prints and reads its field."""

    field: str
    regex: str
    read: Callable[[str], int]
    show: Callable[[int], str]
    width: int | None = None  # of a number; nothing else can be padded


def _padded(width: int, pad: str) -> Callable[[int], str]:
    spec = {"0": f"0{width}", "_": f"{width}", "-": ""}[pad]
    return f"{{:{spec}d}}".format


def _number(field: str, width: int, pad: str = "0", regex: str | None = None) -> _Specifier:
    """A number of up to `width` digits; blanks before it are padding."""
    # Possessive, so that digits are taken greedily and never handed back to the next specifier.
    digits = regex or rf"[0-9]{{1,{width}}}+"
    return _Specifier(field, rf"\s*+({digits})", int, _padded(width, pad), width)


def _names(
    field: str, shown: tuple[str, ...], first: int, also_read: tuple[str, ...] = ()
) -> _Specifier:
    """Words for the values of a field, which count from `first`; read in any case."""
    numbers = {
        word.lower(): number
        for words in (also_read, shown)
        for number, word in enumerate(words, first)
    }
    words = "|".join(sorted(numbers, key=len, reverse=True))
    return _Specifier(
        field,
        f"((?ai:{words}))",
        lambda word: numbers[word.lower()],
        lambda number: shown[number - first],
    )


def _fraction(regex: str, show: Callable[[int], str]) -> _Specifier:
    """A decimal fraction of a second."""
    return _Specifier("nanosecond", regex, lambda digits: int(digits[:9].ljust(9, "0")), show)


def _digits(count: int, dot: str = "") -> Callable[[int], str]:
    """Print nanoseconds as exactly `count` decimals."""
    return lambda nanoseconds: f"{dot}{nanoseconds // 10 ** (9 - count):0{count}d}"


def _shortest_fraction(nanoseconds: int) -> str:
    if nanoseconds == 0:
        return ""
    return _digits(3 if nanoseconds % 1_000_000 == 0 else 6, ".")(nanoseconds)


_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHORT_MONTHS = tuple(name[:3] for name in _MONTHS)
_SHORT_WEEKDAYS = tuple(name[:3] for name in _WEEKDAYS)

_YEAR = r"\+[0-9]{1,9}+|[0-9]{1,4}+"
_OPTIONAL_FRACTION = r"(?:\.([0-9]++))?"
_ZONE_OFFSET = r"\s*+[+-][0-9]{2}[:\s]*+[0-5][0-9]"

_SPECIFIERS: dict[str, _Specifier] = {
    "Y": _number("year", 4, regex=_YEAR),
    "C": _number("century", 2),
    "y": _number("year_of_century", 2),
    "q": _number("quarter", 1),
    "m": _number("month", 2),
    "b": _names("month", _SHORT_MONTHS, 1),
    "h": _names("month", _SHORT_MONTHS, 1),
    "B": _names("month", _MONTHS, 1, also_read=_SHORT_MONTHS),
    "d": _number("day", 2),
    "e": _number("day", 2, "_"),
    "j": _number("day_of_year", 3),
    "a": _names("weekday", _SHORT_WEEKDAYS, 1),
    "A": _names("weekday", _WEEKDAYS, 1, also_read=_SHORT_WEEKDAYS),
    "u": _number("weekday", 1),
    "w": _number("weekday_from_sunday", 1),
    "U": _number("week_from_sunday", 2),
    "W": _number("week_from_monday", 2),
    "G": _number("iso_year", 4, regex=_YEAR),
    "g": _number("iso_year_of_century", 2),
    "V": _number("iso_week", 2),
    "H": _number("hour", 2),
    "k": _number("hour", 2, "_"),
    "I": _number("hour12", 2),
    "l": _number("hour12", 2, "_"),
    "P": _names("half_day", ("am", "pm"), 0),
    "p": _names("half_day", ("AM", "PM"), 0),
    "M": _number("minute", 2),
    "S": _number("second", 2),
    "f": _number("nanosecond", 9),
    ".f": _fraction(_OPTIONAL_FRACTION, _shortest_fraction),
    ".3f": _fraction(_OPTIONAL_FRACTION, _digits(3, ".")),
    ".6f": _fraction(_OPTIONAL_FRACTION, _digits(6, ".")),
    ".9f": _fraction(_OPTIONAL_FRACTION, _digits(9, ".")),
    "3f": _fraction("([0-9]{3})", _digits(3)),
    "6f": _fraction("([0-9]{6})", _digits(6)),
    "9f": _fraction("([0-9]{9})", _digits(9)),
    "s": _number("unix_second", 9, "-", regex="[+-]?[0-9]{1,18}+"),
}

_SHORTHANDS = {
    "D": "%m/%d/%y",
    "x": "%m/%d/%y",
    "F": "%Y-%m-%d",
    "v": "%e-%b-%Y",
    "R": "%H:%M",
    "T": "%H:%M:%S",
    "X": "%H:%M:%S",
    "r": "%I:%M:%S %p",
    "c": "%a %b %e %H:%M:%S %Y",
    "t": "\t",
    "n": "\n",
}

_ZONED = frozenset({"Z", "+", ":z", "::z", ":::z", "#z"})


# --- Compilation ---


@frozen
class Item:
    """A stretch of a pattern: literal text, blanks or one specifier."""

    source: str
    offset: int
    regex: str
    write: Callable[[datetime], str] | None  # None: can be read, but not printed
    specifier: _Specifier | None = None

    @property
    def timed(self) -> bool:
        """Whether a time of day is needed to print this."""
        return self.specifier is not None and _FIELDS[self.specifier.field].timed


@frozen
class Pattern:
    """A compiled pattern: how to print with it, how to read with it and what reading gives."""

    text: str
    items: tuple[Item, ...]
    needs_time: bool  # printing takes a time of day
    gives_date: bool  # reading determines a whole date
    gives_datetime: bool  # reading determines a date, an hour and a minute
    _writers: tuple[Callable[[datetime], str], ...] | None  # None: cannot be printed
    _regex: re.Pattern[str]
    _readers: tuple[_Specifier, ...]  # one for each group of the expression
    _derivations: tuple[_Derivation, ...]
    _day: Callable[[_Fields], date] | None
    _checked: tuple[str, ...]  # fields the resulting moment has to agree with

    def __reduce__(self) -> tuple[Callable[[str], Pattern], tuple[str]]:
        # Patterns travel to other processes, the functions in them cannot.
        return compile_pattern, (self.text,)


_TOKEN = re.compile(
    r"(?P<blanks>\s+) | (?P<literal>[^%\s]+) | %(?P<pad>[-_0]?)(?P<name>[.:\#]*[0-9]?(?s:.)?)",
    re.VERBOSE,
)


def _items(text: str) -> Iterator[Item]:
    for token in _TOKEN.finditer(text):
        source, offset = token[0], token.start()
        if token["literal"]:
            yield _text(source, offset, source, re.escape(source))
        elif token["blanks"]:
            yield _text(source, offset, source, r"\s*+")
        else:
            yield from _specified(source, offset, token["pad"], token["name"])


def _text(source: str, offset: int, text: str, regex: str) -> Item:
    return Item(source, offset, regex, lambda _: text)


def _specified(source: str, offset: int, pad: str, name: str) -> Iterator[Item]:
    """The items of one specifier; a shorthand stands for several."""
    if not name:
        raise PatternError(f"'{source}' lacks a specifier; write '%%' for a percent sign", offset)
    specifier = _SPECIFIERS.get(name)
    if specifier is not None:
        yield _printed(specifier, source, offset, pad)
        return
    if name in _ZONED:
        raise PatternError(f"'{source}' is not supported: values have no time zone", offset)
    if name not in _SHORTHANDS and name not in ("%", "z"):
        raise PatternError(f"'{source}' is not a known specifier", offset)
    if pad:
        raise PatternError(f"'{source}' cannot be padded: only numbers can", offset)
    if name == "%":
        yield _text(source, offset, "%", "%")
    elif name == "z":
        yield Item(source, offset, _ZONE_OFFSET, write=None)
    else:
        for item in _items(_SHORTHANDS[name]):
            yield replace(item, source=source, offset=offset)


def _printed(specifier: _Specifier, source: str, offset: int, pad: str) -> Item:
    get, show = _FIELDS[specifier.field].get, specifier.show
    if pad:
        if specifier.width is None:
            raise PatternError(f"'{source}' cannot be padded: only numbers can", offset)
        show = _padded(specifier.width, pad)
    return Item(source, offset, specifier.regex, lambda value: show(get(value)), specifier)


def _applicable_derivations(read: set[str]) -> Iterator[_Derivation]:
    known = set(read)
    for derivation in _DERIVATIONS:
        if derivation.target not in known and known.issuperset(derivation.sources):
            known.add(derivation.target)
            yield derivation


@lru_cache(maxsize=512)
def compile_pattern(text: str) -> Pattern:
    """Compile a pattern; PatternError if it has an unknown or unsupported specifier."""
    items = tuple(_items(text))
    writers = tuple(item.write for item in items if item.write is not None)
    readers = tuple(item.specifier for item in items if item.specifier is not None)
    read = {reader.field for reader in readers}
    derivations = tuple(_applicable_derivations(read))
    known = read | {derivation.target for derivation in derivations}
    day = next((day for sources, day in _DAYS if known.issuperset(sources)), None)
    stamped = "unix_second" in known
    # Nanoseconds lose digits when they become microseconds. A 12-hour clock without am/pm, or the
    # reverse, says nothing that a moment could contradict, unless the moment is known anyway.
    unchecked = {"nanosecond"}
    if "hour" not in known and not stamped:
        unchecked |= {"hour12", "half_day"}
    return Pattern(
        text=text,
        items=items,
        needs_time=any(item.timed for item in items),
        gives_date=day is not None,
        gives_datetime=stamped or (day is not None and known.issuperset({"hour", "minute"})),
        _writers=writers if len(writers) == len(items) else None,
        _regex=re.compile("".join(item.regex for item in items)),
        _readers=readers,
        _derivations=derivations,
        _day=day,
        _checked=tuple(sorted(read - unchecked)),
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


@frozen
class _Derivation:
    """A field that follows from others."""

    target: str
    sources: tuple[str, ...]
    derive: Callable[[_Fields], int]


def _full_year(year_of_century: int) -> int:
    return year_of_century + (2000 if year_of_century < _CENTURY_PIVOT else 1900)


_DERIVATIONS = (
    _Derivation(
        "year", ("century", "year_of_century"), lambda f: f["century"] * 100 + f["year_of_century"]
    ),
    _Derivation("year", ("year_of_century",), lambda f: _full_year(f["year_of_century"])),
    _Derivation(
        "iso_year", ("iso_year_of_century",), lambda f: _full_year(f["iso_year_of_century"])
    ),
    _Derivation("weekday", ("weekday_from_sunday",), lambda f: f["weekday_from_sunday"] or 7),
    _Derivation("hour", ("hour12", "half_day"), lambda f: f["hour12"] % 12 + 12 * f["half_day"]),
)


def _day_in_week(year: int, week: int, days_into_week: int, new_year_into_week: int) -> date:
    """The day of a week counted from the first one that starts in the year."""
    days = -new_year_into_week % 7 + 7 * (week - 1) + days_into_week
    return date(year, 1, 1) + timedelta(days)


def _day_in_week_from_sunday(f: _Fields) -> date:
    new_year = date(f["year"], 1, 1).isoweekday() % 7
    return _day_in_week(f["year"], f["week_from_sunday"], f["weekday"] % 7, new_year)


def _day_in_week_from_monday(f: _Fields) -> date:
    new_year = date(f["year"], 1, 1).weekday()
    return _day_in_week(f["year"], f["week_from_monday"], f["weekday"] - 1, new_year)


# The ways to determine a day, the preferred one first.
_DAYS: tuple[tuple[tuple[str, ...], Callable[[_Fields], date]], ...] = (
    (("year", "month", "day"), lambda f: date(f["year"], f["month"], f["day"])),
    (("year", "day_of_year"), lambda f: date(f["year"], 1, 1) + timedelta(f["day_of_year"] - 1)),
    (("year", "week_from_sunday", "weekday"), _day_in_week_from_sunday),
    (("year", "week_from_monday", "weekday"), _day_in_week_from_monday),
    (
        ("iso_year", "iso_week", "weekday"),
        lambda f: date.fromisocalendar(f["iso_year"], f["iso_week"], f["weekday"]),
    ),
)


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
        moment = _moment(fields, pattern._day)
    except (ValueError, OverflowError):  # no such day
        return None
    agrees = all(_FIELDS[name].get(moment) == fields[name] for name in pattern._checked)
    return moment if agrees else None


def _read_fields(text: str, pattern: Pattern) -> _Fields | None:
    match = pattern._regex.fullmatch(text)
    if match is None:
        return None
    fields: dict[str, int] = {}
    for reader, word in zip(pattern._readers, match.groups(), strict=True):
        if word is None:  # an absent fraction
            continue
        number = reader.read(word)
        field = _FIELDS[reader.field]
        out_of_range = not field.low <= number <= field.high
        if out_of_range or fields.setdefault(reader.field, number) != number:
            return None
    for derivation in pattern._derivations:
        fields[derivation.target] = derivation.derive(fields)
    return fields


def _moment(fields: _Fields, day: Callable[[_Fields], date] | None) -> datetime:
    microsecond = fields.get("nanosecond", 0) // 1000
    if day is None or "unix_second" in fields:
        return _EPOCH + timedelta(seconds=fields["unix_second"], microseconds=microsecond)
    hour, minute, second = (fields.get(name, 0) for name in ("hour", "minute", "second"))
    return datetime.combine(day(fields), time(hour, minute, second, microsecond))


# --- ISO 8601, the default of conversions ---

_ISO_DATE = compile_pattern(" %Y - %m - %d ")
_ISO_DATETIME = re.compile(
    r"""\s*+ (\+?[0-9]{1,4}) \s*+ - \s*+ ([0-9]{1,2}) \s*+ - \s*+ ([0-9]{1,2})
    (?: \s*+T | \s ) \s*+ ([0-9]{1,2}) \s*+ : \s*+ ([0-9]{1,2}) \s*+ : \s*+ ([0-9]{1,2})
    (?: \. ([0-9]++) )?
    \s*+ (?: Z | ([+-]) ([01][0-9]|2[0-3]) :? ([0-5][0-9]) )? \s*+""",
    re.VERBOSE,
)


def parse_iso_date(text: str) -> date | None:
    """Read year-month-day; zeros may be left out and blanks stand anywhere but inside numbers."""
    return parse_date(text, _ISO_DATE)


def parse_iso_datetime(text: str) -> datetime | None:
    """Read a date, `T` or a blank, and hours:minutes:seconds with an optional fraction.

    A zone offset is applied, so that the result is in UTC.
    """
    match = _ISO_DATETIME.fullmatch(text)
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
