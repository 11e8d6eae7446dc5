"""Pieces of Spark SQL that many forms need: literals, and numbers as text."""

from __future__ import annotations


def text_sql(text: str) -> str:
    """The SQL literal of a text."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def float_text_sql(x: str) -> str:
    """The text form of a Float, as `values.float_text` gives it."""
    return _positional_sql(x, whole_suffix="", infinity="inf")


def tagged_float_sql(x: str) -> str:
    """The tagged text of a Float: the text form, but with a point in whole numbers."""
    return _positional_sql(x, whole_suffix=".0", infinity="Infinity")


def _positional_sql(x: str, whole_suffix: str, infinity: str) -> str:
    """The shortest digits of a Float without exponent.

    Java finds the digits but writes 1.0E7 from ten million on and 9.0E-4 below a thousandth.
    """
    java = f"cast({x} as string)"
    digits = f"trim(trailing '0' from translate(substring_index({java}, 'E', 1), '-.', ''))"
    exponent = f"cast(substring_index({java}, 'E', -1) as int)"
    sign = f"if({x} < 0, '-', '')"
    plain = java
    large = f"concat({sign}, rpad({digits}, {exponent} + 1, '0'), '.', "
    if whole_suffix:
        large += f"coalesce(nullif(substr({digits}, {exponent} + 2), ''), '0'))"
    else:
        # A blank behind the text makes its end visible to `replace`.
        plain = f"rtrim(replace(concat({java}, ' '), '.0 ', ''))"
        large = f"trim(trailing '.' from {large}substr({digits}, {exponent} + 2)))"
    small = f"concat({sign}, '0.', repeat('0', -{exponent} - 1), {digits})"
    return (
        f"case when abs({x}) < 1e7D and (abs({x}) >= 1e-3D or {x} = 0) then {plain}"
        f" when isnan({x}) then 'NaN'"
        f" when abs({x}) > 1.7976931348623157E308D then {sign} || '{infinity}'"
        f" when abs({x}) >= 1 then {large}"
        f" else {small} end"
    )
