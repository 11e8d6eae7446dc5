"""Numbers at the edges: signed zeros, NaN, infinities, the ends of Int and of Float."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinker.cxl.builtins.declare import METHODS
from clinker.cxl.builtins.numeric import (
    Number,
    absolute,
    ceil,
    clamp,
    floor,
    larger,
    round_,
    round_to,
    smaller,
)
from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.types import ANY, FLOAT, INT, NULL, NUMERIC, Type
from clinker.cxl.values import MAX_INT, MIN_INT

NAN, INF = math.nan, math.inf
INTS = st.integers(MIN_INT, MAX_INT)


def identical(a: object, b: object) -> bool:
    """Same type and same digits, the sign of zero included."""
    return type(a) is type(b) and repr(a) == repr(b)


@pytest.mark.parametrize(
    ("number", "expected"),
    [(MAX_INT, MAX_INT), (-MAX_INT, MAX_INT), (-0.0, 0.0), (-INF, INF), (NAN, NAN)],
)
def test_abs(number: Number, expected: Number) -> None:
    assert identical(absolute(number), expected)


@pytest.mark.parametrize("convert", [ceil, floor])
@pytest.mark.parametrize("number", [NAN, INF, -INF, 2.0**63, -(2.0**63) - 2048, 1e300])
def test_ceil_and_floor_fail_where_no_int_exists(
    convert: Callable[[Number], int], number: float
) -> None:
    with pytest.raises(Failure) as failure:
        convert(number)
    assert failure.value.kind is FailureKind.INTEGER_OVERFLOW
    assert failure.value.detail == f"integer overflow in {convert.__name__}"


@pytest.mark.parametrize(
    ("number", "up", "down"),
    [
        (-0.5, 0, -1),
        (-0.0, 0, 0),
        (5e-324, 1, 0),
        (-(2.0**63), MIN_INT, MIN_INT),
        (2.0**63 - 1024, 2**63 - 1024, 2**63 - 1024),
        (MAX_INT, MAX_INT, MAX_INT),
    ],
)
def test_ceil_and_floor(number: Number, up: int, down: int) -> None:
    assert identical(ceil(number), up)
    assert identical(floor(number), down)


@pytest.mark.parametrize(
    ("number", "decimals", "expected"),
    [
        # The largest Float below a half: adding 0.5 to it would give 1.
        (0.49999999999999994, 0, 0.0),
        (-0.49999999999999994, 0, 0.0),
        (0.5, 0, 1.0),
        (-0.5, 0, -1.0),
        (4503599627370495.5, 0, 4503599627370496.0),
        (4503599627370497.0, 0, 4503599627370497.0),
        (2.0**53 + 2, 0, 2.0**53 + 2),
        (-0.0, 0, 0.0),
        (-0.0, 400, 0.0),
        (-1e-9, 2, 0.0),
        # Scaled by 10^17 and back this would end in ...619.
        (3480916.9981096187, 17, 3480916.9981096187),
        (0.1, 308, 0.1),
        (0.1, 309, 0.1),
        (5e-324, 400, 5e-324),
        (5e-324, 308, 0.0),
        (1.7e308, 10, 1.7e308),
        (1.7e308, MAX_INT, 1.7e308),
        (1250.0, -2, 1300.0),
        (-1250.0, -2, -1300.0),
        (49.0, -2, 0.0),
        (-49.0, -2, 0.0),
        (50.0, -2, 100.0),
        (1.4e308, -308, 1e308),
        (1.7e308, -308, INF),
        (1.7e308, -309, 0.0),
        (-1.7e308, MIN_INT, 0.0),
        (NAN, 2, NAN),
        (NAN, -400, NAN),
        (INF, 2, INF),
        (-INF, -400, -INF),
    ],
)
def test_round_of_floats(number: float, decimals: int, expected: float) -> None:
    assert identical(round_(number, decimals), expected)
    assert identical(round_to(number, decimals), expected)


@pytest.mark.parametrize(
    ("number", "decimals", "expected"),
    [
        (MAX_INT, 0, MAX_INT),
        (MAX_INT, MAX_INT, MAX_INT),
        (MIN_INT, 2, MIN_INT),
        (4, -1, 0),
        (-4, -1, 0),
        (5, -1, 10),
        (-5, -1, -10),
        (MAX_INT, -18, 9 * 10**18),
        (4 * 10**18, -19, 0),
        (MAX_INT, -20, 0),
        (MIN_INT, MIN_INT, 0),
    ],
)
def test_round_of_ints(number: int, decimals: int, expected: int) -> None:
    assert identical(round_(number, decimals), expected)


@pytest.mark.parametrize(("number", "decimals"), [(MAX_INT, -1), (MIN_INT, -1), (MAX_INT, -19)])
def test_round_of_ints_can_overflow(number: int, decimals: int) -> None:
    with pytest.raises(Failure) as failure:
        round_to(number, decimals)
    assert failure.value.kind is FailureKind.INTEGER_OVERFLOW


@given(INTS, st.integers(-19, -1))
def test_rounded_ints_are_the_nearest_multiples(number: int, decimals: int) -> None:
    unit = 10**-decimals
    try:
        result = round_(number, decimals)
    except Failure:
        assert abs(number) + unit // 2 > MAX_INT
        return
    assert result % unit == 0
    assert abs(result) - abs(number) <= unit // 2
    assert abs(number) - abs(result) < (unit + 1) // 2


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-400, 400))
def test_rounding_is_odd_and_idempotent(number: float, decimals: int) -> None:
    result = round_(number, decimals)
    assert round_(-number, decimals) == -result
    # With more digits than a Float has, scaling a second time may land on the next half.
    if 0 <= decimals <= 15 and abs(number) < 10.0 ** (15 - decimals):
        assert round_(result, decimals) == result


@given(st.floats(-1e15, 1e15))
def test_rounding_to_whole_numbers_is_exact(number: float) -> None:
    distance = abs(Fraction(round_(number)) - Fraction(number))
    assert distance <= Fraction(1, 2)
    if distance == Fraction(1, 2):
        assert abs(round_(number)) > abs(number)


@pytest.mark.parametrize(
    ("number", "low", "high", "expected"),
    [
        (5, None, None, 5),
        (5, None, 3.0, 3.0),
        (5, 7.5, None, 7.5),
        (5.0, 7, 9, 7.0),
        (NAN, 0, 1, NAN),
        (5, NAN, 3, 3.0),
        (5, 0, NAN, 5.0),
        (INF, 0, 1, 1.0),
        (15, 10, 0, 0),
    ],
)
def test_clamp(number: Number, low: Number | None, high: Number | None, expected: Number) -> None:
    assert identical(clamp(number, low, high), expected)


@pytest.mark.parametrize(
    ("a", "b", "smallest", "largest"),
    [
        (NAN, 1, NAN, NAN),
        (1, NAN, NAN, NAN),
        (NAN, NAN, NAN, NAN),
        (-INF, INF, -INF, INF),
        (MAX_INT, MAX_INT - 1, MAX_INT - 1, MAX_INT),
        (2**53 + 1, 2.0**53, 2.0**53, 2.0**53),
        # Zeros are equal whatever their sign; of equals the receiver is taken.
        (0.0, -0.0, 0.0, 0.0),
        (-0.0, 0.0, -0.0, -0.0),
    ],
)
def test_min_and_max(a: Number, b: Number, smallest: Number, largest: Number) -> None:
    assert identical(smaller(a, b), smallest)
    assert identical(larger(a, b), largest)


@pytest.mark.parametrize(
    ("receiver", "other", "expected"),
    [
        (INT, INT, INT),
        (INT, FLOAT, FLOAT),
        (FLOAT, INT, FLOAT),
        (FLOAT, ANY, FLOAT),
        (INT, FLOAT.nullable(), FLOAT),
        (INT, NUMERIC, NUMERIC),
        (INT, ANY, NUMERIC),
        (NUMERIC, INT, NUMERIC),
        (INT, NULL, INT),
    ],
)
@pytest.mark.parametrize("name", ["min", "max"])
def test_type_of_min_and_max(name: str, receiver: Type, other: Type, expected: Type) -> None:
    assert METHODS[name][0].result_type(receiver, (other,)) == expected


@pytest.mark.parametrize(
    ("receiver", "bounds", "expected"),
    [
        (INT, (INT, INT), INT),
        (INT, (INT, NULL), INT),
        (INT, (INT, FLOAT), FLOAT),
        (INT, (FLOAT.nullable(), INT), NUMERIC),
        (FLOAT, (INT.nullable(), NULL), FLOAT),
        (INT, (ANY, INT), NUMERIC),
        (NUMERIC, (INT, INT), NUMERIC),
    ],
)
def test_type_of_clamp(receiver: Type, bounds: tuple[Type, ...], expected: Type) -> None:
    assert METHODS["clamp"][0].result_type(receiver, bounds) == expected
