"""Closures over arrays: what counts as true, when closures run, and the types of results."""

from __future__ import annotations

import pytest

from clinker.cxl.builtins.arrays import (
    first_match,
    flat_map,
    has_match,
    keep,
    remove,
    transformed,
)
from clinker.cxl.builtins.declare import METHODS, ClosureParam, Method
from clinker.cxl.failure import Failure, FailureKind
from clinker.cxl.types import (
    ANY,
    ARRAY,
    BOOL,
    FLOAT,
    INT,
    NULL,
    NUMERIC,
    STRING,
    Kind,
    Type,
    array_of,
)
from clinker.cxl.values import MAX_INT, MIN_INT, Value


def array_method(name: str) -> Method:
    return next(m for m in METHODS[name] if m.receiver.only(Kind.ARRAY))


@pytest.mark.parametrize("verdict", [False, None, 1, 1.0, "true", [True], {"a": True}])
def test_only_true_is_true(verdict: Value) -> None:
    assert keep([1, 2], lambda _: verdict) == []
    assert first_match([1, 2], lambda _: verdict) is None
    assert has_match([1, 2], lambda _: verdict) is False


def test_find_and_any_stop_at_the_first_match() -> None:
    seen: list[Value] = []

    def is_two(item: Value) -> Value:
        seen.append(item)
        return item == 2

    assert first_match([1, 2, 3], is_two) == 2
    assert has_match([1, 2, 3], is_two) is True
    assert seen == [1, 2, 1, 2]


def test_a_found_null_is_null() -> None:
    assert first_match([None, 1], lambda item: item is None) is None


def test_failures_of_the_closure_propagate() -> None:
    def fail(_: Value) -> Value:
        raise Failure(FailureKind.DIVISION_BY_ZERO, "division by zero")

    for call in (keep, transformed, first_match, has_match, flat_map):
        with pytest.raises(Failure):
            call([1], fail)


@pytest.mark.parametrize("index", [-1, 3, MIN_INT, MAX_INT])
def test_remove_ignores_places_that_do_not_exist(index: int) -> None:
    assert remove([1, 2, 3], index) == [1, 2, 3]


def test_the_receiver_is_never_changed() -> None:
    items: list[Value] = [[1], [2]]
    flattened = flat_map(items, lambda item: item)
    flattened.append(3)
    assert remove(items, 0) == [[2]]
    assert keep(items, lambda _: True) is not items
    assert items == [[1], [2]]


@pytest.mark.parametrize(
    ("name", "receiver", "body", "expected"),
    [
        ("filter", array_of(INT), BOOL, array_of(INT)),
        ("find", array_of(INT), BOOL, INT.nullable()),
        ("find", ARRAY, BOOL, ANY),
        ("any", ARRAY, BOOL, BOOL),
        ("map", ARRAY, STRING.nullable(), array_of(STRING.nullable())),
        ("flat_map", ARRAY, array_of(INT), array_of(INT)),
        ("flat_map", ARRAY, array_of(INT).nullable(), array_of(INT)),
        ("flat_map", ARRAY, array_of(INT.nullable()), array_of(INT.nullable())),
        ("flat_map", ARRAY, array_of(array_of(INT)), array_of(array_of(INT))),
        ("flat_map", ARRAY, STRING.nullable(), array_of(STRING)),
        ("flat_map", ARRAY, array_of(INT) | FLOAT, array_of(NUMERIC)),
        ("flat_map", ARRAY, ARRAY, array_of(ANY)),
        ("flat_map", ARRAY, ANY, array_of(ANY)),
        ("flat_map", ARRAY, NULL, array_of(NULL)),
        ("remove", array_of(STRING), INT, array_of(STRING)),
    ],
)
def test_types(name: str, receiver: Type, body: Type, expected: Type) -> None:
    assert array_method(name).result_type(receiver, (body,)) == expected


@pytest.mark.parametrize("name", ["filter", "map", "find", "any", "flat_map"])
def test_these_take_a_closure(name: str) -> None:
    assert array_method(name).takes_closure
    assert isinstance(array_method(name).params[0], ClosureParam)
