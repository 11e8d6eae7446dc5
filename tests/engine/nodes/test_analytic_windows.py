"""Window functions on Spark give what the definition of programs with windows gives."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence, Set

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.check import typed
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import Record, Surroundings
from clinker.cxl.run.windowing import WindowProgram
from clinker.cxl.types import ANY, Type
from clinker.cxl.values import Value
from clinker.engine.expressions import TAGGED
from clinker.engine.expressions.arrow_value import to_values
from clinker.engine.flow.flow import POSITION, REJECT
from clinker.engine.flow.frame import quoted
from clinker.engine.flow.hidden import MARK, NO_REJECT
from clinker.engine.nodes.analytic_windows import Windowed, windowed
from clinker.engine.nodes.transform import transform
from clinker.engine.rejects.sites import Demand, Reason, reason_of
from clinker.plan.nodes import PlannedTransform
from tests.engine.expressions.running import fingerprint
from tests.engine.flowing import building, collected, planned, source_flow

NOON = dt.datetime(2024, 2, 29, 12, 30)
VALUES: dict[str, Sequence[Value]] = {
    "g": ["a", "b", None],
    "i": [0, 1, -7, 2**62, 40, None],
    "f": [0.1, 0.2, -0.0, 1e16, -3.75, float("inf"), None],
    "w": [1e300, -1e300, 5e-324, 0.1, None],
    "s": ["a", "b", "\u00fc", None],
    "b": [True, False, None],
    "d": [dt.date(2024, 2, 28), dt.date(2024, 2, 29), dt.date(2024, 3, 2), None],
    "t": [NOON, NOON + dt.timedelta(hours=30), None],
    "n": [1, 2, 2.0, 2.5, -1, None],
    "y": [1, 1.0, "a", True, NOON, [1, "x"], None],
}
SCHEMA = (
    "{ g: any, i: nullable(int), f: nullable(float), w: nullable(float), s: nullable(string),"
    " b: nullable(bool), d: nullable(date), t: nullable(datetime), n: nullable(numeric), y: any }"
)

SLIDES = pytest.mark.spark_only("Sail has no such frames")


def pipeline(cxl: str, window: str) -> str:
    lines = "".join(f"\n        {line.strip()}" for line in cxl.strip().splitlines())
    return f"""
pipeline: {{ name: p }}
nodes:
  - type: source
    name: src
    config: {{ type: csv, path: in.csv, schema: {SCHEMA} }}
  - type: source
    name: other
    config: {{ type: csv, path: other.csv, schema: {{ g: string, x: int, k: float }} }}
  - type: transform
    name: seen
    input: src
    config:
      analytic_window: {window}
      cxl: |{lines}
  - type: output
    name: out
    input: seen
    config: {{ type: json, path: out.json }}
  - type: output
    name: others
    input: other
    config: {{ type: json, path: others.json }}
"""


def random_records(count: int, seed: int) -> list[Record]:
    pick = random.Random(seed)
    return [{name: pick.choice(values) for name, values in VALUES.items()} for _ in range(count)]


Found = list[list["Value | Reason"]]
"""For each record the result of each call, or why it has none."""


def on_spark(
    spark: SparkSession,
    text: str,
    records: Sequence[Record],
    looked_up: Sequence[Record] | None = None,
    rejected: Sequence[int] = (),
    demands: Set[Demand] = frozenset(),
) -> Found:
    plan = planned(text)
    built = building(spark, plan, demands)
    node = plan.nodes["seen"]
    assert isinstance(node, PlannedTransform)
    flow = source_flow(built, "src", records, parts=3)
    if rejected:
        mark = "named_struct('site', 2, 'inputs', '[]', 'origin', '{}')"
        test = f"{quoted(POSITION)} in ({', '.join(map(str, rejected))})"
        flow = flow.with_hidden([(MARK, f"if({test}, {mark}, {NO_REJECT})")])
    other = None if looked_up is None else source_flow(built, "other", looked_up)
    found = windowed(built, node, flow, other)
    table = built.session.table(found.flow.on_whole_frame().frame).sort_by(POSITION)
    rejects = table.column(REJECT).to_pylist() if found.flow.has_rejects else [None] * len(table)
    if any(reject and reject["site"] == Demand.WIDE_SUMS for reject in rejects):
        assert not demands
        return on_spark(spark, text, records, looked_up, rejected, {Demand.WIDE_SUMS})
    columns = []
    for (column, form), call in zip(found.read, _twice(found), strict=True):
        columns.append(to_values(table.column(column.strip("`")), ANY if form == TAGGED else call))
    outcomes: Found = []
    for reject, *values in zip(rejects, *columns, strict=True):
        if not reject:
            results = found.restored(values).values()
            outcomes.append([reason_of(r) if isinstance(r, Failure) else r for r in results])
    return outcomes


def _twice(found: Windowed) -> list[Type]:
    return [call.type for call, _ in found.arguments for _ in range(2)]


def by_definition(text: str, records: Sequence[Record]) -> Found:
    """Each emit is one window function."""
    plan = planned(text)
    node = plan.nodes["seen"]
    assert isinstance(node, PlannedTransform)
    spec = plan.windows["seen"].spec
    columns: list[list[Value | Reason]] = []
    for statement in node.program.statements:
        if isinstance(statement, typed.Emit):
            program = WindowProgram(typed.Program((statement,)), spec, Surroundings())
            outcomes: list[Value | Reason] = []
            for outcome in program.run(records):
                if isinstance(outcome, Failure):
                    outcome.field = None
                    outcomes.append(reason_of(outcome))
                else:
                    outcomes.append(outcome.records[0].fields[statement.name])
            columns.append(outcomes)
    return [list(row) for row in zip(*columns, strict=True)]


def agree(spark: SparkSession, cxl: str, window: str, records: Sequence[Record]) -> Found:
    text = pipeline(cxl, window)
    found, wanted = on_spark(spark, text, records), by_definition(text, records)
    for record, got, want in zip(records, found, wanted, strict=True):
        assert [fingerprint(r) for r in got] == [fingerprint(r) for r in want], record
    return found


CALLS = """
    emit a1 = $window.sum(i / 2)
    emit a2 = $window.cumulative_sum(n)
    emit a3 = $window.avg(f)
    emit a4 = $window.min(n)
    emit a5 = $window.max(s)
    emit a6 = $window.count()
    emit a7 = $window.first_value(y)
    emit a8 = $window.last_value(d)
    emit a9 = $window.row_number()
    emit b1 = $window.rank()
    emit b2 = $window.dense_rank()
    emit b3 = $window.first().t
    emit b4 = $window.last().y
    emit b5 = $window.lag(1).i
    emit b6 = $window.lead(s, 2)
    emit b7 = $window.any(b)
    emit b8 = $window.exists(i > 0)
    emit b9 = $window.every(b)
    emit c1 = $window.not_exists(n > 2)
    emit c2 = $window.collect(d)
    emit c3 = $window.distinct(y)
    emit c4 = $window.distinct(f)
"""


@pytest.mark.parametrize(
    "window",
    [
        "{ group_by: [g], sort_by: [{ field: n }] }",
        "{ group_by: [], sort_by: [{ field: t, order: desc, null_order: first }, { field: f }] }",
        "{ group_by: [g, b] }",
        pytest.param(
            "{ group_by: [g], sort_by: [{ field: i }],"
            " frame: { rows: '2 preceding..1 following' } }",
            marks=SLIDES,
        ),
        pytest.param(
            "{ group_by: [s], sort_by: [{ field: d, order: desc }],"
            " frame: { rows: '1 following..unbounded_following' } }",
            marks=SLIDES,
        ),
    ],
)
def test_every_function(spark: SparkSession, window: str) -> None:
    agree(spark, CALLS, window, random_records(30, seed=len(window)))


@SLIDES
@pytest.mark.parametrize(
    ("key", "extent"),
    [
        ("d", "2 preceding..current_row"),
        ("d", "1.5 preceding..1.5 following"),
        ("t", "unbounded_preceding..1.25 following"),
        ("i", "7.5 preceding..1 following"),
        ("f", "0.25 preceding..unbounded_following"),
        ("n", "0.5 following..2 following"),
    ],
)
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_frames_by_range(spark: SparkSession, key: str, extent: str, order: str) -> None:
    window = (
        f"{{ group_by: [b], sort_by: [{{ field: {key}, order: {order} }}],"
        f" frame: {{ range: '{extent}' }} }}"
    )
    cxl = """
        emit a1 = $window.count()
        emit a2 = $window.sum(n)
        emit a3 = $window.collect(s)
        emit a4 = $window.first_value(i)
        emit a5 = $window.last().y
        emit a6 = $window.rank()
    """
    records = random_records(30, seed=3)
    records = [r for r in records if r["f"] != float("inf")]
    if extent.startswith("0.5 following"):
        # To Spark all nulls are in the frames of nulls, wherever these begin.
        records = [r for r in records if r[key] is not None]
    agree(spark, cxl, window, records)


@SLIDES
def test_arguments_that_fail(spark: SparkSession) -> None:
    """They fail the records whose frames cover them."""
    records: list[Record] = [
        {"i": 1, "y": 1, "n": 1},
        {"i": 0, "y": "text", "n": 2},
        {"i": 5, "y": 2, "n": 3},
        {"i": 5, "y": 2.5, "n": 4},
    ]
    cxl = """
        emit a1 = $window.sum(10 / i)
        emit a2 = $window.lag(10 / i, 1)
        emit a3 = $window.first(10 / i)
        emit a4 = $window.sum(y)
        emit a5 = $window.max(y)
        emit a6 = $window.collect(10 / i)
        emit a7 = $window.sum(i * 2000000000000000000)
    """
    window = (
        "{ group_by: [], sort_by: [{ field: n }], frame: { rows: '1 preceding..current_row' } }"
    )
    found = agree(spark, cxl, window, records)
    failing = [[at for at, r in enumerate(row, 1) if isinstance(r, Reason)] for row in found]
    assert failing == [[], [1, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7], [7]]


def test_definitions_are_evaluated_on_the_other_records(spark: SparkSession) -> None:
    cxl = """
        let share = if i == 1 then 0 else 10 / i
        emit total = $window.sum(share + 1)
    """
    text = pipeline(cxl, "{ group_by: [] }")
    assert on_spark(spark, text, [{"i": 1}, {"i": 5}, {"i": 0}, {"i": 1}]) == [
        [1],
        [4],
        [Reason("type_coercion_failure", "division by zero", "", "")],
        [Reason("type_coercion_failure", "division by zero", "", "")],
    ]


def test_a_program_with_windows(spark: SparkSession) -> None:
    """What fails is explained as the interpreter does, with the results of the windows."""
    cxl = """
        let before = $window.lag(1).i ?? 1
        filter s != "skip"
        emit ratio = 100 / before
        emit share = if b then $window.sum(10 / i) else 0
        emit label = "no " + $window.row_number().to_string()
    """
    records: list[Record] = [
        {"i": 5, "b": True, "s": "a"},
        {"i": 0, "b": False, "s": "b"},
        {"i": 2, "b": False, "s": "c"},
        {"i": 4, "b": True, "s": "d"},
        {"i": 4, "b": True, "s": "skip"},
        {"i": 4, "b": False, "s": "e"},
    ]
    plan = planned(pipeline(cxl, "{ group_by: [] }"))
    built = building(spark, plan)
    node = plan.nodes["seen"]
    assert isinstance(node, PlannedTransform)
    found = collected(built, transform(built, node, source_flow(built, "src", records)))
    kept = [(r["s"], r["ratio"], r["share"], r["label"]) for r in found.records]
    assert kept == [("a", 100, 2, "no 1"), ("b", 20, 0, "no 2"), ("e", 25, 0, "no 6")]
    assert [(r.row, r.reason.field) for r in found.rejected] == [(3, "ratio"), (4, "share")]


def test_sums_of_all_floats(spark: SparkSession) -> None:
    cxl = "emit total = $window.sum(w)\nemit mean = $window.avg(w)"
    agree(spark, cxl, "{ group_by: [g] }", random_records(30, seed=4))


def test_rejected_records_take_no_part(spark: SparkSession) -> None:
    text = pipeline("emit n = $window.count()\nemit all = $window.collect(i)", "{ group_by: [g] }")
    records: list[Record] = [{"g": "a", "i": n} for n in range(4)]
    found = on_spark(spark, text, records, rejected=[2])
    assert found == [[1, [0]], [2, [0, 2]], [3, [0, 2, 3]]]


def test_records_of_another_source(spark: SparkSession) -> None:
    cxl = """
        emit n = $window.count()
        emit total = $window.sum(x)
        emit top = $window.first().x
        emit all = $window.collect(x)
        emit some = $window.any(x > 2)
        emit shares = $window.sum(6 / x)
    """
    window = "{ source: other, group_by: [g], sort_by: [{ field: x, order: desc }] }"
    others: list[Record] = [
        {"g": "a", "x": 1, "k": 1.0},
        {"g": "b", "x": 0, "k": 2.0},
        {"g": "a", "x": 3, "k": 1.0},
    ]
    mine: list[Record] = [{"g": "a", "i": 1}, {"g": "c", "i": 2}, {"g": "b", "i": 7}]
    zero = Reason("type_coercion_failure", "division by zero", "", "")
    assert on_spark(spark, pipeline(cxl, window), mine, others) == [
        [2, 4, 3, [3, 1], True, 8],
        [0, None, None, [], False, None],
        [1, 0, 0, [0], False, zero],
    ]
    # An Int finds an equal Float.
    window = "{ source: other, group_by: [k], on: i }"
    assert [row[0] for row in on_spark(spark, pipeline(cxl, window), mine, others)] == [2, 1, 0]
    window = "{ source: other, group_by: [] }"
    assert [row[0] for row in on_spark(spark, pipeline(cxl, window), mine, others)] == [3, 3, 3]
