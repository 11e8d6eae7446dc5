"""Running aggregates: what an aggregate gives for all values so far, one after the other.

Totals do not change when a value is added to them: a record that is rejected leaves none behind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from clinker.cxl.builtins.aggregates import exact_ratio, exact_sum
from clinker.cxl.check import typed
from clinker.cxl.values import Value, checked_int
from clinker.frozen import frozen

Total: TypeAlias = Any
"""What an aggregate keeps of the values so far; None before the first."""


@frozen
class _Number:
    """The exact sum of numbers, and how many there were."""

    count: int = 0
    whole: int | None = 0
    """The sum, as long as all are Ints."""
    exact: Fraction = Fraction()
    beyond: frozenset[float] = frozenset()
    """Those that are not finite."""

    def plus(self, value: Value) -> _Number:
        if value is None:
            return self
        assert isinstance(value, int | float)
        whole = None if self.whole is None or isinstance(value, float) else self.whole + value
        number = float(value)
        if not math.isfinite(number):
            return _Number(self.count + 1, whole, self.exact, self.beyond | {number})
        return _Number(self.count + 1, whole, self.exact + Fraction(number), self.beyond)

    @property
    def parts(self) -> list[float]:
        """Few Floats with the same exact sum."""
        if self.beyond:
            return [*self.beyond]
        found: list[float] = []
        rest = self.exact
        while rest:
            try:
                part = float(rest)
            except OverflowError:
                part = math.copysign(2.0**1023, rest)
            if not part:
                break
            found.append(part)
            rest -= Fraction(part)
        return found


def added(call: typed.Aggregate, total: Total, args: Sequence[Value]) -> Total:
    """What is kept of the values so far and those of one more record."""
    match call.function.name:
        case "count":
            return (total or 0) + (args[0] is not None)
        case "sum" | "avg":
            return (total or _Number()).plus(args[0])
        case "weighted_avg":
            parts, whole = total or (_Number(), _Number())
            value, weight = args
            if value is None or weight is None:
                return parts, whole
            assert isinstance(value, int | float)
            assert isinstance(weight, int | float)
            return parts.plus(float(value) * float(weight)), whole.plus(float(weight))
        case "first":
            return total or tuple(args)
        case "last":
            return tuple(args)
        case "collect":
            return [*(total or ()), args[0]]
    # Of what is smallest, largest or true of several, it is so of what has come out before.
    return (call.function.call([*(total or ()), args[0]]),)


def result(call: typed.Aggregate, total: Total) -> Value:
    """What the aggregate gives for the values so far; it may raise a `Failure`."""
    found: Value
    match call.function.name:
        case "count":
            found = total
        case "collect":
            found = list(total)
        case "sum":
            if not total.count:
                return None
            found = _sum(total)
        case "avg":
            found = exact_ratio(total.parts, [float(total.count)])
        case "weighted_avg":
            parts, whole = total
            found = exact_ratio(parts.parts, whole.parts)
        case _:
            (found,) = total
    return found


def _sum(total: _Number) -> Value:
    return exact_sum(total.parts) if total.whole is None else checked_int(total.whole, "sum")
