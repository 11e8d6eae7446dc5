"""Records that fail: where they go, what is said about them, and when they end the run."""

from __future__ import annotations

import csv
import io
import re
from itertools import pairwise

import pytest

from clinker.engine.rejects.limits import check_counts
from clinker.engine.report.facts import RunError
from clinker.plan.options import Preview
from tests.engine.flowing import planned
from tests.engine.whole_runs import Ran, Workplace

PLACE = ["source_file", "source_name", "source_row", "stage", "route", "trigger"]
REASON = ["error_category", "error_detail", "triggering_field", "triggering_value"]
COLUMNS = [f"_cxl_dlq_{name}" for name in ("id", "timestamp", *PLACE, *REASON)]

NODES = """
    pipeline: { name: p, concurrency: { chunk_size: 60 } }
    nodes:
      - type: source
        name: rows
        config:
          type: csv
          path: rows.csv
          schema:
            - { name: id, type: int, required: true }
            - { name: value, type: float }
            - { name: parts, type: int }
            - { name: text, type: string }
      - type: source
        name: things
        config:
          type: json
          path: things.json
          schema: [{ name: id, type: int }, { name: kind, type: string }, { name: size, type: any }]
      - type: transform
        name: checked
        input: rows
        config:
          max_expansion: 3
          cxl: |
            emit share = 100 / parts
            emit value = value
          validations:
            - { field: text, check: not_empty, message: no text }
            - { check: "text != 'same'", name: differs }
            - { check: "value < 50.0", name: small, severity: warn, message: quite large }
      - type: route
        name: sides
        input: checked
        config: { conditions: { large: "1000 / (id - 7) == 333" }, default: rest }
      - type: transform
        name: spread
        input: sides.rest
        config:
          max_expansion: 3
          cxl: |
            emit each letter in text.split("-") {
              emit letter = letter
            }
      - type: combine
        name: joined
        input: { spread: spread, things: things }
        config:
          where: spread.id == things.id
          match: first
          on_miss: skip
          propagate_ck: driver
          cxl: |
            emit id = spread.id
            emit ratio = spread.parts / (things.id - 12)
      - type: aggregate
        name: sums
        input: things
        config:
          group_by: [kind]
          cxl: |
            emit total = sum(size)
      - type: aggregate
        name: quotients
        input: things
        config:
          group_by: [kind]
          cxl: |
            emit total = sum(60 / (id - 10))
      - { type: output, name: a, input: sides.large, config: { type: csv, path: o/a.csv } }
      - { type: output, name: b, input: joined, config: { type: csv, path: o/b.csv } }
      - { type: output, name: c, input: sums, config: { type: csv, path: o/c.csv } }
      - { type: output, name: d, input: quotients, config: { type: csv, path: o/d.csv } }
"""
ROWS = """\
id,value,parts,text,more
1,NaN,4,one,
2,2.5,0,two,zero
x3,1,1,three,
,1,1,four,
5,abc,1,five,
6,1,1,,
7,1,1,seven,
8,1,1,a-b-c-d,
9,60,1,same,
10,60,2,ten,
11,1,1
12,1,1,tw-elve,
13,1,1,thirteen,
"""
THINGS = """\
{"id": 10, "kind": "a", "size": 1}
{"id": 11, "kind": "a", "size": "big"}
{"id": 12, "kind": "b", "size": 2.5}
{"id": "no", "kind": "b", "size": 4, "odd": [1, {"x": null}]}
{"id": 13, "kind": "b", "size": 3}
"""
FAILED = """\
rows.csv,rows,1,checked,,,nan_in_output_field,\
'value' is not a number (NaN),value,NaN,1,NaN,4,one,,,,
rows.csv,rows,2,checked,,,type_coercion_failure,division by zero,share,,2,2.5,0,two,,,zero,
rows.csv,rows,3,rows,,,required_field_conversion_failure,\
cannot convert 'x3' in required column 'id' to int,id,x3,x3,1,1,three,,,,
rows.csv,rows,4,rows,,,missing_required_field,\
required column 'id' has no value,id,,,1,1,four,,,,
rows.csv,rows,5,rows,,,type_coercion_failure,\
cannot convert 'abc' in column 'value' to float,value,abc,5,abc,1,five,,,,
rows.csv,rows,6,checked,,text:not_empty,validation_failure,no text,text,,6,1,1,,,,,
rows.csv,rows,7,sides,,,type_coercion_failure,division by zero,,,7,1,1,seven,,,,
rows.csv,rows,8,spread,rest,,expansion_limit_exceeded,\
emit each gave more than max_expansion (3) records,,,8,1,1,a-b-c-d,,,,
rows.csv,rows,9,checked,,differs,validation_failure,validation 'differs' failed,,,9,60,1,same,,,,
rows.csv,rows,11,rows,,,type_coercion_failure,\
"row 11 has 3 cells, expected 5",,"11,1,1",11,1,1,,,,,
rows.csv,rows,12,joined,,,combine_output_row,\
"division by zero (with row 3 of things.json, source 'things')",ratio,,12,1,1,tw-elve,,,,
rows.csv,rows,12,joined,,,combine_output_row,\
"division by zero (with row 3 of things.json, source 'things')",ratio,,12,1,1,tw-elve,,,,
things.json,things,1,quotients,,,type_coercion_failure,division by zero,,,10,,,,a,1,,
things.json,things,2,sums,,,aggregate_type_error,\
"sum expects Numeric, got String",,big,11,,,,a,big,,
things.json,things,4,things,,,type_coercion_failure,\
cannot convert 'no' in column 'id' to int,id,no,no,,,,b,4,,"[1,{""x"":null}]"
"""
"""All but the id and the time of each letter."""


def handled(strategy: str, dlq: str, more: str = "") -> str:
    return f"{NODES}    error_handling: {{ strategy: {strategy}, dlq: {{ {dlq} }} {more} }}\n"


@pytest.fixture
def filled(workplace: Workplace) -> Workplace:
    workplace.write(rows_csv=ROWS, things_json=THINGS)
    return workplace


def rows_of(workplace: Workplace, path: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(workplace.read(path))))


def report_numbers(ran: Ran) -> tuple[int, int, int, int]:
    assert ran.report
    counts = ran.report.counts
    return counts.total, counts.ok, counts.written, counts.dlq


@pytest.mark.usefixtures("either_way")
def test_everything_that_can_fail(filled: Workplace) -> None:
    ran = filled.run(handled("continue", "path: o/rejected.csv"))
    assert ran.code == 2
    assert {name: filled.read(f"o/{name}.csv") for name in "abcd"} == {
        "a": "id,value,parts,text,share,more\n10,60,2,ten,50,\n",
        "b": "id,ratio,more\n13,1,\n",
        "c": "kind,total\na,1\nb,5.5\n",
        "d": "kind,total\na,60\nb,50\n",
    }
    header, *found = rows_of(filled, "o/rejected.csv")
    fields = ["id", "value", "parts", "text", "kind", "size", "more", "odd"]
    assert header == COLUMNS + fields
    assert [row[2:] for row in found] == list(csv.reader(io.StringIO(FAILED)))
    assert all(earlier[:2] < later[:2] for earlier, later in pairwise(found))
    assert all(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[-0-9a-f]{21}", row[0]) for row in found)
    assert ran.messages == ["warn checked: quite large (row 10 of rows.csv, source 'rows')"]
    assert report_numbers(ran) == (18, 4, 6, 15)
    assert ran.report
    assert [(s.name, s.records, s.rejected) for s in ran.report.sources] == [
        ("rows", 13, 12),
        ("things", 5, 3),
    ]
    assert ran.report.rejections == {
        "type_coercion_failure": 6,
        "combine_output_row": 2,
        "validation_failure": 2,
        "nan_in_output_field": 1,
        "required_field_conversion_failure": 1,
        "missing_required_field": 1,
        "expansion_limit_exceeded": 1,
        "aggregate_type_error": 1,
    }
    [file] = ran.report.dead_letter_files
    assert (file.path, file.entries) == (filled.folder / "o" / "rejected.csv", 15)


@pytest.mark.usefixtures("either_way")
def test_undeclared_columns_come_in_the_order_of_the_sources(workplace: Workplace) -> None:
    workplace.write(a_csv="id,x,y\n1,X,Y\n", b_csv="z,id,x\nZ,2,X2\n")
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - { type: source, name: a, config: { type: csv, path: a.csv, schema: { id: int } } }
          - { type: source, name: b, config: { type: csv, path: b.csv, schema: { id: int } } }
          - { type: merge, name: both, inputs: [b, a] }
          - type: transform
            name: failing
            input: both
            config: { cxl: "emit q = id / 0" }
          - { type: output, name: o, input: failing, config: { type: csv, path: o.csv } }
        error_handling:
          strategy: continue
          dlq: { path: rejected.csv, include_reason: false }
        """
    )
    assert ran.code == 2
    assert [row[8:] for row in rows_of(workplace, "rejected.csv")] == [
        ["id", "x", "y", "z"],
        ["1", "X", "Y", ""],
        ["2", "X2", "", "Z"],
    ]


def test_a_condition_on_a_field_names_it(workplace: Workplace) -> None:
    workplace.write(in_csv="id,n\n1,5\n2,7\n")
    workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: rows
            config: { type: csv, path: in.csv, schema: { id: int, n: int } }
          - type: transform
            name: checked
            input: rows
            config: { cxl: "", validations: [{ field: n, check: n > 6 }] }
          - { type: output, name: o, input: checked, config: { type: csv, path: out.csv } }
        error_handling: { strategy: continue, dlq: { path: rejected.csv } }
        """
    )
    _, letter = rows_of(workplace, "rejected.csv")
    assert letter[7:12] == [
        "n:n > 6",
        "validation_failure",
        "validation 'n:n > 6' failed",
        "n",
        "5",
    ]


@pytest.mark.usefixtures("either_way")
def test_a_record_is_rejected_once_by_each_node(workplace: Workplace) -> None:
    rows = "".join(f"{n},{n % 3}\n" for n in range(10)).replace("5,2", "x,2")
    workplace.write(in_csv="id,g\n" + rows)
    ran = workplace.run(
        """
        pipeline: { name: p, concurrency: { chunk_size: 12 } }
        nodes:
          - type: source
            name: rows
            config:
              type: csv
              path: in.csv
              schema: [{ name: id, type: int }, { name: g, type: int }]
          - { type: transform, name: a, input: rows, config: { cxl: "emit v = 10 / g" } }
          - { type: transform, name: b, input: rows, config: { cxl: "emit v = 10 / (id - 4)" } }
          - { type: merge, name: all, inputs: [a, b] }
          - type: aggregate
            name: counted
            input: all
            config: { group_by: [g], cxl: "emit n = count(*)" }
          - type: transform
            name: few
            input: counted
            config: { cxl: "", validations: [{ check: "n < 5", name: few }] }
          - type: combine
            name: pairs
            input: { a: a, b: b }
            config:
              where: a.id == b.id
              match: all
              propagate_ck: driver
              cxl: emit id = a.id
          - { type: output, name: o1, input: all, config: { type: csv, path: all.csv } }
          - { type: output, name: o2, input: few, config: { type: csv, path: few.csv } }
          - { type: output, name: o3, input: pairs, config: { type: csv, path: pairs.csv } }
        error_handling: { strategy: continue, dlq: { path: rejected.csv } }
        """
    )
    assert ran.code == 2
    _, *found = rows_of(workplace, "rejected.csv")
    assert [(row[4], row[5]) for row in found] == [
        ("1", "a"),
        ("2", "few"),  # a group stands where its first record does
        ("4", "a"),
        ("5", "b"),
        ("6", "rows"),
        ("7", "a"),
        ("10", "a"),
    ]
    assert workplace.read("few.csv") == "g,n\n2,4\n0,4\n"
    assert workplace.read("pairs.csv").split() == ["id", "1", "2", "4", "7", "8"]
    assert len(workplace.read("all.csv").split()) == 1 + 5 + 8


def test_strategies(filled: Workplace) -> None:
    ran = filled.run(handled("fail_fast", "path: o/rejected.csv"))
    assert ran.code == 3
    assert ran.message == (
        "rows.csv, row 1: 'value' is not a number (NaN) while computing 'value', in 'checked'"
    )
    assert "strategy: continue" in ran.help
    assert filled.files() == ["rows.csv", "things.json"]
    filled.write(one_csv="id\n1\nx\n", two_csv="id\n2\n")
    ran = filled.run(SIMPLE.format("best_effort", "dlq: { path: o/rejected.csv }"))
    assert (ran.code, filled.read("out.csv")) == (2, "id\n1\n2\n")
    assert len(rows_of(filled, "o/rejected.csv")) == 1 + 1


STEPS = """
    pipeline: {{ name: p }}
    nodes:
      - type: source
        name: rows
        config:
          type: csv
          path: rows.csv
          schema:
            - {{ name: id, type: int }}
            - {{ name: n, type: int }}
            - {{ name: text, type: string }}
      - {{ type: {kind}, name: step, input: rows, config: {{ {config} }} }}
      - {{ type: output, name: out, input: {result}, config: {{ type: csv, path: out.csv }} }}
"""


@pytest.mark.parametrize(
    ("kind", "config", "result", "notes"),
    [
        (
            "transform",
            "cxl: 'let x = id + n emit other = 1   emit ratio = (x * 2) / n'",
            "step",
            ["expression: emit ratio = (x * 2) / n", "record: {id: 2, n: 0, text: two\\nlines}"],
        ),
        (
            "transform",
            "cxl: 'filter 10 / n > 1'",
            "step",
            ["expression: filter 10 / n > 1", "record: {id: 2, n: 0, text: two\\nlines}"],
        ),
        (
            "route",
            "conditions: { a: 'id > 5', b: '1 / n == 1' }, default: c",
            "step.c",
            ["expression: 1 / n", "record: {id: 2, n: 0, text: two\\nlines}"],
        ),
        (
            "aggregate",
            "group_by: [text], cxl: 'emit x = count(*) emit total = sum(10 / n)'",
            "step",
            [
                "expression: emit total = sum(10 / n)",
                "record: {id: 2, n: 0, text: two\\nlines}",
            ],
        ),
        (
            "aggregate",
            "cxl: 'emit x = 1 / (count(*) - 3)'",
            "step",
            ["expression: emit x = 1 / (count(*) - 3)"],
        ),
        (
            "transform",
            "cxl: '', validations: [{ check: 'n > 0' }]",
            "step",
            ["record: {id: 2, n: 0, text: two\\nlines}"],
        ),
    ],
    ids=["emit", "filter", "route", "argument", "group", "validation"],
)
def test_what_stops_a_run_is_shown(
    workplace: Workplace, kind: str, config: str, result: str, notes: list[str]
) -> None:
    workplace.write(rows_csv='id,n,text\n1,5,one\n2,0,"two\nlines"\n3,,\n')
    ran = workplace.run(STEPS.format(kind=kind, config=config, result=result))
    assert (ran.code, list(ran.notes)) == (3, notes)


def test_a_value_that_stops_a_run_is_shown(workplace: Workplace) -> None:
    workplace.write(rows_csv="id,n,text\n1,five,one\n")
    ran = workplace.run(STEPS.format(kind="transform", config="cxl: ''", result="step"))
    assert ran.code == 3
    assert ran.message == "rows.csv, row 1: cannot convert 'five' in column 'n' to int, in 'rows'"
    assert ran.notes == ("record: {id: 1, n: five, text: one}",)


def test_parts_of_letters_can_be_left_out(workplace: Workplace) -> None:
    workplace.write(one_csv="id\n1\nx\n", two_csv="id\n2\ny\nz\n")
    dlq = "dlq: { path: o/r.csv, include_reason: false, per_source: { two: { path: o/two.csv } } }"
    ran = workplace.run(SIMPLE.format("continue", dlq))
    assert ran.code == 2
    header, *found = rows_of(workplace, "o/r.csv")
    assert header == [*COLUMNS[:8], "id"]
    assert [row[2:] for row in found] == [["one.csv", "one", "2", "one", "", "", "x"]]
    header, *found = rows_of(workplace, "o/two.csv")
    assert header == [*COLUMNS[:8], "id"]
    assert [row[3:] for row in found] == [
        ["two", "2", "two", "", "", "y"],
        ["two", "3", "two", "", "", "z"],
    ]
    assert ran.report
    assert [(f.path.name, f.entries) for f in ran.report.dead_letter_files] == [
        ("r.csv", 1),
        ("two.csv", 2),
    ]
    dlq = "dlq: { path: o/r.csv, include_source_row: false }"
    ran = workplace.run(SIMPLE.format("continue", dlq), force=True)
    assert (ran.code, rows_of(workplace, "o/r.csv")[0]) == (2, COLUMNS)


def test_letters_without_a_file_are_logged(filled: Workplace) -> None:
    ran = filled.run(handled("continue", "per_source: { things: { path: o/things.csv } }"))
    assert ran.code == 2
    assert ran.messages[1:3] == [
        "warn checked: rejected: rows.csv row 1: nan_in_output_field: "
        "'value' is not a number (NaN)",
        "warn checked: rejected: rows.csv row 2: type_coercion_failure: division by zero",
    ]
    assert len(ran.messages) == 1 + 12
    assert "o/things.csv" in filled.files()


def test_letters_of_a_preview_are_logged(workplace: Workplace) -> None:
    workplace.write(one_csv="id\n1\nx\n3\ny\n", two_csv="id\nz\n")
    dlq = "dlq: { path: o/r.csv, per_source: { two: { path: o/two.csv } } }"
    ran = workplace.run(SIMPLE.format("continue", dlq), preview=Preview(3))
    assert (ran.code, workplace.files()) == (2, ["one.csv", "two.csv"])
    assert ran.messages == [
        "warn one: rejected: one.csv row 2: type_coercion_failure: "
        "cannot convert 'x' in column 'id' to int",
        "warn two: rejected: two.csv row 1: type_coercion_failure: "
        "cannot convert 'z' in column 'id' to int",
    ]


def test_no_file_without_letters(workplace: Workplace) -> None:
    workplace.write(rows_csv=ROWS.splitlines()[0] + "\n", things_json="[]")
    ran = workplace.run(handled("continue", "path: rejected.csv"))
    assert ran.code == 0
    assert "rejected.csv" not in workplace.files()


# What records and groups show of themselves


@pytest.mark.usefixtures("either_way")
def test_fields_are_shown_as_they_are_written(workplace: Workplace) -> None:
    rows = (
        "id,amount,day,name,note\n"
        '007,1.50,01.02.2024,"a ""b""",x\n'
        "+8, 2.50 ,02.02.2024,,y\n"
        '9,1e3,31.12.2024,"two\nlines",\n'
    )
    things = """\
{"id": "007", "size": {"x": 1.50, "y": [true]}, "day": "01.02.2024", "more": "3.0"}
{"id": 8.0, "day": null, "size": {}}
"""
    workplace.write(rows_csv=rows, things_json=things)
    ran = workplace.run(
        """
        pipeline: { name: p, date_formats: ["%d.%m.%Y"], concurrency: { chunk_size: 30 } }
        nodes:
          - type: source
            name: rows
            config:
              type: csv
              path: rows.csv
              schema: { id: int, amount: float, day: date, name: string }
          - type: source
            name: things
            config: { type: json, path: things.json, schema: { id: int, size.x: float, day: date } }
          - type: transform
            name: failing
            input: rows
            config: { cxl: "emit id = 1  emit x = amount / 0.0" }
          - type: transform
            name: refused
            input: things
            config:
              cxl: "emit day = day.add_days(1)"
              validations: [{ check: "id == 9", name: nine }]
          - { type: output, name: o, input: failing, config: { type: csv, path: o.csv } }
          - { type: output, name: p, input: refused, config: { type: csv, path: p.csv } }
        error_handling:
          strategy: continue
          dlq: { path: rejected.csv, include_reason: false }
        """
    )
    assert ran.code == 2
    assert [row[3:6] + row[8:] for row in rows_of(workplace, "rejected.csv")] == [
        [
            *(f"_cxl_dlq_{name}" for name in ("source_name", "source_row", "stage")),
            *("id", "amount", "day", "name", "size.x", "note", "size", "more"),
        ],
        ["rows", "1", "failing", "007", "1.50", "01.02.2024", 'a "b"', "", "x", "", ""],
        ["rows", "2", "rows", "+8", " 2.50 ", "02.02.2024", "", "", "y", "", ""],
        ["rows", "3", "failing", "9", "1e3", "31.12.2024", "two\nlines", "", "", "", ""],
        ["things", "1", "refused", "007", "", "01.02.2024", "", "1.50", "", '{"y":[true]}', "3.0"],
        ["things", "2", "refused", "8.0", "", "", "", "", "", "", ""],
    ]


def test_very_many_letters(workplace: Workplace) -> None:
    count = 200_000
    workplace.write(rows_csv="id,n\n" + "".join(f"{n:07},0\n" for n in range(count)))
    ran = workplace.run(
        """
        pipeline: { name: p, concurrency: { chunk_size: 300000 } }
        nodes:
          - { type: source, name: rows, config: { type: csv, path: rows.csv, schema: { n: int } } }
          - { type: transform, name: step, input: rows, config: { cxl: emit x = 1 / n } }
          - { type: output, name: o, input: step, config: { type: csv, path: o.csv } }
        error_handling: { strategy: continue, dlq: { path: rejected.csv, include_reason: false } }
        """
    )
    assert report_numbers(ran) == (count, 0, 0, count)
    _, *found = rows_of(workplace, "rejected.csv")
    assert [[row[4], *row[8:]] for row in found] == [
        [f"{n + 1}", "0", f"{n:07}"] for n in range(count)
    ]


GROUPED = """
    pipeline: { name: p }
    nodes:
      - type: source
        name: one
        config: { type: csv, paths: [one.csv, more.csv], schema: { g: string, n: int } }
      - type: source
        name: two
        config: { type: csv, path: two.csv, schema: { g: string, n: int } }
      - { type: merge, name: both, inputs: [two, one] }
      - type: aggregate
        name: sums
        input: INPUT
        config: { group_by: [g], cxl: "emit total = sum(n)  emit rows = count(*)" }
      - type: transform
        name: shares
        input: sums
        config:
          cxl: "emit total = 100 / total"
          validations: [{ check: "rows > 1", name: several }]
      - { type: output, name: o, input: shares, config: { type: csv, path: o.csv } }
    error_handling: { strategy: continue, dlq: { path: rejected.csv } }
"""


@pytest.mark.usefixtures("either_way")
def test_a_rejected_group_shows_its_own_fields(workplace: Workplace) -> None:
    workplace.write(one_csv="g,n\na,1\nb,-5\na,2\n", more_csv="g,n\nc,3\nb,5\n", two_csv="g,n\n")
    ran = workplace.run(GROUPED.replace("INPUT", "one"))
    assert (ran.code, workplace.read("o.csv")) == (2, "g,total,rows\na,33,2\n")
    header, *found = rows_of(workplace, "rejected.csv")
    assert header[12:] == ["g", "n", "total", "rows"]
    assert [row[2:6] + row[7:10] + row[12:] for row in found] == [
        [
            *("one.csv", "one", "2", "shares", "", "type_coercion_failure", "division by zero"),
            *("b", "", "0", "2"),
        ],
        [
            *("more.csv", "one", "1", "shares", "several", "validation_failure"),
            *("validation 'several' failed", "c", "", "3", "1"),
        ],
    ]
    # Their records were not rejected.
    assert report_numbers(ran)[2:] == (1, 2)
    assert ran.report
    assert ran.report.counts.total == ran.report.counts.ok == 5


@pytest.mark.usefixtures("either_way")
def test_a_group_of_several_sources(workplace: Workplace) -> None:
    workplace.write(one_csv="g,n\na,1\n", more_csv="g,n\nb,3\nc,1\n", two_csv="g,n\nb,-3\nc,1\n")
    dlq = "dlq: { path: rejected.csv, per_source: { two: { path: two_rejected.csv } } }"
    pipeline = GROUPED.replace("dlq: { path: rejected.csv }", dlq)
    ran = workplace.run(pipeline.replace("INPUT", "both"))
    assert (ran.code, workplace.read("o.csv")) == (2, "g,total,rows\nc,50,2\n")
    _, *found = rows_of(workplace, "rejected.csv")
    assert [row[2:6] + row[12:] for row in found] == [
        ["one.csv", "<merged>", "1", "shares", "a", "", "1", "1"],
        ["two.csv", "<merged>", "1", "shares", "b", "", "0", "2"],
    ]


@pytest.mark.usefixtures("either_way")
def test_groups_of_groups(workplace: Workplace) -> None:
    workplace.write(one_csv="g,n\na,1\nb,2\n\na,2\n", more_csv="odd,most,bad\n1,1,1\n1,03,1\n")
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: one
            config: { type: csv, path: one.csv, schema: { g: string, n: int } }
          - type: aggregate
            name: sums
            input: one
            config: { group_by: [g], cxl: "emit total = sum(n)" }
          - type: transform
            name: odd
            input: sums
            config: { cxl: "emit odd = total % 2" }
          - type: aggregate
            name: again
            input: odd
            config:
              group_by: [odd]
              cxl: "emit most = max(total)  emit bad = 1 / (most - 2)"
          - type: source
            name: more
            config: { type: csv, path: more.csv, schema: { odd: int, most: int, bad: int } }
          - { type: merge, name: all, inputs: [again, more] }
          - { type: transform, name: last, input: all, config: { cxl: "emit x = 1 / (most - 3)" } }
          - { type: output, name: o, input: last, config: { type: csv, path: o.csv } }
        error_handling: { strategy: continue, dlq: { path: rejected.csv, include_reason: false } }
        """
    )
    assert (ran.code, workplace.read("o.csv")) == (2, "odd,most,bad,x\n1,1,1,0\n")
    header, *found = rows_of(workplace, "rejected.csv")
    assert header[8:] == ["g", "n", "odd", "most", "bad"]
    assert [row[2:6] + row[8:] for row in found] == [
        ["one.csv", "one", "1", "last", "", "", "1", "3", "1"],
        ["one.csv", "one", "2", "again", "", "", "0", "2", ""],
        ["more.csv", "more", "2", "last", "", "", "1", "03", "1"],
    ]


def test_a_group_of_nothing(workplace: Workplace) -> None:
    workplace.write(one_csv="g,n\n", more_csv="g,n\n", two_csv="g,n\n")
    without_keys = GROUPED.replace("group_by: [g], ", "")
    ran = workplace.run(without_keys.replace("INPUT", "one").replace("sum(n)", "count(*)"))
    assert ran.code == 2
    _, letter = rows_of(workplace, "rejected.csv")
    assert letter[2:6] + letter[12:] == ["", "one", "", "shares", "", "", "0", "0"]


# Limits


SIMPLE = """
    pipeline: {{ name: p }}
    nodes:
      - type: source
        name: one
        config: {{ type: csv, path: one.csv, schema: [{{ name: id, type: int }}] }}
      - type: source
        name: two
        config: {{ type: csv, path: two.csv, schema: [{{ name: id, type: int }}] }}
      - {{ type: merge, name: both, inputs: [one, two] }}
      - {{ type: output, name: out, input: both, config: {{ type: csv, path: out.csv }} }}
    error_handling: {{ strategy: {}, {} }}
"""


@pytest.mark.parametrize(
    ("limits", "count", "message", "codes"),
    [
        ("", 0, "", []),
        ("", 3, "", []),
        ("", 2, "3 records were rejected, more than --error-threshold 2", []),
        ("type_error_threshold: 0.3", 0, "", []),
        (
            "type_error_threshold: 0.25",
            0,
            "3 of 10 records were rejected, more than 'type_error_threshold: 0.25' allows",
            [],
        ),
        (
            "type_error_threshold: 0",
            0,
            "3 of 10 records were rejected, more than 'type_error_threshold: 0.0' allows",
            [],
        ),
        ("dlq: { max_rate: 0.1 }", 0, "", []),
        ("dlq: { max_rate: 0.31, min_records: 1 }", 0, "", []),
        (
            "dlq: { max_rate: 0.3, min_records: 10 }",
            0,
            "3 of 10 records were rejected, 'max_rate' is 0.3",
            ["E316"],
        ),
        ("dlq: { max_rate: 0.3, min_records: 11 }", 0, "", []),
        ("dlq: { per_source: { two: { max_rate: 0.41, min_records: 5 } } }", 0, "", []),
        (
            "dlq: { per_source: { two: { max_rate: 0.4, min_records: 5 } } }",
            0,
            "2 of 5 records of 'two' were rejected, 'max_rate' is 0.4",
            ["E316"],
        ),
        ("dlq: { per_source: { two: { max_rate: 0.4, min_records: 6 } } }", 0, "", []),
    ],
)
def test_limits(
    workplace: Workplace, limits: str, count: int, message: str, codes: list[str]
) -> None:
    workplace.write(one_csv="id\n1\nx\n3\n4\n5\n", two_csv="id\n6\n7\ny\nz\n10\n")
    ran = workplace.run(SIMPLE.format("continue", limits), error_threshold=count)
    assert (ran.code, ran.message, ran.codes) == (3 if message else 2, message, codes)
    assert ("out.csv" in workplace.files()) == (not message)


@pytest.mark.parametrize(
    ("limits", "count", "message"),
    [
        ("dlq: { path: rejected.csv }", 3, ""),
        ("type_error_threshold: 0.4", 0, ""),
        (
            "type_error_threshold: 0.39",
            0,
            "2 of 5 records were rejected, more than 'type_error_threshold: 0.39' allows",
        ),
        ("dlq: { max_rate: 0.41, min_records: 1 }", 0, ""),
        (
            "dlq: { max_rate: 0.4, min_records: 1 }",
            0,
            "2 of 5 records were rejected, 'max_rate' is 0.4",
        ),
        (
            "dlq: { per_source: { one: { max_rate: 0.4, min_records: 1 } } }",
            0,
            "2 of 5 records of 'one' were rejected, 'max_rate' is 0.4",
        ),
        ("", 2, "3 records were rejected, more than --error-threshold 2"),
    ],
)
def test_copies_of_a_record_fail_each_and_are_one_in_a_share(
    workplace: Workplace, limits: str, count: int, message: str
) -> None:
    workplace.write(one_csv="id\n1\n2\n3\n6\n20\n")
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - { type: source, name: one, config: { type: csv, path: one.csv, schema: { id: int } } }
          - { type: transform, name: before, input: one, config: { cxl: "emit a = 1 / (id - 3)" } }
          - type: route
            name: sides
            input: before
            config: { mode: inclusive, conditions: { low: id < 5, most: id < 9 }, default: rest }
          - { type: merge, name: again, inputs: [sides.low, sides.most] }
          - { type: transform, name: last, input: again, config: { cxl: "emit b = 1 / (id - 1)" } }
          - { type: output, name: out, input: last, config: { type: csv, path: out.csv } }
        error_handling: { strategy: continue, LIMITS }
        """.replace("LIMITS", limits),
        error_threshold=count,
    )
    assert (ran.code, ran.message) == (3 if message else 2, message)
    if message:
        return
    assert report_numbers(ran) == (5, 3, 3, 3)
    assert ran.report
    assert [(s.records, s.rejected) for s in ran.report.sources] == [(5, 3)]
    if "rejected.csv" in workplace.files():
        _, *letters = rows_of(workplace, "rejected.csv")
        assert [letter[4:6] for letter in letters] == [
            ["1", "last"],
            ["1", "last"],
            ["3", "before"],
        ]


def test_counts_add_up_or_the_run_fails() -> None:
    plan = planned(SIMPLE.format("continue", "dlq: { path: rejected.csv }"))
    check_counts(plan, rejected=1, written=3, total=4)
    with pytest.raises(RunError) as raised:
        check_counts(plan, rejected=1, written=2, total=4)
    assert raised.value.message == (
        "the numbers do not add up: 4 records were read, but 2 written and 1 rejected"
    )


# Ends of runs


HOURLY = """
    pipeline: {{ name: p }}
    nodes:
      - type: source
        name: clicks
        config:
          type: csv
          path: clicks.csv
          watermark: {{ column: at }}
          schema: {{ at: date_time, {other} }}
      - type: aggregate
        name: hourly
        input: clicks
        config:
          group_by: {groups}
          time_window: {{ tumbling: {{ size: 1h }} }}
          cxl: {cxl}
      - {{ type: output, name: out, input: hourly, config: {{ type: csv, path: out.csv }} }}
"""


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "2024-01-01T10:10:00,1\n,2\n",
            "clicks.csv, row 2: event time column 'at' has no value: "
            "the record is in no time window of 'hourly', in 'time_window:hourly'",
        ),
        (
            "2024-01-01T10:10:00,1\n2024-01-01T11:10:00,0\n",
            "group n = 0, time window from 1704106800000000000: "
            "division by zero while computing 'x', in 'hourly'",
        ),
    ],
)
def test_time_windows_that_end_a_run(workplace: Workplace, rows: str, message: str) -> None:
    workplace.write(clicks_csv=f"at,n\n{rows}")
    ran = workplace.run(HOURLY.format(other="n: int", groups="[n]", cxl="emit x = 1 / sum(n)"))
    assert (ran.code, ran.message) == (3, message)


def test_late_records(workplace: Workplace) -> None:
    workplace.write(
        clicks_csv="at,user\n2024-01-01T10:10:00,a\n2024-01-01T12:00:00,a\n"
        "2024-01-01T10:59:00,b\n2024-01-01T12:30:00,b\n"
    )
    hourly = HOURLY.format(other="user: string", groups="[]", cxl="emit n = count(*)")
    ran = workplace.run(f"{hourly}    error_handling: {{ dlq: {{ path: late.csv }} }}\n")
    assert (ran.code, workplace.read("out.csv")) == (2, "n\n1\n2\n")
    _, letter = rows_of(workplace, "late.csv")
    assert letter[2:6] == ["clicks.csv", "clicks", "3", "time_window:hourly"]
    assert letter[8] == "late_record"
    assert letter[-2:] == ["2024-01-01T10:59:00", "b"]


@pytest.mark.usefixtures("either_way")
def test_a_miss_that_ends_the_run(workplace: Workplace) -> None:
    workplace.write(one_csv="id\n1\n2\n3\n", two_csv="id\n1\n3\n", out_csv="old")
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: one
            config: { type: csv, path: one.csv, schema: [{ name: id, type: int }] }
          - type: source
            name: two
            config: { type: csv, path: two.csv, schema: [{ name: id, type: int }] }
          - type: combine
            name: pairs
            input: { one: one, two: two }
            config:
              where: one.id == two.id
              on_miss: error
              propagate_ck: driver
              cxl: emit id = one.id
          - { type: output, name: out, input: pairs, config: { type: csv, path: out.csv } }
        error_handling: { strategy: continue, dlq: { path: rejected.csv } }
        """,
        force=True,
    )
    assert (ran.code, ran.codes) == (3, ["E319"])
    assert ran.message == "one.csv, row 2: no record of 'two' matches, in 'pairs'"
    assert "on_miss: null_fields" in ran.help
    assert (workplace.read("out.csv"), len(workplace.files())) == ("old", 3)


def test_sums_that_overflow(workplace: Workplace) -> None:
    workplace.write(one_csv=f"g,n\na,{2**63 - 1}\nb,1\na,1\n")
    ran = workplace.run(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: one
            config:
              type: csv
              path: one.csv
              schema: [{ name: g, type: string }, { name: n, type: int }]
          - type: aggregate
            name: sums
            input: one
            config: { group_by: [g], cxl: "emit total = sum(n)" }
          - { type: output, name: out, input: sums, config: { type: csv, path: out.csv } }
        error_handling: { strategy: continue, dlq: { path: rejected.csv } }
        """
    )
    assert (ran.code, workplace.read("out.csv")) == (2, "g,total\nb,1\n")
    header, letter = rows_of(workplace, "rejected.csv")
    # The group is named by its first record, and shows what it has.
    assert letter[2:9] == ["one.csv", "one", "1", "sums", "", "", "aggregate_finalize"]
    assert letter[9:12] == ["group g = 'a': integer overflow in sum", "total", ""]
    assert (header[12:], letter[12:]) == (["g", "n", "total"], ["a", "", ""])
    # No single record is to blame, so none is missing among those that went well.
    assert report_numbers(ran) == (3, 3, 1, 1)


LOOKED_UP = """
    pipeline: { name: p }
    nodes:
      - type: source
        name: orders
        config: { type: csv, path: orders.csv, schema: { id: string } }
      - type: source
        name: rates
        config: { type: csv, path: rates.csv, schema: { id: string, rate: int } }
      - type: transform
        name: highest
        input: orders
        config:
          analytic_window: { source: rates, group_by: [id] }
          cxl: emit rate = $window.max(rate)
      - type: transform
        name: lowest
        input: orders
        config:
          analytic_window: { source: rates, group_by: [id] }
          cxl: emit rate = $window.min(rate)
      - { type: output, name: high, input: highest, config: { type: csv, path: high.csv } }
      - { type: output, name: low, input: lowest, config: { type: csv, path: low.csv } }
    error_handling: { strategy: continue, dlq: { path: dlq.csv } }
"""


def test_what_is_looked_up_twice_fails_once(workplace: Workplace) -> None:
    workplace.write(orders_csv="id\nA\n", rates_csv="id,rate\nA,1\nA,bad\nA,3\n")
    ran = workplace.run(LOOKED_UP)
    assert ran.code == 2, ran.message
    assert (workplace.read("high.csv"), workplace.read("low.csv")) == (
        "id,rate\nA,3\n",
        "id,rate\nA,1\n",
    )
    [entry] = csv.DictReader(io.StringIO(workplace.read("dlq.csv")))
    assert (entry["_cxl_dlq_stage"], entry["_cxl_dlq_source_row"]) == ("rates", "2")
