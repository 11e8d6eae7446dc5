"""What the JSON Schemas say about a place in a file: the keys and words it takes, and what for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from clinker.config.json_schema import KINDS
from clinker.editing.kinds import FileKind
from clinker.frozen import frozen

Schema = Mapping[str, Any]


@frozen
class Key:
    """A key that a mapping takes."""

    name: str
    description: str
    is_required: bool
    default: object | None
    words: tuple[str, ...]
    """The words it may have as its value, if these are all there are."""


@cache
def schema_of(kind: FileKind) -> Schema:
    return KINDS[kind.value]()


def keys_at(kind: FileKind, path: Sequence[str | int], data: object) -> dict[str, Key]:
    """The keys of the mapping at a place, in the order of their declaration.

    `data` is the whole file, as far as it is written: what a mapping takes depends on its type.
    """
    keys: dict[str, Key] = {}
    for branch in _branches_at(kind, path, data):
        required = branch.get("required", ())
        for name, facts in branch.get("properties", {}).items():
            if name not in keys:
                keys[name] = _key(kind, name, facts, name in required)
    return keys


def key_at(kind: FileKind, path: Sequence[str | int], data: object) -> Key | None:
    """What is known of the key at the end of a path."""
    *parent, name = path
    return keys_at(kind, parent, data).get(name) if isinstance(name, str) else None


def words_at(kind: FileKind, path: Sequence[str | int], data: object) -> tuple[str, ...]:
    """The words that the value at a place may be, as far as there is a list of them."""
    words: dict[str, None] = {}
    for branch in _branches_at(kind, path, data, only_fitting=False):
        words |= dict.fromkeys(_words(branch))
    return tuple(words)


def _words(branch: Schema) -> Iterator[str]:
    if "const" in branch:
        yield str(branch["const"])
    for word in branch.get("enum", ()):
        if isinstance(word, str):
            yield word
    if branch.get("type") == "boolean":
        yield from ("true", "false")


def _key(kind: FileKind, name: str, facts: Schema, is_required: bool) -> Key:
    words = dict.fromkeys(
        word for branch in _branches(kind, facts, None, False) for word in _words(branch)
    )
    description = str(facts.get("description", ""))
    return Key(name, description, is_required, facts.get("default"), tuple(words))


def _branches_at(
    kind: FileKind, path: Sequence[str | int], data: object, only_fitting: bool = True
) -> list[Schema]:
    """All schemas that a place may follow, given what is written around it."""
    here = data
    branches = list(_branches(kind, schema_of(kind), here, bool(path) or only_fitting))
    for depth, part in enumerate(path):
        here = _inside(here, part)
        fits = only_fitting or depth + 1 < len(path)
        inner = [schema for branch in branches for schema in _step(branch, part)]
        branches = [b for schema in inner for b in _branches(kind, schema, here, fits)]
    return branches


def _inside(data: object, part: str | int) -> object:
    if isinstance(data, Mapping) and isinstance(part, str):
        return data.get(part)
    if isinstance(data, list | tuple) and isinstance(part, int) and part < len(data):
        return data[part]
    return None


def _step(branch: Schema, part: str | int) -> Iterator[Schema]:
    if isinstance(part, int):
        if isinstance(branch.get("items"), Mapping):
            yield branch["items"]
    elif part in branch.get("properties", {}):
        yield branch["properties"][part]
    elif isinstance(branch.get("additionalProperties"), Mapping):
        yield branch["additionalProperties"]


def _branches(kind: FileKind, schema: Schema, data: object, only_fitting: bool) -> Iterator[Schema]:
    """A schema and the alternatives in it, without those that what is written rules out."""
    if "$ref" in schema:
        definition = schema_of(kind)["$defs"][schema["$ref"].rsplit("/", 1)[1]]
        yield from _branches(kind, definition, data, only_fitting)
        return
    alternatives = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    choices = [choice for choice in alternatives if choice.keys() != {"required"}]
    for choice in choices:
        yield from _branches(kind, choice, data, only_fitting)
    if (not choices or "properties" in schema) and not (only_fitting and _rules_out(schema, data)):
        yield schema


def _rules_out(schema: Schema, data: object) -> bool:
    """Whether a mapping says of itself that it is something else."""
    if not isinstance(data, Mapping):
        return False
    return any(
        "const" in facts and isinstance(data.get(key), str) and data[key] != facts["const"]
        for key, facts in schema.get("properties", {}).items()
    )
