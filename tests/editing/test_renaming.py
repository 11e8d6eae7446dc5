"""Columns and nodes are renamed wherever they are named, or nowhere."""

from __future__ import annotations

import random

import pytest

from clinker.diagnostics import errors
from clinker.editing.kinds import FileKind, kind_of
from clinker.editing.renaming import CannotRename
from tests.editing.understanding import OUTPUT, SOURCES, Open, understand
from tests.spec.cases import all_cases

TRANSFORM = """
  - type: transform
    name: last
    input: orders
    config:
      cxl: |
        let half = amount / 2.0
        emit amount = amount + half   # amount
        emit other = if amount > 1.0 then amount.round(1) else half
      validations:
        - { field: amount, check: not_null }
        - { name: amount, check: "amount > 0" }
      log: [{ level: info, when: per_record, message: amount, fields: [amount, 'other'] }]
"""
AGGREGATE = """
  - type: aggregate
    name: last
    input: orders
    config:
      group_by: ["region"]
      cxl: emit amount = sum(amount)
"""
COMBINE = """
  - type: combine
    name: last
    input: { o: orders, r: returns }
    config:
      where: o.id == r.id and o.amount >= r.amount
      propagate_ck: { named: [region] }
      cxl: |
        emit id = o.id
        emit amount = o.amount - (r.amount ?? 0.0)
"""
MERGE = """
  - { type: merge, name: both, inputs: [orders, returns] }
  - type: transform
    name: last
    input: both
    config: { cxl: filter amount > 0.0 }
"""
WINDOW = """
  - type: aggregate
    name: sums
    input: orders
    config:
      group_by: [region]
      cxl: |
        emit amount = sum(amount)
        emit last_id = max(id)
  - type: transform
    name: last
    input: sums
    config:
      analytic_window: { group_by: [region], sort_by: [last_id] }
      cxl: |
        emit running = $window.sum(amount)
        emit before = $window.lag(amount, 1)
        emit first = $window.first().amount
"""


def test_an_emit_over_a_column_is_the_same_column() -> None:
    opened = understand(TRANSFORM)
    renamed = opened.rename("emit |amount", "price")
    own = TRANSFORM.strip("\n")
    kept = ("# amount", "name: amount", "message: amount")
    for number, words in enumerate(kept):
        own = own.replace(words, f"<{number}>")
    own = own.replace("amount", "price")
    for number, words in enumerate(kept):
        own = own.replace(f"<{number}>", words)
    orders, returns = SOURCES.split("  - type: source\n    name: returns")
    expected = orders.replace("amount", "price") + "  - type: source\n    name: returns" + returns
    assert renamed == expected + own + OUTPUT


def test_a_sum_is_another_column_than_what_is_summed() -> None:
    opened = understand(AGGREGATE)
    assert "emit total = sum(amount)" in opened.rename("emit |amount", "total")
    renamed = opened.rename("sum(am|ount)", "price")
    assert "emit amount = sum(price)" in renamed
    assert "{ name: price, type: float }" in renamed


def test_quotes_stay() -> None:
    renamed = understand(AGGREGATE).rename('["reg|ion"]', "area")
    assert '["area"]' in renamed
    assert renamed.count("correlation_key: area") == 1
    assert renamed.count("region") == 2


def test_inputs_of_a_combine_are_told_apart() -> None:
    renamed = understand(COMBINE).rename("o.amou|nt >= r", "price")
    assert "o.price >= r.amount" in renamed
    assert "emit amount = o.price - (r.amount ?? 0.0)" in renamed
    assert "schema: { id: int, amount: float, region: string }" in renamed


def test_merged_columns_are_renamed_in_all_inputs() -> None:
    renamed = understand(MERGE).rename("filter am|ount", "price")
    assert "amount" not in renamed
    assert "schema: { id: int, price: float, region: string }" in renamed


def test_columns_of_windows() -> None:
    renamed = understand(WINDOW).rename("emit |amount = sum", "total")
    assert "$window.sum(total)" in renamed
    assert "$window.lag(total, 1)" in renamed
    assert "$window.first().total" in renamed
    assert "emit total = sum(amount)" in renamed


def test_outputs_and_their_names() -> None:
    last = TRANSFORM.replace("name: last", "name: t")
    output = """\
  - type: output
    name: last_out
    input: t
    config:
      type: csv
      path: x.csv
      mapping: { amount: other, id: id }
      exclude: [amount]
      sort_order: [{ field: other, order: desc }]
      split: { max_records: 5, group_key: id }
"""
    opened = Open(SOURCES + last.strip("\n") + "\n" + output)
    assert not [*errors(opened.findings)]
    renamed = opened.rename("emit oth|er", "rest")
    assert "mapping: { amount: rest, id: id }" in renamed
    assert "sort_order: [{ field: rest, order: desc }]" in renamed
    renamed = opened.rename("{ name: i|d, type", "number")
    assert "mapping: { amount: other, id: number }" in renamed
    assert "group_key: number" in renamed


def test_nodes_and_their_ports() -> None:
    route = """
  - type: route
    name: split
    input: orders
    config: { conditions: { big: amount > 9.0 }, default: small }
  - { type: transform, name: last, input: split.big, config: { cxl: emit x = 1 } }
  - { type: output, name: small_out, input: 'split.small', config: { type: csv, path: s.csv } }
"""
    renamed = understand(route).rename("name: spl|it", "by_size")
    assert "input: by_size.big" in renamed
    assert "input: 'by_size.small'" in renamed
    assert "split" not in renamed


def test_inputs_of_a_merge_are_named_in_cxl() -> None:
    merge = """
  - { type: merge, name: both, inputs: [orders, returns] }
  - type: transform
    name: last
    input: both
    config: { cxl: emit kind = $source.orders.kind ?? $source.returns.kind }
"""
    text = (SOURCES + merge.strip("\n") + OUTPUT).replace(
        "{ name: p }", "{ name: p, vars: { source: { kind: { type: string, default: x } } } }"
    )
    opened = Open(text)
    assert not [*errors(opened.findings)]
    renamed = opened.rename("name: ord|ers", "sales")
    assert "[sales, returns]" in renamed
    assert "$source.sales.kind ?? $source.returns.kind" in renamed
    assert "path: orders.csv" in renamed


def test_a_node_that_is_read_by_its_name_keeps_it() -> None:
    # A reader that is called like a branch reads that branch.
    route = """
  - type: route
    name: by_size
    input: orders
    config: { conditions: { last: amount > 9.0 }, default: small }
  - { type: transform, name: last, input: by_size, config: { cxl: emit x = 1 } }
  - { type: output, name: s, input: by_size.small, config: { type: csv, path: s.csv } }
"""
    with pytest.raises(CannotRename, match="that would not compile"):
        understand(route).rename("name: la|st", "others")


@pytest.mark.parametrize(
    ("marked", "name", "reason"),
    [
        ("emit |other", "amount", "has a column 'amount' already"),
        ("emit |other", "match", "is a word of the language"),
        ("emit |other", "a-b", "is no name"),
        ("name: la|st", "orders", "there is a node 'orders' already"),
        ("name: la|st", "a: b", "cannot name a node"),
        ("pa|th: orders.csv", "x", "no column or node here"),
    ],
)
def test_refusals(marked: str, name: str, reason: str) -> None:
    with pytest.raises(CannotRename, match=reason):
        understand(TRANSFORM).rename(marked, name)


def test_errors_come_first() -> None:
    opened = Open(SOURCES + TRANSFORM.replace("half\n", "hlaf\n").strip("\n") + OUTPUT)
    with pytest.raises(CannotRename, match="mend the errors of the file first"):
        opened.rename("emit oth|er", "x")


def test_columns_of_all_pipelines_that_there_are() -> None:
    """Each is renamed, and then everything compiles as before; or the reason is told."""
    chosen = random.Random(1).sample(all_cases(), 40)
    renamed = refused = 0
    for case in chosen:
        for name, content in case.files.items():
            text, path = content.decode("utf-8-sig", "replace"), case.folder / name
            if kind_of(path, text) is not FileKind.PIPELINE:
                continue
            opened = Open(text, path)
            atlas = opened.sheet.atlas
            if any(errors(opened.findings)) or atlas is None or atlas.columns is None:
                continue
            here = [m for m in atlas.columns.mentions if atlas.model.is_here(m.location)]
            for mention in here[:2]:
                try:
                    opened.desk.rename(opened.sheet, mention.location.span.start, "renamed_it")
                    renamed += 1
                except CannotRename:
                    refused += 1
    assert renamed > 5 * refused
