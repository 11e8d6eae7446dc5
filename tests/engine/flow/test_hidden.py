"""A hidden column needs one declaration to be behind every kind of node."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.cxl.types import INT
from clinker.engine.flow.flows import Flows
from clinker.engine.flow.hidden import HIDDEN_KINDS, HiddenKind, InGroups
from clinker.engine.session.session import Session
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.options import Options
from tests.engine.flowing import building
from tests.engine.opening import open_files

TOY = HiddenKind(
    name="$toy",
    in_groups=InGroups.FIRST,
    read=lambda reading: {"": (f"{7 + reading.files.number}L", INT)},
)

PIPELINE = """
pipeline: { name: p }
nodes:
  - { type: source, name: a, config: { type: csv, path: a.csv, schema: { id: int, n: int } } }
  - { type: source, name: b, config: { type: csv, path: b.csv, schema: { id: int, n: int } } }
  - { type: transform, name: changed, input: a, config: { cxl: "filter n > 0\nemit n = n * 2" } }
  - type: route
    name: sent
    input: changed
    config: { conditions: { big: n > 2 }, default: small }
  - { type: merge, name: merged, inputs: [sent.big, b] }
  - type: aggregate
    name: grouped
    input: merged
    config: { group_by: [id], cxl: emit total = sum(n) }
  - type: combine
    name: joined
    input: { one: merged, other: b }
    config: { where: one.id == other.id, cxl: emit id = one.id, propagate_ck: driver }
  - { type: output, name: groups, input: grouped, config: { type: csv, path: groups.csv } }
  - { type: output, name: pairs, input: joined, config: { type: csv, path: pairs.csv } }
  - { type: output, name: rest, input: sent.small, config: { type: csv, path: rest.csv } }
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    (tmp_path / "a.csv").write_text("id,n\n1,1\n2,2\n3,3\n")
    (tmp_path / "b.csv").write_text("id,n\n3,5\n4,6\n")
    compiled = compile_pipeline(PIPELINE.encode(), "p.yaml", Options(tmp_path))
    assert compiled.plan, compiled.diagnostics
    return compiled.plan


@pytest.mark.parametrize(
    ("node", "values"),
    [
        ("changed", {(1, 7), (2, 7), (3, 7)}),
        ("merged", {(2, 7), (3, 7), (3, 8), (4, 8)}),
        ("grouped", {(2, 7), (3, 7), (4, 8)}),
        ("joined", {(2, 7), (3, 7), (3, 8), (4, 8)}),
    ],
)
def test_it_is_behind_every_kind_of_node(
    plan: Plan, session: Session, node: str, values: set[tuple[int, int]]
) -> None:
    HIDDEN_KINDS.append(TOY)
    try:
        built = building(session.spark, plan)
        inputs = open_files(plan, built.system.identity, built.sites)
        flow = Flows(built, inputs).of(node).without_rejects().built()
    finally:
        HIDDEN_KINDS.remove(TOY)
    rows = built.session.table(flow.frame).to_pylist()
    assert {(row["id"], row["$toy"]) for row in rows} == values
