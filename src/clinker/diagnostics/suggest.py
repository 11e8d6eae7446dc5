"""Did you mean …?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

_LONGEST = 100
_FEW = 300
"""Among more names only those are looked at that differ in about one place."""


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate a user most likely meant by `name`, if one is near enough."""
    names = tuple(dict.fromkeys(candidates))
    limit = min(3, max(1, len(name) // 3)) if len(name) > 2 else 0
    best: tuple[int, str] | None = None
    for candidate in names if len(names) <= _FEW else _similar(name, names):
        if candidate.lower() == name.lower():
            return candidate
        distance = edit_distance(name, candidate, limit)
        if distance <= limit and (best is None or distance < best[0]):
            best = (distance, candidate)
    return best[1] if best else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """The help line for a misspelt name, or None when nothing is near."""
    found = closest(name, candidates)
    return f"did you mean '{found}'?" if found else None


def edit_distance(a: str, b: str, limit: int) -> int:
    """Edits (insert, delete, replace, swap neighbours) from `a` to `b`; above `limit` inexact."""
    too_far = limit + 1
    if abs(len(a) - len(b)) > limit:
        return too_far
    # A row is the distances from the first i characters of `a` to the first i - limit … i + limit
    # of `b`: farther from each other there are more insertions or deletions than allowed.
    before_previous: list[int] = []
    previous = [abs(place - limit) for place in range(2 * limit + 1)]
    for i, x in enumerate(a, 1):
        current = []
        for place, j in enumerate(range(i - limit, i + limit + 1)):
            if not 0 < j <= len(b):
                current.append(i if j == 0 else too_far)
                continue
            cost = previous[place] + (x != b[j - 1])
            if place < 2 * limit:
                cost = min(cost, previous[place + 1] + 1)
            if place:
                cost = min(cost, current[place - 1] + 1)
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == b[j - 1]:
                cost = min(cost, before_previous[place] + 1)
            current.append(cost)
        if min(current) > limit and min(previous) > limit:
            return too_far
        before_previous, previous = previous, current
    return previous[len(b) - len(a) + limit]


def _similar(name: str, names: tuple[str, ...]) -> Iterator[str]:
    """The names that are the same as `name`, capitals aside, once a character less is in either."""
    index = _index(names)
    found = {number for text in _shortened(name) for number in index.get(text, ())}
    return (names[number] for number in sorted(found))


@lru_cache(maxsize=4)
def _index(names: tuple[str, ...]) -> Mapping[str, list[int]]:
    index: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        for text in _shortened(name):
            index.setdefault(text, []).append(number)
    return index


def _shortened(name: str) -> set[str]:
    """The name, and all that is left of it without one character."""
    text = name[:_LONGEST].lower()
    return {text, *(text[:i] + text[i + 1 :] for i in range(len(text)))}
