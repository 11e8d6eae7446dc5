"""Flows: the records that leave a node, as a DataFrame and what is known about it.

User columns keep their names; what the engine adds begins with `$`, which no user column can.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from clinker.cxl.types import Type
from clinker.formats.common.read_spec import FILE_SHIFT, POSITION, REJECT, WIDENED, MemberTypes
from clinker.frozen import frozen

__all__ = [
    "FILE_SHIFT",
    "FIRST_POSITION",
    "FIRST_SOURCE",
    "IS_MERGED",
    "META",
    "POSITION",
    "REJECT",
    "SOURCE",
    "WIDENED",
    "Flow",
    "file_number",
    "origin_column",
    "quoted",
    "row_number",
    "selection",
    "widened_column",
]

SOURCE = "$source"
"""The number of the source a record was read by."""
FIRST_SOURCE, FIRST_POSITION, IS_MERGED = "$first_source", "$first_position", "$is_merged"
"""What the origin of a group tells besides its fields: the place of its first record, and whether
the records it is made of may come from several sources."""
META = "$meta."
_BARRIER = "$barrier"


def quoted(name: str) -> str:
    """A column name as SQL text."""
    return "`" + name.replace("`", "``") + "`"


def file_number(position: str) -> str:
    """SQL for the number of the file that a position lies in."""
    return f"shiftright({position}, {FILE_SHIFT})"


def row_number(position: str) -> str:
    """SQL for the number of the record in its file."""
    return f"({position} & {(1 << FILE_SHIFT) - 1})"


@frozen(eq=False, kw_only=True)
class Flow:
    """Records between two nodes."""

    frame: DataFrame
    columns: Mapping[str, Type]
    order: tuple[str, ...]
    """Columns of integers that, taken together, order the records and tell them apart."""
    is_ordered: bool
    """Whether the records already stand in that order, partition after partition."""
    aside: tuple[str, ...] = ()
    """Those of the order columns that only tell rejected records apart; for others they are 0."""
    sources: tuple[str, ...]
    """The sources whose records, or parts of them, are in it."""
    is_small: bool
    """Whether all of it comes from inputs small enough for the driver's memory."""
    widened: tuple[str, ...] = ()
    """Undeclared fields that are columns."""
    has_widened_map: bool = False
    """Whether undeclared fields come as a map."""
    overwritten: frozenset[str] = frozenset()
    """Fields that a program has emitted, so that undeclared ones of these names are gone, though a
    dead letter still shows them."""
    meta: Mapping[str, Type] = field(default_factory=dict)
    origin: Mapping[str, tuple[str, Type]] = field(default_factory=dict)
    """The columns that still hold fields as they came into being: the event times of sources, and
    all that a dead letter shows of a group, which nobody can look up in a file."""
    has_rejects: bool = True
    apart: Mapping[str, MemberTypes] = field(default_factory=dict)
    """Arrays that are not among the columns, since only these members of their elements are there.
    The node that reads the flow takes them."""
    narrowed: Mapping[str, Type] = field(default_factory=dict)
    """Columns whose values are held as a narrower type than that of the column."""
    borders: tuple[int, ...] = ()
    """Values of the first order column that cut the flow into parts of similar size, if known."""

    def held_type(self, name: str) -> Type:
        """The type in whose form a column holds its values."""
        return self.narrowed.get(name, self.columns[name])

    @property
    def hidden(self) -> tuple[str, ...]:
        """The columns besides the user's that every node hands on."""
        return tuple(
            dict.fromkeys(
                (
                    SOURCE,
                    POSITION,
                    *self.order,
                    *(widened_column(name) for name in self.widened),
                    *((WIDENED,) if self.has_widened_map else ()),
                    *(META + key for key in self.meta),
                    *(column for column, _ in self.origin.values() if column not in self.columns),
                    *((REJECT,) if self.has_rejects else ()),
                )
            )
        )

    @property
    def has_groups(self) -> bool:
        """Whether there are groups in it: records that come from no source."""
        return FIRST_SOURCE in self.origin

    @property
    def place(self) -> tuple[str, str]:
        """SQL for the source and the position of a record, or of the first record of a group."""
        own = quoted(SOURCE), quoted(POSITION)
        if not self.has_groups:
            return own
        first = (quoted(self.origin[name][0]) for name in (FIRST_SOURCE, FIRST_POSITION))
        source, position = (f"ifnull({a}, {b})" for a, b in zip(own, first, strict=True))
        return source, position

    @property
    def names(self) -> tuple[str, ...]:
        """All columns of the frame."""
        return (*self.columns, *self.hidden)

    @property
    def kept_order(self) -> tuple[str, ...]:
        """The columns that order the records which are not rejected."""
        return tuple(name for name in self.order if name not in self.aside)

    def with_frame(self, frame: DataFrame) -> Flow:
        return replace(self, frame=frame)

    def without_rejects(self) -> Flow:
        """The records still in the flow."""
        if not self.has_rejects:
            return self
        # Spark would ask the same of the source already, by all that a mark is computed from, and
        # again in every step: texts without end. It lets a number that may change stay in place.
        fixed = self.frame.selectExpr("*", f"monotonically_increasing_id() as {quoted(_BARRIER)}")
        kept = fixed.where(f"{quoted(REJECT)} is null and {quoted(_BARRIER)} >= 0")
        return replace(
            self,
            frame=kept.drop(REJECT, _BARRIER, *self.aside),
            order=self.kept_order,
            aside=(),
            has_rejects=False,
        )

    def in_order(self) -> Flow:
        """The same records, standing in their order."""
        if self.is_ordered:
            return self
        order = selection(self.order)
        if not (self.is_small or self.borders):
            return replace(self, frame=self.frame.orderBy(*order), is_ordered=True)
        # Where the parts of the order are known, the engine need not compute all to find them.
        borders = () if self.is_small else self.borders
        part = _part_sql(order[0], borders)
        parts = self.frame.repartitionById(len(borders) + 1, f.expr(part))
        return replace(self, frame=parts.sortWithinPartitions(*order), is_ordered=True)


def _part_sql(place: str, borders: Sequence[int], first: int = 0) -> str:
    """The number of the part that a place is in."""
    if not borders:
        return str(first)
    middle = len(borders) // 2
    below = _part_sql(place, borders[:middle], first)
    above = _part_sql(place, borders[middle + 1 :], first + middle + 1)
    return f"if({place} >= {borders[middle]}L, {above}, {below})"


def widened_column(name: str) -> str:
    return f"{WIDENED}.{name}"


def origin_column(name: str) -> str:
    """Where a source's field is kept once a node has overwritten it."""
    return f"$origin.{name}"


def selection(names: Iterable[str]) -> list[str]:
    """Columns as a list of SQL texts."""
    return [quoted(name) for name in names]
