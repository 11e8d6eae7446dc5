"""The SQL of aggregates, where it is more than a function's name.

Sums, means and extremes of numbers are made of fixed-size sums, counts and extremes only, which the
engine keeps in place per group, without sorting or collecting records.
"""

from __future__ import annotations

from clinker.cxl.sql.aggregates import AggregateCall, AggregateForm, AggregateSql
from clinker.cxl.sql.exact_sums import ExactSum, exact_sum
from clinker.cxl.sql.extremes import INFINITY, float_extreme
from clinker.cxl.sql.operand import Operand
from clinker.cxl.sql.tagged import number_sql
from clinker.cxl.sql.text import has_minus_sql, tagged_float_sql
from clinker.cxl.types import NUMERIC, Kind, Type


def _native_kind(type_: Type) -> Kind | None:
    """The kind of values that are not tagged."""
    kinds = type_.kinds & ~Kind.NULL
    return kinds if len(kinds) == 1 and kinds != Kind.MAP else None


# Tagged numbers


def _is_number(tagged: str) -> str:
    return f"left({tagged}, 1) NOT IN ('\"', '@', 't', 'f', '[', '{{')"


def _is_whole(tagged: str) -> str:
    """Whether a tagged number is an Int: these have neither a point nor letters nor a mark."""
    has_mark = f"startswith({tagged}, '#')"
    return f"(NOT contains({tagged}, '.') AND NOT {has_mark} AND right({tagged}, 1) <= '9')"


def _whole(call: AggregateCall, tagged: str, is_number: str = "TRUE") -> str:
    condition = f"{is_number} AND {_is_whole(tagged)}"
    return call.per_record(f"if({condition}, TRY_CAST({tagged} AS BIGINT), NULL)")


def _double(call: AggregateCall, number: Operand) -> str:
    match _native_kind(number.type):
        case Kind.FLOAT:
            return number.text
        case Kind.INT:
            return call.per_record(f"CAST({number.text} AS DOUBLE)")
        case _:
            return call.per_record(f"TRY_CAST({number_sql(number.text)} AS DOUBLE)")


# Sums and means


def total(call: AggregateCall) -> AggregateSql:
    (number,) = call.args
    match _native_kind(number.type):
        case Kind.INT:
            return _int_total(call, number.text)
        case Kind.FLOAT:
            floats = exact_sum(call, number.text)
            return AggregateSql(floats.value, needs_wide=floats.needs_wide)
    ints = _int_total(call, _whole(call, number.text))
    floats = exact_sum(call, _double(call, number))
    has_float = call.over_group(f"bool_or(NOT {_is_whole(number.text)})")
    return AggregateSql(
        f"CASE WHEN {has_float} THEN {tagged_float_sql(call.bind(floats.value))}"
        f" WHEN NOT {has_float} THEN CAST({ints.text} AS STRING) END",
        f"(NOT {has_float} AND {ints.fails})",
        f"({has_float} AND {floats.needs_wide})" if floats.needs_wide else None,
    )


def _int_total(call: AggregateCall, number: str) -> AggregateSql:
    """The sum of Ints, which is exact in two halves and fails if they do not fit together."""
    upper = call.over_group(f"sum(shiftright({number}, 32))")
    lower = call.over_group(f"sum({number} & 4294967295L)")
    upper = call.bind(f"{upper} + shiftright({lower}, 32)")
    fits = f"{upper} BETWEEN -2147483648L AND 2147483647L"
    value = f"shiftleft({upper}, 32) | ({lower} & 4294967295L)"
    return AggregateSql(f"if({fits}, {value}, NULL)", f"(NOT ({fits}))")


def average(call: AggregateCall) -> AggregateSql:
    (number,) = call.args
    double = _double(call, number)
    sum_ = exact_sum(call, double, only_ints=_native_kind(number.type) is Kind.INT)
    count = f"CAST({call.over_group(f'count({double})')} AS DOUBLE)"
    return _ratio(call, sum_, ExactSum(count, count))


def weighted_average(call: AggregateCall) -> AggregateSql:
    value, weight = call.args
    v, w = _double(call, value), _double(call, weight)
    counting = call.per_record(f"if({v} IS NULL, NULL, {w})")
    return _ratio(
        call,
        exact_sum(call, call.per_record(f"{v} * {w}")),
        exact_sum(call, counting, only_ints=_native_kind(weight.type) is Kind.INT),
    )


def _ratio(call: AggregateCall, parts: ExactSum, whole: ExactSum) -> AggregateSql:
    needs = [total.needs_wide for total in (parts, whole) if total.needs_wide]
    needs_wide = f"({' OR '.join(needs)})" if needs else None
    numerator, denominator = call.bind(parts.value), call.bind(whole.value)
    if not call.is_wide:
        return AggregateSql(f"({numerator} / nullif({denominator}, 0D))", needs_wide=needs_wide)
    upper, lower = call.bind(parts.scaled), call.bind(whole.scaled)
    above, below = _overflowed(numerator, upper), _overflowed(denominator, lower)
    return AggregateSql(
        f"(if({above}, {upper}, {numerator}) / nullif(if({below}, {lower}, {denominator}), 0D)"
        f" * CASE WHEN {above} AND NOT {below} THEN {2.0**64!r}D"
        f" WHEN {below} AND NOT {above} THEN {2.0**-64!r}D ELSE 1D END)"
    )


def _overflowed(total: str, scaled: str) -> str:
    return f"(abs({total}) = {INFINITY} AND abs({scaled}) < {INFINITY})"


# Extremes


def extreme(function: str) -> AggregateForm:
    """The form of `min` or of `max`."""

    def form(call: AggregateCall) -> AggregateSql:
        (value,) = call.args
        match _native_kind(value.type):
            case Kind.FLOAT:
                return AggregateSql(_extreme_float(call, function, value.text))
            case None:
                return _extreme_tagged(call, function, value)
        return AggregateSql(call.over_group(f"{function}({value.text})"))

    return form


def _extreme_float(call: AggregateCall, function: str, number: str) -> str:
    """The extreme of Floats, for which Spark does not tell -0.0 from 0.0."""
    extreme = float_extreme(call, function, number)
    sign = "" if function == "min" else "NOT "
    reached = call.over_group(f"bool_or({number} = 0 AND {sign}{has_minus_sql(number)})")
    negative = reached if function == "min" else f"NOT {reached}"
    # Not literals: of two branches 0.0 and -0.0 Spark drops one, as if they were equal.
    return f"if({extreme} = 0, if({negative}, -abs({extreme}), abs({extreme})), {extreme})"


def _extreme_tagged(call: AggregateCall, function: str, value: Operand) -> AggregateSql:
    """The extreme of tagged values; of texts, dates and booleans their tagged texts have the order
    of the values."""
    x = value.text
    if value.type.only(NUMERIC.kinds):
        return AggregateSql(_extreme_number(call, function, x, "TRUE"))
    if not value.type.maybe(NUMERIC.kinds):
        other = call.over_group(f"{function}({x})")
    else:
        other = call.over_group(f"{function}(if({_is_number(x)}, NULL, {x}))")
    families = call.over_group(
        f"bit_or(CASE left({x}, 1) WHEN '\"' THEN 1 WHEN '@' THEN 2 WHEN 't' THEN 4 WHEN 'f' THEN 4"
        f" ELSE if({x} IS NULL, NULL, 8) END)"
    )
    text = f"if({families} = 8, {_extreme_number(call, function, x, _is_number(x))}, {other})"
    return AggregateSql(text, f"(bit_count({families}) > 1)")


def _extreme_number(call: AggregateCall, function: str, x: str, is_number: str) -> str:
    whole = call.over_group(f"{function}({_whole(call, x, is_number)})")
    condition = f"{is_number} AND NOT {_is_whole(x)}"
    real = call.per_record(f"if({condition}, TRY_CAST({number_sql(x)} AS DOUBLE), NULL)")
    real = call.bind(_extreme_float(call, function, real))
    # An Int and an equal Float: a negative Float is below, any other above.
    int_is_below = (
        f"CASE WHEN isnan({real}) THEN TRUE"
        f" WHEN CAST({whole} AS DOUBLE) <> {real} THEN CAST({whole} AS DOUBLE) < {real}"
        f" WHEN {whole} <> floor({real}) THEN {whole} < floor({real})"
        f" ELSE NOT {has_minus_sql(real)} END"
    )
    takes_int = int_is_below if function == "min" else f"NOT {int_is_below}"
    return (
        f"CASE WHEN {whole} IS NOT NULL AND ({real} IS NULL OR {takes_int})"
        f" THEN CAST({whole} AS STRING) WHEN {real} IS NOT NULL THEN {tagged_float_sql(real)} END"
    )


# Records in their order


def count(call: AggregateCall) -> AggregateSql:
    counted = call.args[0].text if call.args else "1"
    return AggregateSql(call.over_group(f"count({counted})"))


def any_true(call: AggregateCall) -> AggregateSql:
    (condition,) = call.args
    if _native_kind(condition.type) is Kind.BOOL:
        return AggregateSql(call.over_group(f"bool_or({condition.text})"))
    return AggregateSql(call.over_group(f"bool_or({condition.text} = 'true')"))


def by_position(function: str) -> AggregateForm:
    """The form of `first` or `last`: the value of the record whose position is extreme."""

    def form(call: AggregateCall) -> AggregateSql:
        (value,) = call.args
        position = call.order[0] if len(call.order) == 1 else f"struct({', '.join(call.order)})"
        return AggregateSql(call.over_group(f"{function}({value.text}, {position})"))

    return form


def collect(call: AggregateCall) -> AggregateSql:
    (value,) = call.args
    position = ", ".join(f"'position{n}', {column}" for n, column in enumerate(call.order))
    records = call.over_group(f"collect_list(named_struct({position}, 'value', {value.text}))")
    return AggregateSql(f"transform(sort_array({records}), record -> record.value)")
