"""Maps: order, paths of `set`, and that nothing is ever changed in place."""

from __future__ import annotations

from copy import deepcopy

import pytest

from clinker.cxl.builtins.declare import METHODS
from clinker.cxl.builtins.maps import keys, merge, remove_field, values, with_entry
from clinker.cxl.types import ANY, MAP, STRING
from clinker.cxl.values import Value

Map = dict[str, Value]


def test_order_is_kept() -> None:
    entries: Map = {"z": 1, "a": 2, "m": 3}
    assert keys(entries) == ["z", "a", "m"]
    assert values(entries) == [1, 2, 3]
    assert list(merge(entries, {"b": 4, "a": 5})) == ["z", "a", "m", "b"]
    assert list(with_entry(entries, "z", 9) or {}) == ["z", "a", "m"]
    assert list(remove_field(entries, "a")) == ["z", "m"]


@pytest.mark.parametrize(
    ("entries", "path", "expected"),
    [
        # An empty segment is a key.
        ({}, "", {"": 7}),
        ({}, ".", {"": {"": 7}}),
        ({}, "a..b", {"a": {"": {"b": 7}}}),
        ({}, "a.", {"a": {"": 7}}),
        ({"": [1]}, "[0]", {"": [7]}),
        # A closing bracket on its own is an ordinary character, and so is anything unusual.
        ({}, "a]", {"a]": 7}),
        ({}, "größe\nx", {"größe\nx": 7}),
        ({}, "0", {"0": 7}),
        # Null on the way is as good as missing.
        ({"a": None}, "a.b", {"a": {"b": 7}}),
        ({"a": [None]}, "a[0].b", {"a": [{"b": 7}]}),
        # The value at the end of the path may be of any kind.
        ({"a": {"b": {"c": 1}}}, "a.b", {"a": {"b": 7}}),
        ({"a": [[1]]}, "a[0]", {"a": [7]}),
        ({"a": [[1, 2], 3]}, "a[0][1]", {"a": [[1, 7], 3]}),
        ({"a": [{"b": [1]}]}, "a[0].b[0]", {"a": [{"b": [7]}]}),
        ({"a": [1, 2]}, "a[01]", {"a": [1, 7]}),
    ],
)
def test_set_writes(entries: Map, path: str, expected: Map) -> None:
    assert with_entry(entries, path, 7) == expected


@pytest.mark.parametrize(
    ("entries", "path"),
    [
        ({"a": 1}, "a.b"),
        ({"a": ""}, "a.b"),
        ({"a": False}, "a.b.c"),
        ({"a": [1]}, "a.b"),
        ({"a": {"b": 1}}, "a[0]"),
        ({"a": "text"}, "a[0]"),
        ({"a": None}, "a[0]"),
        ({}, "a[0]"),
        ({}, "[0]"),
        ({"a": []}, "a[0]"),
        ({"a": [1]}, "a[1]"),
        ({"a": [1]}, "a[1].b"),
        ({"a": [1]}, "a[0][0]"),
        ({"a": [1]}, "a[" + "9" * 5000 + "]"),
        # Malformed brackets.
        ({"a": [1]}, "a["),
        ({"a": [1]}, "a[]"),
        ({"a": [1]}, "a[0"),
        ({"a": [1]}, "a[0]b"),
        ({"a": [1]}, "a[0]]"),
        ({"a": [1]}, "a[[0]]"),
        ({"a": [1]}, "a[-1]"),
        ({"a": [1]}, "a[ 0 ]"),
        ({"a": [1]}, "a[+0]"),
        ({"a": [1]}, "a[\u0660]"),
        ({"a": [1]}, 'a["b"]'),
    ],
)
def test_set_gives_null(entries: Map, path: str) -> None:
    assert with_entry(entries, path, 7) is None


def test_set_follows_paths_of_any_length() -> None:
    result: Value = with_entry({}, ".".join("a" * 5000), 7)
    depth = 0
    while isinstance(result, dict):
        result, depth = result["a"], depth + 1
    assert (result, depth) == (7, 5000)


def test_set_keeps_what_is_beside_the_path() -> None:
    shared: Map = {"x": 1}
    entries: Map = {"a": {"b": [{"c": 1, "d": 2}, shared]}, "e": shared}
    before = deepcopy(entries)
    result = with_entry(entries, "a.b[0].c", 7)
    assert result == {"a": {"b": [{"c": 7, "d": 2}, {"x": 1}]}, "e": {"x": 1}}
    assert entries == before


def test_arguments_are_never_changed() -> None:
    left: Map = {"a": 1}
    right: Map = {"b": 2}
    merge(left, right)["c"] = 3
    remove_field(left, "x")["c"] = 3
    keys(left).append("c")
    assert (left, right) == ({"a": 1}, {"b": 2})


def test_set_takes_a_null_value_and_may_give_null() -> None:
    (declared,) = METHODS["set"]
    assert [param.takes_null for param in declared.params] == [False, True]
    assert declared.result_type(MAP, (STRING, ANY)) == MAP.nullable()
