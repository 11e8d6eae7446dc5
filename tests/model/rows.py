"""Records on their way through the model, and what becomes of those that fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from clinker.cxl.values import Value
from clinker.plan.analyses.settling import Region

Record: TypeAlias = tuple[int, int]
"""The number of a source, and that of a record over all its files, from 1 on."""
Key: TypeAlias = tuple[str | None, ...]
Group: TypeAlias = tuple[tuple[str, ...], Key]
"""The names of key fields, and their values."""
Variable: TypeAlias = tuple[str, str]
"""A scope, and a name in it."""


@dataclass(frozen=True)
class Unreadable:
    """A value that is not of the type of its column."""

    text: str


Values: TypeAlias = Mapping[str, Value]
Cell: TypeAlias = "Value | Unreadable"
Data: TypeAlias = Mapping[str, Sequence[Sequence[Mapping[str, Cell]]]]
"""By source, the records of each of its files."""


def readable(cells: Mapping[str, Cell]) -> Values:
    """The values of a record, null where there is none."""
    return {name: None if isinstance(c, Unreadable) else c for name, c in cells.items()}


@dataclass(frozen=True)
class Row:
    """A record on its way."""

    values: Values
    record: Record | None
    """The source record that it is; None for a group."""
    first: Record
    """The first of the source records that it was made of."""
    made_of: frozenset[Record]
    keys: Values = field(default_factory=dict)
    """Key fields as they were read."""
    meta: Values = field(default_factory=dict)
    variables: Mapping[Variable, Value] = field(default_factory=dict)
    """What state nodes on its way have written."""
    numbers: Mapping[str, int] = field(default_factory=dict)
    """By relaxed aggregate that it descends from, the number of its group."""

    def with_values(self, values: Values, meta: Values | None = None) -> Row:
        return replace(self, values=values, meta=self.meta if meta is None else meta)


@dataclass(frozen=True)
class Failed:
    """A row that a node rejects."""

    row: Row
    node: str
    category: str
    region: Region
    stage: str = ""
    """What its entry names, if that is not the node."""
    step: int = 0
    """How late in the node it failed: a row that fails twice shows what comes first."""

    @property
    def shown_stage(self) -> str:
        return self.stage or self.node


class Ended(Exception):
    """A record for which the whole run ends."""


@dataclass
class Pass:
    """What one pass brought."""

    outputs: dict[str, list[Row]] = field(default_factory=dict)
    failures: list[Failed] = field(default_factory=list)
    collaterals: list[tuple[Record, str, Group]] = field(default_factory=list)


@dataclass(frozen=True)
class Entry:
    """What a dead letter tells."""

    source: str
    file: str
    row: int
    stage: str
    category: str


@dataclass
class Result:
    outputs: dict[str, object]
    """What outputs hold, as `writing` shows it."""
    entries: list[Entry]
    passes: int
