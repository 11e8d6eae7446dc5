"""Methods of numbers: rounding, limits and pairwise comparison."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from clinker.cxl.builtins.declare import Param, method, same_as_receiver
from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.sql.operand import Operand, Sql, SqlCall
from clinker.cxl.sql.text import int_literal, tagged_float_sql
from clinker.cxl.types import FLOAT, INT, NUMERIC, Kind, Type
from clinker.cxl.values import MIN_INT, checked_int

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


def _abs_sql(call: SqlCall) -> Sql:
    x = call.receiver.text
    if call.receiver.type.only(Kind.FLOAT):
        return Sql(f"abs({x})")
    smallest = f"{x} = {int_literal(MIN_INT)}"
    return Sql(f"if({smallest}, NULL, abs({x}))", smallest)


@method(
    "abs",
    NUMERIC,
    same_as_receiver,
    fails=[FailureKind.INTEGER_OVERFLOW],
    safe_for=Kind.FLOAT,
    sql=_abs_sql,
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


def _to_int_sql(function: str) -> Callable[[SqlCall], Sql]:
    def form(call: SqlCall) -> Sql:
        x = call.receiver.text
        if call.receiver.type.only(Kind.INT):
            return Sql(x)
        # To Spark, NaN is above every number.
        fits = f"{x} >= -9223372036854775808D AND {x} < 9223372036854775808D"
        return Sql(f"if({fits}, {function}({x}), NULL)", f"NOT ({fits})")

    return form


@method(
    "ceil",
    NUMERIC,
    INT,
    fails=[FailureKind.INTEGER_OVERFLOW],
    safe_for=Kind.INT,
    sql=_to_int_sql("ceil"),
)
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


@method(
    "floor",
    NUMERIC,
    INT,
    fails=[FailureKind.INTEGER_OVERFLOW],
    safe_for=Kind.INT,
    sql=_to_int_sql("floor"),
)
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


def _round_sql(call: SqlCall) -> Sql:
    decimals = call.arg("decimals")
    if decimals is None or decimals.is_literal:
        places = decimals.value if decimals else None
        return _rounded_sql(call, places if isinstance(places, int) else 0)
    return _rounded_to_any_sql(call, f"coalesce({decimals.text}, 0L)")


def _round_to_sql(call: SqlCall) -> Sql:
    decimals = call.arg("decimals")
    assert decimals
    if decimals.is_literal and isinstance(decimals.value, int):
        return _rounded_sql(call, decimals.value)
    return _rounded_to_any_sql(call, decimals.text)


def _rounded_sql(call: SqlCall, decimals: int) -> Sql:
    if call.receiver.type.only(Kind.INT):
        return _rounded_int_sql(call, decimals)
    return _rounded_float_sql(call, decimals)


def _rounded_to_any_sql(call: SqlCall, decimals: str) -> Sql:
    if call.receiver.type.only(Kind.INT):
        return _int_rounded_to_any_sql(call, call.bind(decimals))
    return _float_rounded_to_any_sql(call, call.bind(decimals))


def _rounded_int_sql(call: SqlCall, decimals: int) -> Sql:
    x = call.receiver.text
    if decimals >= 0:
        return Sql(x)
    if -decimals > _MAX_INT_DIGITS:
        return Sql(f"{x} * 0L")
    if -decimals == _MAX_INT_DIGITS:
        return Sql(f"if({_beyond_half_sql(x)}, NULL, {x} * 0L)", _beyond_half_sql(x))
    rounded = call.bind(_in_units_sql(x, f"{10**-decimals}L"))
    return Sql(rounded, f"{rounded} IS NULL AND {x} IS NOT NULL")


def _int_rounded_to_any_sql(call: SqlCall, d: str) -> Sql:
    x = call.receiver.text
    digits = f"CAST(greatest(1L - greatest({d}, {1 - _MAX_INT_DIGITS}L), 2L) AS INT)"
    unit = call.bind(f"CAST(rpad('1', {digits}, '0') AS BIGINT)")
    rounded = call.bind(
        f"CASE WHEN {d} >= 0 THEN {x} WHEN {d} < -{_MAX_INT_DIGITS} THEN {x} * 0L"
        f" WHEN {d} = -{_MAX_INT_DIGITS} THEN if({_beyond_half_sql(x)}, NULL, {x} * 0L)"
        f" WHEN {d} < 0 THEN {_in_units_sql(x, unit)} END"
    )
    return Sql(rounded, f"{rounded} IS NULL AND {x} IS NOT NULL AND {d} IS NOT NULL")


def _beyond_half_sql(x: str) -> str:
    """Where an Int rounds away from zero to ten to the nineteenth, which is no Int."""
    return f"({x} >= 5000000000000000000L OR {x} <= -5000000000000000000L)"


def _in_units_sql(x: str, unit: str) -> str:
    """An Int rounded to multiples of `unit`, a power of ten; null if that is no Int."""
    away = f"if(abs({x} % {unit}) >= {unit} DIV 2, if({x} < 0, -1L, 1L), 0L)"
    return f"try_multiply({x} DIV {unit} + {away}, {unit})"


def _rounded_float_sql(call: SqlCall, decimals: int) -> Sql:
    x = call.receiver.text
    last_power = len(_POWERS_OF_TEN) - 1
    if decimals < -last_power:
        return Sql(f"if({_finite_sql(x)}, 0D, {x})")
    if decimals > last_power:
        return Sql(f"if({x} = 0, 0D, {x})")
    power = f"{_POWERS_OF_TEN[abs(decimals)]!r}D"
    if decimals > 0:
        scaled = call.bind(f"{x} * {power}")
        return Sql(_scaled_back_sql(x, scaled, f"{_whole_sql(scaled)} / {power}"))
    if decimals < 0:
        scaled = call.bind(f"{x} / {power}")
        return Sql(_scaled_back_sql(x, scaled, f"{_whole_sql(scaled)} * {power}"))
    return Sql(_scaled_back_sql(x, x, _whole_sql(x)))


def _float_rounded_to_any_sql(call: SqlCall, d: str) -> Sql:
    x = call.receiver.text
    last_power = len(_POWERS_OF_TEN) - 1
    exponent = f"abs(least(greatest({d}, {-last_power}L), {last_power}L))"
    power = call.bind(f"CAST(concat('1e', CAST({exponent} AS STRING)) AS DOUBLE)")
    scaled = call.bind(f"if({d} >= 0, {x} * {power}, {x} / {power})")
    whole = call.bind(_whole_sql(scaled))
    result = f"if({d} >= 0, {whole} / {power}, {whole} * {power})"
    return Sql(
        f"CASE WHEN {x} IS NULL OR {d} IS NULL THEN NULL WHEN NOT {_finite_sql(x)} THEN {x}"
        f" WHEN {x} = 0 OR {d} < -{last_power} THEN 0D WHEN {d} > {last_power} THEN {x}"
        f" ELSE {_scaled_back_sql(x, scaled, result)} END"
    )


def _finite_sql(x: str) -> str:
    return f"abs({x}) <= 1.7976931348623157E308D"


def _whole_sql(scaled: str) -> str:
    size = f"abs({scaled})"
    return f"(CAST(floor({size}) AS DOUBLE) + if({size} - floor({size}) >= 0.5D, 1D, 0D))"


def _scaled_back_sql(x: str, scaled: str, size: str) -> str:
    """The rounded number of this size, or `x` where there is nothing to round off."""
    return (
        f"CASE WHEN abs({scaled}) >= {_ALL_WHOLE!r}D THEN {x}"  # NaN, too: it is above all numbers
        f" WHEN {scaled} <= -0.5D THEN -({size}) ELSE {size} END"
    )


@method(
    "round",
    NUMERIC,
    same_as_receiver,
    params=[Param("decimals", INT, optional=True)],
    fails=[FailureKind.INTEGER_OVERFLOW],
    safe_for=Kind.FLOAT,
    sql=_round_sql,
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
    sql=_round_to_sql,
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


def _clamp_sql(call: SqlCall) -> Sql:
    number = call.receiver
    low, high = (
        bound if bound and not bound.type.is_null else None
        for bound in (call.arg("min"), call.arg("max"))
    )
    if call.type.only(Kind.INT) or call.type.only(Kind.FLOAT):
        return Sql(_clamped_sql(number, low, high, call.type))
    # An Int, unless a bound is there that is a Float.
    floats = [bound for bound in (low, high) if bound and bound.type.only(Kind.FLOAT)]
    whole_low, whole_high = (None if bound in floats else bound for bound in (low, high))
    whole = f"CAST({_clamped_sql(number, whole_low, whole_high, INT)} AS STRING)"
    promoted = tagged_float_sql(call.bind(_clamped_sql(number, low, high, FLOAT)))
    is_promoted = " OR ".join(f"{bound.text} IS NOT NULL" for bound in floats)
    return Sql(f"if({is_promoted}, {promoted}, {whole})")


def _clamped_sql(number: Operand, low: Operand | None, high: Operand | None, type_: Type) -> str:
    branches = ""
    if low:
        branches += f" WHEN {_below_sql(number, low)} THEN {_promoted_sql(low, type_)}"
    if high:
        branches += f" WHEN {_below_sql(high, number)} THEN {_promoted_sql(high, type_)}"
    result = _promoted_sql(number, type_)
    return f"CASE{branches} ELSE {result} END" if branches else result


def _promoted_sql(number: Operand, type_: Type) -> str:
    is_promoted = type_.only(Kind.FLOAT) and number.type.only(Kind.INT)
    return f"CAST({number.text} AS DOUBLE)" if is_promoted else number.text


def _below_sql(a: Operand, b: Operand) -> str:
    """Whether one number is below another as Python sees it: exactly, and never with a NaN."""
    x, y = a.text, b.text
    if b.type.only(Kind.FLOAT):
        below = f"{x} < {y} AND NOT isnan({y})"
        # What rounds to the same Float may still be below it, or above.
        tied = f"{x} = {y} AND ({y} = 9223372036854775808D OR {x} < TRY_CAST({y} AS BIGINT))"
        return f"({below} OR {tied})" if a.type.only(Kind.INT) else f"({below})"
    tied = f"{x} = {y} AND TRY_CAST({x} AS BIGINT) < {y}"
    return f"({x} < {y} OR {tied})" if a.type.only(Kind.FLOAT) else f"({x} < {y})"


@method(
    "clamp",
    NUMERIC,
    _within_bounds,
    params=[Param("min", NUMERIC, takes_null=True), Param("max", NUMERIC, takes_null=True)],
    sql=_clamp_sql,
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


def _smaller_sql(call: SqlCall) -> Sql:
    other = call.arg("other")
    assert other
    x, y = _promoted_sql(call.receiver, call.type), _promoted_sql(other, call.type)
    if call.type.only(Kind.FLOAT):
        # To Spark, NaN is above every number.
        is_other = f"isnan({y}) OR ({y} < {x} AND NOT isnan({x}))"
        absent = f"{x} IS NULL OR {y} IS NULL"
        return Sql(f"CASE WHEN {absent} THEN NULL WHEN {is_other} THEN {y} ELSE {x} END")
    return Sql(f"CASE WHEN {y} < {x} THEN {y} WHEN {y} >= {x} THEN {x} END")


@method("min", NUMERIC, _one_of_two, params=[Param("other", NUMERIC)], sql=_smaller_sql)
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


def _larger_sql(call: SqlCall) -> Sql:
    other = call.arg("other")
    assert other
    x, y = _promoted_sql(call.receiver, call.type), _promoted_sql(other, call.type)
    return Sql(f"CASE WHEN {y} > {x} THEN {y} WHEN {y} <= {x} THEN {x} END")


@method("max", NUMERIC, _one_of_two, params=[Param("other", NUMERIC)], sql=_larger_sql)
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
