"""Methods of arrays: picking and transforming elements with a closure, and removing one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from clinker.cxl.builtins.declare import ClosureParam, Param, method, same_as_receiver
from clinker.cxl.sql.operand import NotNative, Sql, SqlCall
from clinker.cxl.sql.tagged import parsed_array_sql
from clinker.cxl.types import ANY, ARRAY, BOOL, INT, NULL, Kind, Type, array_of
from clinker.cxl.values import Value

Closure: TypeAlias = Callable[[Value], Value]

_PREDICATE = ClosureParam("predicate", BOOL)


def _holds(body: Sql) -> str:
    """Whether the closure gives true, be it a BOOLEAN or a tagged value."""
    return f"CAST({body.text} AS STRING) <=> 'true'"


def _some_fails(items: str, body: Sql) -> str | None:
    """Where the closure fails for some element, when it is applied to all."""
    return f"exists({items}, x -> {body.fails})" if body.fails else None


def _fails_before_match(items: str, body: Sql) -> str | None:
    """Where the closure fails for an element before the first match."""
    if not body.fails:
        return None
    decisive = f"CASE WHEN {body.fails} THEN TRUE WHEN {_holds(body)} THEN FALSE END"
    return f"get(filter(transform({items}, x -> {decisive}), y -> y IS NOT NULL), 0)"


def _keep_sql(call: SqlCall) -> Sql:
    items, body = call.receiver.text, call.apply("x")
    return Sql(f"filter({items}, x -> {_holds(body)})", _some_fails(items, body))


def _transformed_sql(call: SqlCall) -> Sql:
    items, body = call.receiver.text, call.apply("x")
    return Sql(f"transform({items}, x -> {body.text})", _some_fails(items, body))


def _first_match_sql(call: SqlCall) -> Sql:
    items, body = call.receiver.text, call.apply("x")
    first = f"get(filter({items}, x -> {_holds(body)}), 0)"
    return Sql(first, _fails_before_match(items, body))


def _has_match_sql(call: SqlCall) -> Sql:
    items, body = call.receiver.text, call.apply("x")
    return Sql(f"exists({items}, x -> {_holds(body)})", _fails_before_match(items, body))


@method("filter", ARRAY, same_as_receiver, params=[_PREDICATE], sql=_keep_sql)
def keep(items: Sequence[Value], predicate: Closure) -> list[Value]:
    """The elements for which the closure gives true; false and null leave an element out.

    >>> [{"sku": "a", "price": 10}, {"sku": "c", "price": 5}].filter(it => it["price"] > 5)
    [{"sku": "a", "price": 10}]
    >>> [3, null, 1].filter(it => it > 2)
    [3]
    >>> [1, 2].filter(it => it > 2)
    []
    >>> null.filter(it => it > 2)
    null
    """
    return [item for item in items if predicate(item) is True]


def _array_of_results(_: Type, args: tuple[Type, ...]) -> Type:
    return array_of(args[0])


@method(
    "map",
    ARRAY,
    _array_of_results,
    params=[ClosureParam("transform", ANY)],
    sql=_transformed_sql,
)
def transformed(items: Sequence[Value], transform: Closure) -> list[Value]:
    """An array of what the closure gives for each element; nulls are kept.

    >>> [{"sku": "a"}, {"sku": "b"}, {"sku": "c"}].map(it => it["sku"])
    ["a", "b", "c"]
    >>> [{"price": 10}, {"price": 20}, {"price": 5}].map(it => it["price"] * 2)
    [20, 40, 10]
    >>> [1, null].map(it => it + 1)
    [2, null]
    >>> [1, 2].map(it => [it])
    [[1], [2]]
    >>> [{"sku": "a"}].map(it => it.set("region", "us-east"))
    [{"sku": "a", "region": "us-east"}]
    >>> [250, 15].map(it => if it >= 100 then "premium" else "standard")
    ["premium", "standard"]
    """
    return [transform(item) for item in items]


def _element_or_null(receiver: Type, _: tuple[Type, ...]) -> Type:
    return receiver.element_type.nullable()


@method("find", ARRAY, _element_or_null, params=[_PREDICATE], sql=_first_match_sql)
def first_match(items: Sequence[Value], predicate: Closure) -> Value:
    """The first element for which the closure gives true; null if there is none.

    >>> [{"sku": "a", "price": 10}, {"sku": "b", "price": 20}].find(it => it["price"] > 15)
    {"sku": "b", "price": 20}
    >>> [4, 6, 8].find(it => it > 5)
    6
    >>> [1, 2].find(it => it > 2)
    null
    """
    return next((item for item in items if predicate(item) is True), None)


@method("any", ARRAY, BOOL, params=[_PREDICATE], sql=_has_match_sql)
def has_match(items: Sequence[Value], predicate: Closure) -> bool:
    """Whether the closure gives true for at least one element; false for an empty array.

    Elements after the first match are not looked at.

    >>> [{"price": 10}, {"price": 20}, {"price": 5}].any(it => it["price"] < 10)
    true
    >>> [1, 2].any(it => it > 2)
    false
    >>> [null].any(it => it > 2)
    false
    >>> [].any(it => true)
    false
    """
    return any(predicate(item) is True for item in items)


def _array_of_parts(_: Type, args: tuple[Type, ...]) -> Type:
    """Elements of the arrays the closure gives, and whatever else it gives, except null."""
    result = args[0]
    element = Type(result.kinds & ~(Kind.ARRAY | Kind.NULL))
    if result.maybe(Kind.ARRAY):
        element |= result.element_type
    return array_of(element if element.kinds else NULL)


def _flat_map_sql(call: SqlCall) -> Sql:
    items, body = call.receiver.text, call.apply("x")
    type_ = call.closure_type.without_null()
    parts = f"filter(transform({items}, x -> {body.text}), y -> y IS NOT NULL)"
    if type_.kinds == Kind.ARRAY:
        parts = f"flatten({parts})"
    elif type_.maybe(Kind.ARRAY):
        if len(call.type.element_type.without_null().kinds) == 1:
            raise NotNative  # elements have lost their tags
        taken_apart = f"if(startswith(z, '['), {parsed_array_sql('z')}, array(z))"
        parts = f"flatten(transform({parts}, z -> {taken_apart}))"
    return Sql(parts, _some_fails(items, body))


@method(
    "flat_map",
    ARRAY,
    _array_of_parts,
    params=[ClosureParam("transform", ANY)],
    sql=_flat_map_sql,
)
def flat_map(items: Sequence[Value], transform: Closure) -> list[Value]:
    """Like `map`, but an array the closure gives is taken apart: its elements follow each other.

    A null from the closure adds nothing, any other value is added as one element. Only one level
    is taken apart.

    >>> [{"tags": ["new"]}, {"tags": ["sale", "new"]}].flat_map(it => it["tags"])
    ["new", "sale", "new"]
    >>> [{"tags": "new"}, {"tags": null}, {"tags": []}].flat_map(it => it["tags"])
    ["new"]
    >>> [1, 2].flat_map(it => [it, null])
    [1, null, 2, null]
    >>> [1, 2].flat_map(it => [[it]])
    [[1], [2]]
    """
    parts: list[Value] = []
    for item in items:
        result = transform(item)
        if isinstance(result, list):
            parts.extend(result)
        elif result is not None:
            parts.append(result)
    return parts


@method(
    "remove",
    ARRAY,
    same_as_receiver,
    params=[Param("index", INT)],
    sql="if({index} IS NULL, NULL, filter({self}, (x, i) -> i <> {index}))",
)
def remove(items: Sequence[Value], index: int) -> list[Value]:
    """The array without the element at `index`, counted from 0.

    A negative index or one past the end leaves the array unchanged.

    >>> ["a", "b", "c"].remove(1)
    ["a", "c"]
    >>> ["a", "b", "c"].remove(3)
    ["a", "b", "c"]
    >>> ["a", "b", "c"].remove(-1)
    ["a", "b", "c"]
    >>> ["a"].remove(0)
    []
    >>> ["a"].remove(null)
    null
    """
    return [item for position, item in enumerate(items) if position != index]
