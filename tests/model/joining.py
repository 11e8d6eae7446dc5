"""What a combine finds for a record of its driver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from clinker.cxl.check import typed
from clinker.cxl.run.evaluate import Frame, Surroundings, compile_expression
from clinker.cxl.syntax.ast import LogicOp
from clinker.cxl.values import Value
from clinker.plan.compile import Plan
from clinker.plan.nodes import PlannedCombine

from .rows import Ended, Row, Values

Find = Mapping[str, Row]
"""For each input that is looked up, one of its records."""


class Joining:
    """A combine, and the records of the inputs that it looks up."""

    def __init__(
        self, plan: Plan, planned: PlannedCombine, inputs: Mapping[str, Sequence[Row]]
    ) -> None:
        self.planned = planned
        self.builds = {step.build: inputs[step.build] for step in plan.joins[planned.name].steps}
        """In the order in which the condition leads to them."""
        self.visible = plan.correlation.visible[planned.name].fields
        self._parts = [compile_expression(part) for part in _parts(planned.where)]

    def finds(self, row: Row, surroundings: Surroundings) -> list[Find]:
        """All that matches, in the order of the records; the first of it if that is enough.

        The condition is asked of every pair, so that a `Failure` of any rejects the record.
        """
        found: list[Find] = []
        for rows in product(*self.builds.values()):
            find = dict(zip(self.builds, rows, strict=True))
            inputs = {self.planned.driver: row.values, **_values(find)}
            frame = Frame({}, surroundings, inputs=inputs, meta=row.meta)
            if all(part(frame) is True for part in self._parts):
                found.append(find)
        return found[:1] if self.planned.node.config.match == "first" else found

    def joined(self, row: Row, find: Find | None) -> tuple[Row, dict[str, Values]]:
        """The driver's record with what it gets of a find, and the fields that a body reads."""
        nothing = {name: dict.fromkeys(self.planned.inputs[name].columns) for name in self.builds}
        inputs = {self.planned.driver: row.values, **(_values(find) if find else nothing)}
        return self._with_keys(row, [*find.values()] if find else []), inputs

    def collected(self, row: Row, finds: Sequence[Find]) -> Row:
        """The driver's record with an array of what it finds in each input."""
        arrays: dict[str, Value] = {
            name: [dict(find[name].values) for find in finds] for name in self.builds
        }
        of_first = [*finds[0].values()] if finds else []
        return self._with_keys(row, of_first).with_values({**row.values, **arrays})

    def _with_keys(self, row: Row, others: Sequence[Row]) -> Row:
        numbers = dict(row.numbers)
        keys = dict(row.keys)
        for other in others:
            numbers = {**other.numbers, **numbers}
            keys = {**{n: v for n, v in other.keys.items() if n in self.visible}, **keys}
        return replace(row, keys=keys, numbers=numbers)


def _parts(where: typed.Expr) -> Sequence[typed.Expr]:
    """What must hold, one after the other."""
    if isinstance(where, typed.Logic) and where.op is LogicOp.AND:
        return where.operands
    return [where]


def _values(find: Find) -> dict[str, Values]:
    return {name: row.values for name, row in find.items()}


def unmatched(on_miss: str) -> Iterator[None]:
    """What a record goes on with that found nothing."""
    if on_miss == "error":
        raise Ended
    if on_miss == "null_fields":
        yield None
