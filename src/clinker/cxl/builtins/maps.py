"""Methods of maps. Each gives a new value: maps and the arrays in them are never changed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clinker.cxl.builtins.declare import Param, method
from clinker.cxl.sql.operand import NotNative, Sql, SqlCall
from clinker.cxl.sql.tagged import (
    NO_TEXT,
    joined_array_sql,
    joined_map_sql,
    json_sql,
    key_json,
    map_text_sql,
    parsed_array_sql,
    parsed_map_sql,
    tagged_json_sql,
    text_json_sql,
)
from clinker.cxl.sql.text import text_literal
from clinker.cxl.types import ANY, ARRAY, MAP, STRING, array_of
from clinker.cxl.values import Value

# An index of more digits is past the end of any array.
_SEGMENT = re.compile(r"(?P<key>[^\[]*)(?P<indices>(?:\[[0-9]{1,18}\])*)")
_INDEX = re.compile(r"[0-9]+")
# The engine's arrays have no more.
_MAX_ITEMS = 2**31 - 1


@method("keys", MAP, array_of(STRING), sql="json_object_keys({self})")
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


@method("values", MAP, ARRAY, sql=f"map_values({parsed_map_sql('{self}')})")
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


def _merge_sql(call: SqlCall) -> Sql:
    other = call.arg("other")
    assert other
    mine, theirs = (call.bind(parsed_map_sql(x.text)) for x in (call.receiver, other))
    value = f"if(map_contains_key({theirs}, e.key), try_element_at({theirs}, e.key), e.value)"
    kept = f"transform(map_entries({mine}), e -> struct(e.key AS key, {value} AS value))"
    new = f"filter(map_entries({theirs}), e -> NOT map_contains_key({mine}, e.key))"
    return Sql(map_text_sql(f"concat({kept}, {new})"))


@method("merge", MAP, MAP, params=[Param("other", MAP)], sql=_merge_sql)
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


def _with_entry_sql(call: SqlCall) -> Sql:
    key, value = call.arg("key"), call.arg("value")
    assert key
    assert value
    if not isinstance(key.value, str):
        raise NotNative  # how deep the path goes is not known
    steps = _steps(key.value)
    if steps is None:
        return Sql(NO_TEXT)
    return Sql(_with_value(call, call.receiver.text, steps, json_sql(value.text, value.type)))


def _with_value(call: SqlCall, container: str, steps: list[str | int], json: str) -> str:
    """The text of a container with JSON at the end of a path into it; null without a place."""
    step, *further = steps
    if isinstance(step, int):
        return _with_item(call, container, step, further, json)
    held, name = call.bind(parsed_map_sql(container)), text_literal(step)
    if further:
        inner = call.bind(f"coalesce(try_element_at({held}, {name}), '{{}}')")
        json = _with_value(call, inner, further, json)
    json = call.bind(json)
    value = f"if(e.key = {name}, {json}, {tagged_json_sql('e.value')})"
    present = f"transform(map_entries({held}), e -> concat({text_json_sql('e.key')}, ':', {value}))"
    new = f"array(concat({text_literal(key_json(step))}, {json}))"
    missing = f"if(map_contains_key({held}, {name}), CAST(array() AS ARRAY<STRING>), {new})"
    updated = joined_map_sql(f"concat({present}, {missing})")
    return f"if(startswith({container}, '{{') AND {json} IS NOT NULL, {updated}, NULL)"


def _with_item(
    call: SqlCall, container: str, index: int, further: list[str | int], json: str
) -> str:
    if index >= _MAX_ITEMS:
        return NO_TEXT
    held = call.bind(f"if(startswith({container}, '['), {parsed_array_sql(container)}, NULL)")
    if further:
        inner = call.bind(f"coalesce(get({held}, {index}), '{{}}')")
        json = _with_value(call, inner, further, json)
    json = call.bind(json)
    item = f"if(i = {index}, {json}, {tagged_json_sql('x')})"
    updated = joined_array_sql(f"transform({held}, (x, i) -> {item})")
    return f"if({index} < size({held}) AND {json} IS NOT NULL, {updated}, NULL)"


@method(
    "set",
    MAP,
    MAP.nullable(),
    params=[Param("key", STRING), Param("value", ANY, takes_null=True)],
    sql=_with_entry_sql,
    sql_takes_tagged=True,
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


def _remove_field_sql(call: SqlCall) -> Sql:
    key = call.arg("key")
    assert key
    held = call.bind(parsed_map_sql(call.receiver.text))
    rest = map_text_sql(f"filter(map_entries({held}), e -> e.key <> {key.text})")
    return Sql(
        f"CASE WHEN map_contains_key({held}, {key.text}) THEN {rest}"
        f" WHEN {key.text} IS NOT NULL THEN {call.receiver.text} END"
    )


@method("remove_field", MAP, MAP, params=[Param("key", STRING)], sql=_remove_field_sql)
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
