"""Aggregates on Spark give what the definition of aggregate programs gives."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence, Set
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.run.evaluate import Record, Surroundings
from clinker.cxl.run.grouping import GroupProgram
from clinker.cxl.values import Value
from clinker.engine.flow.flow import POSITION, order_column
from clinker.engine.flow.frame import quoted
from clinker.engine.flow.hidden import MARK, NO_REJECT
from clinker.engine.nodes.aggregate import aggregate
from clinker.engine.nodes.partials import MANY_OF_MUCH
from clinker.engine.rejects.aggregate_reasons import group_name
from clinker.engine.rejects.explaining import nan_reason
from clinker.engine.rejects.sites import Demand, Reason, reason_of
from clinker.plan.nodes import PlannedAggregate
from tests.engine.expressions.running import fingerprint
from tests.engine.flowing import Collected, building, collected, planned, source_flow

NOON = dt.datetime(2024, 2, 29, 12, 30)
VALUES: dict[str, Sequence[Value]] = {
    "i": [0, 1, -7, 2**62, -(2**62), 40, None],
    "f": [0.1, 0.2, -0.0, 0.0, 1e16, -3.75, float("inf"), float("nan"), None],
    "w": [1e300, -1e300, 5e-324, 0.1, None],
    "s": ["a", "b", "", '\u00fc "quoted" \\', None],
    "b": [True, False, None],
    "d": [dt.date(2024, 2, 29), dt.date(1969, 12, 31), None],
    "t": [NOON, NOON + dt.timedelta(microseconds=1), None],
    "n": [1, 2, 2.0, 2.5, -1, None],
    "y": [1, 1.0, "a", "1", True, NOON, dt.date(2024, 2, 29), [1, "x"], None],
}
SCHEMA = (
    "{ i: nullable(int), f: nullable(float), w: nullable(float), s: nullable(string),"
    " b: nullable(bool), d: nullable(date), t: nullable(datetime), n: nullable(numeric), y: any }"
)


def pipeline(cxl: str, group_by: Sequence[str]) -> str:
    lines = "".join(f"\n        {line.strip()}" for line in cxl.strip().splitlines())
    return f"""
pipeline: {{ name: p }}
nodes:
  - type: source
    name: src
    config: {{ type: csv, path: in.csv, schema: {SCHEMA} }}
  - type: aggregate
    name: totals
    input: src
    config:
      group_by: [{", ".join(group_by)}]
      cxl: |{lines}
  - type: output
    name: out
    input: totals
    config: {{ type: json, path: out.json }}
"""


def random_records(count: int, seed: int) -> list[Record]:
    pick = random.Random(seed)
    return [{name: pick.choice(values) for name, values in VALUES.items()} for _ in range(count)]


def on_spark(
    spark: SparkSession,
    text: str,
    records: Sequence[Record],
    demands: Set[Demand] = frozenset(),
) -> Collected:
    plan = planned(text)
    built = building(spark, plan, demands)
    node = plan.nodes["totals"]
    assert isinstance(node, PlannedAggregate)
    flow = source_flow(built, "src", records, parts=3)
    found = collected(built, aggregate(built, node, flow))
    assert not found.demands & demands
    return on_spark(spark, text, records, found.demands) if found.demands else found


def by_definition(
    text: str, records: Sequence[Record], group_by: Sequence[str]
) -> tuple[list[dict[str, Value]], list[tuple[int | None, Reason]]]:
    """The records of groups, and what is rejected: records by their row, then groups."""
    node = planned(text).nodes["totals"]
    assert isinstance(node, PlannedAggregate)
    found = GroupProgram(node.program, group_by, Surroundings()).run(records)
    rejected: list[tuple[int | None, Reason]] = [
        (r.position + 1, reason_of(r.failure)) for r in found.rejected
    ]
    rejected += [
        (None, _of_group(reason_of(r.failure), group_by, records[r.position])) for r in found.failed
    ]
    emitted = node.program.fields_written
    kept = []
    for record in found.records:
        reason = nan_reason({name: record[name] for name in emitted})
        if reason:
            rejected.append((None, _of_group(reason, group_by, record)))
        else:
            kept.append(record)
    return kept, rejected


def _of_group(reason: Reason, group_by: Sequence[str], record: Record) -> Reason:
    """The reason of a group that this record is in."""
    name = group_name({key: record.get(key) for key in group_by})
    return replace(reason, detail=name + reason.detail)


def agree(
    spark: SparkSession, cxl: str, group_by: Sequence[str], records: Sequence[Record]
) -> Collected:
    text = pipeline(cxl, group_by)
    found = on_spark(spark, text, records)
    wanted, rejected = by_definition(text, records, group_by)
    assert [fingerprint(r) for r in found.records] == [fingerprint(r) for r in wanted]
    got = [(r.row, r.reason) for r in found.rejected]
    assert sorted(got, key=repr) == sorted(rejected, key=repr)
    return found


EVERY_FUNCTION = """
    emit records = count(*)
    emit known = count(y)
    emit total_i = sum(i)
    emit total_n = sum(n)
    emit mean = avg(i)
    emit mean_n = avg(n)
    emit low_i = min(i)
    emit low_f = min(f) ?? 0.0
    emit high_n = max(n)
    emit high_s = max(s)
    emit low_b = min(b)
    emit high_d = max(d)
    emit low_t = min(t)
    emit all_y = collect(y)
    emit all_d = collect(d)
    emit weighted = weighted_avg(n, i)
    emit first_y = first(y)
    emit last_s = last(s)
    emit some = any(b)
"""


@pytest.mark.parametrize("group_by", [[], ["s"], ["y"], ["n"], ["f"], ["d", "b"], ["i", "t"]])
def test_every_function_over_keys_of_every_type(spark: SparkSession, group_by: list[str]) -> None:
    agree(spark, EVERY_FUNCTION, group_by, random_records(40, seed=len(str(group_by))))


NESTED: Sequence[Value] = [
    [1, "x"],
    [1.0, "x"],
    ["1", "x"],
    '[1,"x"]',
    [[1], -0.0, None],
    [[1.0], 0, None],
    [[1.0], 0],
    {"b": {"q": 2.0, "p": None}, "a": [1]},
    {"a": [1.0], "b": {"p": None, "q": 2}},
    {"a": [1.5], "b": {"p": None, "q": 2}},
    {"1.0": '"1.0"', "": '[1.0,"2.0"]'},
    {"": '[1.0,"2.0"]', "1.0": '"1.0"'},
    {"": '[1.0,"2.0"]', "1": '"1.0"'},
    {"": '[1,"2.0"]', "1": '"1.0"'},
    [1e300, float(2**52), '\u00fc\\"\u0007'],
    [1e300, 2**52, '\u00fc\\"\u0007'],
    [],
    {},
]


def test_keys_that_are_equal_arrays_or_maps_are_one(spark: SparkSession) -> None:
    records: list[Record] = [{"i": n, "y": value} for n, value in enumerate(NESTED)]
    found = agree(spark, "emit all = collect(i)", ["y"], records)
    numbers = [record["all"] for record in found.records]
    assert [0, 1] in numbers
    assert [7, 8] in numbers
    assert [10, 11] in numbers
    assert len(numbers) == len(NESTED) - 5


def test_sums_of_all_floats(spark: SparkSession) -> None:
    cxl = "emit total = sum(w)\nemit mean = avg(w)\nemit both = sum(f)"
    agree(spark, cxl, ["s"], random_records(60, seed=5))


MANY_SUMS = "\n".join(f"emit sum{n} = sum(n * {n}.5)" for n in range(MANY_OF_MUCH))
MANY_SUMS += "\nemit one_more = sum(n)\nemit mean = avg(n)\nemit weighted = weighted_avg(n, w)"


@pytest.mark.parametrize("group_by", [[], ["s"], ["y"], ["f"]])
def test_many_sums_beside_every_function(spark: SparkSession, group_by: list[str]) -> None:
    cxl = f"{EVERY_FUNCTION}\n{MANY_SUMS}".replace("emit mean", "emit a_mean", 1)
    cxl = cxl.replace("emit weighted", "emit a_weighted", 1)
    agree(spark, cxl, group_by, random_records(60, seed=11))
    agree(spark, cxl, group_by, [])


@pytest.mark.parametrize("group_by", [[], ["s"]])
def test_many_sums_beside_rejected_records(spark: SparkSession, group_by: list[str]) -> None:
    cxl = f"{MANY_SUMS}\nemit records = count(*)\nemit text = sum(y)"
    found = agree(spark, cxl, group_by, random_records(60, seed=12))
    assert 0 < len(found.rejected) < 60
    records: list[Record] = [{"s": "a", "y": "text"}, {"s": "b", "y": "text"}]
    found = agree(spark, cxl, group_by, records)
    assert len(found.rejected) == 2
    assert [r["records"] for r in found.records] == ([] if group_by else [0])


def test_expressions_around_aggregates(spark: SparkSession) -> None:
    cxl = """
        filter i != 40
        let twice = i / 2 * 2
        emit s = s.upper()
        emit total = sum(twice)
        emit grade = match { total >= 20 => "high", _ => s ?? "none" }
        emit label = grade + "/" + count(*).to_string()
        emit far = max(f) > 2.0
    """
    agree(spark, cxl, ["s", "b"], random_records(50, seed=7))


def test_an_empty_input_has_groups_only_without_keys(spark: SparkSession) -> None:
    assert agree(spark, EVERY_FUNCTION, ["s"], []).records == []
    (record,) = agree(spark, EVERY_FUNCTION, [], []).records
    assert record["records"] == 0


def test_a_record_with_a_bad_argument_counts_in_no_aggregate(spark: SparkSession) -> None:
    records: list[Record] = [
        {"s": "a", "i": 10, "y": 1},
        {"s": "a", "i": 0, "y": 2},
        {"s": "b", "i": 5, "y": "text"},
    ]
    cxl = "emit n = count(*)\nemit shares = sum(100 / i)\nemit total = sum(y)"
    found = agree(spark, cxl, ["s"], records)
    assert found.records == [{"s": "a", "n": 1, "shares": 10, "total": 1}]
    assert [(r.row, r.stage, r.reason.category) for r in found.rejected] == [
        (2, "totals", "type_coercion_failure"),
        (3, "totals", "aggregate_type_error"),
    ]


def test_only_rejected_records_still_leave_the_one_group(spark: SparkSession) -> None:
    found = agree(spark, "emit n = count(*)\nemit x = sum(1 / i)", [], [{"i": 0}, {"i": 0}])
    assert found.records == [{"n": 0, "x": None}]
    assert len(found.rejected) == 2


def test_groups_that_fail(spark: SparkSession) -> None:
    records: list[Record] = [
        {"s": "fine", "i": 2, "y": 1},
        {"s": "overflow", "i": 2**62, "y": 1},
        {"s": "overflow", "i": 2**62, "y": 1},
        {"s": "mixed", "i": 1, "y": "text"},
        {"s": "mixed", "i": 1, "y": 1},
        {"s": "zero", "i": 0, "y": 1},
    ]
    cxl = "emit total = sum(i)\nemit high = max(y)\nemit ratio = 1 / total"
    found = agree(spark, cxl, ["s"], records)
    assert found.records == [{"s": "fine", "total": 2, "high": 1, "ratio": 0}]
    details = [r.reason.detail for r in found.rejected]
    assert details == [
        "group s = 'overflow': integer overflow in sum",
        "group s = 'mixed': max cannot compare Int or String",
        "group s = 'zero': division by zero",
    ]


def test_a_group_that_fails_is_named_by_all_its_keys(spark: SparkSession) -> None:
    records: list[Record] = [{"s": None, "i": 7, "f": 0.5, "d": dt.date(2024, 2, 3), "n": 0}]
    records += [{"s": "x" * 99, "i": 7, "f": 0.5, "d": dt.date(2024, 2, 3), "n": 0}]
    found = agree(spark, "emit x = 1 / sum(n)", ["s", "i", "f", "d"], records)
    assert [r.reason.detail for r in found.rejected] == [
        "group s = null, i = 7, f = 0.5, d = 2024-02-03: division by zero",
        f"group s = '{'x' * 60}…', i = 7, f = 0.5, d = 2024-02-03: division by zero",
    ]


def test_nan_is_no_result(spark: SparkSession) -> None:
    records: list[Record] = [{"f": float("inf"), "s": "a"}, {"f": -float("inf"), "s": "a"}]
    (rejection,) = agree(spark, "emit total = sum(f)", ["s"], records).rejected
    assert rejection.reason.category == "nan_in_output_field"


def test_rejected_records_pass_by(spark: SparkSession) -> None:
    """Also when several of them are alike, as records that one record became may be."""
    plan = planned(pipeline("emit n = count(*)", ["s"]))
    built = building(spark, plan)
    node = plan.nodes["totals"]
    assert isinstance(node, PlannedAggregate)
    flow = source_flow(built, "src", [{"s": "a"}, {"s": "a"}, {"s": "b"}])
    site = built.site(node.unit, lambda values: Reason("test", "rejected before"))
    mark = f"named_struct('site', {site}, 'inputs', '[]', 'origin', '{{}}')"
    place = quoted(POSITION)
    nth = order_column("nth")
    columns = [(nth, place), (MARK, f"if({place} <= 2, {mark}, {NO_REJECT})")]
    flow = flow.with_hidden(columns).with_values({POSITION: "1L"})
    flow = replace(flow, order=(POSITION, nth.name))
    found = collected(built, aggregate(built, node, flow))
    assert found.records == [{"s": "b", "n": 1}]
    assert [(r.row, r.reason.detail) for r in found.rejected] == [(1, "rejected before")] * 2


def test_groups_of_groups_keep_their_order(spark: SparkSession) -> None:
    text = pipeline("emit n = count(*)", ["s", "b"]).replace(
        "  - type: output\n    name: out\n    input: totals",
        "  - type: aggregate\n    name: again\n    input: totals\n"
        "    config: { group_by: [s], cxl: emit all = collect(b) }\n"
        "  - type: output\n    name: out\n    input: again",
    )
    plan = planned(text)
    built = building(spark, plan)
    first, second = plan.nodes["totals"], plan.nodes["again"]
    assert isinstance(first, PlannedAggregate)
    assert isinstance(second, PlannedAggregate)
    pairs = [("x", True), ("y", False), ("x", False), ("x", True), ("y", True), ("y", None)]
    flow = source_flow(built, "src", [{"s": s, "b": b} for s, b in pairs])
    groups = aggregate(built, second, aggregate(built, first, flow))
    assert collected(built, groups).records == [
        {"s": "x", "all": [True, False]},
        {"s": "y", "all": [False, True, None]},
    ]
