"""Correlation groups: given these records and keys, these are written and those are entries."""

from __future__ import annotations

import csv
import io
from textwrap import dedent, indent

import pytest

from tests.engine.whole_runs import Workplace

Entry = tuple[str, ...]


def entries(workplace: Workplace, *more: str) -> list[Entry]:
    """Source, row, node and category of every dead letter, and more of its columns."""
    rows = csv.DictReader(io.StringIO(workplace.read("dlq.csv")))
    place = ("_cxl_dlq_source_name", "_cxl_dlq_source_row", "_cxl_dlq_stage")
    names = (*place, "_cxl_dlq_error_category", *more)
    return [tuple(row[name] for name in names) for row in rows]


def pipeline(*nodes: str, handling: str = "") -> str:
    head = (
        "pipeline: { name: p }\nerror_handling:\n  strategy: continue\n  dlq: { path: dlq.csv }\n"
    )
    head += indent(dedent(handling), "  ") + "\nnodes:\n"
    return head + "".join(indent(dedent(node), "  ") + "\n" for node in nodes)


def source(name: str, fields: str, key: str = "", **types: str) -> str:
    columns = ", ".join(f"{{ name: {f}, type: {types.get(f, 'string')} }}" for f in fields.split())
    keyed = f"correlation_key: {key}" if key else ""
    return f"""
    - type: source
      name: {name}
      config:
        type: csv
        path: {name}.csv
        {keyed}
        schema: [{columns}]
    """


def transform(name: str, input_: str, *statements: str) -> str:
    cxl = "\n".join(f"          {each}" for each in statements)
    head = f"- type: transform\n  name: {name}\n  input: {input_}\n"
    return f"{head}  config:\n    cxl: |\n{cxl}\n"


def aggregate(name: str, input_: str, by: str, *statements: str) -> str:
    cxl = "\n".join(f"          {each}" for each in statements)
    head = f"- type: aggregate\n  name: {name}\n  input: {input_}\n"
    return f"{head}  config:\n    group_by: [{by}]\n    cxl: |\n{cxl}\n"


def output(name: str, input_: str, more: str = "") -> str:
    config = ", ".join(["type: csv", f"path: {name}.csv", *([more] if more else [])])
    return f"- type: output\n  name: {name}\n  input: {input_}\n  config: {{ {config} }}\n"


@pytest.fixture(params=["driver", "workers"], autouse=True)
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "workers":
        from clinker.engine.reading import inputs

        monkeypatch.setattr(inputs, "SMALL_INPUT", -1)


LINES = "id,value\nA,100\nA,bad\nA,300\nB,400\n"


def test_a_group_falls_with_a_record_of_it(workplace: Workplace) -> None:
    workplace.write(lines_csv=LINES)
    ran = workplace.run(
        pipeline(
            source("lines", "id value", "id"),
            transform("parse", "lines", "emit value = value.to_int()"),
            output("o", "parse"),
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "id,value\nB,400\n"
    assert entries(workplace, "id", "$ck.id") == [
        ("lines", "2", "parse", "type_coercion_failure", "A", "A"),
        ("lines", "1", "o", "correlated", "A", "A"),
        ("lines", "3", "o", "correlated", "A", "A"),
    ]
    assert ran.report
    assert (ran.report.counts.dlq, ran.report.counts.ok) == (3, 1)


@pytest.mark.parametrize("bad", ["bad", "3"])
def test_what_cannot_be_written_matters_only_if_it_stays(workplace: Workplace, bad: str) -> None:
    workplace.write(lines_csv=f"id,value,note\nA,1,much too long\nA,{bad},x\nB,4,y\n")
    narrow = """
    - type: output
      name: o
      input: parse
      config:
        type: fixed_width
        path: o.txt
        schema:
          fields:
            - { name: id, start: 0, width: 1 }
            - { name: note, start: 1, width: 4, truncation: error }
    """
    ran = workplace.run(
        pipeline(
            source("lines", "id value note", "id"),
            transform("parse", "lines", "emit value = value.to_int()"),
            narrow,
        )
    )
    if bad == "3":
        assert (ran.code, ran.codes) == (4, ["E061"])
        assert workplace.files() == ["lines.csv"]
    else:
        assert ran.code == 2, ran.message
        assert workplace.read("o.txt") == "By   \n"


def test_a_strict_aggregate_counts_no_group_that_falls(workplace: Workplace) -> None:
    workplace.write(lines_csv="id,value\nA,1\nA,bad\nA,3\nB,7\nB,11\n")
    ran = workplace.run(
        pipeline(
            source("lines", "id value", "id"),
            transform("parse", "lines", "emit n = value.to_int()"),
            aggregate("totals", "parse", "id", "emit total = sum(n)"),
            output("o", "totals"),
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "id,total\nB,18\n"
    assert entries(workplace) == [
        ("lines", "2", "parse", "type_coercion_failure"),
        ("lines", "1", "totals", "correlated"),
        ("lines", "3", "totals", "correlated"),
    ]


def test_a_relaxed_aggregate_loses_only_the_records_that_fail(workplace: Workplace) -> None:
    workplace.write(
        lines_csv="id,dept,value\nO1,HR,10\nO1,HR,20\nO1,HR,BAD\nO4,ENG,100\nO5,ENG,200\n"
    )
    ran = workplace.run(
        pipeline(
            source("lines", "id dept value", "id"),
            transform("parse", "lines", "emit n = value.to_int()"),
            aggregate("totals", "parse", "dept", "emit total = sum(n)"),
            output("o", "totals", "include_correlation_keys: true"),
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == ("dept,total,$ck.aggregate.totals\nHR,30,0\nENG,300,1\n")
    assert entries(workplace) == [("lines", "3", "parse", "type_coercion_failure")]


def test_a_failure_behind_a_relaxed_aggregate_takes_its_records_back(workplace: Workplace) -> None:
    workplace.write(lines_csv="id,dept,n\na,HR,10\nb,HR,50\nc,ENG,600\na,ENG,1\n")
    ran = workplace.run(
        pipeline(
            source("lines", "id dept n", "id", n="int"),
            aggregate("totals", "lines", "dept", "emit total = sum(n)"),
            transform("ratio", "totals", "emit r = 1 / (total - 60)"),
            output("o", "ratio"),
            output("raw", "lines"),
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "dept,total,r\nENG,601,0\n"
    assert workplace.read("raw.csv") == "id,dept,n\nc,ENG,600\na,ENG,1\n"
    assert entries(workplace) == [
        ("<merged>", "1", "ratio", "type_coercion_failure"),
        ("lines", "1", "ratio", "correlated"),
        ("lines", "2", "ratio", "correlated"),
    ]


def test_records_of_another_source_are_spared(workplace: Workplace) -> None:
    workplace.write(a_csv="id,amt\n1,5\n2,6\n", b_csv="id,amt\n1,7\n2,8\n2,9\n")
    ran = workplace.run(
        pipeline(
            source("a", "id amt", "id", amt="int"),
            source("b", "id amt", "id", amt="int"),
            "- { type: merge, name: m, inputs: [a, b], config: {} }",
            transform("t", "m", "emit r = if $source.name == 'b' and amt < 9 then 1 / 0 else amt"),
            output("o", "t"),
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "id,amt,r\n1,5,5\n2,6,6\n"
    assert entries(workplace) == [
        ("b", "1", "t", "type_coercion_failure"),
        ("b", "2", "t", "type_coercion_failure"),
        ("b", "3", "o", "correlated"),
    ]


@pytest.mark.parametrize(
    ("policy", "written"), [("any", "B,400\n"), ("all", "A,100\nA,300\nB,400\n")]
)
def test_policies(workplace: Workplace, policy: str, written: str) -> None:
    workplace.write(lines_csv=LINES)
    ran = workplace.run(
        pipeline(
            source("lines", "id value", "id"),
            transform("parse", "lines", "emit value = value.to_int()"),
            output("o", "parse"),
            handling=f"correlation_fanout_policy: {policy}",
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == f"id,value\n{written}"


def test_primary_falls_with_the_first_record_and_outputs_may_have_their_own(
    workplace: Workplace,
) -> None:
    workplace.write(lines_csv="id,value\nA,1\nA,bad\nB,bad\nB,2\nC,3\n")
    ran = workplace.run(
        pipeline(
            source("lines", "id value", "id"),
            transform("parse", "lines", "emit value = value.to_int()"),
            output("o", "parse"),
            output("strict", "parse", "correlation_fanout_policy: any"),
            handling="correlation_fanout_policy: primary",
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "id,value\nA,1\nC,3\n"
    assert workplace.read("strict.csv") == "id,value\nC,3\n"
    assert entries(workplace) == [
        ("lines", "2", "parse", "type_coercion_failure"),
        ("lines", "1", "strict", "correlated"),
        ("lines", "3", "parse", "type_coercion_failure"),
        ("lines", "4", "o", "correlated"),
    ]


def test_a_source_may_have_its_own_policy_where_the_output_has_none(workplace: Workplace) -> None:
    workplace.write(
        a_csv="id,value\nA,1\nA,bad\nB,3\n", b_csv="id,value\nA,5\nA,bad\nB,bad\nB,bad\n"
    )
    own = "path: b.csv\n        correlation_fanout_policy: all"
    lenient = source("b", "id value", "id").replace("path: b.csv", own)
    ran = workplace.run(
        pipeline(
            source("a", "id value", "id"),
            lenient,
            "- { type: merge, name: m, inputs: [a, b], config: {} }",
            transform("parse", "m", "emit value = value.to_int()"),
            output("o", "parse"),
            output("strict", "parse", "correlation_fanout_policy: any"),
            aggregate("counted", "parse", "id", "emit n = count(*)"),
            output("n", "counted"),
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "id,value\nB,3\nA,5\n"
    assert workplace.read("strict.csv") == "id,value\nB,3\n"
    assert workplace.read("n.csv") == "id,n\nB,1\nA,1\n"
    assert entries(workplace) == [
        ("a", "2", "parse", "type_coercion_failure"),
        ("b", "2", "parse", "type_coercion_failure"),
        ("a", "1", "o", "correlated"),
        ("b", "1", "strict", "correlated"),
        ("b", "3", "parse", "type_coercion_failure"),
        ("b", "4", "parse", "type_coercion_failure"),
    ]


def test_records_without_a_key_fall_alone(workplace: Workplace) -> None:
    workplace.write(lines_csv="id,value\n,1\n,bad\n,2\n")
    ran = workplace.run(
        pipeline(
            source("lines", "id value", "id"),
            transform("parse", "lines", "emit n = value.to_int()"),
            output("o", "parse"),
            aggregate("totals", "parse", "id", "emit total = sum(n)"),
            output("t", "totals"),
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "id,value,n\n,1,1\n,2,2\n"
    assert workplace.read("t.csv") == "id,total\n,3\n"
    assert entries(workplace) == [("lines", "2", "parse", "type_coercion_failure")]


def test_an_inclusive_route_rejects_a_record_once(workplace: Workplace) -> None:
    workplace.write(lines_csv="id,value\nA,1\nA,0\nB,2\n")
    ran = workplace.run(
        pipeline(
            source("lines", "id value", "id", value="int"),
            """
            - type: route
              name: split
              input: lines
              config:
                mode: inclusive
                conditions: { a: "value >= 0", b: "value < 2" }
                default: rest
            """,
            transform("t", "split.a", "emit r = 1 / value"),
            transform("u", "split.b", "emit r = 2 / value"),
            output("o", "t"),
            output("p", "u"),
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "id,value,r\nB,2,0\n"
    assert workplace.read("p.csv") == "id,value,r\n"
    assert entries(workplace) == [
        ("lines", "2", "t", "type_coercion_failure"),
        ("lines", "1", "o", "correlated"),
    ]


def test_a_group_that_is_too_large(workplace: Workplace) -> None:
    workplace.write(lines_csv="id,value\nA,1\nB,0\nB,2\nB,3\n")
    ran = workplace.run(
        pipeline(
            source("lines", "id value", "id", value="int"),
            output("o", "lines", "include_correlation_keys: true"),
            handling="max_group_buffer: 2",
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "id,value,$ck.id\nA,1,A\n"
    assert entries(workplace) == [
        ("lines", "2", "lines", "group_size_exceeded"),
        ("lines", "3", "lines", "correlated"),
        ("lines", "4", "lines", "correlated"),
    ]


COMBINED = """
- type: combine
  name: c
  input: {{ o: orders, d: depts }}
  config:
    where: "o.dept == d.dept"
    match: {match}
    on_miss: null_fields
    {body}
    propagate_ck: {propagate}
"""


@pytest.mark.parametrize("match", ["first", "all", "collect"])
@pytest.mark.parametrize(
    ("propagate", "kept"), [("driver", ["1", "2"]), ("all", ["1"]), ("{ named: [dept] }", ["1"])]
)
def test_what_a_combine_propagates(
    workplace: Workplace, match: str, propagate: str, kept: list[str]
) -> None:
    workplace.write(
        orders_csv="id,dept\n1,x\n2,y\n",
        depts_csv="dept,boss\nx,u\ny,v\ny,!\n",
    )
    body = "" if match == "collect" else "cxl: |\n      emit id = o.id"
    ran = workplace.run(
        pipeline(
            source("orders", "id dept", "id"),
            source("depts", "dept boss", "dept"),
            transform("t", "depts", "emit f = if boss == '!' then 1 / 0 else 1"),
            output("p", "t"),
            COMBINED.format(match=match, body=body, propagate=propagate),
            output("o", "c", "mapping: { id: id }, include_unmapped: false"),
        )
    )
    assert ran.code == 2, ran.message
    found = [line.split(",")[0] for line in workplace.read("o.csv").splitlines()[1:]]
    assert list(dict.fromkeys(found)) == kept
    assert workplace.read("p.csv") == "dept,boss,f\nx,u,1\n"


def test_the_deprecated_key_of_a_pipeline_is_that_of_its_sources(workplace: Workplace) -> None:
    workplace.write(lines_csv=LINES)
    ran = workplace.run(
        pipeline(
            source("lines", "id value"),
            transform("parse", "lines", "emit value = value.to_int()"),
            output("o", "parse"),
            handling="correlation_key: id",
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "id,value\nB,400\n"


def test_a_failing_row_of_a_strict_aggregate_takes_its_group_along(workplace: Workplace) -> None:
    workplace.write(lines_csv="id,n\nA,3\nB,1\nA,4\n")
    ran = workplace.run(
        pipeline(
            source("lines", "id n", "id", n="int"),
            aggregate("totals", "lines", "id", "emit total = sum(n)"),
            transform("ratio", "totals", "emit r = 1 / (total - 7)"),
            output("o", "ratio"),
            output("raw", "lines"),
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "id,total,r\nB,1,0\n"
    assert workplace.read("raw.csv") == "id,n\nB,1\n"
    assert entries(workplace) == [
        ("lines", "1", "ratio", "type_coercion_failure"),
        ("lines", "1", "totals", "correlated"),
        ("lines", "3", "totals", "correlated"),
    ]


def test_a_window_behind_a_relaxed_aggregate_sees_only_what_is_left(workplace: Workplace) -> None:
    workplace.write(lines_csv="id,dept,value\na,x,1\nb,x,2\nc,y,bad\na,y,4\n")
    ran = workplace.run(
        pipeline(
            source("lines", "id dept value", "id"),
            transform("parse", "lines", "emit n = value.to_int()"),
            aggregate("totals", "parse", "dept", "emit total = sum(n)"),
            """
            - type: transform
              name: running
              input: totals
              config:
                analytic_window: { group_by: [], sort_by: [dept] }
                cxl: |
                  emit so_far = $window.sum(total)
            """,
            output("o", "running"),
        )
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "dept,total,so_far\nx,3,3\ny,4,7\n"


TIMED = """
- type: source
  name: clicks
  config:
    type: csv
    path: clicks.csv
    correlation_key: id
    watermark: { column: at }
    schema: { id: string, user: string, at: date_time }
"""
PER_HOUR = """
- type: aggregate
  name: hours
  input: clicks
  config:
    group_by: [user]
    time_window: { tumbling: { size: 1h } }
    cxl: emit n = count(*)
"""


def test_a_record_that_comes_too_late_takes_its_group_along(workplace: Workplace) -> None:
    workplace.write(
        clicks_csv="id,user,at\n"
        "A,u,2026-05-14T10:10:00\nB,u,2026-05-14T12:00:00\nA,u,2026-05-14T10:20:00\n"
    )
    ran = workplace.run(
        pipeline(TIMED, PER_HOUR, output("o", "hours"), output("raw", "clicks")),
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "user,n\nu,1\n"
    assert workplace.read("raw.csv") == "id,user,at\nB,u,2026-05-14T12:00:00\n"
    assert entries(workplace) == [
        ("clicks", "3", "time_window:hours", "late_record"),
        ("clicks", "1", "hours", "correlated"),
    ]


def test_groups_that_fall_keep_no_session_open(workplace: Workplace) -> None:
    lines = ["A,u,2026-05-14T10:00:00", "B,u,2026-05-14T10:08:00", "A,u,2026-05-14T10:16:00"]
    workplace.write(clicks_csv="\n".join(["id,user,at", *lines, ""]))
    sessions = PER_HOUR.replace("tumbling: { size: 1h }", "session: { gap: 10m }")
    other = transform("t", "clicks", "emit n = if id == 'B' then 1 / 0 else 1")
    ran = workplace.run(
        pipeline(TIMED, sessions, other, output("o", "hours"), output("p", "t")),
    )
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "user,n\nu,1\nu,1\n"
    assert entries(workplace) == [("clicks", "2", "t", "type_coercion_failure")]


def test_a_record_that_fails_twice_shows_what_comes_first(workplace: Workplace) -> None:
    workplace.write(
        clicks_csv="id,user,at\nA,u,2026-05-14T12:00:00\nB,v,2026-05-14T10:10:00\n",
    )
    last = transform("t", "clicks", "emit n = if user == 'v' then 1 / 0 else 1")
    ran = workplace.run(
        pipeline(TIMED, PER_HOUR, last, output("o", "hours"), output("p", "t")),
    )
    assert ran.code == 2, ran.message
    assert entries(workplace) == [("clicks", "2", "time_window:hours", "late_record")]


def before_the_run(cxl: str) -> tuple[str, ...]:
    return (
        source("known", "id n", "id", n="int"),
        aggregate("most", "known", "", cxl),
        """
        - type: state
          name: remember
          input: most
          config: { scope: pipeline, phase: init, set: [ { var: most, cxl: most } ] }
        """,
        source("lines", "n", n="int"),
        transform("t", "lines", "emit n = n + $pipeline.most"),
        output("o", "t"),
    )


def test_groups_that_are_too_large_before_the_run(workplace: Workplace) -> None:
    workplace.write(known_csv="id,n\nA,7\nA,8\nB,5\n", lines_csv="n\n1\n")
    nodes = before_the_run("emit most = max(n)")
    text = pipeline(*nodes, handling="max_group_buffer: 1")
    ran = workplace.run(text.replace("name: p }", VARIABLE))
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "n\n6\n"
    assert entries(workplace) == [
        ("known", "1", "known", "group_size_exceeded"),
        ("known", "2", "known", "correlated"),
    ]


def test_a_failing_group_before_the_run_takes_its_records_back(workplace: Workplace) -> None:
    workplace.write(known_csv="id,n\nA,7\nB,5\n", lines_csv="n\n1\n")
    nodes = before_the_run("emit most = 12 / (sum(n) - 12)")
    ran = workplace.run(pipeline(*nodes).replace("name: p }", VARIABLE))
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == 'n\n""\n'
    assert entries(workplace) == [
        ("<merged>", "1", "most", "type_coercion_failure"),
        ("known", "1", "most", "correlated"),
        ("known", "2", "most", "correlated"),
    ]


VARIABLE = "name: p, vars: { pipeline: { most: { type: int } } } }"
