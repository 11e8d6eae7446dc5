"""The specifiers of strftime patterns: how a field of a moment is written in text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from clinker.cxl.run.date_names import DateNames, Spelling, Words
from clinker.cxl.sql.text import text_literal
from clinker.frozen import frozen


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


def pad_number(width: int, pad: str) -> Callable[[int], str]:
    spec = {"0": f"0{width}", "_": f"{width}", "-": ""}[pad]
    return f"{{:{spec}d}}".format


def pad_number_sql(field: str, width: int, pad: str) -> str | None:
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
        pad_number(width, pad),
        pad_number_sql(field, width, pad),
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
    shown = ", ".join(as_template(text_literal(word)) for word in words.shown)
    return Specifier(
        field,
        f"({'|'.join(_spell(word, spelling) for word in read)})",
        lambda word: numbers[spelling.folded(word)],
        _number_of_word_sql(numbers, spelling),
        lambda number: words.shown[number - first],
        f"elt({{n}} + {1 - first}, {shown})",
    )


def _spell(word: str, spelling: Spelling) -> str:
    """A regular expression for all spellings of a word: each character has a set of its own."""
    sets = (spelling.variants(character) for character in word)
    return "".join(f"[{s}]" if len(s) > 1 else re.escape(s) for s in sets)


def _number_of_word_sql(numbers: Mapping[str, int], spelling: Spelling) -> str | None:
    if any("," in word for word in numbers):  # which separates the words in SQL
        return None
    changed = {c: base for c, base in spelling.base.items() if c != base}
    before, after = (
        as_template(text_literal("".join(side))) for side in (changed, changed.values())
    )
    words = as_template(text_literal(",".join(numbers)))
    position = f"find_in_set(translate({{text}}, {before}, {after}), {words})"
    return f"element_at(array({', '.join(map(str, numbers.values()))}), nullif({position}, 0))"


def as_template(sql: str) -> str:
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
ZONE_OFFSET = r"\s*+[+-][0-9]{2}[:\s]*+[0-5][0-9]"

NUMBERS: dict[str, Specifier] = {
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
def words_of(names: DateNames) -> Mapping[str, Specifier]:
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


SHORTHANDS = {
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

ZONED = frozenset({"Z", "+", ":z", "::z", ":::z", "#z"})
