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
