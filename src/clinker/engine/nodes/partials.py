"""The steps of an aggregation: what its aggregates need of records, of groups, and make of that.

Where many Floats are added up, each of them becomes a row of its own, so that the engine plans and
compiles one sum, not hundreds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from clinker.cxl.builtins.aggregates import Aggregate
from clinker.cxl.sql.aggregates import AggregateSql, ExactSum
from clinker.cxl.sql.exact_sums import sum_of_floats
from clinker.cxl.sql.operand import Operand
from clinker.cxl.types import FLOAT, Kind, Type
from clinker.engine.expressions.representation import is_of_kind
from clinker.engine.expressions.scope import Scope
from clinker.engine.flow.frame import Frame, item_sql, quoted, selection, unquoted
from clinker.engine.flow.layers import with_layers
from clinker.frozen import frozen

MANY, MANY_OF_MUCH = 8, 14
"""Up to so many sums of Floats are written out each for itself, of few records and of many: with
more, the time and the memory count that the engine takes for every word of what is written. Of many
records, each has to become so many rows before that pays, unless a sum is made of many others."""
_PLACE, _NUMBER, _ROWS = "$place", "$number", "$rows"
_OF_RECORD = f"FILTER (WHERE {quoted(_PLACE)} = 0)"


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
        takes_apart: bool = False,
    ) -> None:
        self.records = records
        self.groups = groups
        self.order = tuple(order)
        self.is_wide = is_wide
        self.takes_apart = takes_apart
        """Whether the Floats of a record that are added up become rows."""
        self.sums: dict[str, ExactSum] = {}
        """The sums of Floats by what is added up."""
        self._names: dict[str, str] = {}

    def add(self, function: Aggregate, args: Sequence[Operand], result: Type) -> AggregateSql:
        """An aggregate of arguments of which every value has an accepted kind."""
        return function.sql(_Call(self, tuple(args), result))

    def sum_of(self, number: str) -> ExactSum:
        """The exact sum of a Float of every record."""
        if number not in self.sums:
            self.sums[number] = self._sum_of(number)
        return self.sums[number]

    def _sum_of(self, number: str) -> ExactSum:
        if not self.takes_apart:
            return sum_of_floats(_Call(self, (), FLOAT), number)
        row = f"{quoted(_ROWS)}[{len(self.sums)}]"
        needs_wide = None if self.is_wide else f"{row}.needs_wide"
        return ExactSum(f"{row}.value", f"{row}.scaled", needs_wide)

    def name(self, text: str) -> str:
        return self._names.setdefault(text, f"`$group{len(self._names) + 1}`")

    @property
    def functions(self) -> dict[str, str]:
        """The aggregate functions by name."""
        return {name: text for text, name in self._names.items()}

    def prepared(self, frame: Frame) -> Frame:
        """The records with all that goes into the functions."""
        numbers = self.sums if self.takes_apart else ()
        return with_layers(frame, self.records.layers(*self.functions.values(), *numbers))

    def grouped(self, records: Frame, by: Sequence[str]) -> Frame:
        """The groups of prepared records with the results of all functions."""
        functions = [(unquoted(name), text) for name, text in self.functions.items()]
        if not (self.takes_apart and self.sums):
            return records.group(by, functions)
        one = _OneSum(self, (), FLOAT)
        sum_ = sum_of_floats(one, quoted(_NUMBER))
        # Not a column: Spark would look for records without numbers, by all they are made of.
        frame = records.explode(f"array({', '.join(self.sums)})", _PLACE, _NUMBER)
        present = set(selection(frame.names))
        frame = with_layers(frame, self.records.layers(*one.functions, present=present))
        frame = frame.group(
            [*by, _PLACE],
            [
                *((name, f"{text} {_OF_RECORD}") for name, text in functions),
                *((unquoted(name), text) for text, name in one.functions.items()),
            ],
        )
        row = {
            _PLACE: quoted(_PLACE),
            **{name: quoted(name) for name, _ in functions},
            "value": sum_.value,
            "scaled": sum_.scaled,
        }
        if sum_.needs_wide:
            row["needs_wide"] = sum_.needs_wide
        frame = with_layers(frame, self.groups.layers(*row.values()))
        items = ", ".join(item_sql(name, text) for name, text in row.items())
        frame = frame.group(by, [(_ROWS, f"array_sort(collect_list(struct({items})))")])
        of_first = f"{quoted(_ROWS)}[0]"
        return frame.extend((name, f"{of_first}.{quoted(name)}") for name, _ in functions)

    def of_nothing(self, records: Frame, more: tuple[str, str]) -> Frame:
        """The one group of no records, with the result of one more function."""
        functions = [(unquoted(name), text) for name, text in self.functions.items()]
        group = records.where("FALSE").group([], [more, *functions])
        return group.extend([(_ROWS, "NULL")]) if self.takes_apart else group


def wrong_kind(argument: Operand, wanted: Type) -> str | None:
    """Where an argument has a value of a kind that is not taken; None when that cannot be."""
    others = argument.type.kinds & ~wanted.kinds & ~Kind.NULL
    tests = [is_of_kind(argument.text, kind, argument.type) for kind in others]
    return f"({' OR '.join(tests)})" if tests else None


@frozen(eq=False)
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

    def sum_of(self, number: str) -> ExactSum:
        return self.partials.sum_of(number)


@frozen(eq=False)
class _OneSum(_Call):
    """The sum of the Floats that have become rows."""

    functions: dict[str, str] = field(default_factory=dict)
    """The names of the functions it is made of."""

    def over_group(self, text: str) -> str:
        return self.functions.setdefault(text, f"`$sum{len(self.functions) + 1}`")
