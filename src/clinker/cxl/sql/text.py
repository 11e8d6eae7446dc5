"""Pieces of Spark SQL that many forms need: literals, and values as text."""

from __future__ import annotations

from clinker.cxl.values import float_text

# The smallest Floats, of which Java shows two digits even where one is enough.
_TINY = 5e-324
_TINY_MULTIPLES = range(1, 21)
_TINY_ZEROS = 321

_ESCAPES = (("\\", "\\\\"), ("'", "\\'"), ("$", "\\u0024"), ("`", "\\u0060"))


def text_sql(text: str) -> str:
    """The SQL literal of a text.

    It is free of the characters that mark names and variables in SQL, so that nobody finds one in
    it by mistake.
    """
    for character, escape in _ESCAPES:
        text = text.replace(character, escape)
    return f"'{text}'"


def float_text_sql(x: str) -> str:
    """The text form of a Float, as `values.float_text` gives it."""
    return _positional_sql(x, tagged=False)


def tagged_float_sql(x: str) -> str:
    """The tagged text of a Float: like the text form, but whole numbers end in `.0`."""
    return _positional_sql(x, tagged=True)


def _positional_sql(x: str, tagged: bool) -> str:
    """The shortest digits of a Float, without exponent.

    Java finds the digits but writes 1.0E7 from ten million on and 9.0E-4 below a thousandth.
    """
    java = f"cast({x} as string)"
    digits = f"trim(trailing '0' from translate(substring_index({java}, 'E', 1), '-.', ''))"
    exponent = f"cast(substring_index({java}, 'E', -1) as int)"
    sign = f"if({x} < 0, '-', '')"
    whole, fraction = f"rpad({digits}, {exponent} + 1, '0')", f"substr({digits}, {exponent} + 2)"
    if tagged:
        plain = java
        large = f"concat({sign}, {whole}, '.', coalesce(nullif({fraction}, ''), '0'))"
    else:
        # A blank behind the text makes its end visible to `replace`.
        plain = f"rtrim(replace(concat({java}, ' '), '.0 ', ''))"
        large = f"trim(trailing '.' from concat({sign}, {whole}, '.', {fraction}))"
    long = f"concat({_whole_sql(x)}, '.0')" if tagged else _whole_sql(x)
    return (
        f"case when abs({x}) < 1e7D and (abs({x}) >= 1e-3D or {x} = 0) then {plain}"
        f" when isnan({x}) then 'NaN'"
        f" when abs({x}) > 1.7976931348623157E308D"
        f" then concat({sign}, '{'Infinity' if tagged else 'inf'}')"
        f" when abs({x}) >= 9007199254740992D and abs({x}) < 9223372036854775808D then {long}"
        f" when abs({x}) >= 1 then {large}"
        f" when abs({x}) > {max(_TINY_MULTIPLES) * _TINY!r}D"
        f" then concat({sign}, '0.', repeat('0', -{exponent} - 1), {digits})"
        f" else concat({sign}, {_tiny_sql(x)}) end"
    )


def _whole_sql(x: str) -> str:
    """The digits of a Float between 2^53 and 2^63.

    Before version 19 Java often shows more of them than needed. The most zeros that still give
    the same Float make the shortest number.
    """
    exact = f"cast({x} as bigint)"
    shorter = (f"bround({exact}, -{zeros})" for zeros in (4, 3, 2, 1))
    tried = " ".join(f"when cast({n} as double) = {x} then {n}" for n in shorter)
    return f"cast(case {tried} else {exact} end as string)"


def _tiny_sql(x: str) -> str:
    endings = (float_text(n * _TINY)[len("0.") + _TINY_ZEROS :] for n in _TINY_MULTIPLES)
    shown = ", ".join(f"'{ending}'" for ending in endings)
    nth = f"cast(abs({x}) / {_TINY!r}D as int)"
    return f"concat('0.', repeat('0', {_TINY_ZEROS}), elt({nth}, {shown}))"


def datetime_text_sql(x: str) -> str:
    """The text form of a DateTime: its fraction, if there is one, has three or six digits."""
    text = f"cast({x} as string)"  # without trailing zeros in the fraction
    fraction = f"substr({text}, 20)"
    return (
        f"case when length({text}) = 19 then {text}"
        f" else concat(left({text}, 19), rpad({fraction}, if(length({fraction}) <= 4, 4, 7), '0'))"
        " end"
    )
