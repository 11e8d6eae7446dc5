"""How long a backtracking engine may look at a text before it knows whether a pattern matches.

`a+b` gives up on a text of a's after as many steps as there are places to begin times places to
end; `(a+)+b` tries every way to cut the text into pieces, which takes longer than anyone waits. A
pattern is judged here from its shape: in `x*y`, `y` is tried once for every turn of the loop,
unless no character can both continue `x` and begin `y`. The result is a bound, often far above what
really happens, never below.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from clinker.frozen import frozen

Ranges: TypeAlias = "tuple[tuple[int, int], ...]"

UNLIMITED = 2**31
"""More characters than a text in the engine has."""
_MOST_STEPS = 1e8
"""A second or two of Java's."""
_MOST_STEPS_PER_CHARACTER = 16
_MOST_RANGES = 100
_NO_CHARACTERS: Ranges = ()


@frozen(eq=False, kw_only=True)
class Shape:
    """A part of a pattern, as far as it decides how often what follows is tried."""

    first: Ranges | None
    """The characters it can begin with; None is any."""
    nullable: bool
    """Whether it can match the empty text, be it only in some places."""
    passes: bool = False
    """Whether it can match the empty text everywhere."""
    starts: bool = False
    """Whether it matches only at the start of the text."""


@frozen(eq=False, kw_only=True)
class Characters(Shape):
    pass


@frozen(eq=False, kw_only=True)
class Assertion(Shape):
    pass


@frozen(eq=False, kw_only=True)
class Row(Shape):
    parts: tuple[Shape, ...]


@frozen(eq=False, kw_only=True)
class Choice(Shape):
    branches: tuple[Shape, ...]


@frozen(eq=False, kw_only=True)
class Repeat(Shape):
    body: Shape
    low: int
    high: int | None
    """None is any number."""


def characters(ranges: Ranges | None) -> Shape:
    return Characters(first=ranges, nullable=False)


def assertion(*, starts: bool = False) -> Shape:
    return Assertion(first=_NO_CHARACTERS, nullable=True, starts=starts)


def row(parts: Sequence[Shape]) -> Shape:
    if len(parts) == 1:
        return parts[0]
    first: Ranges | None = _NO_CHARACTERS
    for part in reversed(parts):
        first = _either(part.first, first) if part.nullable else part.first
    return Row(
        first=first,
        nullable=all(part.nullable for part in parts),
        passes=all(part.passes for part in parts),
        starts=bool(parts) and parts[0].starts,
        parts=tuple(parts),
    )


def choice(branches: Sequence[Shape]) -> Shape:
    if len(branches) == 1:
        return branches[0]
    first: Ranges | None = _NO_CHARACTERS
    for branch in branches:
        first = _either(first, branch.first)
    return Choice(
        first=first,
        nullable=any(branch.nullable for branch in branches),
        passes=any(branch.passes for branch in branches),
        starts=all(branch.starts for branch in branches),
        branches=tuple(branches),
    )


def repeat(body: Shape, low: int, high: int | None) -> Shape:
    return Repeat(
        first=body.first,
        nullable=low == 0 or body.nullable,
        passes=low == 0 or body.passes,
        starts=low > 0 and body.starts,
        body=body,
        low=low,
        high=high,
    )


def longest_text(pattern: Shape, *, whole: bool) -> int:
    """How many characters a text may have to be sure to be matched in time: as a `whole`, or in
    part."""
    if whole:
        steps = _look(row([pattern, assertion()]), _After(_NO_CHARACTERS, accepts=False)).steps
    else:
        steps = _look(pattern, _After(_NO_CHARACTERS, accepts=True)).steps
        if not pattern.starts:
            steps = steps.times(_PER_CHARACTER)
    if steps.degree <= 1 and steps.factor <= _MOST_STEPS_PER_CHARACTER:
        return UNLIMITED
    if math.isinf(steps.degree) or steps.factor > _MOST_STEPS:
        return 0
    return int((_MOST_STEPS / steps.factor) ** (1 / max(steps.degree, 1)))


@frozen
class _Number:
    """A number that depends on the length of the text: `factor · length^degree`."""

    degree: float
    factor: float

    def times(self, other: _Number) -> _Number:
        # A pattern of many choices has more ways than floats can count.
        return _Number(self.degree + other.degree, min(self.factor * other.factor, 1e100))

    def to_the(self, times: int) -> _Number:
        return _Number(self.degree * times, 10 ** min(math.log10(self.factor) * times, 100))

    @property
    def order(self) -> tuple[float, float]:
        return self.degree, self.factor


_ONE = _Number(0, 1)
_PER_CHARACTER = _Number(1, 1)
_ENDLESS = _Number(math.inf, 1)


def _most(numbers: Iterable[_Number]) -> _Number:
    return max(numbers, key=lambda number: number.order, default=_ONE)


@frozen
class _After:
    """What follows a part of a pattern."""

    first: Ranges | None
    accepts: bool
    """Whether it matches in any case: then nothing before it is tried again."""


@frozen
class _Look:
    """What a part costs: its own steps, and how often what follows it is tried."""

    steps: _Number
    ways: _Number


def _look(part: Shape, after: _After) -> _Look:
    match part:
        case Row(parts=parts):
            return _look_at_row(parts, after)
        case Choice(branches=branches):
            return _look_at_choice(branches, after)
        case Repeat():
            return _look_at_loop(part, after)
        case _:
            return _Look(_ONE, _ONE)


def _look_at_row(parts: tuple[Shape, ...], after: _After) -> _Look:
    looks: list[_Look] = []
    for part in reversed(parts):
        looks.append(_look(part, after))
        first = _either(part.first, after.first) if part.nullable else part.first
        after = _After(first, accepts=part.passes and after.accepts)
    steps = ways = _ONE
    for look in reversed(looks):
        steps = _most([steps, ways.times(look.steps)])
        ways = ways.times(look.ways)
    return _Look(_most([steps, ways]), ways)


def _look_at_choice(branches: tuple[Shape, ...], after: _After) -> _Look:
    looks = [_look(branch, after) for branch in branches]
    steps, ways = _most(look.steps for look in looks), _most(look.ways for look in looks)
    # Of branches that begin with different characters only one is tried to its end.
    tried = _Number(0, _most_shared([None if b.nullable else b.first for b in branches]))
    return _Look(steps.times(tried), ways.times(tried))


def _look_at_loop(loop: Repeat, after: _After) -> _Look:
    body, low, high = loop.body, loop.low, loop.high
    within = after
    if high != 1:
        within = _After(_either(body.first, after.first), accepts=after.accepts and low <= 1)
    turn = _look(body, within)
    ways = _turns(loop) if _leaves_anywhere(loop, after) else _ONE
    if turn.ways != _ONE:
        ways = _ENDLESS if high is None else ways.times(turn.ways.to_the(high))
    if after.accepts or high is not None:
        own = _Number(0, max(low, 1) if after.accepts else high or 1)
        return _Look(_most([turn.steps.times(own), ways]), ways)
    return _Look(_most([turn.steps, _PER_CHARACTER, ways]), ways)


def _turns(loop: Repeat) -> _Number:
    return _PER_CHARACTER if loop.high is None else _Number(0, loop.high - loop.low + 1)


def _leaves_anywhere(loop: Repeat, after: _After) -> bool:
    """Whether what follows a loop may go on where the loop could, too."""
    if after.accepts or loop.low == loop.high:
        return False
    return loop.body.nullable or _most_shared([loop.body.first, after.first]) > 1


# --- sets of characters ---


def _either(a: Ranges | None, b: Ranges | None) -> Ranges | None:
    if a is None or b is None:
        return None
    if a == b or not b:
        return a
    merged: list[tuple[int, int]] = []
    for low, high in sorted((*a, *b)):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    return tuple(merged) if len(merged) <= _MOST_RANGES else None


def _most_shared(sets: Sequence[Ranges | None]) -> int:
    """In how many of these sets, each without overlaps, the most frequent character is."""
    ends = [(low, 1) for ranges in sets for low, _ in ranges or ()]
    ends += [(high + 1, -1) for ranges in sets for _, high in ranges or ()]
    depths = itertools.accumulate(change for _, change in sorted(ends))
    return max(1, sets.count(None) + max(depths, default=0))
