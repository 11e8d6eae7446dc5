"""Combines in whole runs."""

from __future__ import annotations

import csv
import io

import pytest

from .whole_runs import Workplace

SOURCES = """
        pipeline: { name: p }
        error_handling: { strategy: continue, dlq: { path: rejected.csv } }
        nodes:
          - type: source
            name: orders
            config: { type: csv, path: orders.csv, schema: { id: int, item: int } }
          - type: source
            name: items
            config: { type: csv, path: items.csv, schema: { id: int, kind: string } }
          - type: source
            name: kinds
            config: { type: csv, path: kinds.csv, schema: { kind: string, share: int } }
          - { type: output, name: out, input: shares, config: { type: csv, path: out.csv } }
"""


@pytest.fixture
def filled(workplace: Workplace) -> Workplace:
    workplace.write(
        orders_csv="id,item\n1,7\n2,8\n3,9\n",
        items_csv="id,kind\n7,a\n8,b\n7,b\n9,c\n",
        kinds_csv="kind,share\nb,4\na,2\nc,0\nb,5\n",
    )
    return workplace


@pytest.mark.usefixtures("either_way")
def test_a_driver_keeps_its_name_in_a_chain(filled: Workplace) -> None:
    ran = filled.run(
        SOURCES
        + """
          - type: combine
            name: kinds_of_orders
            input: { order: orders, other: items }
            config:
              where: order.item == other.id
              propagate_ck: driver
              cxl: |
                emit id = order.id
                emit item = order.item
                emit kind = other.kind
          - type: combine
            name: shares
            input: { order: kinds_of_orders, other: kinds }
            config:
              where: order.kind == other.kind
              propagate_ck: driver
              cxl: |
                emit id = order.id
                emit share = 100 / other.share
        """
    )
    assert (ran.code, filled.read("out.csv")) == (2, "id,share\n1,50\n2,25\n")
    _, letter = csv.reader(io.StringIO(filled.read("rejected.csv")))
    assert letter[2:6] == ["orders.csv", "orders", "3", "shares"]
    assert letter[12:] == ["3", "9", "", ""]


@pytest.mark.usefixtures("either_way")
def test_all_finds_of_all_finds(filled: Workplace) -> None:
    ran = filled.run(
        SOURCES
        + """
          - type: combine
            name: kinds_of_orders
            input: { order: orders, item: items }
            config:
              where: order.item == item.id
              match: all
              propagate_ck: driver
              cxl: |
                emit id = order.id
                emit kind = item.kind
          - type: combine
            name: shares
            input: { found: kinds_of_orders, kind: kinds }
            config:
              where: found.kind == kind.kind
              match: all
              propagate_ck: driver
              cxl: |
                emit id = found.id
                emit kind = found.kind
                emit share = kind.share
        """
    )
    assert ran.code == 0
    assert filled.read("out.csv").split() == [
        "id,kind,share",
        "1,a,2",
        "1,b,4",
        "1,b,5",
        "2,b,4",
        "2,b,5",
        "3,c,0",
    ]


@pytest.mark.usefixtures("either_way")
def test_equal_arrays_and_maps_find_each_other(workplace: Workplace) -> None:
    workplace.write(
        a_json='{"id": 1, "k": [1, {"x": 2, "y": [0]}], "n": [1, 2]}\n'
        '{"id": 2, "k": {"b": 2.0, "a": "1.0"}, "n": [1]}\n{"id": 3, "k": "[1]", "n": null}\n',
        b_json='{"id": 4, "k": {"a": "1.0", "b": 2}, "n": [1.0, 2.0]}\n'
        '{"id": 5, "k": [1.0, {"y": [0.0], "x": 2}], "n": [2, 1]}\n{"id": 6, "k": [1], "n": []}\n',
    )
    for key, expected in (("k", "id,other\n1,5\n2,4\n"), ("n", "id,other\n1,4\n")):
        ran = workplace.run(
            f"""
        pipeline: {{ name: p }}
        nodes:
          - type: source
            name: a
            config: {{ type: json, path: a.json, schema: {{ id: int, k: any, n: array }} }}
          - type: source
            name: b
            config: {{ type: json, path: b.json, schema: {{ id: int, k: any, n: array }} }}
          - type: combine
            name: both
            input: {{ a: a, b: b }}
            config:
              where: a.{key} == b.{key}
              match: all
              on_miss: skip
              propagate_ck: driver
              cxl: emit id = a.id emit other = b.id
          - {{ type: output, name: out, input: both, config: {{ type: csv, path: {key}.csv }} }}
        """
        )
        assert (ran.code, workplace.read(f"{key}.csv")) == (0, expected)
