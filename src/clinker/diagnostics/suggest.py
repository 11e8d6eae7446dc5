"""Did you mean …?"""

from __future__ import annotations

from collections.abc import Iterable


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate a user most likely meant by `name`, if one is near enough."""
    limit = min(3, max(1, len(name) // 3)) if len(name) > 2 else 0
    best: tuple[int, str] | None = None
    for candidate in candidates:
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
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    before_previous: list[int] = []
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b, 1):
            cost = min(previous[j] + 1, current[-1] + 1, previous[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before_previous[j - 2] + 1)
            current.append(cost)
        before_previous, previous = previous, current
    return previous[-1]
