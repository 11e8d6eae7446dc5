"""Numbers and texts in the format of a spec: what `run.number_format` does, as SQL."""

from __future__ import annotations

from collections.abc import Callable

from clinker.cxl.run.number_format import Spec
from clinker.cxl.sql.operand import NotNative
from clinker.cxl.sql.text import float_text_sql, text_literal
from clinker.cxl.types import Kind

# A fraction times this power of ten stays below 2^53, so that no half gets lost.
_MAX_NATIVE_PRECISION = 15
_LIMB = 10**15
_SCALE = 2048
_MAX_SCALINGS = 88  # from below 2^63 to the largest Float


def aligned_sql(text: str, spec: Spec) -> str:
    """`format_text` for the text of that name."""
    if not spec.width:
        return text
    fill = text_literal(spec.fill)
    padded = {
        "<": f"rpad({text}, {spec.width}, {fill})",
        ">": f"lpad({text}, {spec.width}, {fill})",
        "^": f"rpad(concat(repeat({fill}, shiftright({spec.width} - length({text}), 1)), {text}),"
        f" {spec.width}, {fill})",
    }[spec.align]
    return f"if(length({text}) >= {spec.width}, {text}, {padded})"


def number_sql(x: str, kind: Kind, spec: Spec, bind: Callable[[str], str]) -> str:
    """`format_number` for the number of that name; `bind` gives texts of SQL a name."""
    plus = text_literal(spec.sign.removeprefix("-"))
    if kind is Kind.INT:
        sign = f"if({x} < 0L, '-', {plus})"
        whole, rest = _int_parts_sql(x, spec)
        return aligned_sql(bind(_assembled_sql(sign, whole, rest, spec)), spec)
    is_negative = f"({x} < 0D OR ({x} = 0D AND startswith(CAST({x} AS STRING), '-')))"
    sign = f"if({is_negative}, '-', {plus})"
    whole, rest = _float_parts_sql(x, spec, bind)
    text = (
        f"CASE WHEN {x} IS NULL THEN NULL WHEN isnan({x}) THEN 'NaN'"
        f" WHEN abs({x}) = double('Infinity') THEN concat({sign}, 'inf')"
        f" ELSE {_assembled_sql(sign, whole, rest, spec)} END"
    )
    return aligned_sql(bind(text), spec)


def _assembled_sql(sign: str, whole: str, rest: str, spec: Spec) -> str:
    """Sign, whole part and rest; zeros and thousands go into the whole part."""
    if spec.zero:
        room = f"greatest({spec.width} - length({sign}) - length({rest}), 1)"
        if spec.grouping:
            room = f"{room} - shiftright({room} - 1, 2)"  # every fourth character separates
        whole = f"lpad({whole}, greatest(length({whole}), {room}), '0')"
    if spec.grouping:
        whole = f"regexp_replace({whole}, '(?<=.)(?=(?:...)+\\\\z)', '{spec.grouping}')"
    return f"concat({sign}, {whole}, {rest})"


def _int_parts_sql(x: str, spec: Spec) -> tuple[str, str]:
    digits = f"replace(CAST({x} AS STRING), '-', '')"
    match spec.type:
        case "e":
            raise NotNative
        case "f":
            return digits, _zeros_sql(spec)
        case "%":
            return f"if({x} = 0L, '0', concat({digits}, '00'))", _zeros_sql(spec)
        case _:
            return digits, "''"


def _zeros_sql(spec: Spec) -> str:
    zeros = "." + "0" * spec.precision if spec.precision else ""
    return text_literal(zeros + spec.type.removeprefix("f"))


def _float_parts_sql(x: str, spec: Spec, bind: Callable[[str], str]) -> tuple[str, str]:
    """The whole part of a finite Float, without sign, and what follows it."""
    if not spec.type:
        shown = bind(f"replace({float_text_sql(x)}, '-', '')")
        whole = f"substring_index({shown}, '.', 1)"
        return whole, f"substr({shown}, length({whole}) + 1)"
    if spec.type == "e" or spec.precision > _MAX_NATIVE_PRECISION:
        raise NotNative
    if spec.type == "f":
        return _fixed_parts_sql(bind(f"abs({x})"), spec, bind)
    percentage = bind(f"abs({x}) * 100D")
    whole, rest = _fixed_parts_sql(percentage, spec, bind)
    is_too_large = f"{percentage} = double('Infinity')"
    return f"if({is_too_large}, concat({_large_whole_sql(f'abs({x})')}, '00'), {whole})", rest


def _fixed_parts_sql(x: str, spec: Spec, bind: Callable[[str], str]) -> tuple[str, str]:
    """The parts of a Float that is not negative, rounded to the precision.

    Below 2^53 the fraction is exact, and with the error of its product with a power of ten (found
    as Dekker does) so is the comparison with a half. From there on all Floats are whole.
    """
    power = 10**spec.precision
    factor = float(power)
    factor_high, factor_low = _halves(factor)
    whole = bind(f"floor(if({x} < {2**53}D, {x}, 0D))")
    fraction = bind(f"if({x} < {2**53}D, {x} - {whole}, 0D)")
    product = bind(f"{fraction} * {factor!r}D")
    high = bind(f"{fraction} * 134217729D - ({fraction} * 134217729D - {fraction})")
    low = f"({fraction} - {high})"
    error = bind(
        f"{low} * {factor_low!r}D - ((({product} - {high} * {factor_high!r}D)"
        f" - {low} * {factor_high!r}D) - {high} * {factor_low!r}D)"
    )
    below = bind(f"floor({product})")
    beyond_half = f"({product} - {below} - 0.5D)"
    is_odd = f"{below if spec.precision else whole} % 2 = 1"
    rounded = bind(
        f"{below} + if({beyond_half} > -{error} OR ({beyond_half} = -{error} AND {is_odd}), 1L, 0L)"
    )
    carried = f"CAST({whole} + {rounded} DIV {power}L AS STRING)"
    shown = f"if({x} < {2**53}D, {carried}, {_large_whole_sql(x)})"
    if not spec.precision:
        return shown, _zeros_sql(spec)
    decimals = f"lpad(CAST({rounded} % {power}L AS STRING), {spec.precision}, '0')"
    return shown, f"concat('.', {decimals}, '{spec.type.removeprefix('f')}')"


def _halves(number: float) -> tuple[float, float]:
    """Two Floats of half the digits each that make up the number."""
    scaled = number * 134217729.0
    high = scaled - (scaled - number)
    return high, number - high


def _large_whole_sql(x: str) -> str:
    """All digits of a Float from 2^53 on.

    Above the Ints it is halved until it is one, and limb by limb multiplied again.
    """
    state, limbs, limb, at = "`$state`", "`$limbs`", "`$limb`", "`$at`"
    start = f"named_struct('number', {x}, 'scales', CAST(array() AS ARRAY<BIGINT>))"
    scaled = (
        f"named_struct('number', {state}.number / {_SCALE}D,"
        f" 'scales', array_append({state}.scales, {_SCALE}L))"
    )
    scaling = (
        f"aggregate(sequence(1, {_MAX_SCALINGS}), {start},"
        f" ({state}, {at}) -> if({state}.number >= {2**63}D, {scaled}, {state}))"
    )
    product = f"({limb} * {_SCALE}L + {state}.carry)"
    multiplied = (
        f"aggregate({limbs}, named_struct('carry', 0L, 'limbs', CAST(array() AS ARRAY<BIGINT>)),"
        f" ({state}, {limb}) -> named_struct('carry', {product} DIV {_LIMB}L,"
        f" 'limbs', array_append({state}.limbs, {product} % {_LIMB}L)),"
        f" {state} -> if({state}.carry > 0L, array_append({state}.limbs, {state}.carry),"
        f" {state}.limbs))"
    )
    number = f"CAST({state}.number AS BIGINT)"
    product_of_all = (
        f"aggregate({state}.scales, array({number} % {_LIMB}L, {number} DIV {_LIMB}L),"
        f" ({limbs}, {at}) -> {multiplied})"
    )
    shown = f"CAST({limb} AS STRING)"
    digits = (
        f"array_join(transform(reverse({product_of_all}), ({limb}, {at}) ->"
        f" if({at} = 0, {shown}, lpad({shown}, {len(str(_LIMB)) - 1}, '0'))), '')"
    )
    exact = f"transform(array({scaling}), {state} -> {digits})[0]"
    return f"if({x} < {2**63}D, CAST(CAST({x} AS BIGINT) AS STRING), {exact})"
