"""Frames: tables of the engine, described by the SQL that makes them.

A frame is a chain of steps down to what is read. Nothing is sent to the engine while it grows: a
session builds all of it at once (`session.frames`), and `--explain sql` shows the same steps.
Names that no user column can have begin with `$`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from clinker.frozen import frozen

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from clinker.engine.session.session import Session

Items: TypeAlias = Iterable[tuple[str, str]]
"""Columns to compute: the name and the SQL of each."""
BatchFunction: TypeAlias = "Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]"


_BARRIER = "$barrier"


def quoted(name: str) -> str:
    """A column name as SQL text."""
    return "`" + name.replace("`", "``") + "`"


def unquoted(text: str) -> str:
    """The name of a column that stands in SQL text."""
    return text[1:-1].replace("``", "`")


def selection(names: Iterable[str]) -> list[str]:
    """Columns as a list of SQL texts."""
    return [quoted(name) for name in names]


def item_sql(name: str, text: str) -> str:
    """A computed column as it stands in a selection."""
    return text if text == quoted(name) else f"{text} AS {quoted(name)}"


@frozen(eq=False)
class Frame:
    """A table of the engine: the names of its columns, and the step that makes it."""

    names: tuple[str, ...]

    @property
    def inputs(self) -> tuple[Frame, ...]:
        """What it is made of."""
        return self.others

    @property
    def others(self) -> tuple[Frame, ...]:
        """Those of them that the step has to call by a name."""
        return ()

    def sql(self, *others: str) -> str:
        """The step in words of SQL; it calls the others by these names."""
        raise NotImplementedError

    def select(self, items: Items) -> Frame:
        """Just these columns."""
        columns = tuple(items)
        names = tuple(name for name, _ in columns)
        if names == self.names and all(text == quoted(name) for name, text in columns):
            return self
        return Select(names, self, columns)

    def keep(self, names: Iterable[str]) -> Frame:
        """Some of its columns."""
        return self.select((name, quoted(name)) for name in names)

    def drop(self, *names: str) -> Frame:
        return self.keep(name for name in self.names if name not in names)

    def extend(self, items: Items) -> Frame:
        """These columns behind its own; each may use those before it."""
        columns = tuple(items)
        if not columns:
            return self
        return Extend((*self.names, *(name for name, _ in columns)), self, columns)

    def number(self, name: str) -> Frame:
        """With numbers that grow from row to row as they stand; they are never computed earlier."""
        return Number((*self.names, name), self, name)

    def where(self, test: str) -> Frame:
        """The rows for which a test holds."""
        return Where(self.names, self, test)

    def where_in_place(self, test: str) -> Frame:
        """The rows for which a test holds that is made of much else, and a column more.

        Spark would ask it of the source already, by all that it is computed from, and again in
        every step: texts without end. It lets a number that may change stay in place.
        """
        barrier = f"{_BARRIER}{len(self.names)}"
        return self.number(barrier).where(f"{test} AND {quoted(barrier)} >= 0")

    def explode(self, text: str, place: str, item: str) -> Frame:
        """A row for each item of an array, with its place in it from 0."""
        return Explode((*self.names, place, item), self, text, place, item)

    def group(self, by: Sequence[str], aggregates: Items) -> Frame:
        """A row for each group of rows that are equal in some columns."""
        items = tuple(aggregates)
        return Group((*by, *(name for name, _ in items)), self, tuple(by), items)

    def join(self, other: Frame, test: str, *, is_small: bool = False) -> Frame:
        """Its rows with those of another for which the test holds; alone where there are none."""
        return Join((*self.names, *other.names), self, other, test, is_small)

    def cross(self, other: Frame) -> Frame:
        """Its rows with each of another's."""
        return Cross((*self.names, *other.names), self, other)

    def union(self, others: Iterable[Frame]) -> Frame:
        """The rows of frames that have the same columns, in any order."""
        return Union(self.names, (self, *(other.keep(self.names) for other in others)))

    def sort(self, by: Iterable[SortBy]) -> Frame:
        return Sort(self.names, self, tuple(by))

    def cut(self, number: str, parts: int, order: Iterable[str]) -> Frame:
        """Its rows in numbered parts, each of them sorted."""
        return Cut(self.names, self, number, parts, tuple(order))

    def in_one_part(self) -> Frame:
        return OnePart(self.names, self)

    def remember(self) -> Frame:
        """The same rows, computed once for all that read them."""
        return Remember(self.names, self)

    def run_in_arrow(self, function: BatchFunction, added: Mapping[str, str], work: str) -> Frame:
        """With columns that a Python function adds to Arrow batches, by name and type."""
        return RunInArrow((*self.names, *added), self, function, dict(added), work)


@frozen(eq=False)
class SortBy:
    """A key that rows are sorted by."""

    text: str
    descending: bool = False
    nulls_first: bool = True

    @property
    def sql(self) -> str:
        direction = "DESC" if self.descending else "ASC"
        return f"{self.text} {direction} NULLS {'FIRST' if self.nulls_first else 'LAST'}"


@frozen(eq=False)
class Input(Frame):
    """What stands at the beginning: rows that a session reads or is handed."""

    label: str
    """What `--explain sql` calls it."""
    open: Callable[[Session], DataFrame]

    def sql(self, *others: str) -> str:
        return f"FROM {self.label}"


@frozen(eq=False)
class Step(Frame):
    """A frame made of another."""

    below: Frame

    @property
    def inputs(self) -> tuple[Frame, ...]:
        return self.below, *self.others


@frozen(eq=False)
class Select(Step):
    columns: tuple[tuple[str, str], ...]

    def sql(self, *others: str) -> str:
        return f"SELECT {_listed(self.columns)}"

    def select(self, items: Items) -> Frame:
        # Columns that are only chosen and renamed need no step of their own.
        columns = tuple(items)
        own = {quoted(name): text for name, text in self.columns}
        if all(text in own for _, text in columns):
            chosen = tuple((name, own[text]) for name, text in columns)
            return Select(tuple(name for name, _ in columns), self.below, chosen)
        return super().select(columns)


@frozen(eq=False)
class Extend(Step):
    columns: tuple[tuple[str, str], ...]

    def sql(self, *others: str) -> str:
        return f"SELECT *, {_listed(self.columns)}"


@frozen(eq=False)
class Where(Step):
    test: str

    def sql(self, *others: str) -> str:
        return f"WHERE {self.test}"


@frozen(eq=False)
class Number(Step):
    name: str

    def sql(self, *others: str) -> str:
        return f"SELECT *, /* number */ AS {quoted(self.name)}"


@frozen(eq=False)
class Explode(Step):
    text: str
    place: str
    item: str

    def sql(self, *others: str) -> str:
        return f"SELECT *, {self.item_sql}"

    @property
    def item_sql(self) -> str:
        return f"posexplode({self.text}) AS ({quoted(self.place)}, {quoted(self.item)})"


@frozen(eq=False)
class Group(Step):
    by: tuple[str, ...]
    aggregates: tuple[tuple[str, str], ...]

    def sql(self, *others: str) -> str:
        by = ", ".join(selection(self.by)) or "()"
        return f"SELECT {_listed(self.aggregates)} GROUP BY {by}"


@frozen(eq=False)
class Join(Step):
    other: Frame
    test: str
    is_small: bool
    """Whether the other one may be sent to wherever rows of this one are."""

    @property
    def others(self) -> tuple[Frame, ...]:
        return (self.other,)

    def sql(self, *others: str) -> str:
        hint = "/*+ BROADCAST */ " if self.is_small else ""
        return f"LEFT JOIN {hint}{', '.join(others)} ON {self.test}"


@frozen(eq=False)
class Cross(Step):
    other: Frame

    @property
    def others(self) -> tuple[Frame, ...]:
        return (self.other,)

    def sql(self, *others: str) -> str:
        return f"CROSS JOIN {', '.join(others)}"


@frozen(eq=False)
class Union(Frame):
    parts: tuple[Frame, ...]

    @property
    def others(self) -> tuple[Frame, ...]:
        return self.parts

    def sql(self, *others: str) -> str:
        return f"FROM {' UNION ALL '.join(others)}"


@frozen(eq=False)
class Sort(Step):
    by: tuple[SortBy, ...]

    def sql(self, *others: str) -> str:
        return f"ORDER BY {', '.join(key.sql for key in self.by)}"


@frozen(eq=False)
class Cut(Step):
    part: str
    """SQL for the number of a row's part."""
    parts: int
    order: tuple[str, ...]

    def sql(self, *others: str) -> str:
        by = ", ".join(self.order)
        return f"DISTRIBUTE BY {self.part} /* {self.parts} parts */ SORT BY {by}"


@frozen(eq=False)
class OnePart(Step):
    def sql(self, *others: str) -> str:
        return "/* in one part */"


@frozen(eq=False)
class Remember(Step):
    def sql(self, *others: str) -> str:
        return "/* computed once */"


@frozen(eq=False)
class RunInArrow(Step):
    function: BatchFunction
    added: Mapping[str, str]
    work: str
    """What it does, for those who read the plan."""

    def sql(self, *others: str) -> str:
        return f"/* Python adds {', '.join(selection(self.added))}: {self.work} */"


def _listed(items: Items) -> str:
    return ", ".join(item_sql(name, text) for name, text in items)
