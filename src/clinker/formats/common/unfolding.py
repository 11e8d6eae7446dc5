"""Arrays inside of records unfolded: into records of their own, or into one text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, TypeAlias

from clinker.formats.common.json_numbers import dumps
from clinker.formats.common.read_spec import ArrayPath

Record: TypeAlias = dict[str, Any]
Unfolding: TypeAlias = Callable[[Record], Iterable[Record]]
"""What turns a record into the records inside of it."""


def split_path(path: str) -> tuple[str, ...]:
    """The keys that `$.a.b`, `a.b` or `/a/b` lead through."""
    steps = path.split("/") if path.startswith("/") else path.removeprefix("$").split(".")
    return tuple(filter(None, steps))


def unfold_array(path: ArrayPath) -> Unfolding:
    """What unfolds the array at a path."""
    return _explode(path) if path.mode == "explode" else _join(path)


def unfold_in_turn(steps: Sequence[Unfolding]) -> Unfolding | None:
    """Some unfoldings, each of what the one before gives; None if there are none."""
    if not steps:
        return None

    def unfold(record: Record) -> Iterable[Record]:
        records: Iterable[Record] = (record,)
        for step in steps:
            records = chain.from_iterable(map(step, records))
        return records

    return unfold


def _explode(path: ArrayPath) -> Unfolding:
    steps = split_path(path.path)

    def explode(record: Record) -> Sequence[Record]:
        elements = find(record, steps)
        if not isinstance(elements, list):
            return (record,)
        without = replace_at(record, steps, ())
        return [
            without | each if isinstance(each, dict) else replace_at(record, steps, (each,))
            for each in elements
        ]

    return explode


def _join(path: ArrayPath) -> Unfolding:
    steps = split_path(path.path)

    def join(record: Record) -> Sequence[Record]:
        elements = find(record, steps)
        if not isinstance(elements, list):
            return (record,)
        text = path.separator.join(
            element if isinstance(element, str) else dumps(element).decode() for element in elements
        )
        return (replace_at(record, steps, (text,)),)

    return join


def find(record: Record, steps: Sequence[str]) -> Any:
    """The value at a path, null if there is none; a key with dots in it counts before that."""
    whole = ".".join(steps)
    if whole in record:
        return record[whole]
    value: Any = record
    for step in steps:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return value


def replace_at(record: Record, steps: Sequence[str], value: tuple[Any, ...]) -> Record:
    """A record with another value at a path, or without it if there is none."""
    whole = ".".join(steps)
    first, rest = (whole, ()) if whole in record else (steps[0], steps[1:])
    changed = dict(record)
    if rest:
        changed[first] = replace_at(record[first], rest, value)
    elif value:
        changed[first] = value[0]
    else:
        del changed[first]
    return changed
