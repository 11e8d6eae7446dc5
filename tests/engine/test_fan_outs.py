"""Records that fan out on Spark give what the interpreter gives, or are rejected as a whole."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import re
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from pyspark.sql import SparkSession

from clinker.config.nodes import TransformNode
from clinker.cxl.check.resolve import Context, Row
from clinker.cxl.check.typecheck import check
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import DEFAULT_MAX_EXPANSION, Record, RowProgram, Surroundings
from clinker.cxl.syntax.parser import parse
from clinker.cxl.types import ANY, ARRAY, INT, MAP, STRING, Type, array_of
from clinker.cxl.values import Value
from clinker.diagnostics import Source
from clinker.engine.expressions import (
    TAGGED,
    Compiler,
    compile_row_program,
    convert,
    representation,
)
from clinker.engine.flow import hidden as kinds
from clinker.engine.flow.flow import POSITION, REJECT, Flow, order_column
from clinker.engine.flow.frame import Frame, quoted
from clinker.engine.flow.hidden import MARK, NO_REJECT, Hidden
from clinker.engine.nodes.transform import transform
from clinker.engine.rejects.explaining import nan_reason
from clinker.engine.rejects.sites import Demand, Reason, reason_of
from clinker.plan.compile import Plan
from clinker.plan.nodes import PlannedTransform
from tests.cxl import typed_programs as tp
from tests.engine.expressions.running import NamedColumns, fingerprint
from tests.engine.expressions.test_agreement import drawn
from tests.engine.flowing import Collected, building, collected, planned, source_flow
from tests.engine.whole_runs import Workplace

SCHEMA = (
    "{ id: int, n: nullable(int), s: nullable(string), l: nullable(array), y: any,"
    " m: nullable(map) }"
)


COLUMNS: dict[str, Type] = {
    "id": INT,
    "n": INT.nullable(),
    "s": STRING.nullable(),
    "l": ARRAY.nullable(),
    "y": ANY,
    "m": MAP.nullable(),
}


def pipeline(chains: Sequence[Sequence[str]], max_expansion: int = DEFAULT_MAX_EXPANSION) -> str:
    """Programs of transforms that stand behind each other, in chains side by side."""
    nodes = ""
    for number, programs in enumerate(chains):
        last = "src"
        for place, cxl in enumerate(programs):
            name = f"t{place}_{number}"
            lines = "".join(f"\n        {line.strip()}" for line in cxl.strip().splitlines())
            nodes += f"""
  - type: transform
    name: {name}
    input: {last}
    config:
      max_expansion: {max_expansion}
      cxl: |{lines}"""
            last = name
        nodes += f"""
  - type: output
    name: out_{number}
    input: {last}
    config: {{ type: json, path: out_{number}.json }}"""
    return f"""
pipeline: {{ name: p }}
nodes:
  - type: source
    name: src
    config: {{ type: json, path: in.json, schema: {SCHEMA} }}{nodes}
"""


def chains_of(plan: Plan) -> list[list[PlannedTransform]]:
    found: dict[str, list[PlannedTransform]] = {}
    for name, node in plan.nodes.items():
        if isinstance(node, PlannedTransform):
            found.setdefault(name.partition("_")[2], []).append(node)
    return list(found.values())


def on_spark(
    spark: SparkSession, plan: Plan, records: Sequence[Record], demands: Set[Demand] = frozenset()
) -> list[Collected]:
    """What each chain makes of the records: all of them in one job."""
    built = building(spark, plan, demands)
    source = source_flow(built, "src", records, parts=3)
    flows: list[Flow] = []
    for chain in chains_of(plan):
        flow = source
        for node in chain:
            flow = transform(built, node, flow)
        flows.append(flow)
    found = collected(built, side_by_side(flows))
    assert not found.demands & demands
    if found.demands:
        return on_spark(spark, plan, records, found.demands)
    every = [Collected([], [], demands) for _ in flows]
    for record in found.records:
        number, values = record["chain"], record["values"]
        assert isinstance(number, int) and isinstance(values, list)
        every[number].records.append(dict(zip(flows[number].columns, values, strict=True)))
    for rejection in found.rejected:
        every[int(rejection.stage.partition("_")[2])].rejected.append(rejection)
    return every


def side_by_side(flows: Sequence[Flow]) -> Flow:
    """The records of all flows, each as one array of any values."""
    places = max(len(flow.order) for flow in flows)
    order = ["chain", *(f"$place{place}" for place in range(places))]
    frames: list[Frame] = []
    for number, flow in enumerate(flows):
        flow = flow.built()
        given = [
            convert(flow.scope, quoted(n), representation(t), TAGGED)
            for n, t in flow.columns.items()
        ]
        spots = [str(number), *map(quoted, flow.order), *["0"] * (places - len(flow.order))]
        columns = {name: f"cast({text} as bigint)" for name, text in zip(order, spots, strict=True)}
        columns |= {"values": f"array({', '.join(given)})", POSITION: quoted(POSITION)}
        columns[REJECT] = quoted(REJECT) if flow.has_rejects else NO_REJECT
        frames.append(flow.selected(columns))
    first, *others = frames
    every = replace(
        flows[0],
        columns={"chain": INT, "values": array_of(ANY)},
        hidden={
            **{name: order_column(name) for name in order[1:]},
            MARK.name: MARK,
            POSITION: Hidden(kinds.POSITION, "", INT),
        },
        order=tuple(order),
    )
    return every.standing_on(first.union(others) if others else first)


def by_definition(
    chain: Sequence[PlannedTransform], records: Sequence[Record]
) -> tuple[list[Record], list[tuple[int, str, Reason]]]:
    """The records that leave the last transform, and what any of them rejects."""
    kept: list[tuple[int, Record, Record]] = [(n, r, {}) for n, r in enumerate(records, 1)]
    rejected: list[tuple[int, str, Reason]] = []
    for node in chain:
        assert isinstance(node.unit.node, TransformNode)
        limit = node.unit.node.config.max_expansion
        program = RowProgram(node.program, Surroundings(max_expansion=limit))
        leaving: list[tuple[int, Record, Record]] = []
        for row, record, meta in kept:
            try:
                given = program.run(record, meta).records
            except Failure as failure:
                rejected.append((row, node.unit.name, reason_of(failure)))
                continue
            for emitted in given:
                if reason := nan_reason(emitted.fields):
                    rejected.append((row, node.unit.name, reason))
                else:
                    leaving.append((row, {**record, **emitted.fields}, emitted.meta))
        kept = leaving
    return [{name: r.get(name) for name in chain[-1].row.columns} for _, r, _ in kept], rejected


def all_agree(
    spark: SparkSession,
    chains: Sequence[Sequence[str]],
    records: Sequence[Record],
    max_expansion: int = DEFAULT_MAX_EXPANSION,
    demands: Set[Demand] = frozenset(),
) -> list[Collected]:
    plan = planned(pipeline(chains, max_expansion))
    every = on_spark(spark, plan, records, demands)
    for chain, programs, found in zip(chains_of(plan), chains, every, strict=True):
        wanted, rejected = by_definition(chain, records)
        assert list(map(fingerprint, found.records)) == list(map(fingerprint, wanted)), programs
        got = [(r.row, r.stage, r.reason) for r in found.rejected]
        assert sorted(got, key=repr) == sorted(rejected, key=repr), programs
    return every


def agree(
    spark: SparkSession,
    programs: str | Sequence[str],
    records: Sequence[Record],
    max_expansion: int = DEFAULT_MAX_EXPANSION,
    demands: Set[Demand] = frozenset(),
) -> Collected:
    """What one chain, or one program, makes of the records."""
    chain = [programs] if isinstance(programs, str) else programs
    (found,) = all_agree(spark, [chain], records, max_expansion, demands)
    return found


def rows_of(found: Collected) -> list[int | None]:
    return [rejection.row for rejection in found.rejected]


ODD_TEXT = 'é \U0001f600 "q" \\ \n\t\x01 \u2028 \'$.a\' $1 {"a":1} \\u0041'
ELEMENTS: list[Value] = [
    None,
    True,
    0,
    -7,
    2**63 - 1,
    2.5,
    -0.0,
    "",
    ODD_TEXT,
    "12",
    dt.date(2024, 2, 29),
    dt.datetime(2024, 2, 29, 12, 30, 0, 5),
    [],
    [1, [None, {"a": [ODD_TEXT]}]],
    {},
    {"a": 1, "b": 2},
]
MAPS: list[Value] = [
    {"a": 6, "b": 7, "list": [1, 2], "m": {"a": "deep", "b": None}},
    {"b": 2.5, "a": ODD_TEXT, "list": [], "m": {}},
    {"a": None, "b": False, "list": None, "m": {"": ODD_TEXT, "a.b": [{}]}},
    {"A": 1, "B": 2, "é": "x", "a.b": ODD_TEXT, "": 0},
    {"m": {"a": {"a": {"a": [{"b": ODD_TEXT}]}}}, "list": [[], [None], [[{"a": 1}]]]},
    {},
    {"a": dt.date(2024, 2, 29), "b": dt.datetime(2024, 2, 29, 12, 30), "list": "text"},
]
RECORDS: list[Record] = [
    {"id": 1, "n": 2, "s": "a-b-c", "l": ELEMENTS, "y": ELEMENTS, "m": {"list": [1, "x"]}},
    {"id": 2, "n": 0, "s": "", "l": MAPS, "y": MAPS, "m": {"list": MAPS}},
    {"id": 3, "n": 5, "s": "-", "l": [], "y": [], "m": {"list": []}},
    {"id": 4, "n": None, "s": None, "l": None, "y": None, "m": None},
    {"id": 5},
    {"id": 6, "n": 3, "s": ODD_TEXT, "l": [1, 2, 3], "y": "text", "m": {"list": "text"}},
    {"id": 7, "n": -1, "s": "a-0-2", "l": [4, 0, 2], "y": {"list": [1]}, "m": {"list": None}},
    {"id": 8, "n": 1, "s": "5", "l": ["4", "0"], "y": 0, "m": {}},
    {"id": 9, "n": 4, "s": "4-5", "l": [None, None], "y": [[1, 2], 3], "m": {"list": [[]]}},
    {"id": 10, "n": 5, "s": "4-5", "l": [5, 5, 5, 5], "y": [2.5], "m": {"list": {"a": [1]}}},
]


# Which programs are taken apart


TAKEN_APART = [
    "emit each i in l { emit x = i }",
    "emit each i in y outer { emit x = 10 / i }",
    'filter n > 0 emit w = n + 1 distinct by s emit each i in s.split("-") { emit x = i }',
]
NOT_TAKEN_APART = [
    "emit each i in l { emit x = i } emit z = 1",
    "emit each i in l { emit x = i } emit each i in l { emit x = i }",
    "emit each i in y { emit each j in i { emit x = j } }",
    'emit each i in s.split("-") { emit x = s.matches(i) }',
]


def is_taken_apart(cxl: str) -> bool:
    ((node,),) = chains_of(planned(pipeline([[cxl]])))
    row = compile_row_program(node.program, Compiler(NamedColumns()), takes_apart=True)
    assert (row.block is None) != (row.records is None)
    return row.block is not None


def test_the_only_block_of_a_program_is_taken_apart_if_it_is_the_last_statement() -> None:
    assert all(map(is_taken_apart, TAKEN_APART))
    assert not any(map(is_taken_apart, NOT_TAKEN_APART))


# What blocks go through


SOURCES = ("l outer", 's.split("-")', 'm["list"] outer', "[n, n + 1]", "null outer")


def test_elements(spark: SparkSession) -> None:
    body = """
          emit x = i
          emit kind = i.type_of()
          emit again = [i, n]
          emit id = {"id": id, "i": i}
        }
    """
    all_agree(spark, [[f"emit each i in {source} {{{body}"] for source in SOURCES], RECORDS)


def test_elements_that_methods_give(spark: SparkSession) -> None:
    cxl = """
        let twice = l.filter(it => it.type_of() == "Int").map(it => it % 10 * 2)
        emit each i in twice {
          let more = i + n
          emit x = more
          emit equal = twice.filter(it => it == i).length()
          emit sums = twice.map(it => it + more)
        }
    """
    agree(spark, cxl, RECORDS)


# What blocks read of elements


def test_one_key(spark: SparkSession) -> None:
    agree(spark, 'emit each i in l { emit x = i["a"] }', RECORDS)


def test_several_keys(spark: SparkSession) -> None:
    cxl = """
        emit each i in l outer {
          emit x = i["a"]
          emit b = i["b"] ?? "none"
          emit list = i["list"]
          emit map = i["m"]
          emit upper = i["A"]
          emit odd = [i["é"], i["a.b"], i[""], i["missing"]]
          emit deep = i["m"]["a"]
          emit first = i["list"][0]
          emit own = [m["list"], m["a"]]
        }
    """
    found = agree(spark, cxl, RECORDS)
    of_maps = [record for record in found.records if record["id"] == 2]
    assert [record["x"] for record in of_maps[:3]] == [6, ODD_TEXT, None]
    assert of_maps[3]["upper"] == 1
    assert of_maps[3]["odd"] == ["x", ODD_TEXT, 0, None]


def test_a_key_that_means_something_to_spark(spark: SparkSession) -> None:
    block = 'emit each i in l { emit x = i["_corrupt_record"] emit z = i["a"] }'
    agree(spark, block, [{"id": 1, "l": [{"a": 1, "_corrupt_record": 2}]}])


def test_keys_of_maps_in_maps(spark: SparkSession) -> None:
    cxl = """
        emit each i in l {
          let inner = i["m"]
          emit x = inner["a"]
          emit b = inner["b"]
          emit items = i["list"].filter(it => it.type_of() == "Array").map(it => it[0])
        }
    """
    agree(spark, cxl, [RECORDS[1], {"id": 2, "l": [{"m": [1], "list": []}, {"m": 5}]}])


# Records that fail


SHARES = "emit each i in l { emit x = 10 / i }"


def test_one_bad_element_rejects_its_record(spark: SparkSession) -> None:
    found = agree(spark, SHARES, RECORDS[2:])
    assert rows_of(found) == [5, 6]
    assert [r["x"] for r in found.records] == [10, 5, 3, None, None, 2, 2, 2, 2]
    assert [r.reason.detail for r in found.rejected] == [
        "division by zero",
        "cannot apply '/' to Int and String",
    ]


def test_several_bad_elements_reject_their_record_once(spark: SparkSession) -> None:
    """The reason is that of the first."""
    records: list[Record] = [
        {"id": 1, "l": [1, "a", 0, 0]},
        {"id": 2, "l": [1, 0, "a"]},
        {"id": 3, "l": [0] * 50},
        {"id": 4, "l": [1]},
    ]
    found = agree(spark, SHARES, records)
    assert [(r.row, r.reason.detail) for r in found.rejected] == [
        (1, "cannot apply '/' to Int and String"),
        (2, "division by zero"),
        (3, "division by zero"),
    ]


def test_what_fails_for_no_element_rejects_nothing(spark: SparkSession) -> None:
    """Neither where there are no elements nor where the element decides."""
    records: list[Record] = [
        {"id": 1, "n": 0, "l": []},
        {"id": 2, "n": 0, "l": None},
        {"id": 3, "n": 0, "l": [1, 2]},
        {"id": 4, "n": 0, "l": [0, 1]},
        {"id": 5, "n": 1, "l": [0]},
    ]
    cxl = "emit each i in l { emit x = if i == 0 then 10 / n else 7 }"
    assert rows_of(agree(spark, cxl, records)) == [4]
    cxl = "emit each i in l outer { emit x = 10 / n }"
    assert rows_of(agree(spark, cxl, records)) == [1, 2, 3, 4]


def test_values_that_are_no_arrays(spark: SparkSession) -> None:
    found = agree(spark, "emit each i in y { emit x = i }", RECORDS)
    assert rows_of(found) == [6, 7, 8]
    assert {r.reason.category for r in found.rejected} == {"type_coercion_failure"}


def test_only_the_row_with_a_nan_is_rejected(spark: SparkSession) -> None:
    """The block did not fail: the record that left it may not leave the node."""
    records: list[Record] = [{"id": 1, "l": [1.5, float("nan"), 2.5]}, {"id": 2, "l": [0]}]
    found = agree(spark, "emit each i in l { emit x = i emit y = 1 / 1 }", records)
    assert rows_of(found) == [1]
    assert len(found.records) == 3


def test_the_limit_is_reached_and_exceeded(spark: SparkSession) -> None:
    """A record may both exceed it and have bad elements, before the limit or behind it."""
    records: list[Record] = [
        {"id": 1, "l": [1, 2, 3]},
        {"id": 2, "l": [1, 2, 3, 4]},
        {"id": 3, "l": [1, 2, 0]},
        {"id": 4, "l": [1, 2, 0, 4]},
        {"id": 5, "l": [1, 2, 3, 4, 0]},
        {"id": 6, "l": []},
    ]
    found = agree(spark, SHARES, records, max_expansion=3)
    assert [(r.row, r.reason.category) for r in found.rejected] == [
        (2, "expansion_limit_exceeded"),
        (3, "type_coercion_failure"),
        (4, "type_coercion_failure"),
        (5, "expansion_limit_exceeded"),
    ]


# What stands before blocks


def test_statements_before_the_block(spark: SparkSession) -> None:
    cxl = """
        filter n != 4
        let share = 10 / n
        emit w = share
        emit id = id * 100
        emit meta tag = s
        distinct by s
        emit meta place = n
        emit each i in l outer {
          let v = share
          emit x = [v, w, i]
          emit n = $meta.place
          emit meta tag = i
          emit tagged = $meta.tag
        }
    """
    twice = [*RECORDS, *RECORDS]
    found = agree(spark, [cxl, "emit got = [$meta.tag, $meta.place]"], twice)
    assert rows_of(found) == [2, 12]


def test_a_record_that_fails_before_the_block_or_is_dropped_has_no_elements(
    spark: SparkSession,
) -> None:
    records: list[Record] = [
        {"id": 1, "n": 0, "l": [0]},
        {"id": 2, "n": 1, "l": [0]},
        {"id": 3, "n": 2, "l": [0]},
        {"id": 4, "n": 2, "l": [1]},
        {"id": 5, "n": None, "l": [0]},
    ]
    cxl = """
        let v = 10 / n
        filter n == 2
        emit each i in l {
          emit x = v / i
        }
    """
    found = agree(spark, cxl, records)
    assert [(r.row, r.reason.field) for r in found.rejected] == [(1, ""), (3, "x")]


def test_distinct_before_the_block_lets_the_first_of_duplicates_pass(spark: SparkSession) -> None:
    """Also if its elements are bad: it is rejected, and the others are duplicates still."""
    records: list[Record] = [
        {"id": 1, "s": "a", "l": [1, 0]},
        {"id": 2, "s": "a", "l": [1]},
        {"id": 3, "s": "b", "l": [2]},
        {"id": 4, "s": "b", "l": [0]},
        {"id": 3, "s": "b", "l": [2]},
    ]
    found = agree(spark, "distinct by s emit each i in l { emit x = 4 / i }", records)
    assert rows_of(found) == [1]
    assert [r["x"] for r in found.records] == [2]


def test_records_rejected_before(spark: SparkSession) -> None:
    """They are rejected once, for the first reason, whatever a block would make of them."""
    records: list[Record] = [
        {"id": 1, "n": 0, "l": [1, 0]},
        {"id": 2, "n": 1, "l": [1, 0]},
        {"id": 3, "n": 0, "l": []},
        {"id": 4, "n": 0, "l": None},
        {"id": 5, "n": 2, "l": [1, 2]},
        {"id": 6, "n": 0, "l": [1, 2]},
    ]
    cxl = "emit each i in l { emit x = 10 / i + 10 / n }"
    found = agree(spark, ["emit share = 100 / n", cxl], records)
    assert [(r.row, r.stage) for r in found.rejected] == [
        (1, "t0_0"),
        (2, "t1_0"),
        (3, "t0_0"),
        (4, "t0_0"),
        (6, "t0_0"),
    ]
    assert [r["x"] for r in found.records] == [15, 10]


def test_blocks_behind_blocks(spark: SparkSession) -> None:
    """To the second block each row of the first is a record, which fails alone."""
    records: list[Record] = [
        {"id": 1, "n": 1, "l": [[1, 2], [0, 1], [3], [0]]},
        {"id": 2, "n": 1, "l": [[1], 5, []]},
        {"id": 3, "n": 0, "l": [[1], [2]]},
    ]
    inner = "emit each j in row { emit x = 10 / j }"
    found = agree(spark, ["emit each i in l { emit row = i emit y = 10 / n }", inner], records)
    assert [(r.row, r.stage) for r in found.rejected] == [
        (1, "t1_0"),
        (1, "t1_0"),
        (2, "t1_0"),
        (3, "t0_0"),
    ]


# Other ways to compute blocks


OTHERS = [
    ["emit each i in l { emit x = 10 / i } emit z = 1"],
    [
        """
        emit w = n
        emit each i in y outer {
          emit each j in i {
            emit x = 10 / j
          }
        }
        """
    ],
    [
        """
        emit each i in l {
          emit x = i
        }
        emit w = 1
        emit each i in s.split("-") {
          emit x = 10 / i.to_int()
        }
        """
    ],
    [
        """
        emit w = n
        emit each i in s.split("-") {
          let p = i
          emit meta tag = p
          emit x = s.matches(p)
          emit y = 10 / p.to_int()
        }
        """,
        "emit got = $meta.tag",
    ],
]


def test_blocks_that_are_not_taken_apart(spark: SparkSession) -> None:
    all_agree(spark, OTHERS, RECORDS, max_expansion=6)


def test_what_is_computed_by_the_interpreter_for_each_record(spark: SparkSession) -> None:
    """A pattern that is the same for all elements does not keep a block from being taken apart."""
    cxl = """
        let found = s.matches(m["list"] ?? s)
        emit each i in l {
          emit x = found
          emit again = s.matches(s)
          emit share = 10 / i
        }
    """
    assert is_taken_apart(cxl)
    agree(spark, cxl, RECORDS)


# All the same with care from the beginning


def test_whole_records_from_the_beginning(spark: SparkSession) -> None:
    """As a run that another node has asked to be done again."""
    care = frozenset({Demand.WHOLE_RECORDS})
    chain = ["emit z = 10 / n", SHARES, "emit each i in [x, z] { emit x = i }"]
    agree(spark, chain, RECORDS, demands=care)


def test_rows_that_fail_ask_for_whole_records(spark: SparkSession) -> None:
    plan = planned(pipeline([[SHARES]]))
    ((node,),) = chains_of(plan)
    for elements, demands in (([1, 2, None], set()), ([1, 0], {Demand.WHOLE_RECORDS})):
        built = building(spark, plan)
        flow = source_flow(built, "src", [{"id": 1, "l": elements}])
        assert collected(built, transform(built, node, flow)).demands == demands


# Random programs


@st.composite
def blocks(draw: st.DrawFn) -> str:
    """Programs of one block that computes with its element, whatever that turns out to be."""
    element = draw(st.sampled_from(tp.WANTED))
    record = tp.Writer(draw, dict(COLUMNS))
    row = tp.Writer(draw, {"item": element.nullable(), "n": COLUMNS["n"]})
    source = record.pick(["l", "l", "y", record.expr(array_of(element), 1)])
    outer = record.pick(["", " outer"])
    return f"""
emit each item in {source}{outer} {{
let v = {row.expr(row.pick(tp.WANTED), 1)}
emit x = {row.expr(element, 1)}
emit z = [v, item]
}}"""


def is_steady(text: str) -> bool:
    """Whether the checker takes a program that reads nothing but its record, and YAML, too."""
    if "$vars" in text or re.search(r"\bnow\b", text):
        return False
    if not all(line.isprintable() for line in text.split("\n")):
        return False
    return check(parse(Source("test.cxl", text)), Context(row=Row(COLUMNS))).program is not None


def test_random_blocks(spark: SparkSession) -> None:
    records = drawn(st.fixed_dictionaries({n: tp.values(t) for n, t in COLUMNS.items()}), 20)
    programs = [text for text in dict.fromkeys(drawn(blocks(), 80)[3::6]) if is_steady(text)]
    assert len(programs) > 3
    all_agree(spark, [[text] for text in programs], records)


# Whole runs


ORDERS = """
    pipeline: {{ name: p }}
    nodes:
      - type: source
        name: orders
        config:
          type: json
          path: orders.ndjson
          options: {{ format: ndjson }}
          schema: {{ id: int, items: any }}
      - type: transform
        name: lines
        input: orders
        config:
          cxl: |
            emit each it in items {{
              emit sku = it["sku"]
              emit total = it["price"] * it["qty"]
            }}
      - type: aggregate
        name: sales
        input: lines
        config:
          group_by: [sku]
          cxl: |
            emit count = count(*)
            emit total = sum(total)
      - type: output
        name: out
        input: {}
        config:
          type: json
          path: out.ndjson
          options: {{ format: ndjson }}
    error_handling: {{ strategy: continue, dlq: {{ path: rejected.csv }} }}
"""
BAD = 17


def items_of(order: int) -> list[dict[str, Any]]:
    qty = {sku: 1 + (order + ord(sku)) % 3 for sku in "abc"}
    return [{"sku": sku, "price": order, "qty": qty[sku]} for sku in "abc"]


def run_of_orders(workplace: Workplace, end: str) -> list[Any]:
    """What is written at one end of a run in which one element of many is bad."""
    orders = [{"id": order, "items": items_of(order)} for order in range(1, 41)]
    bad = items_of(BAD)
    bad[1]["qty"] = "two"
    orders[BAD - 1]["items"] = bad
    workplace.write(orders_ndjson="".join(json.dumps(order) + "\n" for order in orders))
    ran = workplace.run(ORDERS.format(end))
    assert ran.report
    assert (ran.code, ran.report.counts.ok, ran.report.counts.dlq) == (2, 39, 1)
    (letter,) = csv.DictReader(io.StringIO(workplace.read("rejected.csv")))
    told = {name.removeprefix("_cxl_dlq_"): value for name, value in letter.items()}
    assert (told["source_row"], told["stage"], told["id"]) == (str(BAD), "lines", str(BAD))
    assert told["error_detail"] == "cannot apply '*' to Int and String"
    assert told["triggering_field"] == "total"
    assert json.loads(told["items"]) == bad
    written = [json.loads(line) for line in workplace.read("out.ndjson").splitlines()]
    return [{name: v for name, v in line.items() if name != "items"} for line in written]


GOOD_LINES = [
    {"id": order, "sku": item["sku"], "total": item["price"] * item["qty"]}
    for order in range(1, 41)
    if order != BAD
    for item in items_of(order)
]


def test_siblings_of_a_bad_element_are_not_written(workplace: Workplace) -> None:
    assert run_of_orders(workplace, "lines") == GOOD_LINES


def test_siblings_of_a_bad_element_are_not_counted(workplace: Workplace) -> None:
    totals = {s: [line["total"] for line in GOOD_LINES if line["sku"] == s] for s in "abc"}
    assert run_of_orders(workplace, "sales") == [
        {"sku": sku, "count": len(found), "total": sum(found)} for sku, found in totals.items()
    ]


BOTH = """
    pipeline: { name: p }
    nodes:
      - type: source
        name: a
        config: { type: json, path: a.ndjson, options: { format: ndjson }, schema: SCHEMA }
      - type: source
        name: b
        config: { type: json, path: b.ndjson, options: { format: ndjson }, schema: SCHEMA }
      - { type: transform, name: from_a, input: a, config: { cxl: "emit w = 100 / n" } }
      - { type: transform, name: from_b, input: b, config: { cxl: "emit w = 100 / n" } }
      - type: merge
        name: both
        inputs: [from_a, from_b]
        config: { mode: interleave }
      - type: transform
        name: spread
        input: both
        config:
          cxl: |
            emit each i in l {
              emit x = 10 / i + 10 / n
            }
          log:
            - { level: warn, when: before_transform, message: begin }
            - { level: warn, when: after_transform, message: end }
      - type: output
        name: out
        input: spread
        config:
          type: json
          path: out.ndjson
          options: { format: ndjson }
          include_unmapped: false
    error_handling: { strategy: continue, dlq: { path: rejected.csv } }
""".replace("SCHEMA", "{ id: int, n: int, l: array }")


def test_a_record_rejected_before_does_not_reject_the_one_it_shares_a_turn_with(
    workplace: Workplace,
) -> None:
    workplace.write(
        a_ndjson='{"id":1,"n":1,"l":[1,2]}\n{"id":2,"n":0,"l":[1,2]}\n',
        b_ndjson='{"id":3,"n":1,"l":[0,2]}\n',
    )
    ran = workplace.run(BOTH)
    assert ran.code == 2, ran.message
    assert workplace.read("out.ndjson").splitlines() == ['{"x":20}', '{"x":15}']
    letters = list(csv.DictReader(io.StringIO(workplace.read("rejected.csv"))))
    assert [(letter["_cxl_dlq_stage"], letter["l"]) for letter in letters] == [
        ("from_a", "[1,2]"),
        ("spread", "[0,2]"),
    ]
    assert ran.messages == ["warn spread: begin", "warn spread: end"]


def test_a_fan_out_with_two_readers(workplace: Workplace) -> None:
    second = """
      - type: output
        name: all
        input: lines
        config: { type: json, path: all.ndjson, options: { format: ndjson } }
    error_handling:"""
    workplace.write(orders_ndjson=json.dumps({"id": 1, "items": items_of(1)}) + "\n")
    ran = workplace.run(ORDERS.format("sales").replace("\n    error_handling:", second))
    assert ran.code == 0, ran.message
    assert len(workplace.read("all.ndjson").splitlines()) == 3
    assert len(workplace.read("out.ndjson").splitlines()) == 3


def test_records_keep_what_their_block_does_not_emit(workplace: Workplace) -> None:
    workplace.write(in_json='{"a": "own", "b": 1, "l": [1, 2]}\n{"a": "x", "b": 2, "l": []}\n')
    ran = workplace.run("""
        pipeline: { name: p }
        nodes:
          - type: source
            name: s
            config:
              type: json
              path: in.json
              options: { format: ndjson }
              schema: { a: string, b: int, l: array }
          - type: transform
            name: tagged
            input: s
            config: { cxl: 'emit meta tag = "before"' }
          - type: transform
            name: t
            input: tagged
            config:
              cxl: |
                emit each x in l { emit a = x emit new = 1 }
                emit each x in l outer {
                  emit meta tag = "inside"
                  emit b = b + 10
                }
          - type: transform
            name: told
            input: t
            config: { cxl: "emit tag = $meta.tag" }
          - type: output
            name: out
            input: told
            config: { type: csv, path: out.csv, exclude: [l] }
        """)
    assert ran.code == 0, ran.message
    assert workplace.read("out.csv").splitlines() == [
        "a,b,new,tag",
        "1,1,1,before",
        "2,1,1,before",
        "own,11,,inside",
        "own,11,,inside",
        "x,12,,inside",
    ]
