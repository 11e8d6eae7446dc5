r"""Text patterns that mean the same in the interpreter and in Spark.

The interpreter matches with the `regex` library, Spark with `java.util.regex`. These differ in what
`.`, `$`, `\w`, `\b` or `(?i)` mean, so a pattern is never handed to either as written: it is parsed
(`pattern_parser`), in the subset that Java and the RE2 family agree on, and rewritten into one
canonical text of constructs that both engines read alike. Whatever lies outside the subset is an
error.

Only Unicode general categories are left to the engines, so they can differ on a character that
Unicode gained or moved to another category after the older of the two was built.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from clinker.cxl.run.backtracking import UNLIMITED, longest_text
from clinker.cxl.run.character_sets import SPECIAL
from clinker.cxl.run.pattern_parser import END, START, PatternError, PatternParser
from clinker.frozen import frozen

if TYPE_CHECKING:
    import regex

MAX_LENGTH = 10_000
_MAX_RECURSION = 1000
# For a pattern that takes only shorter texts in time it does not pay to try Java first.
_LEAST_LONGEST = 256
MATCH_SECONDS = 1.0


@frozen
class Pattern:
    """A pattern in its canonical text, valid in Java and in Python's `regex`."""

    text: str
    groups: int
    recurses: bool
    """Whether Java's stack may overflow on a long text: for every turn of some loops it calls
    itself."""
    longest_whole: int
    """How many characters a text may have to be sure to be matched as a whole in time."""
    longest_part: int
    """The same, where a part of it is searched for."""

    def is_fit_for_java(self, *, whole: bool) -> bool:
        """Whether Java, which nobody can stop, is sure to end in time on most texts."""
        least = UNLIMITED if _in_timed.get() else _LEAST_LONGEST
        return not self.recurses and self._longest(whole) >= least

    def limit(self, *, whole: bool) -> int | None:
        """How many characters a text may have for Java; None is any number."""
        longest = self._longest(whole)
        return longest if longest < UNLIMITED else None

    def may_be_slow(self, *, whole: bool) -> bool:
        """Whether there are texts on which a match is given up."""
        return self._longest(whole) < UNLIMITED

    def _longest(self, whole: bool) -> int:
        return self.longest_whole if whole else self.longest_part


class TooSlow(Exception):
    """A match was given up; the message says why."""


class TooLong(Exception):
    """A text is too long for Java."""


@functools.lru_cache(maxsize=1024)
def compile_pattern(source: str) -> Pattern:
    """Parse and rewrite a user's pattern; raises PatternError."""
    if len(source) > MAX_LENGTH:
        raise PatternError(f"a pattern has at most {MAX_LENGTH} characters", MAX_LENGTH)
    parser = PatternParser(source)
    whole = parser.parse()
    return Pattern(
        "".join(parser.output),
        parser.groups,
        whole.recursion > _MAX_RECURSION,
        longest_text(whole.shape, whole=True),
        longest_text(whole.shape, whole=False),
    )


def literal(text: str) -> str:
    """The pattern, for Java, of exactly this text."""
    return "".join(f"\\{char}" if char in SPECIAL else char for char in text)


def anchored(pattern: Pattern) -> str:
    """What Java finds in a text exactly if the whole of it matches."""
    return f"{START}(?:{pattern.text}){END}"


def empty_group(pattern: Pattern, group: int) -> str:
    r"""What Java finds in a text exactly if `group` holds the empty text in the first match.

    The pattern can be used only where the group holds nothing or the empty text: in Java a
    reference to a group that took no part never matches, and one to the empty text always does.
    """
    if group == 0:
        return pattern.text
    return rf"\A(?>(?s:.*?)(?:{pattern.text}))\{group}"


def full_match(pattern: Pattern, text: str) -> bool:
    """Whether the whole of `text` matches; may raise `TooSlow`."""
    return _match(pattern, text, whole=True) is not None


def search(pattern: Pattern, text: str) -> bool:
    """Whether some part of `text` matches; may raise `TooSlow`."""
    return _match(pattern, text, whole=False) is not None


def capture(pattern: Pattern, text: str, group: int) -> str | None:
    """What `group` holds in the first match; None without a match, or when it took no part."""
    match = _match(pattern, text, whole=False) if group <= pattern.groups else None
    return None if match is None else match.group(group)


_in_timed: ContextVar[bool] = ContextVar("in_timed", default=False)
_in_judging: ContextVar[bool] = ContextVar("in_judging", default=False)


@contextmanager
def timed() -> Iterator[None]:
    """Inside, patterns that may be slow are none for Java: the interpreter can stop in time."""
    before = _in_timed.set(True)
    try:
        yield
    finally:
        _in_timed.reset(before)


@contextmanager
def judging() -> Iterator[None]:
    """Inside, the interpreter says why a record failed before: `TooLong` if Java had not tried,
    and what was too slow then is too slow now, even on a faster machine."""
    before = _in_judging.set(True)
    try:
        yield
    finally:
        _in_judging.reset(before)


def _match(pattern: Pattern, text: str, *, whole: bool) -> regex.Match[str] | None:
    seconds = MATCH_SECONDS
    if _in_judging.get():
        limit = pattern.limit(whole=whole)
        if limit is not None and len(text) > limit and pattern.is_fit_for_java(whole=whole):
            raise TooLong
        seconds /= 4
    engine = _engine(pattern.text)
    try:
        return (engine.fullmatch if whole else engine.search)(text, timeout=seconds)
    except TimeoutError:
        message = f"takes longer than {MATCH_SECONDS:g} s on a text of {len(text)} characters"
        raise TooSlow(message) from None


@functools.lru_cache(maxsize=1024)
def _engine(text: str) -> regex.Pattern[str]:
    import regex

    # The version is given because the library's default is a global that anyone may change.
    return regex.compile(text, regex.V0)
