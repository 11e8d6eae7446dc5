"""Identity and order: which values count as one, and which of two comes first."""

from __future__ import annotations

from clinker.cxl.sql.tagged import canonical_sql, number_sql
from clinker.cxl.sql.text import text_literal
from clinker.cxl.types import Kind, Type
from clinker.engine.expressions import Scope, representation
from clinker.engine.expressions.representation import is_of_kind

_NUMBERS = Kind.INT | Kind.FLOAT
_MOMENTS = Kind.DATE | Kind.DATETIME
_NESTED = Kind.ARRAY | Kind.MAP
_ABOVE_INTS = "9223372036854775808D"
_WHOLE_FLOAT = r'([\[,:])"(?:-?(0)|(-?[0-9]+))[.]0"([,\]}])'
"""A whole Float in the text of an array or a map, with what is around it. It is no key, as that has
a colon behind it, and no part of a text, in which quotation marks follow a backslash."""
_AS_WHOLE = "$1$2$3$4"


def identity_sql(scope: Scope, text: str, type_: Type) -> str:
    """A value that is equal for values that count as one; the engine compares the rest alike.

    Of numbers whose kind is known only at run time, 1 and 1.0 are one, inside of arrays and maps as
    well; and so are maps whose keys come in another order.
    """
    form = representation(type_)
    if form.element:
        element = type_.element_type
        if identity_sql(scope, "x", element) == "x":
            return text
        return scope.over(text, "transform", lambda x: identity_sql(scope, x, element))
    if not form.is_tagged or not type_.maybe(Kind.FLOAT | _NESTED):
        return text
    value = scope.bind(text)
    cases: list[str] = []
    if type_.maybe(_NESTED):
        cases.append(f"WHEN left({value}, 1) IN ('[', '{{') THEN {_nested_identity(value)}")
    if type_.maybe(Kind.FLOAT):
        is_float = is_of_kind(value, Kind.FLOAT, type_)
        number = scope.bind(f"TRY_CAST(if({is_float}, {number_sql(value)}, NULL) AS DOUBLE)")
        is_whole = f"{number} = rint({number}) AND abs({number}) < {_ABOVE_INTS}"
        whole = f"CAST(CAST({number} AS BIGINT) AS STRING)"
        cases.append(
            f"WHEN {number} IS NOT NULL THEN if({is_whole}, {whole}, CAST({number} AS STRING))"
        )
    return f"CASE {' '.join(cases)} ELSE {value} END"


def _nested_identity(text: str) -> str:
    """The identity of a tagged array or map."""
    canonical = canonical_sql(text)
    whole = canonical
    for _ in range(2):  # of two that are neighbours the first has taken what is between them
        whole = f"regexp_replace({whole}, {text_literal(_WHOLE_FLOAT)}, {text_literal(_AS_WHOLE)})"
    # A variant has the keys of its objects in order; what is too large for one stays as it is.
    return f"coalesce(to_json(try_parse_json({whole})), {text})"


def order_sql(text: str, type_: Type) -> list[str]:
    """What to sort by, one after the other, to have values in their order.

    Where values are equal, so are all of these. Values of kinds that have no common order come one
    kind after the other.
    """
    if not representation(type_).is_tagged:
        return [text]
    families: list[tuple[str, list[str]]] = []
    if type_.maybe(_NUMBERS):
        is_number = f"{text} RLIKE '^[-#0-9IN]'"
        double = f"TRY_CAST(if({is_number}, {number_sql(text)}, NULL) AS DOUBLE)"
        # Ints that are one as Floats are told apart; digits that no Int has are not.
        digits = f"if(startswith({text}, '#'), CAST({double} AS STRING), {text})"
        exact = f"TRY_CAST(if({is_number}, {digits}, NULL) AS DECIMAL(38, 0))"
        families.append((is_number, [double, exact]))
    if type_.maybe(_MOMENTS):
        is_moment = f"startswith({text}, '@')"
        moment = f"TRY_CAST(if({is_moment}, substr({text}, 2), NULL) AS TIMESTAMP_NTZ)"
        families.append((is_moment, [moment]))
    if not type_.only(_NUMBERS | _MOMENTS):
        known = " OR ".join(test for test, _ in families)
        families.append((f"{text} IS NOT NULL", [f"if({known}, NULL, {text})" if known else text]))
    parts = [part for _, parts in families for part in parts]
    if len(families) == 1:
        return parts
    tests = " ".join(f"WHEN {test} THEN {rank}" for rank, (test, _) in enumerate(families))
    return [f"CASE {tests} END", *parts]
