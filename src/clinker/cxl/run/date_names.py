"""The words in which dates are written: months, days of the week and the halves of a day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from clinker.frozen import frozen

# Spellings of one character: blanks that do not break a line, and apostrophes.
_ALIKE = (" \u00a0\u202f", "'\u2019\u02bc")


@frozen
class Words:
    """The names of the values of a field, which are counted from 0 here."""

    shown: tuple[str, ...]
    """What is printed for each value."""
    read: tuple[tuple[str, int], ...]
    """All words that are read, each with the value it stands for; their case is ignored."""

    def lower(self) -> Words:
        return Words(tuple(map(str.lower, self.shown)), self.read)


@frozen
class DateNames:
    """The words of one language; the locale stands for them in comparisons."""

    locale: str
    months: Words = field(compare=False)
    short_months: Words = field(compare=False)
    weekdays: Words = field(compare=False)
    """From Monday on."""
    short_weekdays: Words = field(compare=False)
    half_days: Words = field(compare=False)

    def __hash__(self) -> int:  # needed for every value that is printed or read
        return hash(self.locale)


@frozen
class Spelling:
    """How words may be spelled: each character in any case."""

    base: Mapping[str, str]
    """What every character that may occur counts as."""

    @classmethod
    def of(cls, words: Iterable[str]) -> Spelling:
        """Case is a matter of single characters here, so that all engines can agree on it."""
        base = {
            variant: _base(character)
            for character in sorted(set().union(*words))
            for variant in _variants(character)
        }
        return cls(base)

    def folded(self, word: str) -> str:
        """The same for all spellings of a word."""
        return "".join(self.base[character] for character in word)

    def variants(self, character: str) -> str:
        """All characters that count as the same one."""
        alike = self.base[character]
        return "".join(sorted(c for c, base in self.base.items() if base == alike))


def _base(character: str) -> str:
    for group in _ALIKE:
        if character in group:
            return group[0]
    folded = character.upper().lower()
    return folded if len(folded) == 1 else character


def _variants(character: str) -> set[str]:
    for group in _ALIKE:
        if character in group:
            return set(group)
    base = _base(character)
    return {c for c in (character, base, base.upper()) if len(c) == 1}


def _words(shown: tuple[str, ...], also_read: tuple[str, ...] = ()) -> Words:
    read = [(word, value) for words in (shown, also_read) for value, word in enumerate(words)]
    return Words(shown, tuple(read))


_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHORT_MONTHS = tuple(name[:3] for name in _MONTHS)
_SHORT_WEEKDAYS = tuple(name[:3] for name in _WEEKDAYS)

ENGLISH = DateNames(
    locale="en",
    months=_words(_MONTHS, also_read=_SHORT_MONTHS),
    short_months=_words(_SHORT_MONTHS),
    weekdays=_words(_WEEKDAYS, also_read=_SHORT_WEEKDAYS),
    short_weekdays=_words(_SHORT_WEEKDAYS),
    half_days=_words(("AM", "PM")),
)
