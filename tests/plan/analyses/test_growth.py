"""Whether records may become much larger, or many more, than those of the sources."""

from __future__ import annotations

import pytest

from clinker.plan.analyses.growth import may_outgrow_sources, may_outnumber_sources
from tests.plan.compiling import bound

_SOURCE = """
- type: source
  name: orders
  config:
    name: orders
    type: csv
    path: o.csv
    schema: [{name: id, type: int}, {name: text, type: string}, {name: all, type: array}]
"""


def _node(kind: str, cxl: str, more: str = "") -> str:
    return f"- {{type: {kind}, name: n, input: orders, config: {{cxl: '{cxl}'{more}}}}}\n"


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("", False),
        (_node("transform", 'emit a = text + "-" + text.upper()'), False),
        (_node("transform", "emit a = text.repeat(1000)"), True),
        (_node("transform", 'let a = text.replace("a", text)'), True),
        (_node("transform", 'emit each x in all { emit a = all.join(", ") }'), True),
        (_node("aggregate", "emit a = max(text)", ", group_by: [id]"), False),
        (_node("aggregate", "emit a = collect(text)", ", group_by: [id]"), True),
        (
            _node(
                "transform",
                "emit a = $window.collect(id)",
                ", analytic_window: {group_by: [id], sort_by: [{field: id}]}",
            ),
            True,
        ),
    ],
)
def test_growth(node: str, expected: bool) -> None:
    assert may_outgrow_sources(bound(_SOURCE + node).nodes.values()) is expected


@pytest.mark.parametrize(
    ("cxl", "expected"),
    [
        ("emit a = all", False),
        ("emit each x in all { emit a = x }", True),
        ("filter id > 1 emit each x in all outer { emit a = x }", True),
    ],
)
def test_fan_outs(cxl: str, expected: bool) -> None:
    nodes = bound(_SOURCE + _node("transform", cxl)).nodes.values()
    assert may_outnumber_sources(nodes) is expected


@pytest.mark.parametrize(
    ("match", "grows", "are_more"),
    [("first", False, False), ("all", False, True), ("collect", True, False)],
)
def test_combines(match: str, grows: bool, are_more: bool) -> None:
    cxl = "" if match == "collect" else "emit id = o.id"
    other = _SOURCE.replace("orders", "others")
    combine = f"""
- type: combine
  name: n
  input: {{o: orders, p: others}}
  config: {{match: {match}, where: o.id == p.id, cxl: "{cxl}", propagate_ck: driver}}
"""
    nodes = bound(_SOURCE + other + combine).nodes.values()
    assert (may_outgrow_sources(nodes), may_outnumber_sources(nodes)) == (grows, are_more)
