"""What `$doc` is in every kind of node, for records read here and by workers."""

from __future__ import annotations

import pytest

import clinker
from clinker.engine.session.session import Session

from .whole_runs import Workplace

DOCUMENT = """{
  "Head": {"batch": "%s", "rate": %s, "day": "2026-01-31", "zero": 0, "inner": {"form": "%%Y"}},
  "records": [%s],
  "Foot": {"count": 2}
}"""
FIRST = DOCUMENT % ("A", "0.5", '{"id": 1, "amount": 10, "tags": ["x", "y"]}, {"id": 2}')
SECOND = DOCUMENT % ("B", "2", '{"id": 3, "amount": 30, "tags": []}')
SOURCE = """
        pipeline: { name: p }
        nodes:
          - type: source
            name: s
            config:
              type: json
              glob: s*.json
              options: { record_path: records }
              schema: { id: int, amount: int, tags: array }
              envelope:
                sections:
                  Head:
                    extract: { json_pointer: /Head }
                    fields:
                      batch: string
                      rate: float
                      day: date
                      zero: int
                      inner.form: string
                  Foot: { extract: { json_pointer: /Foot }, fields: { count: int } }
                  None: { extract: { json_pointer: /None }, fields: { x: int } }
"""


def output(node: str) -> str:
    """An output of what a node gives, all of it or what it has emitted."""
    return f"""
          - type: output
            name: out_{node.replace(".", "_")}
            input: {node}
            config: {{ type: csv, path: {node}.csv, include_unmapped: false }}
"""


def written(workplace: Workplace, node: str) -> list[str]:
    return workplace.read(f"{node}.csv").splitlines()


@pytest.mark.usefixtures("either_way")
def test_in_every_node(workplace: Workplace) -> None:
    workplace.write(s1_json=FIRST, s2_json=SECOND)
    (workplace.folder / "body.comp.yaml").write_text(
        "_compose:\n"
        "  name: body\n"
        "  inputs: { port: { required: true, schema: [{ name: id, type: int }] } }\n"
        "  outputs: { out: inside }\n"
        "nodes:\n"
        "  - type: transform\n"
        "    name: inside\n"
        "    input: port\n"
        '    config: { cxl: "emit id = id\\nemit batch = $doc.Head.batch" }\n'
    )
    nodes = """
          - type: transform
            name: t
            input: s
            config:
              cxl: |
                filter $doc.Head.batch == "A" or id == 3
                let f = $doc.Foot.count
                emit id = id
                emit share = id.to_float() / f
                emit which = if $doc.Head.rate > 1.0 then "high" else $doc.Head.batch
                emit what = match $doc.Head.batch { "A" => "first", _ => "later" }
                emit year = $doc.Head.day.format($doc.Head.inner.form)
                emit none = $doc.None.x
              validations:
                - { name: known, check: "$doc.Head.batch != \\"B\\"", severity: warn }
              log:
                - level: warn
                  when: per_record
                  condition: $doc.Head.batch == "B"
                  message: of B
          - type: route
            name: r
            input: s
            config:
              mode: exclusive
              conditions: { a: $doc.Head.batch == "A" }
              default: b
          - type: aggregate
            name: g
            input: s
            config:
              group_by: [tags]
              cxl: |
                emit batch = first($doc.Head.batch)
                emit total = sum(amount * $doc.Head.rate)
          - { type: transform, name: behind, input: g, config: { cxl: "emit x = $doc.Head.batch" } }
          - type: transform
            name: each
            input: s
            config:
              cxl: |
                emit id = id
                emit each tag in tags {
                  emit tag = $doc.Head.batch + tag.to_string()
                }
          - type: transform
            name: w
            input: s
            config:
              analytic_window: { group_by: [] }
              cxl: |
                emit id = id
                emit so_far = $window.sum($doc.Head.rate)
          - { type: source, name: b, config: { type: csv, path: b.csv, schema: { batch: string } } }
          - type: combine
            name: c
            input: { d: s, b: b }
            config:
              where: b.batch == $doc.Head.batch and d.id > 1
              propagate_ck: driver
              cxl: |
                emit id = d.id
                emit batch = b.batch
                emit rate = $doc.Head.rate
          - { type: transform, name: after, input: c, config: { cxl: "emit n = $doc.Foot.count" } }
          - { type: composition, name: comp, input: s, use: body.comp.yaml }
    """
    workplace.write(b_csv="batch\nA\nB\n")
    names = ("t", "r.a", "r.b", "g", "behind", "each", "w", "c", "after", "comp")
    ran = workplace.run(SOURCE + nodes + "".join(map(output, names)))
    assert (ran.code, ran.message) == (0, "")
    assert written(workplace, "t") == [
        "id,share,which,what,year,none",
        "1,0.5,A,first,2026,",
        "2,1,A,first,2026,",
        "3,1.5,high,later,2026,",
    ]
    assert [text.partition(": ")[2] for text in ran.messages if text.endswith("of B")] == ["of B"]
    assert len(written(workplace, "r.a")) == 3
    assert len(written(workplace, "r.b")) == 2
    assert written(workplace, "g")[1:] == ['"[""x"",""y""]",A,5', ",A,", "[],B,60"]
    assert workplace.read("behind.csv") == "x\n" + 3 * '""\n'
    assert written(workplace, "each") == ["id,tag", "1,Ax", "1,Ay"]
    assert written(workplace, "w") == ["id,so_far", "1,0.5", "2,1", "3,3"]
    assert written(workplace, "c") == ["id,batch,rate", "1,,0.5", "2,A,0.5", "3,B,2"]
    assert written(workplace, "after")[1:] == ["2", "2", "2"]
    assert written(workplace, "comp") == ["id,batch", "1,A", "2,A", "3,B"]


@pytest.mark.usefixtures("either_way")
def test_dead_letters_are_explained_with_the_document(workplace: Workplace) -> None:
    workplace.write(s1_json=FIRST, s2_json=SECOND)
    ran = workplace.run(
        SOURCE
        + """
          - type: transform
            name: t
            input: s
            config:
              cxl: |
                emit id = id
                emit x = id / ($doc.Head.zero + (if $doc.Head.batch == "B" then 1 else 0))
"""
        + output("t")
        + """
        error_handling: { strategy: continue, dlq: { path: dead.csv } }
"""
    )
    assert (ran.code, ran.message) == (2, "")
    assert written(workplace, "t") == ["id,x", "3,3"]
    dead = workplace.read("dead.csv")
    assert dead.count("division by zero") == 2


@pytest.mark.usefixtures("either_way")
def test_sources_that_meet_have_their_own_documents(workplace: Workplace) -> None:
    workplace.write(
        s1_json=FIRST,
        o_json='{"Head": {"batch": 7, "rate": 3}, "records": [{"id": 4}]}',
        c_csv="id,amount,tags\n5,,\n",
    )
    ran = workplace.run(
        SOURCE
        + """
          - type: source
            name: o
            config:
              type: json
              path: o.json
              options: { record_path: records }
              schema: { id: int, amount: int, tags: array }
              envelope:
                sections:
                  Head: { extract: { json_pointer: /Head }, fields: { batch: int, rate: int } }
          - type: source
            name: c
            config:
              type: csv
              path: c.csv
              schema: { id: int, amount: int, tags: array }
              envelope:
                sections:
                  Head: { extract: { json_pointer: /Head }, fields: { batch: string } }
          - { type: merge, name: m, inputs: [s, o, c] }
          - type: transform
            name: t
            input: m
            config:
              cxl: |
                emit id = id
                emit batch = $doc.Head.batch
                emit rate = $doc.Head.rate
                emit kind = $doc.Head.batch.type_of()
                emit count = $doc.Foot.count
"""
        + output("t")
    )
    assert (ran.code, ran.message) == (0, "")
    assert written(workplace, "t") == [
        "id,batch,rate,kind,count",
        "1,A,0.5,String,2",
        "2,A,0.5,String,2",
        "4,7,3,Int,",
        "5,,,Null,",
    ]


def test_a_field_that_does_not_fit_stops_the_run(workplace: Workplace) -> None:
    workplace.write(s1_json=FIRST.replace("0.5", '"half"'))
    ran = workplace.run(SOURCE + output("s"))
    assert ran.code == 4
    assert "cannot convert 'half' in field 'rate' of section 'Head' to float" in ran.message


@pytest.mark.spark_only("Sail lends no DataFrames of nodes")
def test_a_dataframe_has_what_its_documents_say(workplace: Workplace, session: Session) -> None:
    workplace.write(s1_json=FIRST)
    pipeline = workplace.folder / "p.yaml"
    node = "  - { type: transform, name: t, input: s, config: { cxl: emit b = $doc.Head.batch } }\n"
    pipeline.write_text(SOURCE + "        " + node + output("t"))
    rows = clinker.compile(pipeline).dataframe("t", session.spark).select("id", "b").collect()
    assert [tuple(row) for row in rows] == [(1, "A"), (2, "A")]
