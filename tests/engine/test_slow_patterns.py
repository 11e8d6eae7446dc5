"""Patterns that take longer than anyone waits: the record is rejected, the run goes on."""

from __future__ import annotations

import csv
import time
from pathlib import Path
from textwrap import dedent

import pytest

from clinker.engine.report.explain import explain
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options

from .whole_runs import Workplace

PIPELINE = """
    pipeline: {{ name: p }}
    nodes:
      - type: source
        name: rows
        config:
          type: csv
          path: in.csv
          schema:
            - {{ name: id, type: int }}
            - {{ name: pattern, type: string }}
            - {{ name: text, type: string }}
      - type: transform
        name: t
        input: rows
        config: {{ cxl: 'emit found = {expression}' }}
      - type: output
        name: result
        input: t
        config: {{ type: csv, path: out.csv, exclude: [pattern, text] }}
    error_handling: {{ strategy: continue, dlq: {{ path: rejected.csv }} }}
"""


def rejected(workplace: Workplace, expression: str, *texts: str, pattern: str = "") -> list[str]:
    """What is said about rejected records; the others do not match."""
    rows = "".join(f"{number},{pattern},{text}\n" for number, text in enumerate(texts))
    workplace.write(in_csv=f"id,pattern,text\n{rows}")
    began = time.monotonic()
    ran = workplace.run(PIPELINE.format(expression=expression))
    assert time.monotonic() - began < 60
    if "rejected.csv" not in workplace.files():
        assert ran.code == 0
        return []
    assert ran.code == 2
    letters = list(csv.DictReader(workplace.read("rejected.csv").splitlines()))
    kept = [row["id"] for row in csv.DictReader(workplace.read("out.csv").splitlines())]
    assert sorted(kept + [letter["id"] for letter in letters]) == [
        str(i) for i in range(len(texts))
    ]
    return [letter["_cxl_dlq_error_detail"] for letter in letters]


LONG = "a" * 50_000 + "!"


@pytest.mark.parametrize(
    ("expression", "pattern"),
    [
        ('text.find("(a+)+$")', "(a+)+$"),
        ('text.matches("(a+)+$")', "(a+)+$"),
        ('text.matches("(.*a){20}")', "(.*a){20}"),
        ('text.capture("(a+)+$", 1)', "(a+)+$"),
        # Java takes the short texts; the long one makes the run begin anew.
        ('text.find("a+$")', "a+$"),
        ('text.capture("(a+)$", 1)', "(a+)$"),
        ("text.find(pattern)", "(a+)+$"),
    ],
)
def test_a_match_that_takes_too_long(workplace: Workplace, expression: str, pattern: str) -> None:
    found = rejected(workplace, expression, "b", LONG, "a" * 30 + "!", pattern="(a+)+$")
    assert found == [f"pattern '{pattern}' takes longer than 1 s on a text of 50001 characters"]


@pytest.mark.parametrize("expression", ['text.find("b.*c.*d")', 'text.matches("(a|a)*b")'])
def test_a_long_text_alone_is_no_reason(workplace: Workplace, expression: str) -> None:
    assert rejected(workplace, expression, "b", LONG, "a" * 30 + "!") == []


@pytest.mark.parametrize(
    ("expression", "is_native"),
    [
        ('text.find("a+$")', True),
        ('text.matches(".*foo.*bar.*")', True),
        ('text.find("(a|b)+$")', False),
        ('text.matches("(.*a){20}")', False),
    ],
)
def test_what_leaves_the_engine_is_shown(tmp_path: Path, expression: str, is_native: bool) -> None:
    pipeline = dedent(PIPELINE.format(expression=expression)).encode()
    plan = compile_pipeline(pipeline, "p.yaml", Options(base_dir=tmp_path)).plan
    assert plan
    shown = explain(plan, "sql")
    assert (" RLIKE " in shown) is is_native
    assert ("Python adds" not in shown) is is_native
