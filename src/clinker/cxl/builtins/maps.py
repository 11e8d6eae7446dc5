"""Methods of maps. Each gives a new value: maps and the arrays in them are never changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clinker.cxl.builtins.declare import Param, method
from clinker.cxl.types import ANY, ARRAY, MAP, STRING, array_of
from clinker.cxl.values import Value

# An index of more digits is past the end of any array.
_SEGMENT = re.compile(r"(?P<key>[^\[]*)(?P<indices>(?:\[[0-9]{1,18}\])*)")
_INDEX = re.compile(r"[0-9]+")


@method("keys", MAP, array_of(STRING))
def keys(entries: Mapping[str, Value]) -> list[Value]:
    """The keys, in the order of the map.

    >>> {"name": "Alice", "tier": "gold", "since": "2021-04"}.keys()
    ["name", "tier", "since"]
    >>> {}.keys()
    []
    >>> null.keys()
    null
    """
    return list(entries)


@method("values", MAP, ARRAY)
def values(entries: Mapping[str, Value]) -> list[Value]:
    """The values, in the order of the map.

    >>> {"name": "Alice", "tier": "gold", "since": "2021-04"}.values()
    ["Alice", "gold", "2021-04"]
    >>> {"a": 1, "b": null, "c": [2.5]}.values()
    [1, null, [2.5]]
    >>> {}.values()
    []
    """
    return list(entries.values())


@method("merge", MAP, MAP, params=[Param("other", MAP)])
def merge(entries: Mapping[str, Value], other: Mapping[str, Value]) -> dict[str, Value]:
    """A map with the entries of both; where both have a key, the value of `other` wins.

    Keys of the receiver keep their places, new ones follow. Nested maps are replaced, not merged.

    >>> {"name": "Alice", "tier": "gold"}.merge({"tier": "platinum", "since": "2021-04"})
    {"name": "Alice", "tier": "platinum", "since": "2021-04"}
    >>> {"a": {"x": 1}}.merge({"a": {"y": 2}})
    {"a": {"y": 2}}
    >>> {"a": 1}.merge({"a": null})
    {"a": null}
    >>> {}.merge({"a.b": 1})
    {"a.b": 1}
    >>> {"a": 1}.merge(null)
    null
    """
    return {**entries, **other}


def _steps(path: str) -> list[str | int] | None:
    """The keys and indices a path leads through; None if its brackets make no sense."""
    steps: list[str | int] = []
    for text in path.split("."):
        segment = _SEGMENT.fullmatch(text)
        if segment is None:
            return None
        steps.append(segment["key"])
        steps.extend(int(index) for index in _INDEX.findall(segment["indices"]))
    return steps


def _has_place(container: dict[str, Value] | list[Value], step: str | int) -> bool:
    """Whether a value can be put at `step`: under any key of a map, at an index that exists."""
    if isinstance(step, str):
        return isinstance(container, dict)
    return isinstance(container, list) and step < len(container)


@method(
    "set",
    MAP,
    MAP.nullable(),
    params=[Param("key", STRING), Param("value", ANY, takes_null=True)],
)
def with_entry(entries: Mapping[str, Value], key: str, value: Value) -> dict[str, Value] | None:
    """The map with `key` set to `value`: an existing key keeps its place, a new one comes last.

    The key may be a path such as `items[0].sku`: dots lead into maps, `[n]` into arrays. Maps that
    are missing or null on the way are created. The result is null if something else is in the way,
    if an index is past the end of its array (arrays never grow) or if a bracket is malformed.

    >>> {"name": "Alice", "tier": "gold"}.set("region", "us-east")
    {"name": "Alice", "tier": "gold", "region": "us-east"}
    >>> {"name": "Alice", "tier": "gold"}.set("name", "Bob")
    {"name": "Bob", "tier": "gold"}
    >>> {"name": "Alice", "address": {"city": "LA"}}.set("address.city", "NYC")
    {"name": "Alice", "address": {"city": "NYC"}}
    >>> {"items": [{"sku": "a"}, {"sku": "b"}]}.set("items[0].sku", "A-100")
    {"items": [{"sku": "A-100"}, {"sku": "b"}]}
    >>> {}.set("a.b.c", 7)
    {"a": {"b": {"c": 7}}}
    >>> {"a": null}.set("a.b", 7)
    {"a": {"b": 7}}
    >>> {"grid": [[1, 2], [3, 4]]}.set("grid[1][0]", 0)
    {"grid": [[1, 2], [0, 4]]}
    >>> {"a": 1}.set("a", null)
    {"a": null}
    >>> {"a": 1}.set("a.b", 2)
    null
    >>> {"a": {"b": 1}}.set("a[0]", 2)
    null
    >>> {"a": [1]}.set("a.b", 2)
    null
    >>> {"a": [1]}.set("a[1]", 2)
    null
    >>> {"a": [1]}.set("a[x]", 2)
    null
    """
    steps = _steps(key)
    if steps is None:
        return None
    *way, last = steps
    result = dict(entries)
    container: Any = result
    for step in way:
        if not _has_place(container, step):
            return None
        inner = container.get(step) if isinstance(container, dict) else container[step]
        if inner is None:
            inner = {}
        elif isinstance(inner, dict | list):
            inner = inner.copy()
        else:
            return None
        container[step] = inner
        container = inner
    if not _has_place(container, last):
        return None
    container[last] = value
    return result


@method("remove_field", MAP, MAP, params=[Param("key", STRING)])
def remove_field(entries: Mapping[str, Value], key: str) -> dict[str, Value]:
    """The map without the entry `key`; unchanged if there is none.

    The key is taken as it is, even if it contains dots or brackets.

    >>> {"name": "Alice", "tier": "gold", "since": "2021-04"}.remove_field("since")
    {"name": "Alice", "tier": "gold"}
    >>> {"name": "Alice", "id": "ix-77"}.set("region", "us-east").remove_field("id")
    {"name": "Alice", "region": "us-east"}
    >>> {"a": 1}.remove_field("b")
    {"a": 1}
    >>> {"a.b": 1, "a": {"b": 2}}.remove_field("a.b")
    {"a": {"b": 2}}
    """
    return {name: value for name, value in entries.items() if name != key}
