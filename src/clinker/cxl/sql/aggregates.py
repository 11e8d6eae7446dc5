"""The Spark SQL of aggregates: how a declaration states its form in the engine.

An aggregate is computed in three steps, each a list of SQL texts: values of every record,
aggregates of these over a group, and what follows from those once per group. A form takes the steps
through its call; equal texts share a name, so aggregates of the same argument share their work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from clinker.cxl.sql.operand import Operand
from clinker.cxl.types import Type
from clinker.frozen import frozen


@frozen
class AggregateSql:
    """The value of an aggregate over a group, in the representation of its type."""

    text: str
    fails: str | None = None
    """True where the group has no value; None when that cannot be."""
    needs_wide: str | None = None
    """True where a record's value has no place in the sums: the text then means nothing and the
    aggregation is to be run again with wide sums. None when that cannot be."""


Bind: TypeAlias = Callable[[str], str]
"""Gives a name for the value of a text that is to be written more than once."""


@frozen
class ExactSum:
    """The sum of the Floats of a group, null without any."""

    value: str
    scaled: str
    """The sum divided by 2**64, which is never beyond the Floats."""
    needs_wide: str | None = None


class AggregateCall(Protocol):
    """One call of an aggregate, as its SQL is written."""

    @property
    def args(self) -> tuple[Operand, ...]:
        """The arguments, of which every value has an accepted kind; none for `count(*)`."""

    @property
    def type(self) -> Type:
        """The type of the result; the text must be in its representation."""

    @property
    def order(self) -> tuple[str, ...]:
        """Columns of integers that order the records."""

    @property
    def is_wide(self) -> bool:
        """Whether sums have room for every Float, which costs more."""

    def per_record(self, text: str) -> str:
        """A name for the value of `text` on a record."""

    def over_group(self, text: str) -> str:
        """A name for the value of `text`, one aggregate function, over a group."""

    def bind(self, text: str) -> str:
        """A name for the value of `text`, made of aggregates, to be written more than once."""

    def sum_of(self, number: str) -> ExactSum:
        """The sum of the DOUBLE `number` of every record that has one."""


AggregateForm: TypeAlias = Callable[[AggregateCall], AggregateSql]
