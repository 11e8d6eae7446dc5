"""What came into each node and left it, in whole runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.engine.session.session import Session
from clinker.plan.analyses.passing import NodePassing
from tests.engine.whole_runs import Workplace

HEAD = """
pipeline: {name: p}
error_handling: {strategy: continue, dlq: {path: bad.csv}}
nodes:
  - type: source
    name: orders
    config: {type: csv, path: orders.csv, schema: {id: int, region: string, amount: float}}
"""
ORDERS = "id,region,amount\n" + "".join(
    f"{n},{'north' if n % 3 else 'south'},{n}\n" for n in range(20)
)
PIPELINE = (
    HEAD
    + """
  - type: transform
    name: kept
    input: orders
    config: {cxl: "filter id > 1 and 60 / (id - 5) != 0 emit last = id % 10"}
  - {type: transform, name: first, input: kept, config: {cxl: distinct by last}}
  - type: route
    name: sent
    input: first
    config: {mode: inclusive, conditions: {north: region == 'north', large: id > 4}, default: rest}
  - type: aggregate
    name: sums
    input: sent.north
    config: {group_by: [region], cxl: emit n = count(*)}
  - {type: aggregate, name: most, input: sent.large, config: {group_by: [], cxl: emit n = max(id)}}
  - {type: output, name: a, input: sums, config: {type: csv, path: a.csv}}
  - {type: output, name: b, input: most, config: {type: csv, path: b.csv}}
"""
)


@pytest.fixture
def place(tmp_path: Path, session: Session) -> Workplace:
    workplace = Workplace(tmp_path, session)
    workplace.write(orders_csv=ORDERS + "x,north,1\n")
    return workplace


def _nodes(place: Workplace, pipeline: str, **options: object) -> dict[str, NodePassing]:
    ran = place.run(pipeline, force=True, **options)
    assert ran.report, ran.message
    return {node.name: node for node in ran.report.nodes}


def test_what_can_be_told_without_counting(place: Workplace) -> None:
    nodes = _nodes(place, PIPELINE)
    assert {name: (n.records_in, n.records_out, n.rejected) for name, n in nodes.items()} == {
        "orders": (21, 20, 1),
        "kept": (20, None, 1),
        "first": (None, None, 0),
        "sent": (None, None, 0),
        "sums": (None, 1, 0),
        "most": (None, 1, 0),
        "a": (1, 1, 0),
        "b": (1, 1, 0),
    }


def test_the_rest_is_counted_if_asked_for(place: Workplace) -> None:
    ran = place.run(PIPELINE, force=True, count_nodes=True)
    assert ran.report
    nodes = {node.name: node for node in ran.report.nodes}
    kept = [n for n in range(20) if n > 1 and n != 5]
    first = sorted({n % 10: n for n in reversed(kept)}.values())
    north, large = [n for n in first if n % 3], [n for n in first if n > 4]
    rest = [n for n in first if n not in north and n not in large]
    assert (nodes["kept"].filtered, nodes["kept"].rejected) == (2, 1)
    assert nodes["first"].distinct == len(kept) - len(first) == 7
    assert nodes["sent"].ports == {"north": len(north), "large": len(large), "rest": len(rest)}
    assert nodes["sums"].records_in == len(north) == 6
    counts = ran.report.counts
    assert (counts.filtered, counts.distinct) == (2, 7)


def test_counts_are_those_of_the_records_that_are_written(place: Workplace) -> None:
    pipeline = (
        HEAD
        + """
  - {type: transform, name: kept, input: orders, config: {cxl: filter id > 3}}
  - {type: output, name: a, input: kept, config: {type: csv, path: a.csv}}
"""
    )
    nodes = _nodes(place, pipeline)
    assert (nodes["kept"].records_in, nodes["kept"].filtered, nodes["kept"].records_out) == (
        20,
        4,
        16,
    )


def test_late_records_count_for_their_aggregate(place: Workplace) -> None:
    place.write(
        ticks_csv="at,n\n2026-01-01T00:00:01,1\n2026-01-01T00:10:00,2\n2026-01-01T00:00:02,3\n"
    )
    pipeline = """
pipeline: {name: p}
error_handling: {strategy: continue, dlq: {path: bad.csv}}
nodes:
  - type: source
    name: ticks
    config:
      type: csv
      path: ticks.csv
      schema: {at: date_time, n: int}
      watermark: {column: at}
  - type: aggregate
    name: minutes
    input: ticks
    config: {group_by: [], cxl: emit n = count(*), time_window: {tumbling: {size: 1m}}}
  - {type: output, name: a, input: minutes, config: {type: csv, path: a.csv}}
"""
    minutes = _nodes(place, pipeline)["minutes"]
    assert (minutes.records_in, minutes.records_out, minutes.rejected) == (3, 2, 1)


def test_nothing_is_told_of_records_that_were_taken_back(place: Workplace) -> None:
    pipeline = (
        HEAD.replace("amount: float}}", "amount: float}, correlation_key: region}")
        + """
  - {type: transform, name: t, input: orders, config: {cxl: emit y = 1 / (id - 5)}}
  - {type: output, name: a, input: t, config: {type: csv, path: a.csv}}
"""
    )
    place.write(orders_csv=ORDERS)
    nodes = _nodes(place, pipeline)
    assert (nodes["orders"].records_in, nodes["t"].records_in) == (20, None)
    assert nodes["t"].rejected == 1
    assert nodes["a"].records_out == 7


def test_a_node_that_is_not_computed_has_no_counts(place: Workplace) -> None:
    pipeline = (
        HEAD
        + """
  - {type: transform, name: idle, input: orders, config: {cxl: filter id > 3}}
  - {type: output, name: a, input: orders, config: {type: csv, path: a.csv}}
"""
    )
    assert [*_nodes(place, pipeline)] == ["orders", "a"]
