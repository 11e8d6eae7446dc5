"""Aggregates over windows of event time, and the records that come too late for them."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping, Sequence

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.run.evaluate import Record
from clinker.cxl.values import Value
from clinker.engine.nodes.aggregate import aggregate
from clinker.engine.nodes.merge import merge
from clinker.engine.rejects.sites import Reason
from clinker.plan.nodes import PlannedAggregate, PlannedMerge
from tests.engine.flowing import Collected, building, collected, planned, source_flow

EPOCH = dt.datetime(1970, 1, 1)
NO_TIME = "event time column 'at' has no value: the record is in no time window of 'windowed'"


def at(clock: str) -> dt.datetime:
    """A time of one day."""
    hours, minutes = clock.split(":")
    return dt.datetime(2026, 5, 14, int(hours), int(minutes))


def events(*given: str) -> list[Record]:
    """Events such as `u1 10:05`, numbered."""
    found: list[Record] = []
    for number, text in enumerate(given, 1):
        user, clock = text.split()
        found.append({"user": user, "at": None if clock == "-" else at(clock), "n": number})
    return found


def run(
    spark: SparkSession,
    window: str,
    inputs: Mapping[str, Sequence[Record]],
    *,
    cxl: str = "emit all = collect(n)",
    group_by: str = "[user]",
    delay: str = "0s",
    lateness: str = "0s",
) -> Collected:
    """The windows of some sources, read one after the other."""
    sources = "".join(
        f"""
  - type: source
    name: {name}
    config:
      {{ type: csv, path: {name}.csv, watermark: {{ column: at, delay: {delay} }},
         schema: {{ user: string, at: nullable(date_time), n: int }} }}"""
        for name in inputs
    )
    plan = planned(
        f"""
pipeline: {{ name: p }}
nodes:{sources}
  - {{ type: merge, name: every, inputs: [{", ".join(inputs)}] }}
  - type: aggregate
    name: windowed
    input: every
    config:
      group_by: {group_by}
      time_window: {window}
      allowed_lateness: {lateness}
      cxl: {cxl}
  - type: output
    name: out
    input: windowed
    config: {{ type: json, path: out.json }}
"""
    )
    built = building(spark, plan)
    flows = [source_flow(built, name, records) for name, records in inputs.items()]
    merged, node = plan.nodes["every"], plan.nodes["windowed"]
    assert isinstance(merged, PlannedMerge)
    assert isinstance(node, PlannedAggregate)
    return collected(built, aggregate(built, node, merge(merged, flows)))


def groups(found: Collected) -> list[tuple[Value, ...]]:
    return [tuple(record.values()) for record in found.records]


def late(found: Collected) -> list[int | None]:
    assert {(r.stage, r.reason.category) for r in found.rejected} <= {
        ("time_window:windowed", "late_record")
    }
    return [rejection.row for rejection in found.rejected]


def test_tumbling_windows_come_by_their_start(spark: SparkSession) -> None:
    given = events("u1 10:05", "u2 10:30", "u1 10:42", "u1 11:03", "u2 11:15", "u2 11:50")
    found = run(spark, "{ tumbling: { size: 1h } }", {"s": given})
    assert groups(found) == [("u1", [1, 3]), ("u2", [2]), ("u1", [4]), ("u2", [5, 6])]
    assert late(found) == []


def test_hopping_windows_overlap_or_leave_gaps(spark: SparkSession) -> None:
    given = events("u1 10:05", "u1 10:42", "u1 11:10")
    found = run(spark, "{ hopping: { size: 1h, slide: 30m } }", {"s": given})
    assert groups(found) == [("u1", [1]), ("u1", [1, 2]), ("u1", [2, 3]), ("u1", [3])]
    found = run(spark, "{ hopping: { size: 10m, slide: 1h } }", {"s": given})
    assert groups(found) == [("u1", [1])]
    assert late(found) == []


def test_sessions_end_with_silence(spark: SparkSession) -> None:
    given = events("u1 10:00", "u2 10:05", "u1 10:07", "u1 10:17", "u1 10:50", "u1 10:55")
    found = run(spark, "{ session: { gap: 10m } }", {"s": given})
    assert groups(found) == [("u1", [1, 3, 4]), ("u2", [2]), ("u1", [5, 6])]
    found = run(spark, "{ session: { gap: 10m } }", {"s": given}, group_by="[]")
    assert groups(found) == [([1, 2, 3, 4],), ([5, 6],)]


def test_records_that_do_not_count_keep_no_session_open(spark: SparkSession) -> None:
    given = events("u 10:00", "u 10:08", "u 10:16")
    cxl = "emit all = collect(n) emit x = sum(1 / (n - 2))"
    found = run(spark, "{ session: { gap: 10m } }", {"s": given}, cxl=cxl)
    assert groups(found) == [("u", [1], -1), ("u", [3], 1)]
    assert [r.row for r in found.rejected] == [2]


def test_windows_before_1970(spark: SparkSession) -> None:
    given: list[Record] = [
        {"user": "u", "at": EPOCH - dt.timedelta(minutes=1), "n": 1},
        {"user": "u", "at": EPOCH, "n": 2},
    ]
    assert groups(run(spark, "{ tumbling: { size: 1h } }", {"s": given})) == [
        ("u", [1]),
        ("u", [2]),
    ]


@pytest.mark.parametrize(
    "window",
    [
        "{ tumbling: { size: 1h } }",
        "{ hopping: { size: 1h, slide: 1h } }",
        "{ session: { gap: 30m } }",
    ],
)
def test_records_without_an_event_time_are_rejected(spark: SparkSession, window: str) -> None:
    first, second = events("u1 -", "u1 10:05", "u2 -"), events("u1 -", "u1 10:15", "u2 10:20")
    cxl = "filter n != 1 emit all = collect(n) emit x = sum(1 / (n - 3))"
    found = run(spark, window, {"a": first, "b": second}, cxl=cxl)
    assert groups(found) == [("u1", [2, 2], -2)]
    assert sorted((r.row, r.stage, r.reason.category, r.reason.field) for r in found.rejected) == [
        # What else is wrong with a record without a time was found before.
        (3, "windowed", "type_coercion_failure", ""),
        (3, "windowed", "type_coercion_failure", ""),
    ]
    found = run(spark, window, {"a": first, "b": second})
    assert groups(found) == [("u1", [2, 2]), ("u2", [3])]
    assert sorted((r.row, r.reason) for r in found.rejected) == [
        (row, Reason("missing_required_field", NO_TIME, "at")) for row in (1, 1, 3)
    ]
    assert {r.stage for r in found.rejected} == {"time_window:windowed"}


def test_a_group_that_fails_is_named_with_its_window(spark: SparkSession) -> None:
    given = events("u1 10:05", "u1 11:05")
    found = run(spark, "{ tumbling: { size: 1h } }", {"s": given}, cxl="emit x = 1 / (sum(n) - 2)")
    assert groups(found) == [("u1", -1)]
    assert [r.reason.detail for r in found.rejected] == [
        "group user = 'u1', time window from 1778756400000000000: division by zero"
    ]


def test_late_records(spark: SparkSession) -> None:
    given = events("u1 09:00", "u1 10:30", "u1 09:30", "u1 10:10")
    found = run(spark, "{ tumbling: { size: 1h } }", {"s": given})
    assert groups(found) == [("u1", [1]), ("u1", [2, 4])]
    (rejection,) = found.rejected
    assert (rejection.row, rejection.stage) == (3, "time_window:windowed")
    assert rejection.reason.category == "late_record"
    assert "[1778749200000000000, 1778752800000000000)" in rejection.reason.detail
    for more_time in ({"lateness": "31m"}, {"delay": "31m"}, {"lateness": "20m", "delay": "11m"}):
        found = run(spark, "{ tumbling: { size: 1h } }", {"s": given}, **more_time)
        assert groups(found) == [("u1", [1, 3]), ("u1", [2, 4])]
    # A window is closed as soon as its end is reached.
    assert late(run(spark, "{ tumbling: { size: 1h } }", {"s": given}, lateness="30m")) == [3]


def test_late_for_some_windows(spark: SparkSession) -> None:
    given = events("u1 10:05", "u1 10:40", "u1 10:10", "u1 11:30", "u1 10:20")
    found = run(spark, "{ hopping: { size: 1h, slide: 30m } }", {"s": given})
    assert groups(found) == [
        ("u1", [1]),
        ("u1", [1, 2, 3]),
        ("u1", [2]),
        ("u1", [4]),
        ("u1", [4]),
    ]
    assert late(found) == [5]


def test_late_for_a_session(spark: SparkSession) -> None:
    given = events("u1 10:00", "u2 11:00", "u1 10:05", "u2 11:05")
    found = run(spark, "{ session: { gap: 10m } }", {"s": given})
    assert groups(found) == [("u1", [1]), ("u2", [2, 4])]
    assert late(found) == [3]


def test_a_source_without_records_yet_holds_the_windows_open(spark: SparkSession) -> None:
    first, second = events("u1 09:00", "u1 12:00"), events("u1 09:30", "u1 09:10", "u1 08:30")
    found = run(spark, "{ tumbling: { size: 1h } }", {"a": first, "b": second})
    assert groups(found) == [("u1", [1, 1, 2]), ("u1", [2])]
    assert late(found) == [3]


def test_a_late_record_is_only_late(spark: SparkSession) -> None:
    given = events("u1 09:00", "u1 12:00", "u1 09:30")
    cxl = "emit x = sum(10 / (n - 3))"
    assert late(run(spark, "{ tumbling: { size: 1h } }", {"s": given}, cxl=cxl)) == [3]


def by_definition(
    inputs: Sequence[Sequence[Record]], size: int, slide: int, lateness: int
) -> tuple[list[tuple[Value, ...]], int]:
    """Hopping windows, record after record, in minutes; and how many records are late."""
    newest: dict[int, int] = {}
    windows: dict[tuple[int, str], list[Value]] = {}
    late = 0
    for source, records in enumerate(inputs):
        for record in records:
            time, user = record["at"], record["user"]
            assert isinstance(time, dt.datetime)
            assert isinstance(user, str)
            minute = (time - EPOCH) // dt.timedelta(minutes=1)
            watermark = min(newest.values()) if len(newest) == len(inputs) else None
            last = minute - minute % slide
            starts = [
                s for s in range(last - size, last + 1) if s % slide == 0 and s + size > minute
            ]
            open_ones = [s for s in starts if watermark is None or watermark < s + size + lateness]
            late += bool(starts) and not open_ones
            for start in open_ones:
                windows.setdefault((start, user), []).append(record["n"])
            newest[source] = max(newest.get(source, minute), minute)
    ordered = sorted(windows.items(), key=lambda item: item[0][0])
    return [(user, numbers) for (_, user), numbers in ordered], late


def test_random_records(spark: SparkSession) -> None:
    pick = random.Random(11)

    def records(count: int) -> list[Record]:
        return [
            {
                "user": pick.choice(["u1", "u2", "u3"]),
                "at": at("00:00") + dt.timedelta(minutes=3 * n + pick.randrange(-90, 90)),
                "n": n,
            }
            for n in range(count)
        ]

    inputs = [records(60), records(60)]
    for size, slide, lateness in ((60, 20, 10), (60, 60, 0), (30, 45, 5)):
        window = f"{{ hopping: {{ size: {size}m, slide: {slide}m }} }}"
        found = run(spark, window, {"a": inputs[0], "b": inputs[1]}, lateness=f"{lateness}m")
        wanted, too_late = by_definition(inputs, size, slide, lateness)
        assert groups(found) == wanted
        assert len(late(found)) == too_late > 0
