"""Plans that look at nodes: what they hold, and what they leave out."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.options import Options
from clinker.plan.probes import (
    also_looking_at,
    list_ends,
    list_outlets,
    looking_at,
    probe_name,
)
from tests.spec.cases import Case, compiled, good_cases, name_of

_CASES = [case for case in good_cases() if compiled(case, case.folder).plan]
_PIPELINE = """\
pipeline: { name: shop }
nodes:
  - type: source
    name: orders
    config: { type: csv, path: orders.csv, schema: { id: int, amount: float, note: string } }
  - type: source
    name: unread
    config: { type: csv, path: unread.csv, schema: { id: int } }
  - type: transform
    name: priced
    input: orders
    config: { cxl: "emit gross = amount * 1.2" }
  - type: route
    name: sized
    input: priced
    config: { conditions: { big: amount > 10 }, default: small }
  - type: output
    name: result
    input: sized.big
    config:
      type: csv
      path: result.csv
      include_unmapped: false
      mapping: { total: gross }
error_handling:
  strategy: fail_fast
  type_error_threshold: 0.1
  dlq: { max_rate: 0.1 }
"""


def _plan() -> Plan:
    compiled = compile_pipeline(dedent(_PIPELINE).encode(), "p.yaml", Options(base_dir=Path()))
    assert compiled.plan, [d.message for d in compiled.diagnostics]
    return compiled.plan


def test_outlets_are_nodes_and_their_ports() -> None:
    assert list(list_outlets(_plan())) == [
        "orders",
        "unread",
        "priced",
        "sized",
        "sized.big",
        "sized.small",
        "result",
    ]


def test_ends_are_what_nothing_reads_from() -> None:
    assert list_ends(_plan()) == ["unread", "sized.small", "result"]


def test_a_plan_that_looks_holds_only_what_is_needed() -> None:
    plan = _plan()
    looking = looking_at(plan, {"priced": list_outlets(plan)["priced"]})
    assert list(looking.nodes) == ["orders", "priced", probe_name("priced")]
    shown = [column.name for column in looking.projections[probe_name("priced")]]
    assert shown == ["id", "amount", "note", "gross"]


def test_of_an_output_what_it_writes_is_looked_at() -> None:
    plan = _plan()
    looking = looking_at(plan, {"result": list_outlets(plan)["result"]})
    shown = [column.name for column in looking.projections[probe_name("result")]]
    assert shown == ["total"]
    assert "result" not in looking.nodes


def test_whoever_looks_is_not_stopped_by_failures() -> None:
    plan = _plan()
    looking = looking_at(plan, {"priced": list_outlets(plan)["priced"]})
    handling = looking.pipeline.error_handling
    assert (handling.strategy, handling.type_error_threshold) == ("continue", None)
    assert looking.dead_letters.limit is None
    assert plan.pipeline.error_handling.strategy == "fail_fast"


def test_probes_may_stand_beside_the_outputs() -> None:
    plan = _plan()
    outlets = list_outlets(plan)
    looking = also_looking_at(plan, {name: outlets[name] for name in ("priced", "sized.small")})
    assert list(looking.nodes) == [
        *plan.nodes,
        probe_name("priced"),
        probe_name("sized.small"),
    ]


@pytest.mark.parametrize("case", _CASES, ids=name_of)
def test_all_outlets_of_all_examples_can_be_looked_at(case: Case) -> None:
    plan = compiled(case, case.folder).plan
    assert plan
    for name, outlet in list_outlets(plan).items():
        if outlet.port or not plan.nodes[outlet.node].node.ports:
            assert probe_name(name) in looking_at(plan, {name: outlet}).projections
            assert probe_name(name) in also_looking_at(plan, {name: outlet}).projections
