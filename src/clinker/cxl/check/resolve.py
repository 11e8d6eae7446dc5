"""Names: what a program may refer to, and what each name means where it stands."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import field

from clinker.cxl.check.modules import ModuleLibrary
from clinker.cxl.check.typed import Symbol
from clinker.cxl.run.date_names import ENGLISH, DateNames
from clinker.cxl.types import ANY, DATETIME, INT, STRING, Type
from clinker.frozen import frozen

PIPELINE_MEMBERS: Mapping[str, Type] = {
    "name": STRING,
    "execution_id": STRING,
    "batch_id": STRING,
    "start_time": DATETIME,
    "total_count": INT.nullable(),
    "ok_count": INT.nullable(),
    "dlq_count": INT.nullable(),
    "filtered_count": INT.nullable(),
    "distinct_count": INT.nullable(),
    "source_file": STRING.nullable(),
    "source_row": INT.nullable(),
}
SOURCE_MEMBERS: Mapping[str, Type] = {
    "file": STRING.nullable(),
    "path": STRING.nullable(),
    "name": STRING.nullable(),
    "row": INT.nullable(),
    "count": INT.nullable(),
    "batch": STRING.nullable(),
    "ingestion_timestamp": DATETIME.nullable(),
    "event_time": DATETIME.nullable(),
}


@frozen
class Row:
    """The columns of a record, in order. An open row may have others, of unknown type."""

    columns: Mapping[str, Type] = field(default_factory=dict)
    is_open: bool = False
    has_undeclared: bool = False
    """Whether records may have fields besides, which can be read though nobody declares them."""

    def get(self, name: str) -> Type | None:
        declared = self.columns.get(name)
        return ANY if declared is None and self.is_open else declared

    def starts(self, prefix: str) -> bool:
        """Whether a column's dotted name begins with `prefix`."""
        return any(column.startswith(prefix + ".") for column in self.columns)


OPEN_ROW = Row(is_open=True)


class ProgramKind(enum.Enum):
    """Where a program runs, which decides what it may contain."""

    ROW = enum.auto()
    """Once per record, as in a transform."""
    AGGREGATE = enum.auto()
    """Once per group of an aggregate node."""
    STATE = enum.auto()
    """An assignment of a state node: per record, and aggregates run along."""


@frozen
class WindowContext:
    """The analytic window of a transform. `row` is that of another source, if it covers one."""

    row: Row | None = None


@frozen
class Context:
    """Everything outside a program that it may refer to.

    A namespace that is None is open: any member of it is of unknown type.
    """

    row: Row = field(default_factory=Row)
    qualifiers: Mapping[str, Row] = field(default_factory=dict)
    kind: ProgramKind = ProgramKind.ROW
    group_by: tuple[str, ...] = ()
    window: WindowContext | None = None
    modules: ModuleLibrary | None = None
    pipeline: Mapping[str, Type] | None = field(default_factory=dict)
    source: Mapping[str, Type] | None = field(default_factory=dict)
    source_inputs: Mapping[str, Mapping[str, Type]] = field(default_factory=dict)
    """`$source.<input>.<key>`: the source variables of each input of a merge or combine."""
    record: Mapping[str, Type] | None = field(default_factory=dict)
    vars: Mapping[str, Type] | None = field(default_factory=dict)
    config: Mapping[str, Type] | None = field(default_factory=dict)
    meta: Mapping[str, Type] | None = None
    doc: Mapping[str, Type] | None = None
    date_names: DateNames = ENGLISH
    """The words in which dates are written and read."""

    def members(self, namespace: str) -> Mapping[str, Type] | None:
        """The members of `$namespace`, built-in ones included; None when it is open."""
        match namespace:
            case "pipeline":
                return None if self.pipeline is None else {**PIPELINE_MEMBERS, **self.pipeline}
            case "source":
                return None if self.source is None else {**SOURCE_MEMBERS, **self.source}
            case _:
                members: Mapping[str, Type] | None = getattr(self, namespace)
                return members


class Scope:
    """The local names in force: a chain of blocks, the innermost first."""

    def __init__(self, parent: Scope | None = None) -> None:
        self.parent = parent
        self.symbols: dict[str, Symbol] = {}

    def get(self, name: str) -> Symbol | None:
        scope: Scope | None = self
        while scope:
            if name in scope.symbols:
                return scope.symbols[name]
            scope = scope.parent
        return None

    def bind(self, symbol: Symbol) -> None:
        self.symbols[symbol.name] = symbol

    def names(self) -> Iterator[str]:
        yield from self.symbols
        if self.parent:
            yield from self.parent.names()
