"""Dates and times as text: printing and reading with chrono-style strftime patterns.

A pattern is compiled once: every specifier is looked up in one table that says which field of a
moment it stands for, how that field is printed and how it is read. The reading side becomes a
single regular expression. Months and days have the names they are compiled with, digits are ASCII
only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache

from clinker.cxl.run.date_names import ENGLISH, DateNames, Spelling, Words
from clinker.cxl.sql.text import text_literal
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
        (datetime.min - _EPOCH) // _SECOND,
        (datetime.max - _EPOCH) // _SECOND,
        lambda v: (v - _EPOCH) // _SECOND,
        "unix_date(CAST({v} AS DATE)) * 86400L + hour({v}) * 3600 + minute({v}) * 60 + second({v})",
        timed=True,
    ),
}


# --- Specifiers: how a field is written in text ---


@frozen
class Specifier:
    """How one specifier prints and reads its field, here and in SQL."""

    field: str
    regex: str
    read: Callable[[str], int]
    read_sql: str | None  # of the matched text `{text}`; None: not in SQL
    show: Callable[[int], str]
    show_sql: str | None  # of the field's value `{n}`; None: not in SQL
    width: int | None = None  # of a number; nothing else can be padded


def _padded(width: int, pad: str) -> Callable[[int], str]:
    spec = {"0": f"0{width}", "_": f"{width}", "-": ""}[pad]
    return f"{{:{spec}d}}".format


def _padded_sql(field: str, width: int, pad: str) -> str | None:
    if pad == "-":
        return "CAST({n} AS STRING)"
    # Longer numbers would be cut, and zeros would come before a sign.
    if field == "unix_second":
        return None
    return f"lpad(CAST({{n}} AS STRING), {width}, '{pad.replace('_', ' ')}')"


def _number(field: str, width: int, pad: str = "0", regex: str | None = None) -> Specifier:
    """A number of up to `width` digits; blanks before it are padding."""
    # Possessive, so that digits are taken greedily and never handed back to the next specifier.
    digits = regex or rf"[0-9]{{1,{width}}}+"
    return Specifier(
        field,
        rf"\s*+({digits})",
        int,
        f"TRY_CAST({{text}} AS {'BIGINT' if field == 'unix_second' else 'INT'})",
        _padded(width, pad),
        _padded_sql(field, width, pad),
        width,
    )


def _worded(field: str, words: Words, first: int) -> Specifier:
    """Words for the values of a field, which count from `first`; read in any case."""
    spelling = Spelling.of(word for word, _ in words.read)
    numbers: dict[str, int] = {}
    ambiguous: set[str] = set()
    for word, value in words.read:
        folded = spelling.folded(word)
        if numbers.setdefault(folded, value + first) != value + first:
            ambiguous.add(folded)
    for word in ambiguous:
        del numbers[word]
    read = sorted(numbers, key=len, reverse=True)
    shown = ", ".join(_template(text_literal(word)) for word in words.shown)
    return Specifier(
        field,
        f"({'|'.join(_spelled(word, spelling) for word in read)})",
        lambda word: numbers[spelling.folded(word)],
        _number_of_word_sql(numbers, spelling),
        lambda number: words.shown[number - first],
        f"elt({{n}} + {1 - first}, {shown})",
    )


def _spelled(word: str, spelling: Spelling) -> str:
    """A regular expression for all spellings of a word: each character has a set of its own."""
    sets = (spelling.variants(character) for character in word)
    return "".join(f"[{s}]" if len(s) > 1 else re.escape(s) for s in sets)


def _number_of_word_sql(numbers: Mapping[str, int], spelling: Spelling) -> str | None:
    if any("," in word for word in numbers):  # which separates the words in SQL
        return None
    changed = {c: base for c, base in spelling.base.items() if c != base}
    before, after = (_template(text_literal("".join(side))) for side in (changed, changed.values()))
    words = _template(text_literal(",".join(numbers)))
    position = f"find_in_set(translate({{text}}, {before}, {after}), {words})"
    return f"element_at(array({', '.join(map(str, numbers.values()))}), nullif({position}, 0))"


def _template(sql: str) -> str:
    """SQL as part of a template."""
    return sql.replace("{", "{{").replace("}", "}}")


def _fraction(regex: str, show: Callable[[int], str], show_sql: str) -> Specifier:
    """A decimal fraction of a second."""
    return Specifier(
        "nanosecond",
        regex,
        lambda digits: int(digits[:9].ljust(9, "0")),
        "CAST(rpad({text}, 9, '0') AS INT)",
        show,
        show_sql,
    )


def _digits(count: int, dot: str = "") -> Callable[[int], str]:
    """Print nanoseconds as exactly `count` decimals."""
    return lambda nanoseconds: f"{dot}{nanoseconds // 10 ** (9 - count):0{count}d}"


def _digits_sql(count: int, dot: str = "") -> str:
    digits = f"lpad(CAST({{n}} DIV {10 ** (9 - count)} AS STRING), {count}, '0')"
    return f"concat('{dot}', {digits})" if dot else digits


def _shortest_fraction(nanoseconds: int) -> str:
    if nanoseconds == 0:
        return ""
    return _digits(3 if nanoseconds % 1_000_000 == 0 else 6, ".")(nanoseconds)


_SHORTEST_FRACTION_SQL = (
    "CASE WHEN {n} = 0 THEN '' WHEN {n} % 1000000 = 0"
    f" THEN {_digits_sql(3, '.')} ELSE {_digits_sql(6, '.')} END"
)


_YEAR = r"\+[0-9]{1,9}+|[0-9]{1,4}+"
_OPTIONAL_FRACTION = r"(?:\.([0-9]++))?"
_ZONE_OFFSET = r"\s*+[+-][0-9]{2}[:\s]*+[0-5][0-9]"

_NUMBERS: dict[str, Specifier] = {
    "Y": _number("year", 4, regex=_YEAR),
    "C": _number("century", 2),
    "y": _number("year_of_century", 2),
    "q": _number("quarter", 1),
    "m": _number("month", 2),
    "d": _number("day", 2),
    "e": _number("day", 2, "_"),
    "j": _number("day_of_year", 3),
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
    "M": _number("minute", 2),
    "S": _number("second", 2),
    "f": _number("nanosecond", 9),
    ".f": _fraction(_OPTIONAL_FRACTION, _shortest_fraction, _SHORTEST_FRACTION_SQL),
    ".3f": _fraction(_OPTIONAL_FRACTION, _digits(3, "."), _digits_sql(3, ".")),
    ".6f": _fraction(_OPTIONAL_FRACTION, _digits(6, "."), _digits_sql(6, ".")),
    ".9f": _fraction(_OPTIONAL_FRACTION, _digits(9, "."), _digits_sql(9, ".")),
    "3f": _fraction("([0-9]{3})", _digits(3), _digits_sql(3)),
    "6f": _fraction("([0-9]{6})", _digits(6), _digits_sql(6)),
    "9f": _fraction("([0-9]{9})", _digits(9), _digits_sql(9)),
    "s": _number("unix_second", 9, "-", regex="[+-]?[0-9]{1,18}+"),
}


@lru_cache(maxsize=16)
def _words(names: DateNames) -> Mapping[str, Specifier]:
    short_month = _worded("month", names.short_months, 1)
    return {
        "b": short_month,
        "h": short_month,
        "B": _worded("month", names.months, 1),
        "a": _worded("weekday", names.short_weekdays, 1),
        "A": _worded("weekday", names.weekdays, 1),
        "P": _worded("half_day", names.half_days.lower(), 0),
        "p": _worded("half_day", names.half_days, 0),
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
    return Item(source, offset, regex, lambda _: text, _template(text_literal(text)))


def _specified(source: str, offset: int, pad: str, name: str, names: DateNames) -> Iterator[Item]:
    """The items of one specifier; a shorthand stands for several."""
    if not name:
        raise PatternError(f"'{source}' lacks a specifier; write '%%' for a percent sign", offset)
    specifier = _NUMBERS.get(name) or _words(names).get(name)
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
        yield Item(source, offset, _ZONE_OFFSET, write=None, write_sql=None)
    else:
        for item in _items(_SHORTHANDS[name], names):
            yield replace(item, source=source, offset=offset)


def _printed(specifier: Specifier, source: str, offset: int, pad: str) -> Item:
    field = FIELDS[specifier.field]
    get, show, show_sql = field.get, specifier.show, specifier.show_sql
    if pad:
        if specifier.width is None:
            raise PatternError(f"'{source}' cannot be padded: only numbers can", offset)
        show = _padded(specifier.width, pad)
        show_sql = _padded_sql(specifier.field, specifier.width, pad)
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
    for derivation in _DERIVATIONS:
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
    day = next((rule for rule in _DAYS if known.issuperset(rule.sources)), None)
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


@frozen
class Derivation:
    """A field that follows from others."""

    target: str
    sources: tuple[str, ...]
    derive: Callable[[_Fields], int]
    sql: str  # of fields such as `{year}`


def _full_year(year_of_century: int) -> int:
    return year_of_century + (2000 if year_of_century < _CENTURY_PIVOT else 1900)


def _full_year_sql(year_of_century: str) -> str:
    return f"{year_of_century} + if({year_of_century} < {_CENTURY_PIVOT}, 2000, 1900)"


_DERIVATIONS = (
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
    day: Callable[[_Fields], date]
    sql: str


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


_NEW_YEAR = "make_date({year}, 1, 1)"
_JANUARY_4 = "make_date({iso_year}, 1, 4)"  # always in the first week

# The ways to determine a day, the preferred one first.
_DAYS: tuple[DayRule, ...] = (
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


def _read_fields(text: str, pattern: Pattern) -> _Fields | None:
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


def _moment(fields: _Fields, rule: DayRule | None) -> datetime:
    microsecond = fields.get("nanosecond", 0) // 1000
    if rule is None or "unix_second" in fields:
        return _EPOCH + timedelta(seconds=fields["unix_second"], microseconds=microsecond)
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
