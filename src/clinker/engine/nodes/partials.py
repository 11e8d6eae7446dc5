"""The steps of an aggregation: what its aggregates need of records, of groups, and make of that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clinker.cxl.builtins.aggregates import Aggregate
from clinker.cxl.sql.aggregates import AggregateSql
from clinker.cxl.sql.operand import Operand
from clinker.cxl.types import Kind, Type
from clinker.engine.expressions.representation import is_of_kind
from clinker.engine.expressions.scope import Scope
from clinker.frozen import frozen


class Partials:
    """The aggregate functions that some aggregates over the same groups are made of.

    What goes into them is named in the scope of records, what is made of them in that of groups.
    Aggregates of the same argument share what they can.
    """

    def __init__(
        self, records: Scope, groups: Scope, order: Iterable[str], *, is_wide: bool = False
    ) -> None:
        self.records = records
        self.groups = groups
        self.order = tuple(order)
        self.is_wide = is_wide
        self._names: dict[str, str] = {}

    def add(self, function: Aggregate, args: Sequence[Operand], result: Type) -> AggregateSql:
        """An aggregate of arguments of which every value has an accepted kind."""
        return function.sql(_Call(self, tuple(args), result))

    def name(self, text: str) -> str:
        return self._names.setdefault(text, f"`$group{len(self._names) + 1}`")

    @property
    def functions(self) -> dict[str, str]:
        """The aggregate functions by name."""
        return {name: text for text, name in self._names.items()}


def wrong_kind(argument: Operand, wanted: Type) -> str | None:
    """Where an argument has a value of a kind that is not taken; None when that cannot be."""
    others = argument.type.kinds & ~wanted.kinds & ~Kind.NULL
    tests = [is_of_kind(argument.text, kind, argument.type) for kind in others]
    return f"({' OR '.join(tests)})" if tests else None


@frozen
class _Call:
    """One aggregate among others."""

    partials: Partials
    args: tuple[Operand, ...]
    type: Type

    @property
    def order(self) -> tuple[str, ...]:
        return self.partials.order

    @property
    def is_wide(self) -> bool:
        return self.partials.is_wide

    def per_record(self, text: str) -> str:
        return self.partials.records.bind(text)

    def over_group(self, text: str) -> str:
        return self.partials.name(text)

    def bind(self, text: str) -> str:
        return self.partials.groups.bind(text)
