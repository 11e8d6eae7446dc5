"""The smallest and the largest of the Floats of a group, as Spark SQL.

NaN is above all numbers.
"""

from __future__ import annotations

from clinker.cxl.sql.aggregates import AggregateCall
from clinker.cxl.sql.dialect import current_dialect

INFINITY, NEGATIVE_INFINITY = "double('Infinity')", "double('-Infinity')"
_NAN = "double('NaN')"


def float_extreme(call: AggregateCall, function: str, number: str) -> str:
    """The `min` or the `max` of the DOUBLE `number`, as the engine orders the two zeros."""
    if current_dialect().infinite_extremes:
        return call.over_group(f"{function}({number})")
    has_nan = call.over_group(f"bool_or(isnan({number}))")
    if function == "min":
        least = call.over_group(f"min(if({number} < {INFINITY}, {number}, NULL))")
        has_infinity = call.over_group(f"bool_or({number} = {INFINITY})")
        beyond = f"CASE WHEN {has_infinity} THEN {INFINITY} WHEN {has_nan} THEN {_NAN} END"
        return call.bind(f"coalesce({least}, {beyond})")
    numbers = f"if({number} > {NEGATIVE_INFINITY} AND NOT isnan({number}), {number}, NULL)"
    greatest = call.over_group(f"max({numbers})")
    has_infinity = call.over_group(f"bool_or({number} = {NEGATIVE_INFINITY})")
    beyond = f"if({has_infinity}, {NEGATIVE_INFINITY}, NULL)"
    return call.bind(f"if({has_nan}, {_NAN}, coalesce({greatest}, {beyond}))")
