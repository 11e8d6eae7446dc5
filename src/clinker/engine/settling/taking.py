"""Taking out: flows without the records and groups that have fallen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace

import pyarrow as pa

from clinker.cxl.failure import Category
from clinker.cxl.types import INT
from clinker.cxl.values import Value
from clinker.engine.flow.building import Building
from clinker.engine.flow.flow import POSITION, SOURCE, Flow
from clinker.engine.flow.frame import quoted
from clinker.engine.rejects.mark import mark, origin_sql, reject_sql
from clinker.engine.rejects.payload import payload_sql
from clinker.engine.rejects.sites import Explain, Reason
from clinker.engine.settling.fallen import (
    Fields,
    Group,
    Oversized,
    Record,
    Rows,
    records_table,
)
from clinker.engine.settling.keys import part_sql
from clinker.plan.analyses.correlation import Atomicity
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes import PlannedAggregate, PlannedOutput, PlannedSource


def at_source(building: Building, planned: PlannedSource, flow: Flow) -> Flow:
    """The records of a source, without those that are gone, and without groups too large."""
    flow = _without(building, flow, building.fallen.retracted)
    number = _number(building, planned.name)
    own = [each for each in building.fallen.oversized if each.first[0] == number]
    return _without_oversized(building, planned, flow, own) if own else flow


def at_aggregate(building: Building, planned: PlannedAggregate, flow: Flow) -> Flow:
    """What an aggregate counts: no failed records, and if it is strict no fallen groups."""
    atomicity = building.plan.correlation.aggregates[planned.name].atomicity
    match atomicity:
        case Atomicity.UNCORRELATED:
            return flow
        case Atomicity.RELAXED:
            return _without(building, flow, building.fallen.failed)
        case Atomicity.STRICT:
            flow = _without(building, flow, _failed_alone(building, planned.unit))
            return _without_groups(building, planned.unit, flow)


def at_output(building: Building, planned: PlannedOutput, flow: Flow) -> Flow:
    """What an output writes: no failed records and no fallen groups."""
    flow = _without(building, flow, _failed_alone(building, planned.unit))
    return _without_groups(building, planned.unit, flow)


def _failed_alone(building: Building, unit: Unit) -> Iterator[Record]:
    """The failed records that are not taken out with a group anyway."""
    groups = _fallen_groups(building, unit)
    visible = set(building.plan.correlation.visible[unit.inputs[0].upstream].fields)
    for record, group in building.fallen.failed.items():
        falls = group is not None and record[0] in groups.get(group, ())
        if group is None or not falls or not visible.issuperset(group.fields):
            yield record


def _fallen_groups(building: Building, unit: Unit) -> Mapping[Group, Set[int]]:
    """The groups that fall at an output or strict aggregate, with the sources whose records do."""
    policies = building.plan.settling.policies[unit.name]
    return building.fallen.groups_at({_number(building, name): p for name, p in policies.items()})


def _number(building: Building, source: str) -> int:
    return list(building.system.files).index(source)


# Records


def _without(building: Building, flow: Flow, records: Iterable[Record]) -> Flow:
    """The flow without some records, of which others tell."""
    numbers = {_number(building, source) for source in flow.sources}
    own = [record for record in records if record[0] in numbers]
    if not own:
        return flow
    flow = flow.on_whole_frame()
    at = len(flow.frame.names)
    source, position = names = f"$taken{at}.source", f"$taken{at}.position"
    rows = Rows(records_table(own, names)).frame("records that have fallen")
    test = f"{quoted(SOURCE)} = {quoted(source)} AND {quoted(POSITION)} = {quoted(position)}"
    joined = flow.frame.join(rows, test, is_small=True)
    return replace(flow, frame=joined).where(f"{quoted(source)} IS NULL")


# Groups


def _without_groups(building: Building, unit: Unit, flow: Flow) -> Flow:
    """The flow in which the records of fallen groups are rejected."""
    plan = building.plan
    groups = _fallen_groups(building, unit)
    if not groups:
        return flow
    visible = plan.correlation.visible[unit.inputs[0].upstream].fields
    is_joined = plan.settling.before[unit.name].is_joined
    numbers = building.fallen.numbers
    found: list[str] = []
    for fields in dict.fromkeys(key.fields for key in plan.correlation.sources.values()):
        shared = tuple(name for name in fields if name in visible)
        own = [each for each in groups if each.fields == fields and shared]
        if shared != fields:
            own.sort(key=_order)
        rows = [
            (source, group.of(shared), numbers[group]) for group in own for source in groups[group]
        ]
        if rows:
            flow, number = _with_number(flow, shared, rows, is_joined=is_joined)
            found.append(number)
    if not found:
        return flow
    number = f"coalesce({', '.join(found)})"
    explain = _collateral_explainer(building, list(numbers))
    site = building.site(unit, explain, is_collateral=True)
    reject = reject_sql(site, payload_sql([("0", number, INT)]), origin_sql(flow))
    return mark(flow, f"{quoted(SOURCE)} IS NOT NULL AND {number} IS NOT NULL", reject)


def _order(group: Group) -> tuple[str, ...]:
    """Which comes first of the groups that cannot be told apart any more; not that which fell."""
    return tuple(part or "" for part in group.key)


def _with_number(
    flow: Flow,
    fields: Fields,
    rows: Sequence[tuple[int, Sequence[str | None], int]],
    *,
    is_joined: bool,
) -> tuple[Flow, str]:
    """The flow, and the column with the number of the fallen group that a record is in.

    A record falls with its own source; one that was made of several, with any.
    """
    at = len(flow.frame.names)
    parts = {f"$part{at}.{n}": part_sql(flow, field) for n, field in enumerate(fields)}
    flow = flow.on_whole_frame(parts)
    number, source = f"$fallen{at}.group", f"$fallen{at}.source"
    keys = [f"$fallen{at}.{n}" for n in range(len(fields))]
    first: dict[tuple[object, ...], int] = {}
    for of_source, key, group in rows:
        if any(part is not None for part in key):
            first.setdefault((None if is_joined else of_source, *key), group)
    table = pa.table(
        [
            pa.array([each[0] for each in first], pa.int32()),
            *(pa.array([each[1 + n] for each in first], pa.string()) for n in range(len(fields))),
            pa.array(list(first.values()), pa.int64()),
        ],
        [source, *keys, number],
    )
    # Spark compares what may be null more slowly.
    tests = [
        f"{quoted(part)} {'<=>' if table[key].null_count else '='} {quoted(key)}"
        for part, key in zip(parts, keys, strict=True)
    ]
    if not is_joined:
        tests.append(f"{quoted(SOURCE)} = {quoted(source)}")
    fallen = Rows(table).frame("groups that have fallen")
    joined = flow.frame.join(fallen, " AND ".join(tests), is_small=True)
    return replace(flow, frame=joined), quoted(number)


def _collateral_explainer(building: Building, groups: Sequence[Group]) -> Explain:
    """Why a record falls: of its group, what failed first."""
    sites, causes = building.sites, building.fallen.causes
    known: dict[int, Reason] = {}

    def explain(values: list[Value]) -> Reason | None:
        (number,) = values
        assert isinstance(number, int)
        if number not in known:
            cause = causes[groups[number]]
            known[number] = collateral_reason(sites.reason(cause.site, cause.inputs))
        return known[number]

    return explain


def collateral_reason(cause: Reason) -> Reason:
    """Why a record falls with another that fails for a cause."""
    return Reason(Category.CORRELATED, f"correlated with failure in group: {cause.detail}")


# Groups that are too large


def _without_oversized(
    building: Building, planned: PlannedSource, flow: Flow, oversized: Sequence[Oversized]
) -> Flow:
    """The flow in which the records of groups that are too large are rejected."""
    fields = building.plan.correlation.sources[planned.name].fields
    rows = [(each.first[0], each.group.key, each.first[1]) for each in oversized]
    flow, first = _with_number(flow, fields, rows, is_joined=False)
    most = building.plan.pipeline.error_handling.max_group_buffer
    detail = f"the group has more than {most} records (max_group_buffer)"
    reasons: Mapping[str, Reason] = {
        "=": Reason(Category.GROUP_SIZE, detail),
        "<>": Reason(Category.CORRELATED, f"correlated with failure in group: {detail}"),
    }
    for comparison, reason in reasons.items():
        site = building.site(
            planned.unit,
            _stating(reason),
            is_collateral=reason.category == Category.CORRELATED,
        )
        reject = reject_sql(site, "'[]'", origin_sql(flow))
        flow = mark(flow, f"{quoted(POSITION)} {comparison} {first}", reject)
    return flow


def _stating(reason: Reason) -> Explain:
    return lambda _: reason
