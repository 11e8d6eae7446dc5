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
from functools import lru_cache

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
