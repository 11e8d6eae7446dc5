"""Format specs: how `format` shows a number, or pads a text.

A spec is a strict subset of Python's: `[[fill]align][sign][0][width][grouping][.precision][type]`.

- align: `<` left (as text is), `>` right (as numbers are), `^` centre; `fill` replaces the blanks
- sign: `+` marks numbers that are not negative, a blank keeps its place free, `-` is the default
- 0: zeros between the sign and the digits, up to the width
- grouping: `,` or `_` between thousands
- type: `d` for Ints, `f` fixed decimals, `e` exponent, `%` percentage; without one, the text form

Floats are rounded from their exact binary value, ties to even. Ints are shown exactly; only with
`e` they count as Floats. NaN and infinities show as their text form, never filled with zeros.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from functools import lru_cache

from clinker.cxl.sql.operand import NotNative
from clinker.cxl.sql.text import float_text_sql, text_literal
from clinker.cxl.types import KIND_NAMES, NUMERIC, Kind
from clinker.cxl.values import float_text
from clinker.frozen import frozen

MAX_WIDTH = 1000
MAX_PRECISION = 100
_DEFAULT_PRECISION = 6
_TEXTS = Kind.STRING | Kind.BOOL

_SPEC = re.compile(
    r"""
    (?: (?P<fill>.)? (?P<align>[<>^]) )?
    (?P<sign>[-+ ])?
    (?P<zero>0)?
    (?P<width>[1-9][0-9]*)?
    (?P<grouping>[,_])?
    (?: \. (?P<precision>[0-9]+) )?
    (?P<type>[A-Za-z%])?
    """,
    re.VERBOSE | re.DOTALL,
)


class SpecError(ValueError):
    """A spec that cannot be used; `offset` is the character it goes wrong at."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@frozen
class Spec:
    fill: str
    align: str
    sign: str
    zero: bool
    width: int
    grouping: str
    precision: int
    type: str


@lru_cache(maxsize=1024)
def compile_spec(text: str, kind: Kind) -> Spec:
    """Parse a spec for values of one kind; SpecError if it does not suit them."""
    if kind not in NUMERIC.kinds | _TEXTS:
        raise SpecError(f"values of type {KIND_NAMES[kind]} take only the empty format", 0)
    match = _SPEC.match(text)
    assert match  # every part may be missing
    problem = _problem_with_text(match, kind) if kind in _TEXTS else _problem(match, kind)
    if problem:
        part, message = problem
        raise SpecError(message, match.end() if part is None else match.start(part))
    return Spec(
        fill=match["fill"] or " ",
        align=match["align"] or (">" if kind in NUMERIC.kinds else "<"),
        sign=match["sign"] or "-",
        zero=match["zero"] is not None,
        width=int(match["width"] or 0),
        grouping=match["grouping"] or "",
        precision=int(match["precision"] or _DEFAULT_PRECISION),
        type=match["type"] or "",
    )


def _problem(match: re.Match[str], kind: Kind) -> tuple[str | None, str] | None:
    """The part that is wrong (None: what follows the last one) and what is wrong with it."""
    if match.end() < len(match.string):
        return None, f"'{match.string[match.end() :]}' is not part of a number format"
    type_ = match["type"]
    if type_ and type_ not in "dfe%":
        return "type", f"type '{type_}' is unknown; there are d, f, e and %"
    if type_ == "d" and kind is Kind.FLOAT:
        return "type", "type 'd' is for Ints; a Float takes f, e or %"
    if match["precision"] and type_ in (None, "d"):
        return "precision", "a precision needs the type f, e or %, as in '.2f'"
    if match["zero"] and match["align"]:
        return "zero", "an alignment excludes filling with zeros"
    if match["zero"] and not match["width"]:
        return "zero", "filling with zeros needs a width"
    if match["grouping"] and type_ == "e":
        return "grouping", "type 'e' has no thousands to group"
    return _excess(match, "width", MAX_WIDTH) or _excess(match, "precision", MAX_PRECISION)


def _problem_with_text(match: re.Match[str], kind: Kind) -> tuple[str | None, str] | None:
    message = f"a {KIND_NAMES[kind]} takes only an alignment and a width, as in '>10'"
    for part in ("sign", "zero", "grouping", "precision", "type"):
        if match[part]:
            return part, message
    if match.end() < len(match.string):
        return None, message
    return _excess(match, "width", MAX_WIDTH)


def _excess(match: re.Match[str], part: str, limit: int) -> tuple[str | None, str] | None:
    digits = (match[part] or "").lstrip("0")
    if len(digits) > len(str(limit)) or int(digits or 0) > limit:
        return part, f"the {part} is at most {limit}"
    return None


def format_text(text: str, spec: Spec) -> str:
    """Fill `text` up to the width of `spec`."""
    missing = max(spec.width - len(text), 0)
    before = {"<": 0, "^": missing // 2, ">": missing}[spec.align]
    return spec.fill * before + text + spec.fill * (missing - before)


def format_number(value: int | float, spec: Spec) -> str:
    """Show a number as `spec` says."""
    if math.isnan(value):
        return format_text(float_text(value), spec)
    negative = math.copysign(1, value) < 0
    sign = "-" if negative else spec.sign.removeprefix("-")
    if math.isinf(value):
        return format_text(sign + float_text(abs(value)), spec)
    digits = _unsigned(abs(value), spec)
    rest = digits.lstrip("0123456789")
    whole = digits.removesuffix(rest)
    room = spec.width - len(sign) - len(rest) if spec.zero else 0
    # Only Python's own format knows how zeros and thousands go together: 00,001,234.
    grouped = format(int(whole), f"0{max(room, 1)}{spec.grouping}d")
    return format_text(sign + grouped + rest, spec)


def _unsigned(value: int | float, spec: Spec) -> str:
    if spec.type == "%" and math.isinf(value * 100.0):
        value = int(value)  # it has no fraction, and its percentage fits no Float
    if isinstance(value, float):
        return format(value, f".{spec.precision}{spec.type}") if spec.type else float_text(value)
    decimals = "." + "0" * spec.precision if spec.precision else ""
    match spec.type:
        case "f":
            return f"{value}{decimals}"
        case "%":
            return f"{value * 100}{decimals}%"
        case "e":
            return format(float(value), f".{spec.precision}e")
        case _:
            return str(value)


# --- Spark SQL ---

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
