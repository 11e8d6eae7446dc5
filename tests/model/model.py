"""The model: what falls because of what failed, round by round, until nothing more does.

A pass takes every record through the nodes, without what has fallen so far; what fails in it and is
new makes more fall, and all begins again.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias

from clinker.config.names import FanoutPolicy
from clinker.cxl.values import Value, text_of
from clinker.plan.compile import Plan
from clinker.plan.nodes import PlannedAggregate, PlannedCombine, PlannedOutput, PlannedSource

from .passing import Passing, feeding
from .rows import Data, Entry, Failed, Group, Pass, Record, Result, Row, readable
from .variables import place, record_at
from .writing import shown

_MERGED = "<merged>"

Policies: TypeAlias = Mapping[int, FanoutPolicy]
"""By the number of a source."""


class Model:
    def __init__(self, plan: Plan, data: Data) -> None:
        self.plan = plan
        self.data = data
        self.sources = list(data)
        self.fields = {
            number: plan.correlation.sources[name].fields
            for number, name in enumerate(self.sources)
            if name in plan.correlation.sources
        }
        self.order = {name: number for number, name in enumerate(plan.nodes)}
        self.groups = {record: self._read_group(record) for record in self._records()}
        """The group of each record; None if it falls alone."""
        self.retracted: dict[Record, int] = {}
        self.retracting: list[Failed] = []
        self.failed: dict[Record, Failed] = {}
        self.group_triggers: list[tuple[Failed, Group]] = []
        self.forced: set[tuple[Group, int]] = set()
        self.oversized = self._oversized()
        self.policies = {
            name: self._policies(name)
            for name, planned in plan.nodes.items()
            if isinstance(planned, PlannedOutput | PlannedAggregate)
        }

    def _records(self) -> list[Record]:
        return [
            (number, position)
            for number, name in enumerate(self.sources)
            for position in range(1, sum(map(len, self.data[name])) + 1)
        ]

    def _read_group(self, record: Record) -> Group | None:
        source, position = record
        if source not in self.fields:
            return None
        cells = record_at(self.data[self.sources[source]], position)
        key = tuple(_part(readable(cells)[name]) for name in self.fields[source])
        return (self.fields[source], key) if any(part is not None for part in key) else None

    def _oversized(self) -> list[tuple[Group, list[Record]]]:
        """Groups of a source with too many records."""
        members: dict[tuple[Group, int], list[Record]] = {}
        for record, group in self.groups.items():
            if group:
                members.setdefault((group, record[0]), []).append(record)
        most = self.plan.pipeline.error_handling.max_group_buffer
        return [(group, own) for (group, _), own in members.items() if len(own) > most]

    # Rounds

    def run(self) -> Result:
        passes = 0
        while True:
            passes += 1
            brought = self._pass()
            new = [each for each in brought.failures if self._is_new(each)]
            if not new:
                return Result(self._shown(brought), self._entries(brought), passes)
            level = min(each.region.level for each in new)
            counting = [each for each in new if each.region.level == level]
            self._take_out(sorted(counting, key=self._rank))

    def _pass(self) -> Pass:
        fallen = {node: self._fallen(own) for node, own in self.policies.items()}
        passing = Passing(
            self.plan,
            self.data,
            retracted=self.retracted,
            failed=self.failed,
            oversized=self.oversized,
            group_fallen=lambda node, row: self._group_fallen(node, row, fallen[node]),
        )
        return passing.run()

    def _rank(self, failed: Failed) -> tuple[object, ...]:
        row = failed.row
        return (row.record or (-1, -1), self.order[failed.node], row.first, failed.step)

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
            groups = {record: self.groups[record] for record in sorted(row.made_of)}
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

    # Which groups fall

    def _policies(self, node: str) -> Policies:
        """When the groups of each source fall at an output or an aggregate."""
        outputs = [o for o in self._behind(node) if isinstance(self.plan.nodes[o], PlannedOutput)]
        found: dict[int, FanoutPolicy] = {}
        for number in self.fields:
            own = self._of_source(number)
            agreed = {self._on_the_way(output) or own for output in outputs}
            found[number] = agreed.pop() if len(agreed) == 1 else own
        return found

    def _behind(self, node: str) -> list[str]:
        return [node, *self.plan.graph.descendants(node)]

    def _of_source(self, number: int) -> FanoutPolicy:
        planned = self.plan.nodes[self.sources[number]]
        assert isinstance(planned, PlannedSource)
        common = self.plan.pipeline.error_handling.correlation_fanout_policy
        return planned.node.config.correlation_fanout_policy or common

    def _on_the_way(self, node: str) -> FanoutPolicy | None:
        """What an output says, or the last combine before it."""
        planned = self.plan.nodes[node]
        if isinstance(planned, PlannedOutput | PlannedCombine):
            own = planned.node.config.correlation_fanout_policy
            if own:
                return own
        before = (self._on_the_way(edge.upstream) for edge in planned.passed_on)
        return next((policy for policy in before if policy), None)

    def _fallen(self, policies: Policies) -> set[tuple[Group, int]]:
        """The groups that fall somewhere, and the sources whose records do."""
        fallen = set(self.forced)
        members: dict[tuple[Group, int], list[Record]] = {}
        for record, group in self.groups.items():
            if group and record not in self.retracted:
                members.setdefault((group, record[0]), []).append(record)
        for both, records in members.items():
            failed = [record in self.failed for record in records]
            match policies[both[1]]:
                case "any":
                    falls = any(failed)
                case "all":
                    falls = all(failed)
                case "primary":
                    falls = failed[0]
            if falls:
                fallen.add(both)
        return fallen

    def _group_fallen(self, node: str, row: Row, fallen: set[tuple[Group, int]]) -> Group | None:
        """The fallen group that a row is in, at an output or a strict aggregate."""
        if row.record is None:
            return None
        upstream = self.plan.graph.units[node].inputs[0].upstream
        visible = self.plan.correlation.visible[upstream].fields
        is_joined = self.plan.settling.before[node].is_joined
        for fields in dict.fromkeys(self.fields.values()):
            visible_ones = [name for name in fields if name in visible]
            own = [_part(row.keys.get(name)) for name in visible_ones]
            if all(part is None for part in own):
                continue
            for (names, key), source in sorted(fallen, key=_in_order):
                parts = dict(zip(names, key, strict=True))
                is_own = names == fields and [parts[name] for name in visible_ones] == own
                if is_own and (is_joined or source == row.record[0]):
                    return names, key
        return None

    # What is told

    def _shown(self, brought: Pass) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, rows in brought.outputs.items():
            planned = self.plan.nodes[name]
            assert isinstance(planned, PlannedOutput)
            found[name] = shown(self.plan, planned, rows)
        return found

    def _entries(self, brought: Pass) -> list[Entry]:
        """Groups in the order of their first rows; in each, first what made the others fall."""
        told: list[tuple[Hashable, int, Record, Entry]] = []

        def tell(token: Hashable, failed: Failed) -> None:
            told.append((token, 0, failed.row.first, self._entry(failed)))

        for record, failed in self.failed.items():
            tell(self.groups[record] or ("alone", record), failed)
        for failed, group in self.group_triggers:
            tell(group, failed)
        for number, failed in enumerate(self.retracting):
            tell(("retracted", number), failed)
        for number, failed in enumerate(brought.failures):
            own = failed.row.record
            if own is None or own[0] not in self.fields:
                tell(("of nobody", number), failed)
        for record, number in self.retracted.items():
            stage = self.retracting[number].shown_stage
            told.append((("retracted", number), 1, record, self._correlated(record, stage)))
        chosen: dict[Record, tuple[str, Group]] = {}
        for record, node, group in sorted(brought.collaterals, key=lambda c: self.order[c[1]]):
            if record not in self.failed:
                chosen.setdefault(record, (node, group))
        for record, (node, group) in chosen.items():
            told.append((group, 1, record, self._correlated(record, node)))
        first: dict[Hashable, Record] = {}
        for token, _, at, _ in told:
            first[token] = min(at, first.get(token, at))
        told.sort(key=lambda t: (first[t[0]], repr(t[0]), t[1], t[2]))
        return [entry for *_, entry in told]

    def _entry(self, failed: Failed) -> Entry:
        row = failed.row
        sources = feeding(self.plan, failed.node)
        is_group = row.record is None
        is_merged = is_group and (failed.region.is_relaxed or len(sources) > 1)
        if not row.made_of:
            name = _MERGED if is_merged else min(sources)
            return Entry(name, "", 0, failed.shown_stage, failed.category)
        return self._at(row.first, failed.shown_stage, failed.category, is_merged=is_merged)

    def _correlated(self, record: Record, stage: str) -> Entry:
        return self._at(record, stage, "correlated")

    def _at(self, record: Record, stage: str, category: str, *, is_merged: bool = False) -> Entry:
        source = self.sources[record[0]]
        file, row = place(self.data[source], record[1])
        return Entry(_MERGED if is_merged else source, f"{source}{file}", row, stage, category)


def _in_order(fallen: tuple[Group, int]) -> tuple[str, ...]:
    """Which group comes first where only a part of the key is left."""
    (_, key), _ = fallen
    return tuple(part or "" for part in key)


def _part(value: Value) -> str | None:
    return None if value is None or value == "" else text_of(value)
