"""Scoped variables: who may read what, and from where."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

import pytest

from clinker.diagnostics import Diagnostic
from tests.plan.graph.test_compositions import compiled_in, places, shown

HEAD = """\
pipeline:
  name: p
  vars:
    pipeline: { total: { type: float, default: 0.0 } }
    source: { label: { type: string } }
    record: { score: { type: int } }
nodes:
  - { type: source, name: left, config: { type: csv, path: l.csv, schema: { id: int } } }
  - { type: source, name: right, config: { type: csv, path: r.csv, schema: { id: int } } }
"""


def state(name: str, input_: str, scope: str, var: str, cxl: str, more: str = "") -> str:
    return (
        f"- {{ type: state, name: {name}, input: {input_}, config: "
        f"{{ scope: {scope}, {more}set: [{{ var: {var}, cxl: '{cxl}' }}] }} }}\n"
    )


def transform(name: str, input_: str, cxl: str, more: str = "") -> str:
    return (
        f"- {{ type: transform, name: {name}, input: {input_}, "
        f"config: {{ {more}cxl: '{cxl}' }} }}\n"
    )


def output(input_: str) -> str:
    path = input_.replace(".", "_")
    return (
        f"- {{ type: output, name: out_{path}, input: {input_}, "
        f"config: {{ type: csv, path: {path}.csv }} }}\n"
    )


MERGE = "- { type: merge, name: both, inputs: [left, right] }\n"
WRITE_TOTAL = state("write", "left", "pipeline", "total", "sum(id).to_float()")
INIT = "phase: init, "


def findings(folder: Path, *nodes: str, **files: str) -> list[Diagnostic]:
    """Nodes after the two sources; the first is in line 10."""
    named = {f"{name}.comp.yaml": text for name, text in files.items()}
    text = HEAD + indent("".join(nodes), "  ")
    return compiled_in(folder, {"p.yaml": text, **named}).diagnostics


# Readers and writers


def test_readers_behind_the_writer(tmp_path: Path) -> None:
    nodes = (
        state("write", "left", "pipeline", "total", "$pipeline.total + 1.0"),
        transform("read", "write", "emit t = $pipeline.total"),
        output("read"),
    )
    assert findings(tmp_path, *nodes) == []


def test_a_variable_that_nobody_writes(tmp_path: Path) -> None:
    assert findings(tmp_path, transform("read", "left", "emit t = $pipeline.total")) == []


READERS = {
    "transform": transform("read", "right", "emit t = $pipeline.total"),
    "validation": transform(
        "read", "right", "emit t = 1", "validations: [{ check: $pipeline.total > 0.0 }], "
    ),
    "log": transform(
        "read",
        "right",
        "emit t = 1",
        "log: [{ level: info, when: per_record, message: m, condition: $pipeline.total > 0.0 }], ",
    ),
    "route": "- { type: route, name: read, input: right, config: "
    "{ conditions: { a: $pipeline.total > 0.0 }, default: b } }\n",
    "aggregate": "- { type: aggregate, name: read, input: right, config: "
    "{ group_by: [id], cxl: emit t = $pipeline.total } }\n",
    "state": state("read", "right", "record", "score", "$pipeline.total.to_int()"),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_readers_elsewhere(tmp_path: Path, reader: str) -> None:
    found = findings(tmp_path, WRITE_TOTAL, output("write"), reader)
    assert shown(found) == [
        "E171 p.yaml:12 'read' reads $pipeline.total, but no record reaches it from where that "
        "is written"
    ]
    assert places(found[0]) == ["p.yaml:10 written here"]
    assert found[0].primary
    location = found[0].primary.location
    assert location.source.text[slice(*location.span)] == "$pipeline.total"


def test_a_combine_that_reads_elsewhere(tmp_path: Path) -> None:
    combine = (
        "- { type: combine, name: read, input: { l: left, r: right }, config: "
        "{ where: l.id == r.id, propagate_ck: driver, cxl: 'emit t = $pipeline.total' } }\n"
    )
    found = findings(tmp_path, WRITE_TOTAL, output("write"), combine)
    assert [d.code for d in found] == ["E171"]


def test_one_of_several_writers_is_enough(tmp_path: Path) -> None:
    nodes = (
        WRITE_TOTAL,
        state("also", "right", "pipeline", "total", "1.0"),
        transform("read", "also", "emit t = $pipeline.total"),
    )
    assert findings(tmp_path, *nodes) == []


# Before the run


def test_every_reader_sees_what_was_written_before_the_run(tmp_path: Path) -> None:
    nodes = (
        state("write", "left", "pipeline", "total", "max(id).to_float()", INIT),
        transform("read", "right", "emit t = $pipeline.total"),
    )
    assert findings(tmp_path, *nodes) == []


def test_nothing_reads_from_an_init_node(tmp_path: Path) -> None:
    nodes = (
        state("write", "left", "pipeline", "total", "max(id).to_float()", INIT),
        output("write"),
    )
    found = findings(tmp_path, *nodes)
    assert shown(found) == [
        "E164 p.yaml:11 'out_write' reads from 'write', which only runs before the run"
    ]
    assert places(found[0]) == ["p.yaml:10 only before the run"]


def test_init_nodes_may_follow_each_other(tmp_path: Path) -> None:
    nodes = (
        state("first", "left", "pipeline", "total", "max(id).to_float()", INIT),
        transform("between", "first", "emit t = $pipeline.total"),
        state("second", "between", "record", "score", "1", INIT),
    )
    assert findings(tmp_path, *nodes) == []


def test_an_init_transform(tmp_path: Path) -> None:
    found = findings(tmp_path, transform("t", "left", "emit x = 1", INIT), output("t"))
    assert [d.code for d in found] == ["E164"]


def test_what_is_written_during_the_run_is_unknown_before_it(tmp_path: Path) -> None:
    nodes = (
        WRITE_TOTAL,
        transform("read", "right", "emit t = $pipeline.total"),
        state("early", "read", "record", "score", "1", INIT),
    )
    found = findings(tmp_path, *nodes)
    assert shown(found) == [
        "E175 p.yaml:11 $pipeline.total is read before the run, but only written during it"
    ]
    assert places(found[0]) == ["p.yaml:10 written here"]


# Sources that come together

COMBINE = (
    "- { type: combine, name: both, input: { l: left, r: right }, config: "
    "{ where: l.id == r.id, propagate_ck: driver, cxl: emit id = l.id } }\n"
)


@pytest.mark.parametrize(
    ("joining", "forms"),
    [
        (MERGE, "$source.left.label or $source.right.label"),
        (COMBINE, "$source.l.label or $source.r.label"),
    ],
)
def test_a_source_variable_after_a_join(tmp_path: Path, joining: str, forms: str) -> None:
    read = transform("read", "both", "emit a = $source.label emit b = $source.file")
    found = findings(tmp_path, joining, read)
    assert shown(found) == [
        "E172 p.yaml:11 $source.label is ambiguous after 'both', which brings sources together"
    ]
    assert found[0].help == f"write {forms}"
    first, second = forms.split(" or ")
    assert (
        findings(tmp_path, joining, transform("r", "both", f"emit a = {first} ?? {second}")) == []
    )


def test_a_merge_in_a_composition_knows_its_inputs_by_port(tmp_path: Path) -> None:
    body = """\
_compose:
  name: c
  inputs: { one: {}, two: {} }
  outputs: { out: read }
  scoped_vars: { source: { label: string } }
nodes:
  - { type: merge, name: both, inputs: [one, two] }
  - { type: transform, name: read, input: both, config: { cxl: emit a = $source.one.label } }
"""
    call = (
        "- { type: composition, name: call, inputs: { one: left, two: right }, use: c.comp.yaml }\n"
    )
    assert findings(tmp_path, call, output("call"), c=body) == []


# The seal of compositions

BODY = """\
_compose:
  name: c
  inputs: { inp: { schema: { id: int } } }
  outputs: { out: tap }
  scoped_vars: {}
nodes:
  - { type: transform, name: tap, input: inp, config: { cxl: emit t = $pipeline.total } }
"""
CALL = "- { type: composition, name: call, input: left, use: c.comp.yaml }\n"


def test_a_body_reads_nothing_it_does_not_list(tmp_path: Path) -> None:
    found = findings(tmp_path, CALL, output("call"), c=BODY)
    assert shown(found) == [
        "E173 c.comp.yaml:7 the composition reads $pipeline.total of its caller without saying so"
    ]
    assert places(found[0]) == [
        "p.yaml:4 declared here",
        "p.yaml:10 in composition 'call', called here",
    ]
    assert found[0].help == "add 'total: { type: float }' under _compose.scoped_vars.pipeline"


def test_a_body_writes_nothing_it_does_not_list(tmp_path: Path) -> None:
    body = BODY[: BODY.index("  - {")] + indent(state("tap", "inp", "record", "score", "id"), "  ")
    assert shown(findings(tmp_path, CALL, output("call"), c=body)) == [
        "E173 c.comp.yaml:7 the composition writes $record.score of its caller without saying so"
    ]


@pytest.mark.parametrize(
    ("listed", "expected"),
    [
        ("{ pipeline: { total: float } }", []),
        (
            "{ pipeline: { total: int } }",
            ["E174 c.comp.yaml:5 the composition takes $pipeline.total as int, but it is float"],
        ),
        (
            "{ pipeline: { total: float }, record: { nope: int } }",
            [
                "E174 c.comp.yaml:5 the composition takes $record.nope, which the pipeline does "
                "not declare"
            ],
        ),
    ],
)
def test_what_a_body_lists(tmp_path: Path, listed: str, expected: list[str]) -> None:
    body = BODY.replace("scoped_vars: {}", f"scoped_vars: {listed}")
    assert shown(findings(tmp_path, CALL, output("call"), c=body)) == expected


def test_an_inner_body_takes_only_what_the_outer_one_sees(tmp_path: Path) -> None:
    outer = """\
_compose:
  name: outer
  inputs: { inp: { schema: { id: int } } }
  outputs: { out: inner }
nodes:
  - { type: composition, name: inner, input: inp, use: c.comp.yaml }
"""
    inner = BODY.replace("scoped_vars: {}", "scoped_vars: { pipeline: { total: float } }")
    call = CALL.replace("c.comp", "outer.comp")
    assert shown(findings(tmp_path, call, output("call"), c=inner, outer=outer)) == [
        "E174 c.comp.yaml:5 the composition takes $pipeline.total, which the one that calls it "
        "cannot see"
    ]
    opened = outer.replace("nodes:", "  scoped_vars: { pipeline: { total: float } }\nnodes:")
    assert findings(tmp_path, call, output("call"), c=inner, outer=opened) == []


def test_a_body_reads_what_it_declares_itself(tmp_path: Path) -> None:
    declares = "{ declares: [{ name: own, scope: pipeline, type: int, default: 1 }], cxl"
    body = BODY.replace("{ cxl", declares).replace("pipeline.total", "pipeline.own")
    again = CALL.replace("name: call", "name: again").replace("left", "right")
    assert findings(tmp_path, CALL, again, output("call"), output("again"), c=body) == []


def test_a_body_declares_what_exists(tmp_path: Path) -> None:
    declares = "{ declares: [{ name: total, scope: pipeline, type: float }], cxl"
    found = findings(tmp_path, CALL, output("call"), c=BODY.replace("{ cxl", declares))
    assert shown(found) == ["E030 c.comp.yaml:7 $pipeline.total is declared twice"]


def test_what_is_written_before_the_run_depends_on_no_reader(tmp_path: Path) -> None:
    nodes = (
        transform("t", "left", "emit x = $pipeline.total")
        + state("st", "t", "pipeline", "total", "sum(id).to_float()", "phase: init, ")
        + output("t")
    )
    found = compiled_in(tmp_path, {"p.yaml": HEAD + indent(nodes, "  ")})
    assert [d.code for d in found.diagnostics] == ["E069"]
