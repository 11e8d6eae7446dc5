"""Rounds: what falls because of what failed, until nothing more does.

Every round computes the outputs without what has fallen so far; what this cannot have changed is as
it was in the round before (`engine/run/keeping`). Of what fails and is new, the failures with the
fewest aggregates before them count: a failed record falls, with its group if the policy says so; a
failed group of a strict aggregate takes the groups of its records along; one behind a relaxed
aggregate takes its records back from everywhere, after which all is judged anew. Each round takes
out at least one record or group more, so that there is an end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from clinker.config.names import FanoutPolicy
from clinker.engine.flow.flow import POSITION, SOURCE
from clinker.engine.rejects.payload import payload_values
from clinker.engine.rejects.reject_texts import MEMBERSHIP, REJECTS
from clinker.engine.rejects.sites import Demand, RunAgain, Site, Sites, Unsettled
from clinker.engine.report.facts import Retracted
from clinker.engine.settling.fallen import Cause, Fallen, Group, Key, Oversized, Record
from clinker.engine.settling.keys import read_key, read_lineage
from clinker.engine.settling.rejecting import Failure, Failures, RoundRejects
from clinker.engine.settling.sizes import Size
from clinker.engine.settling.taking import collateral_reason
from clinker.plan.compile import Plan
from clinker.plan.nodes import Shape

GROUP_NUMBER, IS_COLLATERAL = "$group_number", "$is_collateral"
SETTLED = pa.schema([*REJECTS, (GROUP_NUMBER, pa.int64()), (IS_COLLATERAL, pa.bool_())])
"""Rejects, and which of them stand together: each without a number is alone."""

Measure: TypeAlias = Callable[[int, Sequence[Key], Iterable[Record]], Mapping[Key, Size]]
"""The sizes of groups of a source, without some records."""


Token: TypeAlias = object
"""Equal for rejects that stand together."""


class Rounds:
    """What has fallen in the rounds of a run, and why."""

    def __init__(self, plan: Plan, sites: Sites, sources: Sequence[str]) -> None:
        self._plan = plan
        self._sites = sites
        self._sources = sources
        keys = plan.correlation.sources
        self._fields = {n: keys[name].fields for n, name in enumerate(sources) if name in keys}
        """The key fields of sources, by their numbers."""
        self._order = {name: number for number, name in enumerate(plan.nodes)}
        self._outputs = {n for n, node in plan.nodes.items() if node.shape is Shape.WRITES}
        self._policies = {
            number: sorted({own[sources[number]] for own in plan.settling.policies.values()})
            for number in self._fields
        }
        """By which policies the groups of sources fall, some here, some there."""
        self._retracted: dict[Record, int] = {}
        """Records taken back, with the number of the trigger that did it."""
        self._retracting: list[Failure] = []
        self._failed: dict[Record, Group | None] = {}
        self._triggers: dict[int, Token] = {}
        """What made others fall, by its row among the rejects of all rounds."""
        self._forced: dict[Group, set[int]] = {}
        """Groups that fall under every policy."""
        self._groups: list[Group] = []
        """All that have something to do with a failure, each of them once."""
        self._numbers: dict[Group, int] = {}
        self._causes: dict[Group, Cause] = {}
        self.fallen = Fallen()
        self.rounds = 0
        """How often outputs were computed and something had failed."""
        self.computed_again = 0
        """Rows that outputs computed when something had fallen already."""
        self._rejects: list[pa.Table] = []
        """What was rejected in each round."""
        self._held_back = 0
        self.are_sizes_known = False
        """Whether groups that are too large have been looked for."""

    @property
    def retracted(self) -> Retracted | None:
        """What it took to settle all; None if there was nothing to settle."""
        if not self._fields:
            return None
        return Retracted(
            rounds=max(1, self.rounds),
            computed_again=self.computed_again,
            key_columns=len(self._keyed),
            output_rows=self._held_back,
            failed_groups=len(self._retracting),
            records_taken_back=len(self._retracted),
            groups_recomputed=self._recomputed(self._plan.correlation.relaxed),
            partitions_recomputed=self._recomputed(self._plan.windows),
        )

    def _recomputed(self, nodes: Iterable[str]) -> int | None:
        """How many groups or partitions of some nodes have lost records to a later round.

        None where some may have: to count them would take another look at all records.
        """
        lost = {self._sources[number] for number in self.fallen.unlike(Fallen())}
        reaching = self._plan.settling.reaching
        live = self._plan.live.intersection(nodes)
        return 0 if all(lost.isdisjoint(reaching[node]) for node in live) else None

    @property
    def decisive(self) -> Set[int]:
        """The sources of which a rejected record makes sure that another round follows.

        Later on, those that are known to fail are rejected once more.
        """
        is_first = not self.rounds and not self.fallen.oversized
        ends_run = self._plan.pipeline.error_handling.strategy == "fail_fast"
        return self._fields.keys() if is_first and not ends_run else frozenset()

    @property
    def _keyed(self) -> set[str]:
        """The relaxed aggregates whose groups are numbered, or known by what they are made of."""
        if self._retracting:
            return set(self._plan.correlation.relaxed)
        shown = {c.field for columns in self._plan.projections.values() for c in columns}
        return {n for n in self._plan.correlation.relaxed if f"$ck.aggregate.{n}" in shown}

    def expect(self, oversized: Sequence[Oversized]) -> None:
        """Go on without groups that are too large."""
        self.fallen = Fallen(oversized=tuple(oversized))
        self.are_sizes_known = True

    def settle(self, tables: Sequence[pa.Table], measure: Measure, *, is_final: bool) -> pa.Table:
        """All rejects when all is settled; `Unsettled` if it is not.

        With `is_final`, they are taken as they are.
        """
        table = pa.concat_tables([REJECTS.empty_table(), *tables])
        for demand in Demand:
            if pc.index(table["site"], demand).as_py() >= 0:
                raise RunAgain(demand)
        has_failed = len(table) or self.rounds
        if is_final or not self._fields or not has_failed:
            alone = pa.nulls(len(table), pa.int64())
            no = pa.repeat(False, len(table))
            return pa.table([*table.columns, alone, no], schema=SETTLED)
        self.rounds += 1
        rows_before = sum(map(len, self._rejects))
        rejects = RoundRejects(table, rows_before, self._sites, self._order)
        self._rejects.append(table)
        idle = self._judge(rejects, measure)
        if idle is None:
            raise Unsettled
        return self._entries(rejects, idle)

    def _judge(self, rejects: RoundRejects, measure: Measure) -> Failures | None:
        """The failures of which nothing follows; None if others fall with some of them."""
        failures = rejects.failures(self._failed)
        new = failures.with_consequences(self._fields)
        if not new:
            return failures
        self._take_out(new.of_first_level())
        self._choose_groups(measure)
        return None

    # What falls

    def _take_out(self, failures: Failures) -> None:
        if failures.lack_members:
            raise RunAgain(Demand.LINEAGE)
        before = len(self._retracted)
        for each in failures:
            if each.record is None:
                self._take_group(each)
            elif each.record not in self._failed:
                self._take_record(each)
        if len(self._retracted) > before:
            # Without these records all may be different.
            self._failed.clear()
            self._triggers.clear()
            self._forced.clear()
            self._causes.clear()

    def _take_record(self, failure: Failure) -> None:
        assert failure.record is not None
        key = None if failure.membership is None else read_key(failure.membership)
        group = self._group(failure.record[0], key)
        self._failed[failure.record] = group
        self._triggers[failure.at] = group or ("alone", failure.record)
        if group:
            self._blame(group, failure)

    def _take_group(self, failure: Failure) -> None:
        assert failure.membership is not None
        lineage = list(read_lineage(failure.membership))
        groups = [(self._group(record[0], key), record) for record, key in lineage]
        if failure.site.region.is_relaxed:
            taken = [record for _, record in groups]
        else:
            taken = [record for group, record in groups if group is None]
        if taken:
            number = len(self._retracting)
            self._retracting.append(failure)
            for record in taken:
                self._retracted.setdefault(record, number)
            return
        fallen = [(group, record[0]) for group, record in groups if group]
        for group, source in fallen:
            self._forced.setdefault(group, set()).add(source)
            self._blame(group, failure)
        self._triggers[failure.at] = fallen[0][0]

    def _group(self, source: int, key: Key | None) -> Group | None:
        """The group of a record; None if it is alone."""
        if key is None or source not in self._fields:
            return None
        group = Group(self._fields[source], key)
        number = self._numbers.setdefault(group, len(self._groups))
        if number == len(self._groups):
            self._groups.append(group)
        return self._groups[number]

    def _blame(self, group: Group, failure: Failure) -> None:
        if group not in self._causes or failure.cause < self._causes[group]:
            self._causes[group] = failure.cause

    # Which groups fall

    def _choose_groups(self, measure: Measure) -> None:
        asking = {number for number, own in self._policies.items() if set(own) - {"any"}}
        counts = Counter(
            (record[0], group)
            for record, group in self._failed.items()
            if group and record[0] in asking
        )
        sizes = self._sizes(counts, measure)

        def falls(policy: FanoutPolicy, source: int, group: Group) -> bool:
            if policy == "any":
                return True
            count, first = sizes[source, group.key]
            if policy == "all":
                return counts[source, group] >= count
            return (source, first) in self._failed

        self.fallen = Fallen(
            retracted=frozenset(self._retracted),
            failed=dict(self._failed),
            groups={policy: self._fallen_groups(policy, falls) for policy in self._every_policy},
            oversized=self.fallen.oversized,
            numbers=self._numbers,
            causes=self._causes,
        )

    @property
    def _every_policy(self) -> list[FanoutPolicy]:
        return sorted({each for own in self._policies.values() for each in own})

    def _fallen_groups(
        self, policy: FanoutPolicy, falls: Callable[[FanoutPolicy, int, Group], bool]
    ) -> dict[Group, frozenset[int]]:
        """The groups that fall by a policy, with the sources whose records do."""
        fallen = {group: frozenset(sources) for group, sources in self._forced.items()}
        same: dict[frozenset[int], frozenset[int]] = {}
        """Many groups fall with the same sources."""
        for (source, _), group in self._failed.items():
            if group is None or policy not in self._policies[source]:
                continue
            known = fallen.get(group, frozenset())
            if source not in known and falls(policy, source, group):
                sources = known | {source}
                fallen[group] = same.setdefault(sources, sources)
        return fallen

    def _sizes(
        self, failed: Iterable[tuple[int, Group]], measure: Measure
    ) -> dict[tuple[int, Key], Size]:
        """The sizes of groups, by source and key."""
        keys: dict[int, list[Key]] = {}
        for source, group in failed:
            keys.setdefault(source, []).append(group.key)
        return {
            (source, key): size
            for source, sought in keys.items()
            for key, size in measure(source, sought, self._retracted).items()
        }

    # Entries

    def _entries(self, rejects: RoundRejects, idle: Failures) -> pa.Table:
        """One reject for every record that fell, and those of records that belong to nobody."""
        self._held_back += rejects.count_collaterals(self._outputs)
        retracting = {each.at: _retracted(n) for n, each in enumerate(self._retracting)}
        entries = _Entries(pa.concat_tables(self._rejects))
        entries.add({**self._triggers, **retracting}, is_collateral=False)
        for token, rows in self._taken_back():
            entries.add_rows(rows, [token] * len(rows), is_collateral=True)
        entries.add(dict(self._collaterals(rejects)), is_collateral=True)
        entries.add(dict.fromkeys(idle.rows), is_collateral=False)
        return entries.table()

    def _taken_back(self) -> Iterator[tuple[Token, pa.Table]]:
        """Rejects of the records that are taken back, with what they stand together with."""
        by_trigger: dict[int, list[Record]] = {}
        for record, number in self._retracted.items():
            by_trigger.setdefault(number, []).append(record)
        for number, records in by_trigger.items():
            site = self._correlated_site(self._retracting[number])
            rows = {
                SOURCE: [source for source, _ in records],
                POSITION: [position for _, position in records],
                "site": [site] * len(records),
                "inputs": ["[]"] * len(records),
                "origin": [None] * len(records),
                MEMBERSHIP: [None] * len(records),
            }
            yield _retracted(number), pa.table(rows, schema=REJECTS)

    def _correlated_site(self, trigger: Failure) -> int:
        """A site that rejects the records of a group where the group failed."""
        sites, cause = self._sites, trigger.cause
        return sites.add(
            Site(
                trigger.site.node,
                trigger.site.branch,
                lambda _: collateral_reason(sites.reason(cause.site, cause.inputs)),
                is_collateral=True,
                label=trigger.site.label,
            )
        )

    def _collaterals(self, rejects: RoundRejects) -> Iterator[tuple[int, Token]]:
        """One reject of each record that falls with others, and the group it falls with."""
        for row, source, inputs, membership in rejects.collaterals(self._failed):
            if inputs == "[]":  # its group was too large to begin with
                assert membership is not None
                yield row, self._group(source, read_key(membership))
            else:
                (group,) = payload_values(inputs).values()
                assert isinstance(group, int)
                yield row, self._groups[group]


class _Entries:
    """Rejects that become entries, put together."""

    def __init__(self, rejects: pa.Table) -> None:
        self._rejects = rejects
        self._tables: list[pa.Table] = []
        self._numbers: dict[Token, int] = {}

    def add(self, tokens: Mapping[int, Token | None], *, is_collateral: bool) -> None:
        """Some of the rejects, each with what it stands together with; None if it is alone."""
        rows = self._rejects.take(pa.array(list(tokens), pa.int64()))
        self.add_rows(rows, tokens.values(), is_collateral=is_collateral)

    def add_rows(
        self, rows: pa.Table, tokens: Iterable[Token | None], *, is_collateral: bool
    ) -> None:
        numbers = [
            None if token is None else self._numbers.setdefault(token, len(self._numbers))
            for token in tokens
        ]
        columns = [
            *rows.columns,
            pa.array(numbers, pa.int64()),
            pa.repeat(is_collateral, len(rows)),
        ]
        self._tables.append(pa.table(columns, schema=SETTLED))

    def table(self) -> pa.Table:
        return pa.concat_tables([SETTLED.empty_table(), *self._tables])


def _retracted(number: int) -> Token:
    """What those stand together with that one failure has taken back."""
    return "retracted", number
