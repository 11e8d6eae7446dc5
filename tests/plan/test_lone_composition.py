"""Compositions are compiled by themselves, with whatever they ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.diagnostics import Diagnostic
from clinker.plan.lone_composition import CALL, compile_composition
from clinker.plan.options import Options

COMPOSITION = """\
_compose:
  name: c
  inputs:
    rows: { schema: [{ name: amount, type: "nullable(float)" }, { name: day, type: date_time }] }
    rest: { required: true }
  outputs: { out: t }
  config_schema:
    factor: { type: float, required: true, range: [2, 3] }
    mode: { type: string, required: true, enum: [fast, slow] }
    limit: { type: int, default: 5 }
  resources_schema: { table: { kind: file, required: true } }
  scoped_vars: { pipeline: { since: { type: date } } }
nodes:
  - type: transform
    name: t
    input: rows
    config:
      cxl: |
        emit total = amount * $config.factor + $config.limit.to_float()
        emit of_caller = $vars.whatever
        emit late = day > $pipeline.since
        %s
"""


def findings(text: str, tmp_path: Path) -> list[Diagnostic]:
    path = tmp_path / "c.comp.yaml"
    path.write_text(text)
    return compile_composition(text.encode(), path, Options(tmp_path)).diagnostics


def test_all_that_it_asks_for_is_there(tmp_path: Path) -> None:
    assert findings(COMPOSITION % "", tmp_path) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("emit x = amuont", "unknown field 'amuont'"),
        ("emit x = amount + day", "cannot apply '+' to Float and DateTime"),
        ("emit x = $config.facter", "facter"),
        ("emit x = $pipeline.other", "other"),
    ],
)
def test_its_own_mistakes_are_found(line: str, message: str, tmp_path: Path) -> None:
    (finding,) = findings(COMPOSITION % line, tmp_path)
    assert message in finding.message
    assert finding.primary is not None
    assert finding.primary.location.start.line == 22
    assert not finding.secondary


def test_what_depends_on_the_caller_is_not_judged(tmp_path: Path) -> None:
    nested = COMPOSITION % "" + "  - { type: composition, name: n, use: x.comp.yaml, input: t }\n"
    assert findings(nested, tmp_path) == []


def test_the_draft_has_the_columns_of_the_body(tmp_path: Path) -> None:
    path = tmp_path / "c.comp.yaml"
    path.write_text(COMPOSITION % "")
    draft = compile_composition(path.read_bytes(), path, Options(tmp_path)).draft
    assert draft is not None
    assert list(draft.nodes[f"{CALL}/t"].row.columns)[-3:] == ["total", "of_caller", "late"]


def test_a_broken_file_is_reported(tmp_path: Path) -> None:
    assert [d.code for d in findings("_compose: [\n", tmp_path)] == ["E000"]
