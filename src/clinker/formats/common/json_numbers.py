"""JSON whose numbers keep the text they have in a file, wherever a Float would lose it.

Nearly all numbers are written as we write them ourselves. So a glance at the bytes tells whether
others may be there, and only then JSON is read by what hands over the text of every number.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt
import orjson

from clinker.cxl.values import MAX_INT, MIN_INT, WrittenFloat
from clinker.frozen import frozen

Codes: TypeAlias = npt.NDArray[np.uint8]
Mask: TypeAlias = npt.NDArray[np.bool_]
Places: TypeAlias = npt.NDArray[np.int64]
Loads: TypeAlias = Callable[[Any], Any]

MALFORMED = (orjson.JSONDecodeError, msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What is raised for a text that is no JSON, or nested deeper than anybody reads it."""

_POINT, _MINUS, _ZERO = b".-0"
_EXPONENT, _LOWER_CASE = ord("e"), 0x20
_LONG_NUMBER = 17
"""So many digits, the point among them, may be more than a Float has."""
_LONG_INT = 19
"""So many digits may be more than an Int has."""
_LONGEST_INT = len(str(MIN_INT))
_SMALL_FRACTION = 4
"""From so many zeros behind the point on, a Float is written with an exponent."""


def _make_table(characters: bytes) -> Mask:
    """Which characters are among these."""
    table = np.zeros(256, np.bool_)
    table[list(characters)] = True
    return table


# The last one is what stands around a text, too. Inside of quotes all this may stand as well, but
# seldom does.
_STANDS_BEFORE = _make_table(b":,[\t\n\r ")
_STANDS_BEHIND = _make_table(b",]}\t\n\r ")


class Spelling(enum.Enum):
    """How the numbers of a text are written."""

    PLAIN = enum.auto()
    """As we write them: a Float says it all."""
    ODD = enum.auto()
    """Some of them, maybe, in another way."""
    ODD_INTS = enum.auto()
    """Some of them, maybe, are `-0` or have more digits than an Int."""


def loads(text: bytes) -> Any:
    """The value of a JSON text; one of MALFORMED if it is none."""
    return LOADS[find_spelling(text)](text)


def read_number(text: str) -> float:
    """The Float of a text, with the text if it would be written in another way."""
    number = float(text)
    is_plain = repr(number) == text and "e" not in text and not text.endswith(".0")
    return number if is_plain else WrittenFloat(text)


_known_number = lru_cache(1 << 14)(read_number)
_decode = msgspec.json.Decoder(float_hook=_known_number).decode


def _read_int(text: str) -> int | float:
    if len(text) > _LONGEST_INT or text == "-0":
        return WrittenFloat(text)
    number = int(text)
    return number if MIN_INT <= number <= MAX_INT else WrittenFloat(text)


def _load_exactly(text: Any) -> Any:
    _decode(text)  # is strict, which the other one is not
    return json.loads(bytes(text), parse_float=_known_number, parse_int=_read_int)


LOADS: dict[Spelling, Loads] = {
    Spelling.PLAIN: orjson.loads,
    Spelling.ODD: _decode,
    Spelling.ODD_INTS: _load_exactly,
}
"""What reads texts with numbers that are written so."""


def dumps(value: Any) -> bytes:
    """The JSON of a value, numbers as they were written."""
    return orjson.dumps(value, _write_number)


def _write_number(value: Any) -> Any:
    if isinstance(value, WrittenFloat):
        return orjson.Fragment(value.text)
    raise TypeError


# How numbers are written


def find_spelling(text: bytes) -> Spelling:
    """How the numbers of a JSON text are written; what only looks like one counts as well."""
    look = _Look.at(text)
    is_long = look.has_long_number()
    if look.has_minus_zero() or (is_long and look.has_long_int()):
        return Spelling.ODD_INTS
    is_odd = is_long or look.has_exponent() or look.has_odd_fraction()
    return Spelling.ODD if is_odd else Spelling.PLAIN


@frozen(eq=False)
class _Look:
    """The characters of a text, and which of them are digits."""

    codes: Codes
    is_digit: Mask

    @classmethod
    def at(cls, text: bytes) -> _Look:
        # Three more characters, so that those behind the last one may be asked for.
        codes = np.frombuffer(text + b"   ", np.uint8)
        return cls(codes, is_digit(codes))

    def has_minus_zero(self) -> bool:
        """A `-0` that is all of a number."""
        codes = self.codes
        places = np.flatnonzero(codes[:-2] == _MINUS)
        places = places[codes[places + 1] == _ZERO]
        return bool((_STANDS_BEFORE[codes[places - 1]] & _STANDS_BEHIND[codes[places + 2]]).any())

    def has_exponent(self) -> bool:
        is_exponent = self.codes[1:] | _LOWER_CASE == _EXPONENT
        return bool((self.is_digit[:-1] & is_exponent).any())

    def has_odd_fraction(self) -> bool:
        """A fraction that ends in a zero, or begins with many of them."""
        codes = self.codes
        points = np.flatnonzero(codes == _POINT)
        points = points[self.is_digit[points + 1] & self.is_digit[points - 1]]
        places = points
        zeros = points
        for _ in range(_SMALL_FRACTION):
            zeros = zeros[codes[zeros + 1] == _ZERO] + 1
        if len(zeros):
            return True
        while len(places):
            goes_on = self.is_digit[places + 1]
            if (codes[places[~goes_on]] == _ZERO).any():
                return True
            places = places[goes_on] + 1
        return False

    def has_long_int(self) -> bool:
        return self._begins_number(find_long_runs(self.is_digit, _LONG_INT))

    def has_long_number(self) -> bool:
        is_part = self.is_digit | (self.codes == _POINT)
        return self._begins_number(find_long_runs(is_part, _LONG_NUMBER))

    def _begins_number(self, places: Places) -> bool:
        """Whether a number can begin in one of these places."""
        before = self.codes[places - 1]
        return bool((_STANDS_BEFORE[before] | (before == _MINUS)).any())


def is_digit(codes: Codes) -> Mask:
    return codes - np.uint8(_ZERO) < 10


def find_long_runs(mask: Mask, length: int) -> Places:
    """Where so many or more in a row begin."""
    run = mask
    reached = 1
    while reached < length and run.any():
        step = min(reached, length - reached)
        run = run[:-step] & run[step:]
        reached += step
    return np.flatnonzero(run)
