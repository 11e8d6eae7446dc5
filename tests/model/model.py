"""The model: all records of a pipeline, one at a time, in plain Python and by the interpreter.

It is slow and simple on purpose. A pass takes every record through the nodes, without what has
fallen so far; what fails in it and is new makes more fall, and all begins again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from clinker.config.names import FanoutPolicy
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import Frame, RowProgram, Surroundings, compile_expression
from clinker.cxl.run.grouping import GroupProgram
from clinker.cxl.values import Value, identity, text_of
from clinker.plan.analyses.correlation import Atomicity
from clinker.plan.analyses.settling import Region
from clinker.plan.compile import Plan
from clinker.plan.graph.graph import Edge
from clinker.plan.nodes import (
    PlannedAggregate,
    PlannedCombine,
    PlannedMerge,
    PlannedOutput,
    PlannedRoute,
    PlannedSource,
    PlannedTransform,
)

Record = tuple[int, int]
Key = tuple[str | None, ...]
Group = tuple[tuple[str, ...], Key]
"""The names of key fields, and their values."""


@dataclass(frozen=True)
class Row:
    """A record on its way."""

    values: Mapping[str, Value]
    record: Record | None
    """The source record that it is; None for a group."""
    first: Record
    """The first of the source records that it was made of."""
    made_of: frozenset[Record]
    keys: Mapping[str, Value]
    """Key fields as they were read."""


@dataclass(frozen=True)
class Failed:
    """A row that a node rejects."""

    row: Row
    node: str
    category: str
    region: Region


@dataclass(frozen=True)
class Entry:
    """What a dead letter tells: source, row, node and category."""

    source: str
    row: int
    node: str
    category: str


@dataclass
class Result:
    outputs: dict[str, list[list[str]]]
    entries: list[Entry]
    passes: int


@dataclass
class _Pass:
    """What one pass brought."""

    outputs: dict[str, list[Row]] = field(default_factory=dict)
    failures: list[Failed] = field(default_factory=list)
    collaterals: list[tuple[Record, str, Group]] = field(default_factory=list)


class Model:
    def __init__(self, plan: Plan, data: Mapping[str, Sequence[Mapping[str, Value]]]) -> None:
        self.plan = plan
        self.data = data
        self.sources = list(data)
        self.fields = {
            number: plan.correlation.sources[name].fields
            for number, name in enumerate(self.sources)
            if name in plan.correlation.sources
        }
        ends = [name for name, node in plan.nodes.items() if isinstance(node, PlannedOutput)]
        self.live = {name for end in ends for name in (end, *plan.graph.ancestors(end))}
        """The nodes whose records reach an output; nobody computes the others."""
        self.order = {name: number for number, name in enumerate(plan.nodes)}
        self.retracted: dict[Record, int] = {}
        self.retracting: list[Failed] = []
        self.failed: dict[Record, Failed] = {}
        self.group_triggers: list[tuple[Failed, Group]] = []
        self.forced: set[tuple[Group, int]] = set()

    # Rounds

    def run(self) -> Result:
        passes = 0
        while True:
            passes += 1
            found = self._pass()
            new = [each for each in found.failures if self._is_new(each)]
            if not new:
                outputs = {name: self._shown(name, rows) for name, rows in found.outputs.items()}
                return Result(outputs, self._entries(found), passes)
            level = min(each.region.level for each in new)
            counting = [each for each in new if each.region.level == level]
            self._take_out(sorted(counting, key=self._rank))

    def _rank(self, failed: Failed) -> tuple[object, ...]:
        return (failed.row.record or (-1, -1), self.order[failed.node], failed.row.first)

    def _is_new(self, failed: Failed) -> bool:
        if failed.row.record is None:
            return failed.region.level > 0 and bool(failed.row.made_of)
        return failed.row.record[0] in self.fields and failed.row.record not in self.failed

    def _take_out(self, failures: Sequence[Failed]) -> None:
        before = len(self.retracted)
        for each in failures:
            row = each.row
            if row.record is not None:
                self.failed.setdefault(row.record, each)
                continue
            groups = {record: self._own_group(record) for record in sorted(row.made_of)}
            taken = [r for r, group in groups.items() if each.region.is_relaxed or group is None]
            if taken:
                for record in taken:
                    self.retracted.setdefault(record, len(self.retracting))
                self.retracting.append(each)
            else:
                fallen = [(g, record[0]) for record, g in groups.items() if g]
                self.forced |= set(fallen)
                self.group_triggers.append((each, fallen[0][0]))
        if len(self.retracted) > before:
            self.failed.clear()
            self.group_triggers.clear()
            self.forced.clear()

    def _own_group(self, record: Record) -> Group | None:
        """The group of a record; None if it falls alone."""
        source, position = record
        fields = self.fields.get(source)
        if fields is None:
            return None
        values = self.data[self.sources[source]][position - 1]
        key = tuple(_part(values[name]) for name in fields)
        return (fields, key) if any(part is not None for part in key) else None

    def _fallen(self, policy: FanoutPolicy) -> set[tuple[Group, int]]:
        """The groups that fall, and the sources whose records do."""
        fallen = set(self.forced)
        members: dict[tuple[Group, int], list[Record]] = {}
        for source, name in enumerate(self.sources):
            for position in range(1, len(self.data[name]) + 1):
                record = source, position
                group = self._own_group(record)
                if group and record not in self.retracted:
                    members.setdefault((group, source), []).append(record)
        for both, records in members.items():
            failed = [record in self.failed for record in records]
            match policy:
                case "any":
                    falls = any(failed)
                case "all":
                    falls = all(failed)
                case "primary":
                    falls = failed[0]
            if falls:
                fallen.add(both)
        return fallen

    def _group_fallen(self, node: str, row: Row) -> Group | None:
        """The fallen group that a row is in, at an output or a strict aggregate."""
        if row.record is None:
            return None
        policy = self.plan.settling.policies[node]
        upstream = self.plan.graph.units[node].inputs[0].upstream
        visible = self.plan.correlation.visible[upstream].fields
        is_joined = self.plan.settling.before[node].is_joined
        fallen = self._fallen(policy)
        for fields in dict.fromkeys(self.fields.values()):
            shared = [name for name in fields if name in visible]
            own = [_part(row.keys.get(name)) for name in shared]
            if all(part is None for part in own):
                continue
            for (names, key), source in sorted(fallen, key=repr):
                parts = dict(zip(names, key, strict=True))
                is_own = names == fields and [parts[name] for name in shared] == own
                if is_own and (is_joined or source == row.record[0]):
                    return names, key
        return None

    # A pass

    def _pass(self) -> _Pass:
        found = _Pass()
        rows: dict[str, list[Row]] = {}
        ports: dict[tuple[str, str], list[Row]] = {}

        def read(edge: Edge) -> list[Row]:
            return ports[edge.upstream, edge.port] if edge.port else rows[edge.upstream]

        for name, planned in self.plan.nodes.items():
            if name not in self.live:
                continue
            inputs = [read(edge) for edge in planned.unit.inputs]
            before = self.plan.settling.before[name]
            match planned:
                case PlannedSource():
                    rows[name] = self._source(name)
                case PlannedTransform():
                    rows[name] = self._transform(planned, inputs[0], before, found)
                case PlannedRoute():
                    ports |= self._route(planned, inputs[0], before, found)
                case PlannedMerge():
                    rows[name] = [row for each in inputs for row in each]
                case PlannedAggregate():
                    rows[name] = self._aggregate(planned, inputs[0], before, found)
                case PlannedCombine():
                    labels = [edge.label or "" for edge in planned.unit.inputs]
                    of_inputs = dict(zip(labels, inputs, strict=True))
                    rows[name] = self._combine(planned, of_inputs, before, found)
                case PlannedOutput():
                    found.outputs[name] = [
                        row for row in inputs[0] if not self._falls(name, row, found)
                    ]
                case _:
                    raise NotImplementedError(name)
        return found

    def _falls(self, node: str, row: Row, found: _Pass) -> bool:
        """Whether a row is not taken by an output or a strict aggregate."""
        if row.record in self.failed:
            return True
        group = self._group_fallen(node, row)
        if group and row.record:
            found.collaterals.append((row.record, node, group))
        return group is not None

    def _source(self, name: str) -> list[Row]:
        number = self.sources.index(name)
        fields = self.fields.get(number, ())
        rows = []
        for position, values in enumerate(self.data[name], 1):
            record = number, position
            if record not in self.retracted:
                keys = {field: values[field] for field in fields}
                rows.append(Row(values, record, record, frozenset([record]), keys))
        return rows

    def _transform(
        self, planned: PlannedTransform, rows: list[Row], region: Region, found: _Pass
    ) -> list[Row]:
        program = RowProgram(planned.program, Surroundings())
        passed = []
        for row in rows:
            try:
                outcome = program.run(row.values)
            except Failure as failure:
                found.failures.append(Failed(row, planned.name, failure.category, region))
                continue
            for emitted in outcome.records:
                passed.append(replace(row, values={**row.values, **emitted.fields}))
        return passed

    def _route(
        self, planned: PlannedRoute, rows: list[Row], region: Region, found: _Pass
    ) -> dict[tuple[str, str], list[Row]]:
        tests = {name: compile_expression(c) for name, c in planned.conditions.items()}
        ports: dict[tuple[str, str], list[Row]] = {
            (planned.name, branch): [] for branch in (*tests, planned.default)
        }
        is_exclusive = planned.node.config.mode == "exclusive"
        for row in rows:
            taken: list[str] = []
            try:
                for branch, test in tests.items():
                    is_asked = not (is_exclusive and taken)
                    if is_asked and test(Frame(row.values, Surroundings())) is True:
                        taken.append(branch)
            except Failure as failure:
                found.failures.append(Failed(row, planned.name, failure.category, region))
                continue
            for branch in taken or [planned.default]:
                ports[planned.name, branch].append(row)
        return ports

    def _aggregate(
        self, planned: PlannedAggregate, rows: list[Row], region: Region, found: _Pass
    ) -> list[Row]:
        name = planned.name
        atomicity = self.plan.correlation.aggregates[name].atomicity
        if atomicity is Atomicity.RELAXED:
            rows = [row for row in rows if row.record not in self.failed]
        elif atomicity is Atomicity.STRICT:
            rows = [row for row in rows if not self._falls(name, row, found)]
        group_by = planned.node.config.group_by
        program = GroupProgram(planned.program, group_by, Surroundings())
        groups: dict[object, list[Row]] = {}
        for row in rows:
            grouped = program.run([row.values])
            for rejected in grouped.rejected:
                failed = Failed(row, name, rejected.failure.category, region)
                found.failures.append(failed)
            if not grouped.rejected:
                key = tuple(identity(row.values[field]) for field in group_by)
                groups.setdefault(key, []).append(row)
        if not group_by and not groups and atomicity is not Atomicity.RELAXED:
            groups[()] = []
        visible = self.plan.correlation.visible[name].fields
        passed = []
        for members in groups.values():
            grouped = program.run([row.values for row in members])
            first = members[0].first if members else (-1, -1)
            made_of = frozenset(record for row in members for record in row.made_of)
            keys = {n: v for n, v in members[0].keys.items() if n in visible} if members else {}
            for values in grouped.records:
                passed.append(Row(values, None, first, made_of, keys))
            for failure in grouped.failed:
                row = Row({}, None, first, made_of, keys)
                behind = self.plan.settling.behind[name]
                found.failures.append(Failed(row, name, failure.failure.category, behind))
        return passed

    def _combine(
        self,
        planned: PlannedCombine,
        inputs: Mapping[str, list[Row]],
        region: Region,
        found: _Pass,
    ) -> list[Row]:
        (build,) = (label for label in inputs if label != planned.driver)
        test = compile_expression(planned.where)
        assert planned.program
        program = RowProgram(planned.program, Surroundings())
        config = planned.node.config
        visible = self.plan.correlation.visible[planned.name].fields
        passed = []
        nothing: dict[str, Value] = dict.fromkeys(planned.inputs[build].columns)
        for row in inputs[planned.driver]:
            matches: list[Row | None] = []
            for other in inputs[build]:
                both = {planned.driver: row.values, build: other.values}
                if test(Frame({}, Surroundings(), inputs=both)) is True:
                    matches.append(other)
            if config.match == "first":
                matches = matches[:1]
            if not matches and config.on_miss == "null_fields":
                matches = [None]
            for match in matches:
                values = match.values if match else nothing
                try:
                    outcome = program.run({}, inputs={planned.driver: row.values, build: values})
                except Failure:
                    found.failures.append(Failed(row, planned.name, "combine_output_row", region))
                    continue
                keys = {**(match.keys if match else {}), **row.keys}
                keys = {n: v for n, v in keys.items() if n in visible or n in row.keys}
                passed += [
                    replace(row, values=emitted.fields, keys=keys) for emitted in outcome.records
                ]
        return passed

    # What is told

    def _shown(self, output: str, rows: Sequence[Row]) -> list[list[str]]:
        columns = self.plan.projections[output]
        return [[_text(row.values[column.field]) for column in columns] for row in rows]

    def _entries(self, found: _Pass) -> list[Entry]:
        triggers: list[tuple[object, Failed]] = []
        for record, failed in self.failed.items():
            triggers.append((self._own_group(record) or ("alone", record), failed))
        triggers += [(group, failed) for failed, group in self.group_triggers]
        triggers += [(("retracted", n), failed) for n, failed in enumerate(self.retracting)]
        alone = 0
        for failed in found.failures:
            own = failed.row.record
            if own is None or own[0] not in self.fields:
                triggers.append((("standing alone", alone), failed))
                alone += 1
        told = [
            (token, 0, failed.row.first, self._entry(failed, self._name(failed)))
            for token, failed in triggers
        ]
        for record, number in self.retracted.items():
            node = self.retracting[number].node
            told.append((("retracted", number), 1, record, self._correlated(record, node)))
        chosen: dict[Record, tuple[str, Group]] = {}
        for record, node, group in sorted(found.collaterals, key=lambda c: self.order[c[1]]):
            if record not in self.failed:
                chosen.setdefault(record, (node, group))
        for record, (node, group) in chosen.items():
            told.append((group, 1, record, self._correlated(record, node)))
        first: dict[object, Record] = {}
        for token, _, place, _ in told:
            first[token] = min(place, first.get(token, place))
        told.sort(key=lambda t: (first[t[0]], repr(t[0]), t[1], t[2]))
        return [entry for *_, entry in told]

    def _name(self, failed: Failed) -> str:
        row = failed.row
        if row.record is None and (failed.region.is_relaxed or len(self._feeding(failed.node)) > 1):
            return "<merged>"
        return self.sources[row.first[0]]

    def _feeding(self, node: str) -> set[str]:
        """The sources whose records leave a node, or those that they were made of."""
        planned = self.plan.nodes[node]
        if isinstance(planned, PlannedSource):
            return {node}
        edges = planned.unit.inputs
        if isinstance(planned, PlannedCombine):
            edges = tuple(edge for edge in edges if edge.label == planned.driver)
        return {name for edge in edges for name in self._feeding(edge.upstream)}

    def _entry(self, failed: Failed, source: str) -> Entry:
        return Entry(source, failed.row.first[1], failed.node, failed.category)

    def _correlated(self, record: Record, node: str) -> Entry:
        return Entry(self.sources[record[0]], record[1], node, "correlated")


def _part(value: Value) -> str | None:
    return None if value is None or value == "" else text_of(value)


def _text(value: Value) -> str:
    return "" if value is None else text_of(value)
