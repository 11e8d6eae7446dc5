"""The steps of an aggregation: what its aggregates need of records, of groups, and make of that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from clinker.cxl.builtins.aggregates import Aggregate
from clinker.cxl.sql.aggregates import AggregateSql, Alike
from clinker.cxl.sql.dialect import current_dialect
from clinker.cxl.sql.operand import Operand
from clinker.cxl.types import Kind, Type
from clinker.engine.expressions.representation import is_of_kind
from clinker.engine.expressions.scope import Scope
from clinker.frozen import frozen

MANY = 8
"""Up to so many aggregates are written out each for itself, which is the fastest to compute. With
more, the time and the memory count that the engine takes for every word of what is written."""


class Partials:
    """The aggregate functions that some aggregates over the same groups are made of.

    What goes into them is named in the scope of records, what is made of them in that of groups.
    Aggregates of the same argument share what they can.
    """

    def __init__(
        self,
        records: Scope,
        groups: Scope,
        order: Iterable[str],
        *,
        is_wide: bool = False,
        count: int = 1,
    ) -> None:
        self.records = records
        self.groups = groups
        self.order = tuple(order)
        self.is_wide = is_wide
        self._are_few = count <= MANY or not current_dialect().closures
        self._arrays: dict[Alike, _Array] = {}
        self._names: dict[str, str] = {}

    def add(self, function: Aggregate, args: Sequence[Operand], result: Type) -> AggregateSql:
        """An aggregate of arguments of which every value has an accepted kind."""
        return function.sql(_Call(self, tuple(args), result))

    def alike(self, form: Alike, parts: Sequence[str]) -> Sequence[str]:
        """What a form makes of aggregates: of many, as a member of an array of what it makes of
        each."""
        if self._are_few:
            return form(self.groups.bind, parts)
        if form not in self._arrays:
            self._arrays[form] = _Array(self.groups.new_name(), len(form(str, parts)))
        return self._arrays[form].add(parts)

    def define_arrays(self) -> None:
        """Say what the arrays are made of, now that there are no more aggregates to come."""
        for form, array in self._arrays.items():
            self.groups.define(array.name, array.text(form, self.groups))

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


@frozen(eq=False)
class _Array:
    """What a form makes of many aggregates, one after the other."""

    name: str
    results: int
    """How many texts the form gives."""
    _members: dict[tuple[str, ...], int] = field(default_factory=dict)

    def add(self, parts: Sequence[str]) -> Sequence[str]:
        """What the form will have made of these, each part of which is of the same type."""
        place = self._members.setdefault(tuple(parts), len(self._members))
        return [f"{self.name}[{place}].r{result}" for result in range(self.results)]

    def text(self, form: Alike, scope: Scope) -> str:
        of_each = ", ".join(f"array({', '.join(parts)})" for parts in self._members)

        def results(member: str) -> str:
            size = len(next(iter(self._members)))
            texts = form(scope.bind, [f"{member}[{part}]" for part in range(size)])
            return f"struct({', '.join(f'{text} AS r{n}' for n, text in enumerate(texts))})"

        return scope.over(f"array({of_each})", "transform", results)


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

    def alike(self, form: Alike, parts: Sequence[str]) -> Sequence[str]:
        return self.partials.alike(form, parts)
