"""Ways in which source fields influence what is made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple, TypeAlias


class Influence(Enum):
    """A way; those of the values themselves come first, from the closest to the loosest."""

    IDENTITY = "identity"
    """It is the value."""
    TRANSFORMATION = "transformation"
    """The value is computed of it."""
    AGGREGATION = "aggregation"
    """The value is computed of that of many records."""
    CONDITIONAL = "conditional"
    """It decides which of several values it is."""
    WINDOW = "window"
    """It decides which records a window function looks at, and in which order."""
    FILTER = "filter"
    """It decides whether a record is there at all."""
    JOIN = "join"
    """It decides which records belong together."""
    GROUP_BY = "group_by"
    """It decides which records make a group."""
    SORT = "sort"
    """It decides where a record stands."""

    @property
    def is_direct(self) -> bool:
        """Whether the value itself is made of it."""
        return self in _DIRECT


_DIRECT = (Influence.IDENTITY, Influence.TRANSFORMATION, Influence.AGGREGATION)


class SourceField(NamedTuple):
    source: str
    field: str


Origins: TypeAlias = Mapping[SourceField, frozenset[Influence]]
"""The source fields that something is made of, and how."""


def through(origins: Origins, influence: Influence) -> Origins:
    """The origins of something by which something else is influenced."""
    return {
        field: frozenset(_after(each, influence) for each in ways)
        for field, ways in origins.items()
    }


def _after(first: Influence, then: Influence) -> Influence:
    if not then.is_direct:
        return then
    if not first.is_direct:
        return first
    return max(first, then, key=_DIRECT.index)


def together(every: Iterable[Origins]) -> Origins:
    """The origins of what is made of several."""
    found: dict[SourceField, frozenset[Influence]] = {}
    for origins in every:
        for field, ways in origins.items():
            found[field] = found.get(field, frozenset()) | ways
    return found
