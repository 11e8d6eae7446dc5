"""Of which source fields the columns of outputs are made, and what decides over their records."""

from __future__ import annotations

import pytest

from clinker.plan.analyses.lineage import OutputLineage, output_lineage
from tests.plan.compiling import brief, compiled

HEAD = """\
pipeline: {name: p, vars: {rate: {type: float, default: 0.5}}}
nodes:
  - type: source
    name: orders
    config:
      type: csv
      path: o.csv
      schema: {id: int, region: string, amount: float, tags: array, day: date}
  - type: source
    name: customers
    config: {type: csv, path: c.csv, schema: {id: int, name: string, limit: float}}
"""
OUTPUT = "  - {type: output, name: out, input: %s, config: {type: csv, path: out.csv%s}}\n"


def lineage(nodes: str, reads: str, more: str = "") -> OutputLineage:
    text = HEAD + nodes + OUTPUT % (reads, more)
    result = compiled(text)
    assert result.plan, brief(result.diagnostics)
    plan = result.plan
    return output_lineage(plan.graph, plan.nodes, plan.windows, plan.projections)["out"]


def told(origins: object) -> str:
    """Origins in short: `source.field way+way, …`"""
    assert isinstance(origins, dict)
    return ", ".join(
        f"{each.source}.{each.field} {'+'.join(sorted(way.value for way in ways))}"
        for each, ways in sorted(origins.items())
    )


def columns(nodes: str, reads: str, more: str = "") -> dict[str, str]:
    return {name: told(each) for name, each in lineage(nodes, reads, more).columns.items()}


def transform(cxl: str, name: str = "t", reads: str = "orders", more: str = "") -> str:
    return f"""\
  - type: transform
    name: {name}
    input: {reads}
    config: {{cxl: "{cxl}"{more}}}
"""


def test_fields_that_pass_are_themselves() -> None:
    assert columns("", "orders") == {
        "id": "orders.id identity",
        "region": "orders.region identity",
        "amount": "orders.amount identity",
        "tags": "orders.tags identity",
        "day": "orders.day identity",
    }
    assert told(lineage("", "orders").records) == ""


def test_columns_have_new_names_and_orders() -> None:
    shown = ", include_unmapped: false, mapping: {key: id}, sort_order: [amount]"
    found = lineage(transform("emit id = id emit amount = amount"), "t", shown)
    assert told(found.columns["key"]) == "orders.id identity"
    assert told(found.records) == "orders.amount sort"


@pytest.mark.parametrize(
    ("cxl", "expected"),
    [
        ("emit x = amount", "orders.amount identity"),
        ("emit x = amount * 2", "orders.amount transformation"),
        ("emit x = 5", ""),
        ("emit x = $vars.rate", ""),
        ("let y = amount emit x = y", "orders.amount identity"),
        (
            "let y = amount * id emit x = y",
            "orders.amount transformation, orders.id transformation",
        ),
        ("emit y = id + 1 emit x = y", "orders.id transformation"),
        ("emit amount = id emit x = amount", "orders.id identity"),
        (
            "emit x = if id > 1 then amount else 0.0",
            "orders.amount transformation, orders.id conditional",
        ),
        (
            "emit x = match { id > 1 => region, _ => 'none' }",
            "orders.id conditional, orders.region transformation",
        ),
        (
            "emit x = if region == 'a' then id else id + 1",
            "orders.id transformation, orders.region conditional",
        ),
        (
            "emit x = tags.map(it => it + region)",
            "orders.region transformation, orders.tags transformation",
        ),
        ("emit x = amount.round(2)", "orders.amount transformation"),
    ],
)
def test_expressions(cxl: str, expected: str) -> None:
    assert columns(transform(cxl), "t")["x"] == expected


def test_several_steps_add_up() -> None:
    nodes = transform("emit a = amount * 2") + transform(
        "emit b = a emit c = if a > 1 then id else 0", "u", "t"
    )
    found = columns(nodes, "u")
    assert found["b"] == "orders.amount transformation"
    assert found["c"] == "orders.amount conditional, orders.id transformation"


def test_elements_of_arrays() -> None:
    found = columns(transform("emit each tag in tags { emit x = tag emit y = id }"), "t")
    assert (found["x"], found["y"]) == ("orders.tags transformation", "orders.id identity")


def test_what_decides_which_records_there_are() -> None:
    nodes = transform("filter amount > 1 distinct by region") + transform(
        "emit z = 1", "u", "t", ", validations: [{field: id, check: not_null, severity: error}]"
    )
    assert told(lineage(nodes, "u").records) == (
        "orders.amount filter, orders.id filter, orders.region filter"
    )
    route = """\
  - {type: route, name: r, input: orders, config: {conditions: {big: amount > 5}, default: rest}}
"""
    assert told(lineage(route, "r.big").records) == "orders.amount filter"


def test_groups() -> None:
    nodes = """\
  - type: aggregate
    name: g
    input: orders
    config:
      group_by: [region]
      cxl: |
        filter id > 3
        emit total = sum(amount)
        emit n = count(*)
        emit big = if sum(amount) > 5 then max(id) else 0
        emit where = region
"""
    found = lineage(nodes, "g")
    assert {name: told(each) for name, each in found.columns.items()} == {
        "region": "orders.region identity",
        "total": "orders.amount aggregation",
        "n": "",
        "big": "orders.amount conditional, orders.id aggregation",
        "where": "orders.region identity",
    }
    assert told(found.records) == "orders.id filter, orders.region group_by"


def test_joins() -> None:
    nodes = """\
  - type: combine
    name: c
    input: {o: orders, k: customers}
    config:
      drive: o
      where: "o.id == k.id"
      cxl: "emit id = o.id emit who = k.name emit over = o.amount - k.limit"
      propagate_ck: driver
"""
    found = lineage(nodes, "c", ", include_unmapped: false")
    assert {name: told(each) for name, each in found.columns.items()} == {
        "id": "orders.id identity",
        "who": "customers.name identity",
        "over": "customers.limit transformation, orders.amount transformation",
    }
    assert told(found.records) == "customers.id join, orders.id join"
    collecting = nodes.replace("drive: o", "match: collect\n      drive: o")
    start, _, rest = collecting.partition("      cxl:")
    found = lineage(start + '      cxl: ""\n' + rest.partition("\n")[2], "c")
    assert told(found.columns["amount"]) == "orders.amount identity"
    assert told(found.columns["k"]) == (
        "customers.id transformation, customers.limit transformation, customers.name transformation"
    )


def test_merges() -> None:
    nodes = """\
  - type: source
    name: clients
    config: {type: csv, path: k.csv, schema: {id: int, name: string, limit: float}}
  - {type: merge, name: m, inputs: [customers, clients]}
"""
    assert columns(nodes, "m")["id"] == "clients.id identity, customers.id identity"


def test_windows() -> None:
    window = ", analytic_window: {group_by: [region], sort_by: [day]}"
    found = columns(transform("emit x = $window.sum(amount) emit y = id", more=window), "t")
    assert found["x"] == "orders.amount transformation, orders.day window, orders.region window"
    assert found["y"] == "orders.id identity"


def test_metadata_and_variables() -> None:
    nodes = transform("emit meta m = amount * 2") + transform("emit x = $meta.m", "u", "t")
    assert columns(nodes, "u")["x"] == "orders.amount transformation"
