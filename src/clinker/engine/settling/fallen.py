"""What has fallen so far: records and groups that a run is computed without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import pyarrow as pa

from clinker.config.names import FanoutPolicy
from clinker.engine.flow.frame import Input
from clinker.frozen import frozen

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from clinker.engine.session.session import Session

Record: TypeAlias = tuple[int, int]
"""The number of a source, and a position in it."""
Key: TypeAlias = tuple[str | None, ...]
"""The texts of the values of key fields; null and empty ones are None."""
Fields: TypeAlias = tuple[str, ...]
"""The names of key fields."""


class Group(NamedTuple):
    """Records that fall together: those of one source, or of several that are merged."""

    fields: Fields
    key: Key

    def of(self, fields: Sequence[str]) -> Key:
        """The part of the key that some of its fields are."""
        parts = dict(zip(self.fields, self.key, strict=True))
        return tuple(parts[name] for name in fields)


class Cause(NamedTuple):
    """Why something fell; where there are several causes, the least one counts."""

    record: Record
    """Less than all records for a group of an aggregate."""
    place: int
    """That of the node, in the order of nodes."""
    site: int
    inputs: str
    """What the site had read of what it rejected."""


@frozen
class Oversized:
    """A group of more records than may be held, and the first of them."""

    group: Group
    first: Record


@frozen(eq=False, kw_only=True)
class Fallen:
    """All that a run is computed without."""

    retracted: frozenset[Record] = frozenset()
    """Records that are gone from the source on."""
    failed: Mapping[Record, Group | None] = field(default_factory=dict)
    """Records that no correlated aggregate and no output takes, and what they belong to."""
    groups: Mapping[FanoutPolicy, Mapping[Group, frozenset[int]]] = field(default_factory=dict)
    """By policy, the groups of which no output and no strict aggregate takes a record that lets
    groups fall by it, with the numbers of the sources whose records fall."""
    oversized: tuple[Oversized, ...] = ()
    numbers: Mapping[Group, int] = field(default_factory=dict)
    """A number for each group, the same in all rounds."""
    causes: Mapping[Group, Cause] = field(default_factory=dict)
    """What was the first to fail in each group, as far as the last of the rounds knows."""

    def groups_at(self, policies: Mapping[int, FanoutPolicy]) -> dict[Group, set[int]]:
        """The groups that fall where those of each source fall by some policy, and the sources."""
        found: dict[Group, set[int]] = {}
        for policy, groups in self.groups.items():
            for group, sources in groups.items():
                if own := {source for source in sources if policies[source] == policy}:
                    found.setdefault(group, set()).update(own)
        return found

    def unlike(self, other: Fallen) -> set[int]:
        """The sources of which something has fallen here or there alone."""
        if self is other:
            return set()
        found = {source for source, _ in self.retracted ^ other.retracted}
        found |= {record[0] for record, _ in self.failed.items() ^ other.failed.items()}
        found |= {each.first[0] for each in {*self.oversized} ^ {*other.oversized}}
        nowhere: Mapping[Group, frozenset[int]] = {}
        for policy in {*self.groups, *other.groups}:
            here, there = (each.groups.get(policy, nowhere) for each in (self, other))
            for group in {group for group, _ in here.items() ^ there.items()}:
                found |= here.get(group, frozenset()) ^ there.get(group, frozenset())
        return found


@frozen(eq=False)
class Rows:
    """A small table that a flow is held against."""

    table: pa.Table

    def open(self, session: Session) -> DataFrame:
        return session.rows(self.table)

    def frame(self, label: str) -> Input:
        return Input(tuple(self.table.column_names), label, self.open)


def records_table(records: Iterable[Record], names: tuple[str, str]) -> pa.Table:
    """Records as two columns."""
    ordered = sorted(records)
    return pa.table(
        [
            pa.array([source for source, _ in ordered], pa.int32()),
            pa.array([position for _, position in ordered], pa.int64()),
        ],
        list(names),
    )
