"""Folds in single steps: the interpreter runs over the records of a state node in their order."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from clinker.cxl.check import typed
from clinker.cxl.failure import Failure
from clinker.cxl.run.assigning import Assignments, Key, Slot
from clinker.cxl.run.evaluate import Frame, Surroundings
from clinker.cxl.types import Type
from clinker.cxl.values import Value
from clinker.engine.expressions.arrow_value import from_values, to_values
from clinker.engine.expressions.foreign import Read, RecordValues, sort_values, unquote
from clinker.engine.rejects.state_reasons import failure_text
from clinker.frozen import frozen


@frozen(eq=False)
class Stepping:
    """What the interpreter needs to fold the records of a part, one after the other."""

    scope: str
    values: Mapping[str, typed.Expr]
    types: Mapping[str, Type]
    reads: tuple[Read, ...]
    is_kept: str
    """The column that tells records in the flow from rejected ones."""
    slots: tuple[str, ...]
    """The columns that tell files of sources apart; none if all records go on with one value."""
    passed: Mapping[str, str]
    """By variable, the column that tells whether the record brings the value before with it."""
    now: dt.datetime
    written: Mapping[str, str]
    """By variable, the column to fill."""
    failed: str
    """The column to fill with how an assignment failed."""

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches with the columns of all variables, and how records failed."""
        folding = _Folding(self, Assignments(self.scope, self.values, self.types), {})
        for batch in batches:
            yield folding.fold(batch)


@dataclass
class _Folding:
    plan: Stepping
    assignments: Assignments
    slots: dict[tuple[Value, ...], Slot]

    def fold(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        plan = self.plan
        read = [to_values(batch.column(unquote(r.column)), r.type) for r in plan.reads]
        kept = batch.column(plan.is_kept).to_pylist()
        keys = _rows([batch.column(name).to_pylist() for name in plan.slots], len(kept))
        passed = {name: batch.column(column).to_pylist() for name, column in plan.passed.items()}
        written: dict[str, list[Value]] = {name: [] for name in plan.values}
        failed: list[str | None] = []
        for row, key in enumerate(keys):
            values: Mapping[str, Value] = {}
            how = None
            if kept[row]:
                record = sort_values(plan.reads, [column[row] for column in read])
                brought = {name for name, column in passed.items() if column[row]}
                try:
                    values = self._step(record, key, brought)
                except Failure as failure:
                    how = failure_text(self.assignments.failing, failure)
            for name, column in written.items():
                column.append(values.get(name))
            failed.append(how)
        for name, column in written.items():
            batch = batch.append_column(plan.written[name], from_values(column, plan.types[name]))
        return batch.append_column(plan.failed, pa.array(failed, pa.string()))

    def _step(
        self, record: RecordValues, key: tuple[Value, ...], brought: set[str]
    ) -> Mapping[str, Value]:
        """What is written for a record; it goes on from the last one that did not fail."""
        plan = self.plan
        # A variable of records begins anew with each of them.
        slot = self.slots.get(key, Slot()) if plan.scope != "record" else Slot()
        system: dict[Key, Value] = dict(record.system)
        for name, value in slot.values.items():
            if name not in brought:
                system[plan.scope, (name,)] = value
        known = Surroundings(system, clock=lambda: plan.now)
        frame = Frame(record.record, known, inputs=record.inputs, meta=record.meta)
        self.slots[key] = after = self.assignments.run(frame, slot)
        return after.values


def _rows(columns: Sequence[list[Value]], count: int) -> Iterable[tuple[Value, ...]]:
    return zip(*columns, strict=True) if columns else [()] * count
