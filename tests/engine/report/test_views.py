"""What is seen of nodes, computed by the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

from clinker.engine.report.views import View, list_views
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.plan.compile import compile_pipeline
from clinker.plan.options import Options, Preview
from clinker.plan.probes import list_outlets, looking_at

_PIPELINE = """\
pipeline: { name: shop }
nodes:
  - type: source
    name: orders
    config: { type: csv, path: orders.csv, schema: { id: int, amount: float, note: string } }
  - type: transform
    name: shares
    input: orders
    config: { cxl: "emit share = 100.0 / (id - 2)" }
  - type: aggregate
    name: totals
    input: shares
    config:
      group_by: [note]
      cxl: "emit total = sum(amount)"
  - type: output
    name: result
    input: totals
    config: { type: csv, path: result.csv, mapping: { sum: total } }
  - type: source
    name: gone
    config: { type: csv, path: gone.csv, schema: { id: int } }
"""
_ORDERS = 'id,amount,note\n1,5,a\n2,50,b\nx,3,c\n4,70,"d\ne"\n5,,a\n'


Look = Callable[..., Sequence[View]]


@pytest.fixture
def look(tmp_path: Path, session: Session) -> Look:
    (tmp_path / "orders.csv").write_text(_ORDERS)

    def views(*names: str, sample: int | None = None) -> Sequence[View]:
        options = Options(base_dir=tmp_path)
        compiled = compile_pipeline(dedent(_PIPELINE).encode(), "p.yaml", options)
        assert compiled.plan
        known = list_outlets(compiled.plan)
        outlets = {name: known[name] for name in names}
        plan = looking_at(compiled.plan, outlets)
        preview = Preview(sample, lists_rejected=True)
        plan = replace(plan, options=replace(plan.options, preview=preview))
        return list_views(plan, outlets, run_in(plan, session, Quiet()))

    return views


def test_records_stand_in_order_and_rejects_below_their_node(look: Look) -> None:
    orders, shares, result = look("orders", "shares", "result")
    assert list(orders.records()) == [
        {"id": 1, "amount": 5.0, "note": "a"},
        {"id": 2, "amount": 50.0, "note": "b"},
        {"id": 4, "amount": 70.0, "note": "d\ne"},
        {"id": 5, "amount": None, "note": "a"},
    ]
    [entry] = orders.rejected
    assert (entry.source_row, entry.field, entry.value) == (3, "id", "x")
    assert not orders.rejected_before

    assert [record["share"] for record in shares.records()] == [-100.0, 50.0, 100 / 3]
    [entry] = shares.rejected
    assert (entry.source_row, entry.detail) == (2, "division by zero")
    assert shares.rejected_before == [("orders", 1)]

    assert list(result.records()) == [{"note": "a", "sum": 5.0}, {"note": "d\ne", "sum": 70.0}]
    assert result.rejected_before == [("orders", 1), ("shares", 1)]


def test_only_the_first_records_may_be_asked_for(look: Look) -> None:
    [orders] = look("orders", sample=2)
    assert orders.count == 2
    assert [record["id"] for record in orders.records(1)] == [1]


def test_a_profile_counts_over_all_records(look: Look) -> None:
    [orders] = look("orders")
    profile = {column.name: column for column in orders.profile}
    amount, note = profile["amount"], profile["note"]
    assert (amount.kinds, amount.values, amount.nulls, amount.distinct) == ("Float", 3, 1, 3)
    assert (amount.least, amount.greatest) == ("5.0", "70.0")
    assert (note.kinds, note.values, note.distinct) == ("String", 4, 3)
