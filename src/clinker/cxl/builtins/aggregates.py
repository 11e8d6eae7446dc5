"""Functions over all records of a group, used in aggregate nodes."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from clinker.cxl.builtins import aggregate_forms
from clinker.cxl.builtins.declare import Builtin, Param, Returns
from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.sql.aggregates import AggregateForm
from clinker.cxl.types import (
    ANY,
    BOOL,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    NO_KIND,
    NUMERIC,
    STRING,
    Kind,
    Type,
    array_of,
)
from clinker.cxl.values import Value, checked_int, kind_name, kind_of, sort_key, text_of, unwritten
from clinker.frozen import frozen

AGGREGATES: dict[str, Aggregate] = {}

Number: TypeAlias = int | float

_F = TypeVar("_F", bound=Callable[..., Value])


@frozen
class Aggregate(Builtin):
    """Called with one list of values per parameter, in the order of the input."""

    sql: AggregateForm
    """Its form in the engine."""
    counts_rows: bool = False
    """Whether `*` may stand for the argument."""


def aggregate(
    name: str,
    returns: Returns,
    *,
    params: Iterable[Param],
    sql: AggregateForm,
    fails: Iterable[FailureKind] = (),
    counts_rows: bool = False,
) -> Callable[[_F], _F]:
    """Declare the decorated function as the aggregate `name`."""

    def declare(function: _F) -> _F:
        AGGREGATES[name] = Aggregate(
            name,
            "aggregates",
            tuple(params),
            returns,
            frozenset(fails),
            function,
            sql,
            counts_rows,
        )
        return function

    return declare


def numeric_total(_: Type, args: tuple[Type, ...]) -> Type:
    """Ints add up to an Int, Floats to a Float; the total of nothing is null."""
    kinds = args[0].kinds & NUMERIC.kinds or NUMERIC.kinds
    return Type(kinds).nullable()


def one_of_them(_: Type, args: tuple[Type, ...]) -> Type:
    return args[0].nullable()


def list_of_them(_: Type, args: tuple[Type, ...]) -> Type:
    return array_of(args[0])


def without_nulls(values: Iterable[Value]) -> list[Value]:
    return [value for value in values if value is not None]


def check_argument(function: Builtin, position: int, value: Value) -> None:
    """Fail unless an aggregate or window function takes the value; null it always takes."""
    wanted = function.param(position).type
    if value is not None and not kind_of(value) & wanted.kinds:
        detail = f"{function.name} expects {wanted}, got {kind_name(value)}"
        raise Failure(FailureKind.AGGREGATE_TYPE, detail, text_of(value))


ORDERED = NUMERIC | STRING | DATE | DATETIME | BOOL

# More records than a sum of it beyond the Floats can have.
_SCALE = 2.0**64


def exact_ratio(parts: Sequence[float], whole: Sequence[float]) -> float | None:
    """The sum of `parts` over the sum of `whole`, both rounded; null when that is zero.

    Sums beyond the range of a Float do not spoil a ratio that is within it.
    """
    numerator, above = _scaled_sum(parts)
    denominator, below = _scaled_sum(whole)
    return numerator / denominator * (above / below) if denominator else None


def _scaled_sum(numbers: Sequence[float]) -> tuple[float, float]:
    """The sum as a Float times a scale, which is not 1 only where the sum itself is no Float."""
    total = exact_sum(numbers)
    if math.isinf(total) and all(map(math.isfinite, numbers)):
        return float(_fraction(numbers) / int(_SCALE)), _SCALE
    return total, 1.0


def exact_sum(numbers: Sequence[float]) -> float:
    """The sum of floats, rounded once: the same in whatever order they come."""
    beyond = {number for number in numbers if not math.isfinite(number)}
    if beyond:
        return sum(beyond)
    try:
        return math.fsum(numbers)
    except OverflowError:  # a partial sum left the range, though the whole may not
        return _rounded(_fraction(numbers))


def _fraction(numbers: Sequence[float]) -> Fraction:
    return sum(map(Fraction, numbers), Fraction())


def _rounded(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


@aggregate(
    "sum",
    numeric_total,
    params=[Param("value", NUMERIC)],
    fails=[FailureKind.INTEGER_OVERFLOW],
    sql=aggregate_forms.total,
)
def total(values: Sequence[Number | None]) -> Value:
    """The sum of the values. Nulls are skipped; without any value the sum is null.

    Ints give an Int, Floats a Float that does not depend on the order of the records.

    >>> sum(x) given {"x": [1, 2, null, 4]}
    7
    >>> sum(x) given {"x": [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]}
    1.0
    >>> sum(x) given {"x": [1, 2.5]}
    3.5
    >>> sum(x) given {"x": [null, null]}
    null
    >>> sum(x) given {"x": [9223372036854775807, 1]}
    error: integer overflow in sum
    """
    numbers = [number for number in values if number is not None]
    if not numbers:
        return None
    ints = [number for number in numbers if isinstance(number, int)]
    if len(ints) == len(numbers):
        return checked_int(sum(ints), "sum")
    return exact_sum([float(number) for number in numbers])


@aggregate(
    "count",
    INT,
    params=[Param("value", ANY, optional=True)],
    counts_rows=True,
    sql=aggregate_forms.count,
)
def count(values: Sequence[Value]) -> Value:
    """The number of records: `count(*)`. With an expression, of those where it is not null.

    >>> count(*) given {"x": [1, null, 3]}
    3
    >>> count(x) given {"x": [1, null, 3]}
    2
    """
    return len(without_nulls(values))


@aggregate("avg", FLOAT.nullable(), params=[Param("value", NUMERIC)], sql=aggregate_forms.average)
def average(values: Sequence[Number | None]) -> Value:
    """The arithmetic mean, always a Float. Nulls are skipped; without any value it is null.

    >>> avg(x) given {"x": [1, 2, null]}
    1.5
    >>> avg(x) given {"x": [null]}
    null
    """
    numbers = [float(n) for n in values if n is not None]
    return exact_ratio(numbers, [1.0] * len(numbers))


@aggregate(
    "min",
    one_of_them,
    params=[Param("value", ORDERED)],
    fails=[FailureKind.AGGREGATE_TYPE],
    sql=aggregate_forms.extreme("min"),
)
def smallest(values: Sequence[Value]) -> Value:
    """The smallest value: of numbers, texts, dates or booleans. Nulls are skipped.

    >>> min(x) given {"x": [3, null, 1.5]}
    1.5
    >>> min(x) given {"x": ["pear", "apple"]}
    "apple"
    """
    ordered = _comparable("min", values)
    return unwritten(min(ordered, key=_rank, default=None))


@aggregate(
    "max",
    one_of_them,
    params=[Param("value", ORDERED)],
    fails=[FailureKind.AGGREGATE_TYPE],
    sql=aggregate_forms.extreme("max"),
)
def largest(values: Sequence[Value]) -> Value:
    """The largest value: of numbers, texts, dates or booleans. Nulls are skipped.

    >>> max(x) given {"x": [3, null, 1.5]}
    3
    >>> max(x) given {"x": [null]}
    null
    """
    ordered = _comparable("max", values)
    return unwritten(max(ordered, key=_rank, default=None))


def _rank(value: Value) -> tuple[Any, ...]:
    """A total order in which nothing ties, so that extremes do not depend on the order of records.

    -0.0 is below 0 and 0 below 0.0, an Int is nearer to zero than the equal Float, a Date is below
    its midnight.
    """
    sign = math.copysign(1.0, value) if isinstance(value, float) else 0.0
    return (*sort_key(value), sign, isinstance(value, dt.datetime))


_ORDERED = (
    NUMERIC.kinds,
    Kind.STRING,
    Kind.DATE | Kind.DATETIME,
    Kind.BOOL,
)


def _comparable(name: str, values: Sequence[Value]) -> list[Value]:
    present = without_nulls(values)
    kinds = NO_KIND
    for value in present:
        kinds |= kind_of(value)
    if not any(kinds in family for family in _ORDERED):
        shown = Type(kinds)
        raise Failure(FailureKind.AGGREGATE_TYPE, f"{name} cannot compare {shown}")
    return present


@aggregate("collect", list_of_them, params=[Param("value", ANY)], sql=aggregate_forms.collect)
def collect(values: Sequence[Value]) -> Value:
    """All values as an array, in the order of the input, nulls included.

    >>> collect(x) given {"x": ["b", null, "a"]}
    ["b", null, "a"]
    """
    return list(values)


@aggregate(
    "weighted_avg",
    FLOAT.nullable(),
    params=[Param("value", NUMERIC), Param("weight", NUMERIC)],
    sql=aggregate_forms.weighted_average,
)
def weighted_average(values: Sequence[Number | None], weights: Sequence[Number | None]) -> Value:
    """The sum of value times weight over the sum of weights.

    Records with a null value or weight are skipped; null when the weights add up to zero.

    >>> weighted_avg(price, qty) given {"price": [10.0, 20.0], "qty": [1, 3]}
    17.5
    >>> weighted_avg(price, qty) given {"price": [10.0], "qty": [0]}
    null
    """
    pairs = [
        (float(value), float(weight))
        for value, weight in zip(values, weights, strict=True)
        if value is not None and weight is not None
    ]
    weights_given = [weight for _, weight in pairs]
    return exact_ratio([value * weight for value, weight in pairs], weights_given)


@aggregate(
    "first", one_of_them, params=[Param("value", ANY)], sql=aggregate_forms.by_position("min_by")
)
def first(values: Sequence[Value]) -> Value:
    """The value of the group's first record in input order, null or not.

    >>> first(x) given {"x": ["b", "a"]}
    "b"
    """
    return values[0] if values else None


@aggregate(
    "last", one_of_them, params=[Param("value", ANY)], sql=aggregate_forms.by_position("max_by")
)
def last(values: Sequence[Value]) -> Value:
    """The value of the group's last record in input order, null or not.

    >>> last(x) given {"x": ["b", null]}
    null
    """
    return values[-1] if values else None


@aggregate("any", BOOL.nullable(), params=[Param("condition", BOOL)], sql=aggregate_forms.any_true)
def any_true(values: Sequence[Value]) -> Value:
    """Whether the condition is true for at least one record. Nulls are skipped.

    >>> any(x > 2) given {"x": [1, 2, 3, null]}
    true
    >>> any(x > 5) given {"x": [1, null]}
    false
    >>> any(x > 5) given {"x": [null]}
    null
    """
    known = without_nulls(values)
    return any(value is True for value in known) if known else None
