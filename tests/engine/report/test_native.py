"""The SQL that `--explain` shows is made for every node of every example."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.engine.report.native import native_sql
from tests.engine.flowing import planned
from tests.spec.cases import Case, compiled, good_cases, name_of


@pytest.mark.parametrize("case", good_cases(), ids=name_of)
def test_every_example_has_sql(case: Case) -> None:
    plan = compiled(case).plan
    assert plan
    computing = {u.name for u in plan.graph if u.kind in ("transform", "route", "combine")}
    found = native_sql(plan)
    assert found.keys() >= {name for name in computing if plan.nodes[name].row.columns} - {
        unit.name
        for unit in plan.graph
        if unit.kind == "transform" and not plan.nodes[unit.name].emitted
    }


def test_what_the_interpreter_computes_is_named(tmp_path: Path) -> None:
    plan = planned(
        """
        pipeline: { name: p }
        nodes:
          - type: source
            name: s
            config:
              type: csv
              path: s.csv
              schema: [{ name: day, type: date }, { name: form, type: string }]
          - type: transform
            name: t
            input: s
            config: { cxl: "emit shown = day.format(form)\\nemit next = day.year() + 1" }
          - { type: output, name: o, input: t, config: { type: csv, path: o.csv } }
        """
    )
    found = native_sql(plan)["t"]
    assert found.interpreted == ("day.format(form)",)
    assert any(line.startswith("emit next") for line in found.lines)
