"""Compositions at run time: what fails in a body is named with the calls that lead there."""

from __future__ import annotations

import csv
import io

from tests.engine.whole_runs import Workplace

INNER = """
_compose:
  name: inner
  inputs: { given: {} }
  outputs: { out: divide }
  config_schema: { by: { type: int, default: 2 } }
nodes:
  - { type: transform, name: divide, input: given, config: { cxl: emit r = 12 % (n - $config.by) } }
"""
OUTER = """
_compose:
  name: outer
  inputs: { given: {} }
  outputs: { out: call.out }
nodes:
  - { type: composition, name: call, use: inner.yaml, inputs: { given: given }, config: { by: 3 } }
"""
PIPELINE = """
pipeline: {{ name: p }}
error_handling: {{ strategy: {strategy}, dlq: {{ path: dlq.csv }} }}
nodes:
  - type: source
    name: lines
    config: {{ type: csv, path: lines.csv, correlation_key: id, schema: {{ id: string, n: int }} }}
  - {{ type: composition, name: shares, use: outer.yaml, inputs: {{ given: lines }} }}
  - {{ type: output, name: o, input: shares.out, config: {{ type: csv, path: o.csv }} }}
"""


def prepare(workplace: Workplace) -> None:
    lines = "id,n\nA,1\nA,3\nB,4\n"
    workplace.write(lines_csv=lines, inner_yaml=INNER, outer_yaml=OUTER)


def test_a_dead_letter_names_the_calls_and_the_node(workplace: Workplace) -> None:
    prepare(workplace)
    ran = workplace.run(PIPELINE.format(strategy="continue"))
    assert ran.code == 2, ran.message
    assert workplace.read("o.csv") == "id,n,r\nB,4,0\n"
    rows = csv.DictReader(io.StringIO(workplace.read("dlq.csv")))
    assert [(row["_cxl_dlq_source_row"], row["_cxl_dlq_stage"]) for row in rows] == [
        ("2", "shares/call/divide"),
        ("1", "o"),
    ]


def test_what_ends_a_run_names_the_calls_and_the_node(workplace: Workplace) -> None:
    prepare(workplace)
    ran = workplace.run(PIPELINE.format(strategy="fail_fast"))
    assert ran.code == 3
    assert ran.message.endswith("division by zero while computing 'r', in 'shares/call/divide'")
    assert ran.notes[0] == "expression: emit r = 12 % (n - $config.by)"
