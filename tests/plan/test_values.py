"""Values given to the constants of a pipeline."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from clinker.config.variables import Value
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.options import Options
from clinker.plan.values import with_texts, with_values

PIPELINE = b"""
pipeline:
  name: p
  vars:
    least: { type: int, default: 3 }
    rate: { type: float }
    is_test: { type: bool, default: false }
    day: { type: date, default: "2026-01-31" }
    name: { type: string, default: x }
nodes:
  - { type: source, name: s, config: { type: csv, path: s.csv, schema: [{ name: a, type: int }] } }
  - { type: output, name: o, input: s, config: { type: csv, path: o.csv } }
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    compiled = compile_pipeline(PIPELINE, "p.yaml", Options(tmp_path))
    assert compiled.plan
    return compiled.plan


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("least", "7", 7),
        ("rate", "0.5", 0.5),
        ("rate", "2", 2.0),
        ("is_test", "true", True),
        ("day", "2026-02-01", date(2026, 2, 1)),
        ("name", "7", "7"),
        ("name", "", ""),
    ],
)
def test_texts_are_read_by_type(plan: Plan, name: str, text: str, value: Value) -> None:
    read = with_texts(plan, {name: text}).registry.vars[name].initial
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("leest", "1", r"no variable '\$vars.leest'; did you mean 'least'"),
        ("least", "1.5", "of type int, which '1.5' is not"),
        ("is_test", "yes", "of type bool"),
        ("day", "31.1.2026", "of type date"),
    ],
)
def test_texts_that_do_not_fit(plan: Plan, name: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_texts(plan, {name: text})


def test_values_of_python(plan: Plan) -> None:
    changed = with_values(plan, {"day": date(2026, 3, 1), "least": 4})
    assert changed.registry.vars["day"].initial == date(2026, 3, 1)
    assert changed.registry.vars["least"].initial == 4
    assert plan.registry.vars["least"].initial == 3
