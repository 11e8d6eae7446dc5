"""Log directives: what a transform says, and when."""

from __future__ import annotations

import pytest

from .whole_runs import Workplace

PIPELINE = """
    pipeline: {{ name: p, vars: {{ verbose: {{ type: bool, default: true }} }} }}
    nodes:
      - type: source
        name: rows
        config:
          type: csv
          path: in.csv
          schema: [{{ name: id, type: int }}, {{ name: n, type: int }}]
      - type: transform
        name: step
        input: rows
        config:
          cxl: "emit share = 100 / n"
          log: [{{ level: warn, message: said, {} }}]
      - {{ type: output, name: out, input: step, config: {{ type: csv, path: out.csv }} }}
    error_handling: {{ strategy: continue, dlq: {{ path: rejected.csv }} }}
"""
ROWS = "id,n\n1,1\n2,2\n3,0\n4,4\n5,0\n6,x\n7,7\n8,8\n"


@pytest.mark.parametrize(
    ("directive", "count"),
    [
        ("when: per_record", 5),
        ("when: per_record, every: 2", 3),
        ("when: per_record, every: 5", 1),
        ("when: per_record, every: 99", 1),
        ("when: per_record, every: 2, condition: share < 50", 2),
        ("when: on_error", 2),
        ("when: on_error, condition: id > 3", 1),
        ("when: on_error, condition: share > 0", 0),
        ("when: on_error, condition: id / n == 1", 0),
        ("when: before_transform", 1),
        ("when: before_transform, condition: $vars.verbose", 1),
        ("when: after_transform, condition: not $vars.verbose", 0),
    ],
)
def test_when_it_is_said(workplace: Workplace, directive: str, count: int) -> None:
    workplace.write(in_csv=ROWS)
    ran = workplace.run(PIPELINE.format(directive))
    assert (ran.code, ran.messages) == (2, ["warn step: said"] * count)
