"""What state nodes leave in variables, and what programs read besides their record."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from clinker.cxl.check import typed
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import Frame, Surroundings, compile_expression
from clinker.cxl.run.grouping import aggregate_calls
from clinker.cxl.values import Value, midnight
from clinker.plan.compile import Plan
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes import PlannedSource, PlannedState

from .rows import Cell, Data, Record, Row, Variable

Slot: TypeAlias = tuple[object, ...]
"""Which records share a variable: those of a file, or all."""
_SCOPES = ("pipeline", "source", "record")


@dataclass
class _Store:
    """What the records of a slot have left in a state node so far."""

    values: dict[str, Value] = field(default_factory=dict)
    arguments: dict[typed.Aggregate, list[list[Value]]] = field(default_factory=dict)


class Variables:
    """All variables of one pass."""

    def __init__(self, plan: Plan, data: Data) -> None:
        self.plan = plan
        self.data = data
        self.sources = list(data)
        self.left: dict[str, dict[Slot, _Store]] = {}
        """By state node, in the order in which they worked."""

    def surroundings(self, unit: Unit, row: Row | None, max_expansion: int) -> Surroundings:
        """What a program of a node reads of the run and, if there is one, of a record."""
        system: dict[tuple[str, tuple[str, ...]], Value] = {}
        for name in self.plan.registry.vars:
            system["vars", (name,)] = self.plan.registry.initial("vars", name)
        for name, value in unit.scope.config.items():
            system["config", (name,)] = value  # type: ignore[assignment]
        for scope in _SCOPES:
            for name in self.plan.registry.types(scope):
                system[scope, (name,)] = self.read(unit, row, (scope, name))
        if row and row.record:
            source, position = row.record
            _, number = place(self.data[self.sources[source]], position)
            system["source", ("name",)] = self.sources[source]
            system["source", ("row",)] = number
            system["source", ("event_time",)] = self._event_time(row.record)
        return Surroundings(system, max_expansion=max_expansion)

    def _event_time(self, record: Record) -> Value:
        """The time of a record, as it was read, less the delay of its source."""
        source = self.sources[record[0]]
        column = self.plan.event_times.columns.get(source)
        time = record_at(self.data[source], record[1])[column] if column else None
        return midnight(time) - delay_of(self.plan, source) if isinstance(time, dt.date) else None

    def read(self, unit: Unit, row: Row | None, variable: Variable) -> Value:
        """What a record finds at a node: what it brings along, else what is left in the end."""
        scope, name = variable
        if row and variable in row.variables:
            return row.variables[variable]
        before = [*self.plan.graph.ancestors(unit.name), *init_nodes(self.plan)]
        found: Value = self.plan.registry.initial(scope, name)
        for node, stores in self.left.items():
            planned = self.plan.nodes[node]
            assert isinstance(planned, PlannedState)
            writes = planned.node.config.scope == scope and name in planned.assignments
            if writes and node in before and scope != "record":
                slot = self._slot(scope, row)
                found = stores[slot].values[name] if slot in stores else found
        return found

    def _slot(self, scope: str, row: Row | None) -> Slot:
        if scope == "pipeline" or row is None:
            return ()
        if row.record is None:
            return ("groups",)
        source, position = row.record
        return source, place(self.data[self.sources[source]], position)[0]

    def write(self, planned: PlannedState, rows: Sequence[Row]) -> list[Row | Failure]:
        """Each record with what it leaves, one after the other; one that fails leaves nothing."""
        scope = planned.node.config.scope
        stores: dict[Slot, _Store] = {}
        passed: list[Row | Failure] = []
        for number, row in enumerate(rows):
            slot = (number,) if scope == "record" else self._slot(scope, row)
            known = stores.get(slot, _Store())
            try:
                left = self._left_by(planned, row, known)
            except Failure as failure:
                passed.append(failure)
                continue
            stores[slot] = left
            written: dict[Variable, Value] = {
                (scope, name): left.values[name] for name in planned.assignments
            }
            passed.append(replace(row, variables={**row.variables, **written}))
        self.left[planned.name] = stores
        return passed

    def _left_by(self, planned: PlannedState, row: Row, known: _Store) -> _Store:
        scope = planned.node.config.scope
        surroundings = self.surroundings(planned.unit, row, 0)
        system = dict(surroundings.system)
        for name, value in known.values.items():
            if (scope, name) not in row.variables:
                system[scope, (name,)] = value
        arguments = {call: [*rows] for call, rows in known.arguments.items()}
        written: dict[str, Value] = {}
        for name, expression in planned.assignments.items():
            frame = Frame(row.values, replace(surroundings, system=system), meta=row.meta)
            written[name] = _folded(expression, frame, arguments)
            system[scope, (name,)] = written[name]
        return _Store({**known.values, **written}, arguments)


def _folded(
    expression: typed.Expr, frame: Frame, arguments: dict[typed.Aggregate, list[list[Value]]]
) -> Value:
    """The value of an expression whose aggregates are those of all records so far."""
    results: dict[typed.Expr, Value | Failure] = {}
    for call in aggregate_calls(expression):
        values = [compile_expression(arg)(frame) for arg in call.args] or [True]
        rows = arguments.setdefault(call, [])
        rows.append(values)
        results[call] = call.function.call(*zip(*rows, strict=True))
    frame.results = results
    return compile_expression(expression)(frame)


def init_nodes(plan: Plan) -> list[str]:
    """The state nodes that work before the run."""
    nodes = plan.nodes.items()
    return [name for name, n in nodes if isinstance(n, PlannedState) and n.node.init_phase]


def delay_of(plan: Plan, source: str) -> dt.timedelta:
    """By how much the watermark of a source is behind its records."""
    planned = plan.nodes[source]
    assert isinstance(planned, PlannedSource)
    watermark = planned.node.config.watermark
    return (watermark.delay if watermark else None) or dt.timedelta()


def place(files: Sequence[Sequence[Mapping[str, object]]], position: int) -> tuple[int, int]:
    """The number of the file that a record of a source is in, from 0 on, and its row there."""
    for number, records in enumerate(files):
        if position <= len(records):
            return number, position
        position -= len(records)
    raise IndexError(position)


def record_at(files: Sequence[Sequence[Mapping[str, Cell]]], position: int) -> Mapping[str, Cell]:
    number, row = place(files, position)
    return files[number][row - 1]
