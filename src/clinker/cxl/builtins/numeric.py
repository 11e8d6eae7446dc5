"""Methods of numbers: rounding, limits and pairwise comparison."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from clinker.cxl.builtins.declare import Param, method, same_as_receiver
from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.types import FLOAT, INT, NUMERIC, Kind, Type
from clinker.cxl.values import checked_int

Number: TypeAlias = int | float

# From here on every Float is a whole number.
_ALL_WHOLE = 2.0**52
# The powers of ten a Float can hold, each the nearest Float, which `10.0**n` is not always.
_POWERS_OF_TEN = tuple(float(f"1e{n}") for n in range(309))
# Beyond this many digits before the decimal point every Int rounds to zero.
_MAX_INT_DIGITS = 19


def _promoted(types: tuple[Type, ...]) -> Type:
    """The type of one of these numbers, a Float as soon as any of them is; null has no say."""
    if any(t.kinds & (NUMERIC.kinds | Kind.NULL) == Kind.FLOAT for t in types):
        return FLOAT
    return NUMERIC if any(t.maybe(Kind.FLOAT) for t in types) else INT


def _promote(result: Number, *operands: Number | None) -> Number:
    return float(result) if any(isinstance(n, float) for n in operands) else result


def _one_of_two(receiver: Type, args: tuple[Type, ...]) -> Type:
    return _promoted((receiver, args[0].without_null()))


def _within_bounds(receiver: Type, args: tuple[Type, ...]) -> Type:
    return _promoted((receiver, *args))


@method(
    "abs",
    NUMERIC,
    same_as_receiver,
    fails=[FailureKind.INTEGER_OVERFLOW],
    safe_for=Kind.FLOAT,
)
def absolute(number: Number) -> Number:
    """The number without its sign: an Int stays an Int, a Float stays a Float.

    The smallest Int has no positive counterpart and fails.

    >>> (-42).abs()
    42
    >>> (-3.14).abs()
    3.14
    >>> 7.abs()
    7
    >>> null.abs()
    null
    >>> (-9223372036854775808).abs()
    error: integer overflow in abs
    """
    if isinstance(number, int):
        return checked_int(abs(number), "abs")
    return abs(number)


def _to_int(number: Number, towards: Callable[[float], int], operation: str) -> int:
    if isinstance(number, int):
        return number
    if not math.isfinite(number):
        raise Failure(FailureKind.INTEGER_OVERFLOW, f"integer overflow in {operation}")
    return checked_int(towards(number), operation)


@method("ceil", NUMERIC, INT, fails=[FailureKind.INTEGER_OVERFLOW], safe_for=Kind.INT)
def ceil(number: Number) -> int:
    """The smallest Int that is not below the number; an Int is returned unchanged.

    NaN, infinities and numbers too large for an Int fail.

    >>> 3.2.ceil()
    4
    >>> (-3.2).ceil()
    -3
    >>> (-0.5).ceil()
    0
    >>> 5.ceil()
    5
    >>> 9223372036854775808.0.ceil()
    error: integer overflow in ceil
    """
    return _to_int(number, math.ceil, "ceil")


@method("floor", NUMERIC, INT, fails=[FailureKind.INTEGER_OVERFLOW], safe_for=Kind.INT)
def floor(number: Number) -> int:
    """The largest Int that is not above the number; an Int is returned unchanged.

    NaN, infinities and numbers too large for an Int fail.

    >>> 3.8.floor()
    3
    >>> (-3.2).floor()
    -4
    >>> 5.floor()
    5
    >>> (-9223372036854775808.0).floor()
    -9223372036854775808
    >>> 9223372036854775808.0.floor()
    error: integer overflow in floor
    """
    return _to_int(number, math.floor, "floor")


def _rounded(number: Number, decimals: int) -> Number:
    if isinstance(number, int):
        return _rounded_int(number, decimals)
    return _rounded_float(number, decimals)


def _rounded_int(number: int, decimals: int) -> int:
    if decimals >= 0:
        return number
    if -decimals > _MAX_INT_DIGITS:
        return 0
    unit = 10**-decimals
    units, rest = divmod(abs(number), unit)
    size = (units + (2 * rest >= unit)) * unit
    return checked_int(size if number >= 0 else -size, "rounding")


def _rounded_float(number: float, decimals: int) -> float:
    last_power = len(_POWERS_OF_TEN) - 1
    if not math.isfinite(number):
        return number
    if number == 0 or decimals < -last_power:
        return 0.0
    if decimals > last_power:
        return number
    power = _POWERS_OF_TEN[abs(decimals)]
    scaled = number * power if decimals >= 0 else number / power
    size = abs(scaled)
    if size >= _ALL_WHOLE:
        # Nothing to round off, and scaling back could be off by one digit.
        return number
    whole = float(math.floor(size))
    if size - whole >= 0.5:  # exact, which adding a half would not be
        whole += 1
    result = whole / power if decimals >= 0 else whole * power
    # A zero is given without a sign: nobody wants to read -0 in a report.
    return -result if result and number < 0 else result


@method(
    "round",
    NUMERIC,
    same_as_receiver,
    params=[Param("decimals", INT, optional=True)],
    fails=[FailureKind.INTEGER_OVERFLOW],
    safe_for=Kind.FLOAT,
)
def round_(number: Number, decimals: int = 0) -> Number:
    """Rounds to a number of decimal places, 0 if not given; halves go away from zero.

    A Float stays a Float and an Int stays an Int. A negative number of decimals rounds to tens,
    hundreds and so on. What counts is the Float times the power of ten, as the machine computes
    it: 1.005 times 100 is a little less than 100.5 and rounds down. A zero has no minus sign.

    >>> 3.456.round()
    3.0
    >>> 3.456.round(2)
    3.46
    >>> 2.5.round()
    3.0
    >>> (-2.5).round()
    -3.0
    >>> 2.675.round(2)
    2.68
    >>> 1.005.round(2)
    1.0
    >>> 1250.0.round(-2)
    1300.0
    >>> (-0.4).round()
    0.0
    >>> 42.round(2)
    42
    >>> 1250.round(-2)
    1300
    >>> (-1249).round(-2)
    -1200
    >>> 3.7.round(null)
    4.0
    >>> 9223372036854775807.round(-1)
    error: integer overflow in rounding
    """
    return _rounded(number, decimals)


@method(
    "round_to",
    NUMERIC,
    same_as_receiver,
    params=[Param("decimals", INT)],
    fails=[FailureKind.INTEGER_OVERFLOW],
    safe_for=Kind.FLOAT,
)
def round_to(number: Number, decimals: int) -> Number:
    """Rounds like `round`, with the number of decimal places always spelt out.

    >>> 3.14159.round_to(3)
    3.142
    >>> 19.995.round_to(2)
    20.0
    >>> (-19.995).round_to(2)
    -20.0
    >>> 42.round_to(1)
    42
    >>> 15.round_to(-1)
    20
    >>> 3.14159.round_to(null)
    null
    """
    return _rounded(number, decimals)


@method(
    "clamp",
    NUMERIC,
    _within_bounds,
    params=[Param("min", NUMERIC, takes_null=True), Param("max", NUMERIC, takes_null=True)],
)
def clamp(number: Number, low: Number | None, high: Number | None) -> Number:
    """The number, or `min` if it is below that, or `max` if it is above.

    A null or NaN bound is no bound. The result is a Float if the number or a bound is one. `min`
    is looked at first, should the bounds be the wrong way round.

    >>> 150.clamp(0, 100)
    100
    >>> (-5).clamp(0, 100)
    0
    >>> 50.clamp(0, 100)
    50
    >>> 50.clamp(0.0, 100)
    50.0
    >>> 150.clamp(null, 100)
    100
    >>> 150.clamp(0, null)
    150
    >>> 5.clamp(10, 0)
    10
    """
    if low is not None and number < low:
        result = low
    elif high is not None and number > high:
        result = high
    else:
        result = number
    return _promote(result, number, low, high)


@method("min", NUMERIC, _one_of_two, params=[Param("other", NUMERIC)])
def smaller(number: Number, other: Number) -> Number:
    """The smaller of two numbers, a Float if either of them is; NaN if either of them is.

    >>> 10.min(20)
    10
    >>> 10.min(5)
    5
    >>> 10.min(10.0)
    10.0
    >>> 10.min(20.5)
    10.0
    >>> 10.min(null)
    null
    """
    # Only NaN differs from itself.
    return _promote(other if other < number or other != other else number, number, other)


@method("max", NUMERIC, _one_of_two, params=[Param("other", NUMERIC)])
def larger(number: Number, other: Number) -> Number:
    """The larger of two numbers, a Float if either of them is; NaN if either of them is.

    >>> 10.max(20)
    20
    >>> 10.max(5)
    10
    >>> 10.max(10.0)
    10.0
    >>> 10.max(5.5)
    10.0
    >>> null.max(5)
    null
    """
    return _promote(other if other > number or other != other else number, number, other)
