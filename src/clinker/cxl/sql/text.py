"""Pieces of Spark SQL that many forms need: literals, and values as text."""

from __future__ import annotations

from clinker.cxl.sql.dialect import current_dialect
from clinker.cxl.values import MIN_INT, float_text

# The smallest Floats, of which Java shows two digits even where one is enough.
_TINY = 5e-324
_TINY_MULTIPLES = range(1, 21)
_TINY_ZEROS = 321

_ESCAPES = (("\\", "\\\\"), ("'", "\\'"), ("$", "\\u0024"), ("`", "\\u0060"))


def int_literal(value: int) -> str:
    """An Int as SQL. The smallest is no negated literal everywhere: it has no positive one."""
    return f"{value}L" if value > MIN_INT else f"CAST('{value}' AS BIGINT)"


def text_literal(text: str) -> str:
    """The SQL literal of a text.

    It is free of the characters that mark names and variables in SQL, so that nobody finds one in
    it by mistake.
    """
    for character, escape in _ESCAPES:
        text = text.replace(character, escape)
    return f"'{text}'"


def has_minus_sql(x: str) -> str:
    """Whether a Float has a minus sign, which -0.0 has as well."""
    return f"startswith(CAST({x} AS STRING), '-')"


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
    if not current_dialect().java_floats:
        return _shortest_sql(x, tagged)
    java = f"CAST({x} AS STRING)"
    digits = f"trim(TRAILING '0' FROM translate(substring_index({java}, 'E', 1), '-.', ''))"
    exponent = f"CAST(substring_index({java}, 'E', -1) AS INT)"
    sign = f"if({x} < 0, '-', '')"
    whole, fraction = f"rpad({digits}, {exponent} + 1, '0')", f"substr({digits}, {exponent} + 2)"
    if tagged:
        plain = java
        large = f"concat({sign}, {whole}, '.', coalesce(nullif({fraction}, ''), '0'))"
    else:
        # A blank behind the text makes its end visible to `replace`.
        plain = f"rtrim(replace(concat({java}, ' '), '.0 ', ''))"
        large = f"trim(TRAILING '.' FROM concat({sign}, {whole}, '.', {fraction}))"
    long = f"concat({_whole_sql(x)}, '.0')" if tagged else _whole_sql(x)
    return (
        f"CASE WHEN abs({x}) < 1e7D AND (abs({x}) >= 1e-3D OR {x} = 0) THEN {plain}"
        f" WHEN isnan({x}) THEN 'NaN'"
        f" WHEN abs({x}) > 1.7976931348623157E308D"
        f" THEN concat({sign}, '{'Infinity' if tagged else 'inf'}')"
        f" WHEN abs({x}) >= 9007199254740992D AND abs({x}) < 9223372036854775808D THEN {long}"
        f" WHEN abs({x}) >= 1 THEN {large}"
        f" WHEN abs({x}) > {max(_TINY_MULTIPLES) * _TINY!r}D"
        f" THEN concat({sign}, '0.', repeat('0', -{exponent} - 1), {digits})"
        f" ELSE concat({sign}, {_tiny_sql(x)}) END"
    )


def _shortest_sql(x: str, tagged: bool) -> str:
    """The same of engines that find the shortest digits of all Floats, and write an exponent, as
    1.5e-7, only where there are more than sixteen before the point, or many zeros behind it."""
    text = f"CAST({x} AS STRING)"
    digits = f"translate(substring_index({text}, 'e', 1), '-.', '')"
    # It is looked for in every text, also where nothing comes of it.
    exponent = f"TRY_CAST(substring_index({text}, 'e', -1) AS INT)"
    sign = f"if({x} < 0, '-', '')"
    if tagged:
        plain, point = f"replace({text}, 'inf', 'Infinity')", ", '.0'"
    else:
        plain, point = f"rtrim(replace(concat({text}, ' '), '.0 ', ''))", ""
    return (
        f"CASE WHEN instr({text}, 'e') = 0 THEN {plain}"
        f" WHEN abs({x}) >= 1 THEN concat({sign}, rpad({digits}, {exponent} + 1, '0'){point})"
        f" ELSE concat({sign}, '0.', repeat('0', -{exponent} - 1), {digits}) END"
    )


def _whole_sql(x: str) -> str:
    """The digits of a Float between 2^53 and 2^63.

    Before version 19 Java often shows more of them than needed. The most zeros that still give
    the same Float make the shortest number.
    """
    exact = f"CAST({x} AS BIGINT)"
    shorter = (f"bround({exact}, -{zeros})" for zeros in (4, 3, 2, 1))
    tried = " ".join(f"WHEN CAST({n} AS DOUBLE) = {x} THEN {n}" for n in shorter)
    return f"CAST(CASE {tried} ELSE {exact} END AS STRING)"


def _tiny_sql(x: str) -> str:
    endings = (float_text(n * _TINY)[len("0.") + _TINY_ZEROS :] for n in _TINY_MULTIPLES)
    shown = ", ".join(f"'{ending}'" for ending in endings)
    nth = f"CAST(abs({x}) / {_TINY!r}D AS INT)"
    return f"concat('0.', repeat('0', {_TINY_ZEROS}), elt({nth}, {shown}))"


def datetime_text_sql(x: str) -> str:
    """The text form of a DateTime: its fraction, if there is one, has three or six digits."""
    text = f"CAST({x} AS STRING)"  # without trailing zeros in the fraction
    fraction = f"substr({text}, 20)"
    return (
        f"CASE WHEN length({text}) = 19 THEN {text}"
        f" ELSE concat(left({text}, 19), rpad({fraction}, if(length({fraction}) <= 4, 4, 7), '0'))"
        " END"
    )
