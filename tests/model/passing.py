"""One pass: every record through every node, without what has fallen so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from clinker.cxl.check import typed
from clinker.cxl.failure import Category, Failure
from clinker.cxl.run.evaluate import (
    DEFAULT_MAX_EXPANSION,
    Frame,
    Outcome,
    RowProgram,
    Surroundings,
    compile_expression,
)
from clinker.cxl.run.grouping import GroupProgram, _Group
from clinker.cxl.run.windowing import WindowProgram
from clinker.cxl.values import Value, identity
from clinker.engine.nodes.interleave import seeded_order
from clinker.plan.analyses.correlation import Atomicity
from clinker.plan.compile import Plan
from clinker.plan.graph.graph import Edge, Unit
from clinker.plan.nodes import (
    Planned,
    PlannedAggregate,
    PlannedCombine,
    PlannedMerge,
    PlannedOutput,
    PlannedRoute,
    PlannedSource,
    PlannedState,
    PlannedTransform,
)
from clinker.plan.nodes.checks import CHECKED_VALUE

from .joining import Joining, unmatched
from .looking_up import LookingUp
from .rows import Data, Failed, Group, Pass, Record, Row, Unreadable, Values, readable
from .time_windows import Arrival, Windows, arrivals
from .variables import Variables, delay_of, init_nodes, record_at

_BEHIND_ALL = 2**63

GroupFallen = Callable[[str, Row], Group | None]
"""The fallen group that a row is in, at an output or a strict aggregate."""


class Passing:
    """A pass over all nodes whose records somebody sees."""

    def __init__(
        self,
        plan: Plan,
        data: Data,
        *,
        retracted: Iterable[Record],
        failed: Iterable[Record],
        oversized: Sequence[tuple[Group, Sequence[Record]]],
        group_fallen: GroupFallen,
    ) -> None:
        self.plan = plan
        self.data = data
        self.sources = list(data)
        self.retracted = set(retracted)
        self.failed = set(failed)
        self.oversized = oversized
        self.group_fallen = group_fallen
        self.variables = Variables(plan, data)
        self.brought = Pass()
        self.rows: dict[str, list[Row]] = {}
        self.ports: dict[tuple[str, str], list[Row]] = {}

    def run(self) -> Pass:
        for name in self._live():
            planned = self.plan.nodes[name]
            self._take(planned, [self._read(edge) for edge in planned.unit.inputs])
        return self.brought

    def _live(self) -> list[str]:
        """The nodes whose records somebody sees, those of the init phase first."""
        nodes = self.plan.nodes
        outputs = [name for name, node in nodes.items() if isinstance(node, PlannedOutput)]
        looked_up = [w.root for w in self.plan.windows.values() if w.lookup is not None]
        first = {
            name for end in init_nodes(self.plan) for name in (*self.plan.graph.ancestors(end), end)
        }
        ends = [*outputs, *looked_up]
        then = {name for end in ends for name in (*self.plan.graph.ancestors(end), end)} - first
        return [*(n for n in nodes if n in first), *(n for n in nodes if n in then)]

    def _read(self, edge: Edge) -> list[Row]:
        port = edge.upstream, edge.port or ""
        return self.ports[port] if port in self.ports else self.rows[edge.upstream]

    def _take(self, planned: Planned, inputs: list[list[Row]]) -> None:
        name = planned.name
        match planned:
            case PlannedSource():
                self.rows[name] = self._source(name)
            case PlannedTransform():
                self.rows[name] = self._transform(planned, inputs[0])
            case PlannedRoute():
                self.ports |= self._route(planned, inputs[0])
            case PlannedMerge():
                self.rows[name] = _merged(planned, inputs)
            case PlannedAggregate():
                self.rows[name] = self._aggregate(planned, inputs[0])
            case PlannedCombine():
                labels = [edge.label for edge in planned.unit.inputs]
                self.rows[name] = self._combine(planned, dict(zip(labels, inputs, strict=True)))
            case PlannedState():
                self.rows[name] = self._state(planned, inputs[0])
            case PlannedOutput():
                kept = [row for row in inputs[0] if not self._falls(name, row)]
                self.brought.outputs[name] = kept
            case other:
                assert_never(other)

    # What falls

    def _fail(self, row: Row, unit: Unit, category: str, *, stage: str = "", step: int = 0) -> None:
        region = self.plan.settling.before[unit.name]
        self.brought.failures.append(Failed(row, unit.name, category, region, stage, step))

    def _falls(self, node: str, row: Row) -> bool:
        """Whether a row is not taken by an output or a strict aggregate."""
        if row.record in self.failed:
            return True
        group = self.group_fallen(node, row)
        if group and row.record:
            self.brought.collaterals.append((row.record, node, group))
        return group is not None

    # Sources

    def _source(self, name: str) -> list[Row]:
        number = self.sources.index(name)
        key = self.plan.correlation.sources.get(name)
        files = self.data[name]
        rows: list[Row] = []
        for position in range(1, sum(map(len, files)) + 1):
            record = number, position
            if record in self.retracted:
                continue
            cells = record_at(files, position)
            keys = {field: readable(cells)[field] for field in (key.fields if key else ())}
            row = Row(readable(cells), record, record, frozenset([record]), keys)
            if any(isinstance(cell, Unreadable) for cell in cells.values()):
                self._fail(row, self.plan.nodes[name].unit, Category.TYPE_COERCION)
            elif not self._is_oversized(row, name):
                rows.append(row)
        return rows

    def _is_oversized(self, row: Row, source: str) -> bool:
        assert row.record
        for group, records in self.oversized:
            if row.record == records[0]:
                self._fail(row, self.plan.nodes[source].unit, Category.GROUP_SIZE)
            elif row.record in records:
                self.brought.collaterals.append((row.record, source, group))
            else:
                continue
            return True
        return False

    # Transforms

    def _transform(self, planned: PlannedTransform, rows: Sequence[Row]) -> list[Row]:
        passed: list[Row] = []
        for row, outcome in zip(rows, self._outcomes(planned, rows), strict=True):
            if isinstance(outcome, Failure):
                self._fail(row, planned.unit, outcome.category)
                continue
            for emitted in outcome.records:
                outgoing = row.with_values(
                    {**row.values, **emitted.fields}, {**row.meta, **emitted.meta}
                )
                category = self._what_is_wrong(planned, outgoing)
                if category:
                    self._fail(row, planned.unit, category, step=1)
                else:
                    passed.append(outgoing)
        return passed

    def _outcomes(
        self, planned: PlannedTransform, rows: Sequence[Row]
    ) -> Sequence[Outcome | Failure]:
        window = self.plan.windows.get(planned.name)
        limit = planned.node.config.max_expansion or DEFAULT_MAX_EXPANSION
        everyone = self.variables.surroundings(planned.unit, None, limit)
        if window and window.lookup is None:
            windows = WindowProgram(planned.program, window.spec, everyone)
            return windows.run([row.values for row in rows])
        looking_up = LookingUp(window, planned.program, self.rows[window.root]) if window else None
        program = RowProgram(planned.program, everyone)
        found: list[Outcome | Failure] = []
        for row in rows:
            program.surroundings = self.variables.surroundings(planned.unit, row, limit)
            try:
                results = looking_up.results(row) if looking_up else None
                found.append(program.run(row.values, row.meta, results=results))
            except Failure as failure:
                found.append(failure)
        return found

    def _what_is_wrong(self, planned: PlannedTransform, row: Row) -> str | None:
        """Why a record may not leave a transform."""
        emitted = planned.program.fields_written
        if any(_is_nan(row.values[name]) for name in emitted if name in row.values):
            return Category.NAN_IN_OUTPUT
        surroundings = self.variables.surroundings(planned.unit, row, 0)
        for check, validation in zip(
            planned.validations, planned.node.config.validations, strict=True
        ):
            assert check.condition
            read = {CHECKED_VALUE: row.values[check.field]} if check.field else row.values
            frame = Frame(read, surroundings, meta=row.meta)
            if validation.severity == "error" and not _holds(check.condition, frame):
                return Category.VALIDATION
        return None

    # Routes

    def _route(
        self, planned: PlannedRoute, rows: Sequence[Row]
    ) -> dict[tuple[str, str], list[Row]]:
        tests = {name: compile_expression(c) for name, c in planned.conditions.items()}
        ports: dict[tuple[str, str], list[Row]] = {
            (planned.name, branch): [] for branch in (*tests, planned.default)
        }
        is_exclusive = planned.node.config.mode == "exclusive"
        for row in rows:
            frame = Frame(
                row.values, self.variables.surroundings(planned.unit, row, 0), meta=row.meta
            )
            taken: list[str] = []
            try:
                for branch, test in tests.items():
                    is_asked = not (is_exclusive and taken)
                    if is_asked and test(frame) is True:
                        taken.append(branch)
            except Failure as failure:
                self._fail(row, planned.unit, failure.category)
                continue
            for branch in taken or [planned.default]:
                ports[planned.name, branch].append(row)
        return ports

    # State

    def _state(self, planned: PlannedState, rows: Sequence[Row]) -> list[Row]:
        passed: list[Row] = []
        for row, outcome in zip(rows, self.variables.write(planned, rows), strict=True):
            if isinstance(outcome, Failure):
                self._fail(row, planned.unit, outcome.category)
            else:
                passed.append(outcome)
        return passed

    # Combines

    def _combine(self, planned: PlannedCombine, inputs: Mapping[str, list[Row]]) -> list[Row]:
        joining = Joining(self.plan, planned, inputs)
        config = planned.node.config
        passed: list[Row] = []
        for row in inputs[planned.driver]:
            known = self.variables.surroundings(planned.unit, row, 0)
            try:
                finds = joining.finds(row, known)
            except Failure:
                self._fail(row, planned.unit, Category.COMBINE)
                continue
            if planned.program is None:
                missed = () if finds else tuple(unmatched(config.on_miss))
                if finds or missed:
                    passed.append(joining.collected(row, finds))
                continue
            program = RowProgram(planned.program, known)
            for find in finds or unmatched(config.on_miss):
                joined, fields = joining.joined(row, find)
                try:
                    outcome = program.run({}, row.meta, inputs=fields)
                except Failure:
                    self._fail(row, planned.unit, Category.COMBINE)
                    continue
                passed += [
                    joined.with_values(emitted.fields, {**row.meta, **emitted.meta})
                    for emitted in outcome.records
                ]
        return passed

    # Aggregates

    def _aggregate(self, planned: PlannedAggregate, rows: Sequence[Row]) -> list[Row]:
        name = planned.name
        atomicity = self.plan.correlation.aggregates[name].atomicity
        match atomicity:
            case Atomicity.UNCORRELATED:
                taken = list(rows)
            case Atomicity.RELAXED:
                taken = [row for row in rows if row.record not in self.failed]
            case Atomicity.STRICT:
                taken = [row for row in rows if not self._falls(name, row)]
        config = planned.node.config
        groups: dict[Hashable, list[Row]] = {}
        if config.time_window:
            groups = self._in_windows(planned, rows, taken)
        else:
            for row in taken:
                if self._counts(planned, row):
                    groups.setdefault(_key(row, config.group_by), []).append(row)
            if not config.group_by and not groups and atomicity is not Atomicity.RELAXED:
                groups[()] = []
        return self._grouped(planned, list(groups.values()))

    def _counts(self, planned: PlannedAggregate, row: Row) -> bool:
        """Whether a row is in a group: it passes the filters, and nothing fails."""
        failure = self._counting(planned, row)
        if isinstance(failure, Failure):
            self._fail(row, planned.unit, failure.category)
            return False
        return failure

    def _counting(self, planned: PlannedAggregate, row: Row) -> bool | Failure:
        known = self.variables.surroundings(planned.unit, row, 0)
        # With a key, a single record makes a group only if it counts.
        alone = GroupProgram(planned.program, planned.node.config.group_by or ("",), known)
        grouped = alone.run([row.values])
        if grouped.rejected:
            return grouped.rejected[0].failure
        return bool(grouped.records or grouped.failed)

    def _in_windows(
        self, planned: PlannedAggregate, rows: Sequence[Row], taken: Sequence[Row]
    ) -> dict[Hashable, list[Row]]:
        stage, group_by = f"time_window:{planned.name}", planned.node.config.group_by
        still_there = set(map(id, taken))
        arrived = self._arrivals(planned, rows)
        arrived = [each for each in arrived if id(each.row) in still_there]
        counting = [self._counting(planned, each.row) for each in arrived]
        timed: list[Arrival] = []
        keys: list[Hashable] = []
        failures: list[Failure | None] = []
        for each, counts in zip(arrived, counting, strict=True):
            failure = counts if isinstance(counts, Failure) else None
            if counts is False:
                continue
            if each.time is None:
                category = failure.category if failure else Category.MISSING_REQUIRED
                self._fail(each.row, planned.unit, category, stage="" if failure else stage)
                continue
            timed.append(each)
            failures.append(failure)
            keys.append((_key(each.row, group_by), failure is None))
        groups: dict[tuple[int, Hashable], list[Row]] = {}
        starts = Windows(planned.node.config).starts(timed, keys)
        for each, key, own, failure in zip(timed, keys, starts, failures, strict=True):
            if own is None:
                self._fail(each.row, planned.unit, Category.LATE_RECORD, stage=stage)
            elif failure:
                self._fail(each.row, planned.unit, failure.category)
            for start in own or () if not failure else ():
                groups.setdefault((start, key), []).append(each.row)
        ordered = sorted(groups.items(), key=lambda item: item[0][0])
        return dict[Hashable, list[Row]](ordered)

    def _arrivals(self, planned: PlannedAggregate, rows: Sequence[Row]) -> list[Arrival]:
        sources = {n: name for n, name in enumerate(self.sources) if name in self._feeding(planned)}
        columns = self.plan.event_times.columns
        times: list[Value] = []
        for row in rows:
            assert row.record
            source, position = row.record
            name = sources[source]
            times.append(readable(record_at(self.data[name], position))[columns[name]])
        delays = {number: delay_of(self.plan, name) for number, name in sources.items()}
        return arrivals(rows, times, delays)

    def _grouped(self, planned: PlannedAggregate, groups: Sequence[list[Row]]) -> list[Row]:
        name, group_by = planned.name, planned.node.config.group_by
        visible = self.plan.correlation.visible[name]
        behind = self.plan.settling.behind[name]
        known = self.variables.surroundings(planned.unit, None, 0)
        passed: list[Row] = []
        for members in groups:
            of_rows = [self.variables.surroundings(planned.unit, row, 0) for row in members]
            program = _Groups(planned.program, group_by, known, of_rows)
            grouped = program.run([row.values for row in members])
            first = members[0] if members else None
            row = Row(
                {},
                None,
                first.first if first else self._nowhere(planned),
                frozenset(record for row in members for record in row.made_of),
                {n: v for n, v in first.keys.items() if n in visible.fields} if first else {},
            )
            for values in grouped.records:
                numbers = {name: len(passed)} if name in visible.aggregates else {}
                passed.append(replace(row, values=values, numbers=numbers))
            for rejected in grouped.failed:
                failed = Failed(row, name, rejected.failure.category, behind)
                self.brought.failures.append(failed)
        return passed

    def _feeding(self, planned: Planned) -> set[str]:
        return feeding(self.plan, planned.name)

    def _nowhere(self, planned: Planned) -> Record:
        """Where a group without records stands: behind all records of its source."""
        fed = self._feeding(planned)
        return min(n for n, name in enumerate(self.sources) if name in fed), _BEHIND_ALL


class _Groups(GroupProgram):
    """An aggregate program that knows where each record comes from."""

    def __init__(
        self,
        program: typed.Program,
        group_by: Sequence[str],
        of_group: Surroundings,
        of_rows: Sequence[Surroundings],
    ) -> None:
        super().__init__(program, group_by, of_group)
        self.of_group = of_group
        self.of_rows = of_rows

    def _accept(self, groups: dict[object, _Group], position: int, record: Values) -> None:
        self.surroundings = self.of_rows[position]
        super()._accept(groups, position, record)

    def _finish(self, group: _Group) -> dict[str, Value]:
        self.surroundings = self.of_group
        return super()._finish(group)


def feeding(plan: Plan, node: str) -> set[str]:
    """The sources whose records leave a node, or those that they were made of."""
    planned = plan.nodes[node]
    if isinstance(planned, PlannedSource):
        return {node}
    return {name for edge in planned.passed_on for name in feeding(plan, edge.upstream)}


def _merged(planned: PlannedMerge, inputs: Sequence[list[Row]]) -> list[Row]:
    config = planned.node.config
    if config.mode == "concat":
        return [row for rows in inputs for row in rows]
    if config.interleave_seed is None:
        longest = max(map(len, inputs))
        return [rows[turn] for turn in range(longest) for rows in inputs if turn < len(rows)]
    waiting = [iter(rows) for rows in inputs]
    order = seeded_order(config.interleave_seed, [len(rows) for rows in inputs])
    return [next(waiting[number]) for number in order]


def _key(row: Row, fields: Sequence[str]) -> Hashable:
    return tuple(identity(row.values[field]) for field in fields)


def _is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _holds(condition: typed.Expr, frame: Frame) -> bool:
    try:
        return compile_expression(condition)(frame) is True
    except Failure:
        return False
