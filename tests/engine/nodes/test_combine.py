"""Combines in whole runs."""

from __future__ import annotations

import csv
import io

import pytest

from tests.engine.whole_runs import Workplace

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


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("form", ["csv", "json"])
def test_an_overwritten_undeclared_field_stays_overwritten(workplace: Workplace, form: str) -> None:
    workplace.write(
        orders_csv="id,item,note,more\n1,7,old,x\n",
        orders_json='{"id": 1, "item": 7, "note": "old", "more": "x"}\n',
        items_csv="id,kind\n7,a\n",
        kinds_csv="kind,share\n",
    )
    ran = workplace.run(
        SOURCES.replace("type: csv, path: orders.csv", f"type: {form}, path: orders.{form}")
        + """
          - type: transform
            name: noted
            input: orders
            config: { cxl: emit note = "new" }
          - type: combine
            name: shares
            input: { order: noted, item: items }
            config:
              where: order.item == item.id
              propagate_ck: driver
              cxl: emit id = order.id emit kind = item.kind
        """
    )
    assert (ran.code, workplace.read("out.csv")) == (0, "id,kind,more\n1,a,x\n"), ran.message


def letters_of(workplace: Workplace) -> list[tuple[str, ...]]:
    """Source, row, stage and detail of all dead letters."""
    _, *letters = csv.reader(io.StringIO(workplace.read("rejected.csv")))
    return [(*letter[3:6], letter[9]) for letter in letters]


OF_ORDERS = """
          - type: combine
            name: shares
            input: {{ order: {driver}, found: items }}
            config:
              where: {where}
              match: {match}
              propagate_ck: driver
              {body}
"""
JOINS = [
    ("first", "order.item == found.id", "cxl: emit id = order.id emit kind = found.kind"),
    ("all", "order.item <= found.id", "cxl: emit id = order.id emit kind = found.kind"),
    ("all", "order.item == found.id and 9 / found.id < 5", "cxl: emit id = order.id"),
    ("collect", "order.item == found.id", ""),
]


@pytest.mark.parametrize("mode", ["interleave", "interleave, interleave_seed: 5"])
@pytest.mark.parametrize(("match", "where", "body"), JOINS)
def test_drivers_rejected_before_displace_no_other(
    workplace: Workplace, mode: str, match: str, where: str, body: str
) -> None:
    workplace.write(
        orders_csv="id,item\n1,7\n2,0\n3,0\n4,99\n5,0\n6,8\n",
        items_csv="id,kind\n8,b\n7,a\n",
        more_csv="id,item\n7,0\n8,0\n9,98\n",
        kinds_csv="kind,share\n",
    )
    ran = workplace.run(
        SOURCES
        + f"""
          - type: source
            name: more
            config: {{ type: csv, path: more.csv, schema: {{ id: int, item: int }} }}
          - type: transform
            name: of_orders
            input: orders
            config: {{ cxl: emit part = 100 / item }}
          - type: transform
            name: of_more
            input: more
            config: {{ cxl: emit part = 100 / item }}
          - type: merge
            name: both
            inputs: [of_orders, of_more]
            config: {{ mode: {mode} }}
        """
        + OF_ORDERS.format(driver="both", where=where, match=match, body=body)
    )
    assert ran.code == 2, ran.message
    _, *rows = csv.reader(io.StringIO(workplace.read("out.csv")))
    assert {row[0] for row in rows} == {"1", "4", "6", "9"}
    assert [(source, row) for source, row, _, _ in letters_of(workplace)] == [
        ("orders", "2"),
        ("orders", "3"),
        ("orders", "5"),
        ("more", "1"),
        ("more", "2"),
    ]


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(("match", "where", "body"), JOINS)
def test_build_records_that_failed_displace_no_driver(
    workplace: Workplace, match: str, where: str, body: str
) -> None:
    workplace.write(
        orders_csv="id,item\n1,7\n2,99\n3,8\n",
        items_csv="id,kind\n8,b\n7,a\n",
        kinds_csv="kind,share\na,0\nb,0\nc,25\n",
    )
    ran = workplace.run(
        SOURCES
        + """
          - type: combine
            name: with_kinds
            input: { order: orders, kind: kinds }
            config:
              where: order.id == 100 / kind.share
              propagate_ck: driver
              cxl: emit id = order.id emit item = order.item
        """
        + OF_ORDERS.format(driver="with_kinds", where=where, match=match, body=body)
    )
    assert ran.code == 2, ran.message
    _, *rows = csv.reader(io.StringIO(workplace.read("out.csv")))
    assert [row[0] for row in rows] == (["1", "1", "2", "3"] if "<=" in where else ["1", "2", "3"])
    failed = ("with_kinds", "division by zero")
    assert letters_of(workplace) == [("kinds", "1", *failed), ("kinds", "2", *failed)]


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("match", ["first", "all", "collect"])
def test_a_driver_whose_finds_fail_is_rejected_once(workplace: Workplace, match: str) -> None:
    workplace.write(
        orders_csv="id,item\n1,7\n2,8\n3,9\n",
        items_csv="id,kind\n7,2\n7,none\n7,bad\n7,4\n8,4\n",
        kinds_csv="kind,share\nx,2\ny,4\n",
    )
    body = "" if match == "collect" else "cxl: emit id = order.id emit share = kind.share"
    ran = workplace.run(
        SOURCES
        + f"""
          - type: combine
            name: shares
            input: {{ order: orders, found: items, kind: kinds }}
            config:
              where: order.item == found.id and found.kind.to_int() == kind.share
              match: {match}
              propagate_ck: driver
              {body}
        """
    )
    assert ran.code == 2, ran.message
    _, *rows = csv.reader(io.StringIO(workplace.read("out.csv")))
    assert [row[0] for row in rows] == ["2", "3"]
    detail = "cannot convert 'none' to Int (with row 2 of items.csv, source 'items')"
    assert letters_of(workplace) == [("orders", "1", "shares", detail)]


@pytest.mark.usefixtures("either_way")
def test_ranges_alone_of_values_of_any_kind(workplace: Workplace) -> None:
    workplace.write(
        a_json='{"id": 1, "v": 1}\n{"id": 2, "v": "x"}\n{"id": 3}\n{"id": 4, "v": 2.5}\n',
        b_json='{"id": 5, "v": 2}\n{"id": 6, "v": 9.5}\n{"id": 7, "v": null}\n',
    )
    ran = workplace.run(
        """
        pipeline: { name: p }
        error_handling: { strategy: continue, dlq: { path: rejected.csv } }
        nodes:
          - type: source
            name: a
            config: { type: json, path: a.json, schema: { id: int, v: any } }
          - type: source
            name: b
            config: { type: json, path: b.json, schema: { id: int, v: any } }
          - type: combine
            name: both
            input: { a: a, b: b }
            config:
              where: a.v <= b.v
              match: all
              propagate_ck: driver
              cxl: emit id = a.id emit other = b.id
          - { type: output, name: out, input: both, config: { type: csv, path: out.csv } }
        """
    )
    assert (ran.code, workplace.read("out.csv")) == (2, "id,other\n1,5\n1,6\n3,\n4,6\n")
    detail = "cannot compare String with Int (with row 1 of b.json, source 'b')"
    assert letters_of(workplace) == [("a", "2", "both", detail)]


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("kind", ["csv", "json"])
def test_undeclared_fields_of_a_build_input(workplace: Workplace, kind: str) -> None:
    workplace.write(orders_csv="id,item,note\n1,7,mine\n2,8,mine\n3,9,mine\n")
    if kind == "csv":
        workplace.write(items_csv="id,note,code\n7,seven,x\n8,,y\n9,nine,z\n")
    else:
        workplace.write(
            items_json="""[{"id": 7, "note": "seven", "code": "x"},
            {"id": 8, "note": "", "code": "y"}, {"id": 9, "note": "nine", "code": "z"}]"""
        )
    nodes = SOURCES.replace("shares", "joined").replace(
        "config: { type: csv, path: items.csv, schema: { id: int, kind: string } }",
        f"config: {{ type: {kind}, path: items.{kind}, schema: {{ id: int }} }}",
    )
    workplace.write(kinds_csv="kind,share\n")
    ran = workplace.run(
        nodes
        + """
          - type: combine
            name: joined
            input: { o: orders, p: items }
            config:
              where: o.item == p.id and p.code != "z"
              propagate_ck: driver
              cxl: |
                emit id = o.id
                emit note = p.note.to_string().upper()
                emit absent = p.absent
        """
    )
    assert (ran.code, workplace.read("out.csv")) == (
        0,
        "id,note,absent\n1,SEVEN,\n2,,\n3,,\n",
    )


@pytest.mark.usefixtures("either_way")
def test_letters_name_the_build_records_that_took_part(workplace: Workplace) -> None:
    workplace.write(
        orders_csv="id,item\n1,7\n2,8\n3,9\n4,6\n",
        items_csv="id,kind\n9,a\n7,b\n8,a\n",
        kinds_csv="kind,share\na,5\nb,1\na,-5\nb,2\n",
    )
    ran = workplace.run(
        SOURCES
        + """
          - type: aggregate
            name: sums
            input: kinds
            config: { group_by: [kind], cxl: emit share = sum(share) }
          - type: combine
            name: shares
            input: { order: orders, found: items, kind: sums }
            config:
              where: order.item == found.id and found.kind == kind.kind
              propagate_ck: driver
              cxl: |
                emit id = order.id
                emit share = 100 / (kind.share ?? 0)
        """
    )
    assert (ran.code, workplace.read("out.csv")) == (2, "id,share\n1,33\n")
    group = "the group of row 1 of kinds.csv, source 'kinds'"
    assert [letter[1:] for letter in letters_of(workplace)] == [
        (
            "2",
            "shares",
            f"division by zero (with row 3 of items.csv, source 'items', and {group})",
        ),
        (
            "3",
            "shares",
            f"division by zero (with row 1 of items.csv, source 'items', and {group})",
        ),
        ("4", "shares", "division by zero"),  # with none
    ]


def test_many_sums_are_joined_without_being_written_out_again_and_again(
    workplace: Workplace,
) -> None:
    """Each asks several times for what it is made of: unfolded, texts would have no end."""
    names = [f"c{n}" for n in range(20)]
    row = ",".join(str(n + 0.5) for n in range(20))
    workplace.write(in_csv=f"key,{','.join(names)}\na,{row}\nb,{row}\na,{row}\n")
    emits = [f"emit {name} = sum({name})" for name in names]
    joined = [f"emit {name} = totals.{name} - records.{name}" for name in names]
    indent = "\n" + " " * 16
    ran = workplace.run(
        f"""
        pipeline: {{ name: p }}
        nodes:
          - type: source
            name: records
            config:
              type: csv
              path: in.csv
              schema: {{ key: string, {", ".join(f"{name}: float" for name in names)} }}
          - type: aggregate
            name: totals
            input: records
            config:
              group_by: [key]
              cxl: |
                {indent.join(emits)}
          - type: combine
            name: compared
            input: {{ records: records, totals: totals }}
            config:
              where: records.key == totals.key
              propagate_ck: driver
              cxl: |
                {indent.join(joined)}
          - {{ type: output, name: out, input: compared, config: {{ type: csv, path: out.csv }} }}
        """
    )
    none = ",".join(["0"] * 20)
    assert ran.code == 0
    assert workplace.read("out.csv") == f"{','.join(names)}\n{row}\n{none}\n{row}\n"
