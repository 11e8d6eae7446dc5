"""Sums that do not depend on the order of records, as Spark SQL.

A Float is cut into limbs, whole multiples of fixed powers of two. Sums of limbs are sums of
integers, hence exact, and what they add up to is rounded once, at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from clinker.cxl.sql.aggregates import AggregateCall, Bind
from clinker.cxl.sql.extremes import INFINITY, NEGATIVE_INFINITY, float_extreme
from clinker.frozen import frozen

LIMB_BITS = 32
"""A limb is at most 2**32, so the sums of a group fit that has fewer than 2**31 records."""
_RADIX = f"{2**LIMB_BITS}D"
_DIGIT_MASK = f"{2**LIMB_BITS - 1}L"

_LARGEST = "1.7976931348623157E308D"


@frozen
class Span:
    """The powers of two that the limbs of a number stand for, 32 apart."""

    low: int
    """The exponent of the lowest limb: numbers are multiples of that power of two."""
    limbs: int

    def exponent(self, limb: int) -> int:
        return self.low + LIMB_BITS * limb


INTS = Span(0, 2)
"""Ints that have become Floats."""
ORDINARY = Span(-96, 5)
"""Numbers below 2**61 without digits below 2**-96: nearly all that data has."""
EVERY = Span(-1074, 66)
"""All finite Floats."""

_ORDINARY_LIMIT = 2.0**61
_SMALL_HIGH = 2**29
"""With a higher limb up to this, a sum of Ints fits into 64 bits."""


@frozen
class ExactSum:
    """The sum of the Floats of a group, null without any."""

    value: str
    scaled: str
    """The sum divided by 2**64, which is never beyond the Floats."""
    needs_wide: str | None = None


def exact_sum(call: AggregateCall, number: str, *, only_ints: bool = False) -> ExactSum:
    """The sum of the DOUBLE `number` of every record that has one."""
    if only_ints:
        return _sum_of_ints(call, number)
    least, greatest = (float_extreme(call, extreme, number) for extreme in ("min", "max"))
    is_finite = f"{least} > {NEGATIVE_INFINITY} AND {greatest} < {INFINITY}"
    needs_wide = None
    if call.is_wide:
        fitting = call.per_record(f"if(abs({number}) <= {_LARGEST}, {number}, 0D)")
        limbs = [_guarded_limb(fitting, EVERY, k) for k in range(EVERY.limbs)]
        sums = [call.over_group(f"sum({limb})") for limb in limbs]
    else:
        limbs, is_cut = _ordinary_limbs(call, number)
        sums = [call.over_group(f"sum({limb})") for limb in limbs]
        needs_wide = (
            f"({is_finite} AND ({call.over_group(f'bool_or({is_cut})')}"
            f" OR {least} <= -{_ORDINARY_LIMIT!r}D OR {greatest} >= {_ORDINARY_LIMIT!r}D))"
        )
    rounded = call.alike(_round_many if call.is_wide else _round_few, sums)
    value, scaled = (f"if({is_finite}, {text}, {least} + {greatest})" for text in rounded)
    return ExactSum(value, scaled, needs_wide)


def _sum_of_ints(call: AggregateCall, number: str) -> ExactSum:
    low, high = (call.over_group(f"sum({_limb(number, INTS, k)})") for k in range(INTS.limbs))
    small = f"{high} * {2**LIMB_BITS}L + {low}"
    # Groups whose sum is beyond 64 bits are few, and decimals are slow.
    whole = f"CAST({high} AS DECIMAL(20)) * {2**LIMB_BITS}BD + CAST({low} AS DECIMAL(20))"
    is_small = f"{high} BETWEEN -{_SMALL_HIGH}L AND {_SMALL_HIGH}L"
    value = call.bind(f"if({is_small}, CAST({small} AS DOUBLE), CAST({whole} AS DOUBLE))")
    return ExactSum(value, f"({value} * {2.0**-64!r}D)")


def _power_of_two(exponent: int) -> str:
    return f"{2.0**exponent!r}D"


def _limb(number: str, span: Span, k: int) -> str:
    """A limb: the number in units of its power of two, less what the limbs above it hold.

    All of it is exact: scaling by powers of two, rounding to integers, and a difference of integers
    that is itself a small one.
    """
    exponent = span.exponent(k)
    units = f"rint({number} * {_power_of_two(-exponent)})"
    if k + 1 < span.limbs:
        above = f"rint({number} * {_power_of_two(-exponent - LIMB_BITS)})"
        units = f"{units} - {_RADIX} * {above}"
    return f"floor({units})"


def _ordinary_limbs(call: AggregateCall, number: str) -> tuple[list[str], str]:
    """The limbs of an ordinary number, and where it has digits below all of them.

    It is cut in three: what is whole, 63 digits behind the point, 33 digits behind those. Each time
    the rest is at most half of the last digit, and exact. The second limb lacks a factor of two.
    Of numbers that are not ordinary all this is something, but never an error: the shifts that look
    idle keep the first limb small.
    """
    whole = call.per_record(f"floor(rint({number}))")
    behind = call.per_record(f"({number} - {whole}) * {_power_of_two(63)}")
    digits = call.per_record(f"floor(rint({behind}))")
    lowest = call.per_record(f"({behind} - {digits}) * {_power_of_two(33)}")
    limbs = [
        f"shiftright(shiftleft(floor({lowest}), 30), 30)",
        f"{digits} & {2**31 - 1}L",
        f"shiftright({digits}, 31)",
        f"{whole} & {_DIGIT_MASK}",
        f"shiftright({whole}, {LIMB_BITS})",
    ]
    return limbs, f"{lowest} <> rint({lowest})"


def _guarded_limb(number: str, span: Span, k: int) -> str:
    """A limb of any Float, whose scaled value must not leave the Floats.

    A number 2**85 times the limb's power of two is a multiple of the next one: it has 53 digits.
    """
    exponent = span.exponent(k)
    # The reciprocal of the lowest power is no Float.
    units = f"rint({number} / {_power_of_two(exponent)})"
    if k + 1 < span.limbs:
        above = f"rint({number} / {_power_of_two(exponent + LIMB_BITS)})"
        units = f"{units} - {_RADIX} * {above}"
    limb = f"floor({units})"
    bound = exponent + LIMB_BITS + 53
    return limb if bound > 1023 else f"if(abs({number}) < {_power_of_two(bound)}, {limb}, 0L)"


@frozen
class _Leading:
    """The leading digits of a sum, from which it is rounded.

    The sum is `first` times 2**64, plus `second` as an unsigned number of 64 bits, plus less than
    one if there is a `rest`, all in units of 2**`exponent`. Unless it is 0, these hold its leading
    55 digits or more.
    """

    first: str
    second: str
    rest: str
    exponent: str
    is_negative: str | None = None
    """Where this is the sum with its sign changed; None when `first` has the sign."""


def _round_few(bind: Bind, sums: Sequence[str]) -> tuple[str, str]:
    """The rounded sum of ordinary numbers, and the same divided by 2**64."""
    digits, exponent = _rounded(bind, _leading_of_few(bind, sums))
    return f"({digits} * power(2D, {exponent}))", f"({digits} * power(2D, {exponent} - 64))"


def _round_many(bind: Bind, sums: Sequence[str]) -> tuple[str, str]:
    """The same of any numbers."""
    digits, exponent = _rounded(bind, _leading_of_many(bind, sums))

    def total(exponent: str) -> str:
        # Two factors, as the power itself may be beyond the Floats.
        half = f"CAST({exponent} AS INT) DIV 2"
        return f"({digits} * power(2D, {exponent} - {half}) * power(2D, {half}))"

    return total(exponent), total(f"({exponent} - 64)")


def _rounded(bind: Bind, leading: _Leading) -> tuple[str, str]:
    """A sum as a Float of its digits and the exponent of the power of two it is multiplied by."""
    first, second = leading.first, leading.second
    # Move the leading digits to the top of 64 bits, or next to it: the logarithm may be off by one.
    size = f"greatest(abs(CAST({first} AS DOUBLE)), 1D)"
    shift = bind(f"greatest(61 - CAST(floor(log2({size})) AS INT), 0)")
    # More than 55 digits, and a last one that tells whether others follow, round as all would.
    digits = (
        f"shiftleft({first}, {shift})"
        f" | shiftright(shiftright({second}, 1) & {2**63 - 1}L, 63 - {shift})"
        f" | if(shiftleft({second}, {shift}) <> 0 OR {leading.rest}, 1L, 0L)"
    )
    signed = bind(f"CAST({digits} AS DOUBLE)")
    if leading.is_negative:
        signed = f"if({leading.is_negative}, -{signed}, {signed})"
    return signed, bind(f"{leading.exponent} + 64 - {shift}")


def _leading_of_few(bind: Bind, sums: Sequence[str]) -> _Leading:
    """Of a sum of ordinary numbers: it is three words of 64 bits, the highest of which is signed.

    A word that only repeats the sign of the next one is no leading digit.
    """
    lowest, second, *others = sums
    carried = [lowest]
    for total in (f"shiftleft({second}, 1)", *others):
        carried.append(f"({total} + shiftright({carried[-1]}, {LIMB_BITS}))")
    low = bind(_word(carried[1], carried[0]))
    middle = bind(_word(carried[3], carried[2]))
    high = bind(carried[4])
    is_long, is_middle = f"{high} <> shiftright({middle}, 63)", f"{middle} <> shiftright({low}, 63)"

    def by_length(long: str, middling: str, short: str) -> str:
        return f"CASE WHEN {is_long} THEN {long} WHEN {is_middle} THEN {middling} ELSE {short} END"

    exponents = (str(ORDINARY.low + 64 * place) for place in (1, 0, -1))
    return _Leading(
        bind(by_length(high, middle, low)),
        bind(by_length(middle, low, "0L")),
        f"{is_long} AND {low} <> 0",
        by_length(*exponents),
    )


def _word(upper: str, lower: str) -> str:
    """The 64 bits of two limbs."""
    return f"shiftleft({upper}, {LIMB_BITS}) | {lower} & {_DIGIT_MASK}"


def _leading_of_many(bind: Bind, sums: Sequence[str]) -> _Leading:
    limbs = bind(f"array({', '.join(sums)})")
    carried = f"aggregate({limbs}, 0L, (carry, total) -> shiftright(total + carry, {LIMB_BITS}))"
    negative = bind(f"{carried} < 0")
    absolute = f"if({negative}, transform({limbs}, total -> -total), {limbs})"
    # Two zeros stand below the digits, so that every digit has two others behind it.
    zeros = "CAST(array(0L, 0L) AS ARRAY<BIGINT>)"
    digits = bind(
        f"aggregate({absolute}, named_struct('carry', 0L, 'digits', {zeros}),"
        f" (before, total) -> named_struct("
        f"'carry', shiftright(total + before.carry, {LIMB_BITS}),"
        f" 'digits', array_append(before.digits, (total + before.carry) & {_DIGIT_MASK})),"
        f" ended -> array_append(ended.digits, ended.carry))"
    )
    places = f"transform({digits}, (digit, place) -> if(digit <> 0, place, 2))"
    place = bind(f"array_max({places})")
    return _Leading(
        bind(f"get({digits}, {place})"),
        bind(f"shiftleft(get({digits}, {place} - 1), 32) | get({digits}, {place} - 2)"),
        bind(f"exists(slice({digits}, 1, {place} - 2), digit -> digit <> 0)"),
        f"{EVERY.exponent(-4)} + {LIMB_BITS} * {place}",
        negative,
    )
