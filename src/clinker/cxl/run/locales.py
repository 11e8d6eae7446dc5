"""The words of dates in other languages, as the Unicode CLDR lists them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from clinker.cxl.run.date_names import ENGLISH, DateNames, Words
from clinker.diagnostics.suggest import closest

if TYPE_CHECKING:
    from babel import Locale

# Names by context (in a date, or alone), width and value.
_Names: TypeAlias = Mapping[str, Mapping[str, Mapping[Any, str]]]

_BUILT_IN = ("en", "en_US")
_MONTHS = range(1, 13)
_WEEKDAYS = range(7)
_HALF_DAYS = ("am", "pm")
_WIDTHS = ("wide", "abbreviated")
# Languages in which the capital of `i` is `İ`.
_DOTTED_CAPITALS = ("tr", "az")


class UnknownLocale(ValueError):
    """There is no such locale; `meant` may be the one that was."""

    def __init__(self, name: str, meant: str | None) -> None:
        super().__init__(f"unknown locale '{name}'")
        self.meant = meant


@lru_cache(maxsize=16)
def date_names(name: str) -> DateNames:
    """The words of dates in a locale such as `de` or `pt_BR`; UnknownLocale if there is none."""
    if name.replace("-", "_") in _BUILT_IN:
        return ENGLISH
    locale = _locale(name)
    months, days, halves = locale.months, locale.days, locale.day_periods
    language = locale.language
    return DateNames(
        locale=str(locale),
        months=_words(language, months, _MONTHS, _WIDTHS),
        short_months=_words(language, months, _MONTHS, _WIDTHS[1:]),
        weekdays=_words(language, days, _WEEKDAYS, _WIDTHS),
        short_weekdays=_words(language, days, _WEEKDAYS, _WIDTHS[1:]),
        half_days=_half_days(language, halves),
    )


def _locale(name: str) -> Locale:
    # Only pipelines in other languages pay for it.
    from babel import Locale, UnknownLocaleError
    from babel.localedata import locale_identifiers

    known = locale_identifiers()
    written = name.replace("-", "_")
    try:
        locale = Locale.parse(written)
    except (ValueError, UnknownLocaleError):
        locale = None
    if locale is None or str(locale) not in known:
        language = written.split("_")[0].lower()
        meant = closest(written, known) or (language if language in known else None)
        raise UnknownLocale(name, meant)
    return locale


def _words(language: str, names: _Names, values: Iterable[Any], widths: Sequence[str]) -> Words:
    """The names of the first of these widths; those of all of them are read."""
    values = tuple(values)
    shown = tuple(names["format"][widths[0]][value] for value in values)
    read = [
        (spelling, at)
        for width in widths
        for context in ("format", "stand-alone")
        for at, value in enumerate(values)
        for spelling in _spellings(language, names[context][width].get(value))
    ]
    return Words(shown, tuple(dict.fromkeys(read)))


def _half_days(language: str, names: _Names) -> Words:
    """In every language files say AM and PM, too."""
    own = _words(language, names, _HALF_DAYS, _WIDTHS[1:])
    wide = names["format"]["wide"]
    others = [
        (spelling, at)
        for at, half in enumerate(_HALF_DAYS)
        for spelling in _spellings(language, wide.get(half))
    ]
    read = dict.fromkeys([*own.read, *others, *ENGLISH.half_days.read])
    return Words(own.shown, tuple(read))


def _spellings(language: str, word: str | None) -> Iterator[str]:
    """A word with and without a full stop at its end, which abbreviations may have."""
    if word is None:
        return
    stem = word.removesuffix(".")
    yield from (stem, f"{stem}.")
    if language in _DOTTED_CAPITALS:
        yield from (stem.replace("i", "İ"), f"{stem.replace('i', 'İ')}.")
