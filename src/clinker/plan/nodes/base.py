"""What every planned node is, and the questions that each kind answers for itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import ClassVar, Generic, TypeAlias, TypeVar

from clinker.config.nodes import NodeBase
from clinker.cxl.check import typed
from clinker.cxl.check.resolve import Row
from clinker.cxl.types import Type
from clinker.diagnostics import Location
from clinker.frozen import frozen
from clinker.plan.graph.graph import Edge, Unit
from clinker.plan.nodes.shape import Shape
from clinker.plan.nodes.wanted import Wanted
from clinker.plan.nodes.window import Window

NodeT = TypeVar("NodeT", bound=NodeBase, covariant=True)

NamedField: TypeAlias = tuple[str, Location]
"""A field and the place that names it."""


@frozen(eq=False, kw_only=True)
class Records:
    """The records that leave a node."""

    row: Row
    """Their columns, in order."""
    meta: Mapping[str, Type] = field(default_factory=dict)
    """The metadata they carry."""
    emitted: tuple[str, ...] | None = None
    """What the nearest transform, aggregate or combine emitted; None when there is none."""
    have_undeclared: bool = False
    """Whether they may have columns that no schema names."""


@frozen(eq=False, kw_only=True)
class Cxl:
    """The CXL of a node."""

    incoming: tuple[typed.Expr, ...]
    """What is evaluated on the records that reach the node."""
    outgoing: tuple[typed.Expr, ...] = ()
    """What is evaluated on the records that leave it."""
    program: typed.Program | None = None
    """The program that emits fields, if there is one; its expressions are among `incoming`."""
    writes: Mapping[str, Type] = field(default_factory=dict)
    """The fields, metadata and variables that are written, by the names CXL has for them."""
    inputs: Mapping[str, Row] = field(default_factory=dict)
    """The records that fields are read of, by qualifier; empty where there is a single input."""
    looks_elsewhere: bool = False
    """Whether window functions read the records of another node."""


@frozen
class NamedFields:
    """The fields that a node names outside of CXL."""

    incoming: tuple[NamedField, ...] = ()
    """Those of the records that reach it."""
    outgoing: tuple[NamedField, ...] = ()
    """Those of the records that leave it."""


@frozen(eq=False, kw_only=True)
class PlannedNode(Records, ABC, Generic[NodeT]):
    """A node as it is planned."""

    shape: ClassVar[Shape]
    """What becomes of records; a literal in each class."""

    unit: Unit
    node: NodeT
    """What the user wrote for it."""
    has_errors: bool = False
    """Whether its CXL is wrong. Then it stands without any, to keep what comes after checkable."""

    @property
    def name(self) -> str:
        return self.unit.name

    @property
    def passed_on(self) -> tuple[Edge, ...]:
        """The inputs whose records leave the node."""
        return self.unit.passed_on

    @property
    def body(self) -> typed.Program | None:
        """The program that emits the fields of its records, if it has one."""
        return self.cxl.program if self.cxl else None

    @property
    @abstractmethod
    def cxl(self) -> Cxl | None:
        """What it evaluates; None for a kind that has no CXL."""

    @property
    @abstractmethod
    def named_fields(self) -> NamedFields:
        """The fields that it names outside of CXL."""

    @abstractmethod
    def ask_inputs(
        self, wanted: Wanted, inputs: Sequence[PlannedNode[NodeBase]], window: Window | None
    ) -> Iterator[Wanted]:
        """What it needs of each of its inputs, in their order, given what is wanted of itself."""


def list_writes(program: typed.Program) -> dict[str, Type]:
    """The fields and the metadata that a program emits."""
    meta = {f"$meta.{name}": type_ for name, type_ in program.meta_written.items()}
    return {**program.fields_written, **meta}
