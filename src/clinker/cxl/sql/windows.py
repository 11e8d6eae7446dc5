"""The Spark SQL of window functions: how a declaration states its form in the engine.

A function of the records in a frame has the form of an aggregate: what it needs of a group it gets
of the frame. Some ask for the place of the current record besides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from clinker.cxl.sql.aggregates import AggregateCall, AggregateSql
from clinker.cxl.sql.operand import Operand


class WindowCall(AggregateCall, Protocol):
    """One call of a window function, as its SQL is written.

    `order` is the place of a record in its partition, from 1.
    """

    @property
    def offset(self) -> int:
        """The number of records that `lag` or `lead` goes."""

    def in_partition(self, text: str) -> str:
        """A name for the value of `text`, a function of the whole partition in its order."""

    def among_peers(self, text: str) -> str:
        """The same for functions to which records with equal sort keys are one."""

    def identity(self, value: Operand) -> str:
        """A name for what is equal for values that count as one."""


WindowForm: TypeAlias = Callable[[WindowCall], AggregateSql]
