"""Functions over the records around the current one: `$window.*` of transforms with a window."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from clinker.cxl.builtins import aggregate_forms, aggregates, window_forms
from clinker.cxl.builtins.aggregates import Number
from clinker.cxl.builtins.declare import Builtin, Param, Returns
from clinker.cxl.failure import FailureKind
from clinker.cxl.sql.windows import WindowForm
from clinker.cxl.types import ANY, BOOL, FLOAT, INT, NUMERIC, Type, array_of
from clinker.cxl.values import Value, identity
from clinker.frozen import frozen

WINDOW_FUNCTIONS: dict[str, WindowFunction] = {}

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Value])


class Shape(enum.Enum):
    """What a window function is called with."""

    VALUES = enum.auto()
    """An expression, evaluated on the records of the window."""
    PREDICATE = enum.auto()
    """A condition, evaluated on the records of the window."""
    RANK = enum.auto()
    """Nothing."""
    POSITION = enum.auto()
    """Nothing; gives a record, of which a field is read."""
    OFFSET = enum.auto()
    """A number of records; gives a record, of which a field is read."""


@frozen
class View:
    """Where the current record stands in its partition, and which records its frame covers."""

    position: int
    start: int
    stop: int
    rank: int
    dense_rank: int

    def frame(self, values: Sequence[_T]) -> Sequence[_T]:
        return values[self.start : self.stop]


@frozen
class WindowFunction(Builtin):
    """Called with the view and the argument's value on every record of the partition."""

    shape: Shape
    sql: WindowForm
    """Its form in the engine."""


def window(
    name: str,
    shape: Shape,
    returns: Returns,
    *,
    sql: WindowForm,
    params: Iterable[Param] = (),
    fails: Iterable[FailureKind] = (),
) -> Callable[[_F], _F]:
    """Declare the decorated function as `$window.name`."""

    def declare(function: _F) -> _F:
        WINDOW_FUNCTIONS[name] = WindowFunction(
            name, "windows", tuple(params), returns, frozenset(fails), function, shape, sql
        )
        return function

    return declare


_FIELD = Param("field", ANY)
_NUMBER = Param("field", NUMERIC)
_ORDERED = Param("field", aggregates.ORDERED)
_PREDICATE = Param("predicate", BOOL)
_OFFSET = Param("n", INT)


def _list_without_nulls(_: Type, args: tuple[Type, ...]) -> Type:
    return array_of(args[0].without_null())


@window(
    "sum",
    Shape.VALUES,
    aggregates.numeric_total,
    params=[_NUMBER],
    fails=[FailureKind.INTEGER_OVERFLOW],
    sql=aggregate_forms.total,
)
def running_sum(view: View, values: Sequence[Number | None]) -> Value:
    """The sum over the window frame: by default everything up to the current record.

    >>> $window.sum(x) given {"x": [1, null, 3]}
    [1, 1, 4]
    """
    return aggregates.total(view.frame(values))


@window(
    "cumulative_sum",
    Shape.VALUES,
    aggregates.numeric_total,
    params=[_NUMBER],
    fails=[FailureKind.INTEGER_OVERFLOW],
    sql=aggregate_forms.total,
)
def cumulative_sum(view: View, values: Sequence[Number | None]) -> Value:
    """Another name of `$window.sum`.

    >>> $window.cumulative_sum(x) given {"x": [1, 2]}
    [1, 3]
    """
    return aggregates.total(view.frame(values))


@window("avg", Shape.VALUES, FLOAT.nullable(), params=[_NUMBER], sql=aggregate_forms.average)
def running_average(view: View, values: Sequence[Number | None]) -> Value:
    """The mean over the window frame, always a Float.

    >>> $window.avg(x) given {"x": [1, 2, null]}
    [1.0, 1.5, 1.5]
    """
    return aggregates.average(view.frame(values))


@window(
    "min",
    Shape.VALUES,
    aggregates.one_of_them,
    params=[_ORDERED],
    fails=[FailureKind.AGGREGATE_TYPE],
    sql=aggregate_forms.extreme("min"),
)
def running_min(view: View, values: Sequence[Value]) -> Value:
    """The smallest value in the window frame.

    >>> $window.min(x) given {"x": [2, 1, 3]}
    [2, 1, 1]
    """
    return aggregates.smallest(view.frame(values))


@window(
    "max",
    Shape.VALUES,
    aggregates.one_of_them,
    params=[_ORDERED],
    fails=[FailureKind.AGGREGATE_TYPE],
    sql=aggregate_forms.extreme("max"),
)
def running_max(view: View, values: Sequence[Value]) -> Value:
    """The largest value in the window frame.

    >>> $window.max(x) given {"x": [2, 1, 3]}
    [2, 2, 3]
    """
    return aggregates.largest(view.frame(values))


@window("count", Shape.RANK, INT, sql=aggregate_forms.count)
def running_count(view: View) -> Value:
    """The number of records in the window frame.

    >>> $window.count() given {"x": [7, 8, 9]}
    [1, 2, 3]
    """
    return max(0, view.stop - view.start)


@window(
    "first_value",
    Shape.VALUES,
    aggregates.one_of_them,
    params=[_FIELD],
    sql=aggregate_forms.by_position("min_by"),
)
def first_value(view: View, values: Sequence[Value]) -> Value:
    """The field's value at the first record of the window frame.

    >>> $window.first_value(x) given {"x": [7, 8]}
    [7, 7]
    """
    return aggregates.first(view.frame(values))


@window(
    "last_value",
    Shape.VALUES,
    aggregates.one_of_them,
    params=[_FIELD],
    sql=aggregate_forms.by_position("max_by"),
)
def last_value(view: View, values: Sequence[Value]) -> Value:
    """The field's value at the last record of the window frame.

    >>> $window.last_value(x) given {"x": [7, 8]}
    [7, 8]
    """
    return aggregates.last(view.frame(values))


@window("row_number", Shape.RANK, INT, sql=window_forms.row_number)
def row_number(view: View) -> Value:
    """The position of the record in its partition, from 1.

    >>> $window.row_number() given {"x": [7, 8]}
    [1, 2]
    """
    return view.position + 1


@window("rank", Shape.RANK, INT, sql=window_forms.ranking("rank"))
def rank(view: View) -> Value:
    """The rank of the record: ties share one, and the next rank skips as many.

    >>> $window.rank() given {"x": [1, 1, 2], "sort_by": ["x"]}
    [1, 1, 3]
    """
    return view.rank


@window("dense_rank", Shape.RANK, INT, sql=window_forms.ranking("dense_rank"))
def dense_rank(view: View) -> Value:
    """The rank of the record without gaps after ties.

    >>> $window.dense_rank() given {"x": [1, 1, 2], "sort_by": ["x"]}
    [1, 1, 2]
    """
    return view.dense_rank


@window("first", Shape.POSITION, aggregates.one_of_them, sql=aggregate_forms.by_position("min_by"))
def first(view: View, values: Sequence[Value], _: int | None) -> Value:
    """The first record of the window frame: `$window.first().field`.

    >>> $window.first().x given {"x": [7, 8]}
    [7, 7]
    """
    return aggregates.first(view.frame(values))


@window("last", Shape.POSITION, aggregates.one_of_them, sql=aggregate_forms.by_position("max_by"))
def last(view: View, values: Sequence[Value], _: int | None) -> Value:
    """The last record of the window frame: `$window.last().field`.

    >>> $window.last().x given {"x": [7, 8]}
    [7, 8]
    """
    return aggregates.last(view.frame(values))


@window(
    "lag", Shape.OFFSET, aggregates.one_of_them, params=[_OFFSET], sql=window_forms.neighbour("lag")
)
def lag(view: View, values: Sequence[Value], offset: int) -> Value:
    """The record `n` before the current one: `$window.lag(1).field` or `$window.lag(field, 1)`.

    Null when there is none.

    >>> $window.lag(1).x given {"x": [7, 8, 9]}
    [null, 7, 8]
    >>> $window.lag(x, 2) given {"x": [7, 8, 9]}
    [null, null, 7]
    """
    at = view.position - offset
    return values[at] if at >= 0 else None


@window(
    "lead",
    Shape.OFFSET,
    aggregates.one_of_them,
    params=[_OFFSET],
    sql=window_forms.neighbour("lead"),
)
def lead(view: View, values: Sequence[Value], offset: int) -> Value:
    """The record `n` after the current one: `$window.lead(1).field` or `$window.lead(field, 1)`.

    Null when there is none.

    >>> $window.lead(1).x given {"x": [7, 8, 9]}
    [8, 9, null]
    """
    at = view.position + offset
    return values[at] if at < len(values) else None


@window("any", Shape.PREDICATE, BOOL.nullable(), params=[_PREDICATE], sql=window_forms.any_of)
def any_of(view: View, values: Sequence[Value]) -> Value:
    """Whether the predicate is true for any record of the window frame.

    >>> $window.any(x > 7) given {"x": [7, 8, 1]}
    [false, true, true]
    """
    return _any(view.frame(values))


@window("exists", Shape.PREDICATE, BOOL.nullable(), params=[_PREDICATE], sql=window_forms.any_of)
def exists(view: View, values: Sequence[Value]) -> Value:
    """Another name of `$window.any`.

    >>> $window.exists(x > 7) given {"x": [7, null, 8]}
    [false, null, true]
    """
    return _any(view.frame(values))


@window("every", Shape.PREDICATE, BOOL.nullable(), params=[_PREDICATE], sql=window_forms.every)
def every(view: View, values: Sequence[Value]) -> Value:
    """Whether the predicate is true for every record of the window frame.

    >>> $window.every(x > 0) given {"x": [1, null, -1]}
    [true, null, false]
    """
    return _every(view.frame(values))


@window(
    "not_exists", Shape.PREDICATE, BOOL.nullable(), params=[_PREDICATE], sql=window_forms.none_of
)
def not_exists(view: View, values: Sequence[Value]) -> Value:
    """Whether the predicate is true for no record of the window frame.

    >>> $window.not_exists(x < 0) given {"x": [1, -1]}
    [true, false]
    """
    holds_for_any = _any(view.frame(values))
    return None if holds_for_any is None else not holds_for_any


def _any(values: Sequence[Value]) -> bool | None:
    if any(value is True for value in values):
        return True
    return None if any(value is None for value in values) else False


def _every(values: Sequence[Value]) -> bool | None:
    if any(value is False for value in values):
        return False
    return None if any(value is None for value in values) else True


@window("collect", Shape.VALUES, _list_without_nulls, params=[_FIELD], sql=window_forms.collect)
def collect(view: View, values: Sequence[Value]) -> Value:
    """The field's values in the window frame as an array, without nulls.

    >>> $window.collect(x) given {"x": ["a", null, "b"]}
    [["a"], ["a"], ["a", "b"]]
    """
    return aggregates.without_nulls(view.frame(values))


@window("distinct", Shape.VALUES, _list_without_nulls, params=[_FIELD], sql=window_forms.distinct)
def distinct(view: View, values: Sequence[Value]) -> Value:
    """The distinct values in the window frame, in the order they first occur, without nulls.

    >>> $window.distinct(x) given {"x": ["a", "b", "a"]}
    [["a"], ["a", "b"], ["a", "b"]]
    """
    first_seen: dict[object, Value] = {}
    for value in aggregates.without_nulls(view.frame(values)):
        first_seen.setdefault(identity(value), value)
    return list(first_seen.values())
