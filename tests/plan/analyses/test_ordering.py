"""What records are sorted by, and which aggregates can stream."""

from __future__ import annotations

import pytest

from clinker.diagnostics import Diagnostic
from clinker.plan.analyses.correlation import plan_correlation
from clinker.plan.analyses.ordering import Orders, Strategy, key_text, plan_order
from tests.plan.compiling import bound, brief, notes


def ordered(nodes: str) -> tuple[Orders, list[Diagnostic]]:
    p = bound(nodes)
    correlation, _ = plan_correlation(p.graph, p.nodes, p.pipeline.error_handling)
    return plan_order(p.nodes, correlation)


def transactions(sort_order: str = "[account_id, { field: txn_date, order: desc }]") -> str:
    """A source of four lines."""
    return f"""\
- type: source
  name: transactions
  config: {{ type: csv, path: t.csv, sort_order: {sort_order},
    schema: {{ account_id: string, txn_date: date, amount: float }} }}
"""


def totals(upstream: str, group_by: str = "[account_id]", more: str = "") -> str:
    return f"""\
- type: aggregate
  name: totals
  input: {upstream}
  config:
    group_by: {group_by}
    cxl: emit total = sum(amount)
{more}"""


def transform(cxl: str, upstream: str = "transactions") -> str:
    return f"""\
- {{ type: transform, name: t, input: {upstream}, config: {{ cxl: '{cxl}' }} }}
"""


def test_a_source_is_sorted_as_it_declares() -> None:
    orders, problems = ordered(transactions())
    ordering = orders.orderings["transactions"]
    assert problems == []
    assert key_text(ordering.keys) == "account_id, txn_date desc"
    assert ordering.provenance == (
        "'transactions' declares that it is sorted by account_id, txn_date desc"
    )


def test_sort_order_names_columns_of_the_source() -> None:
    orders, problems = ordered(transactions("[{ field: booked_on }, txn_date]"))
    assert brief(problems) == [
        "E040 6:59 sort_order names 'booked_on', which is not a column of 'transactions'"
    ]
    assert problems[0].help == "add 'booked_on' to the schema, or remove it from sort_order"
    assert notes(problems[0]) == ["7:5 its columns are declared here"]
    assert orders.orderings["transactions"].keys == ()


def test_a_misspelt_sort_field_is_suggested() -> None:
    _, problems = ordered(transactions("[acount_id]"))
    assert brief(problems) == [
        "E040 6:50 sort_order names 'acount_id', which is not a column of 'transactions'"
    ]
    assert problems[0].help == "did you mean 'account_id'?"


@pytest.mark.parametrize(
    "cxl",
    [
        "emit doubled = amount * 2.0",
        "emit account_id = account_id emit amount = 1.0",
        "filter amount > 0.0",
    ],
)
def test_a_transform_keeps_the_order_unless_it_writes_a_sort_field(cxl: str) -> None:
    orders, _ = ordered(transactions() + transform(cxl))
    assert key_text(orders.orderings["t"].keys) == "account_id, txn_date desc"


@pytest.mark.parametrize(
    ("cxl", "why"),
    [
        (
            'emit amount = 1.0 emit account_id = "x"',
            "'t' writes 'account_id', by which records were sorted",
        ),
        ("distinct by amount", "'t' removes duplicates, after which no order is known"),
    ],
)
def test_a_transform_loses_the_order(cxl: str, why: str) -> None:
    orders, _ = ordered(transactions() + transform(cxl))
    assert orders.orderings["t"].keys == ()
    assert orders.orderings["t"].history[-1].text == why


def test_routes_keep_the_order() -> None:
    route = "- { type: route, name: r, input: transactions,"
    route += " config: { conditions: { big: amount > 1.0 }, default: small } }\n"
    orders, _ = ordered(transactions() + route + totals("r.big"))
    assert orders.strategies["totals"].chosen is Strategy.STREAMING


def test_no_order_spans_the_inputs_of_a_merge() -> None:
    other = transactions().replace("name: transactions", "name: more")
    merge = "- { type: merge, name: m, inputs: [transactions, more] }\n"
    orders, _ = ordered(transactions() + other + merge)
    assert orders.orderings["m"].keys == ()
    assert [step.text for step in orders.orderings["m"].history] == [
        "'transactions' declares that it is sorted by account_id, txn_date desc",
        "'more' declares that it is sorted by account_id, txn_date desc",
        "'m' puts several inputs together, and no order spans them",
    ]


def test_a_merge_of_one_input_keeps_its_order() -> None:
    merge = "- { type: merge, name: m, inputs: [transactions] }\n"
    orders, _ = ordered(transactions() + merge)
    assert key_text(orders.orderings["m"].keys) == "account_id, txn_date desc"


def test_a_combine_loses_the_order() -> None:
    combine = """\
- type: combine
  name: c
  input: { t: transactions, u: transactions }
  config: { where: t.account_id == u.account_id, propagate_ck: driver,
    cxl: emit account_id = t.account_id emit amount = t.amount }
"""
    orders, _ = ordered(transactions() + combine)
    assert orders.orderings["c"].keys == ()
    assert orders.orderings["c"].provenance.endswith(
        "'c' joins records, after which no order is known"
    )


@pytest.mark.parametrize(
    ("group_by", "strategy", "chosen", "reason"),
    [
        ("[account_id]", "auto", "streaming", "the input is sorted by account_id"),
        ("[account_id]", "streaming", "streaming", "the input is sorted by account_id"),
        ("[account_id]", "hash", "hash", "as the pipeline asks"),
        (
            "[txn_date, account_id]",
            "auto",
            "streaming",
            "the input is sorted by account_id, txn_date desc",
        ),
        ("[txn_date]", "auto", "hash", "the input is not known to be sorted by txn_date"),
        ("[]", "streaming", "streaming", "there is a single group"),
    ],
)
def test_the_strategy_of_an_aggregate(
    group_by: str, strategy: str, chosen: str, reason: str
) -> None:
    more = f"    strategy: {strategy}\n"
    orders, problems = ordered(transactions() + totals("transactions", group_by, more))
    decision = orders.strategies["totals"]
    assert problems == []
    assert (decision.chosen, decision.reason) == (chosen, reason)
    assert decision.missed_streaming == (strategy == "hash")


def test_a_streaming_aggregate_keeps_the_order_of_its_groups() -> None:
    orders, _ = ordered(transactions() + totals("transactions"))
    assert key_text(orders.orderings["totals"].keys) == "account_id"


def test_a_hash_aggregate_loses_the_order() -> None:
    orders, _ = ordered(transactions() + totals("transactions", more="    strategy: hash\n"))
    assert orders.orderings["totals"].keys == ()
    assert orders.orderings["totals"].history[-1].text == (
        "'totals' gathers its groups by hash, after which no order is known"
    )


def test_streaming_is_an_assertion() -> None:
    cxl = 'emit account_id = "x"'
    text = transactions() + transform(cxl) + totals("t", more="    strategy: streaming\n")
    _, problems = ordered(text)
    assert brief(problems) == [
        "CXL0419 15:15 'totals' must stream, but its input is not known to be sorted by account_id"
    ]
    assert notes(problems[0]) == [
        "6:37 'transactions' declares that it is sorted by account_id, txn_date desc",
        "8:68 't' writes 'account_id', by which records were sorted",
    ]
    assert problems[0].help == (
        "declare 'sort_order: [account_id]' on the source if its data is sorted like that, "
        "sort the data before, or use 'strategy: auto'"
    )


def test_streaming_over_a_source_that_declares_nothing() -> None:
    _, problems = ordered(
        transactions("[]") + totals("transactions", more="    strategy: streaming\n")
    )
    assert [p.code for p in problems] == ["CXL0419"]
    assert notes(problems[0]) == ["5:9 'transactions' declares no sort_order"]


def test_time_windows_cannot_stream() -> None:
    more = "    strategy: streaming\n    time_window: { tumbling: { size: 1d } }\n"
    orders, problems = ordered(transactions() + totals("transactions", more=more))
    assert brief(problems) == [
        "E046 14:15 'totals' cannot stream: several time windows are open at once"
    ]
    assert orders.strategies["totals"].chosen is Strategy.HASH


def test_a_relaxed_aggregate_is_hashed() -> None:
    keyed = transactions().replace("path: t.csv,", "path: t.csv, correlation_key: txn_date,")
    orders, problems = ordered(keyed + totals("transactions"))
    assert problems == []
    assert orders.strategies["totals"].chosen is Strategy.HASH
    assert orders.strategies["totals"].reason == (
        "failing records must be taken back out of its groups"
    )


def test_several_files_are_partitions_until_records_come_together() -> None:
    several = transactions().replace("path: t.csv", "glob: '*.csv'")
    orders, _ = ordered(several + transform("emit a = amount") + totals("t"))
    assert {name: p.per_file for name, p in orders.partitionings.items()} == {
        "transactions": True,
        "t": True,
        "totals": False,
    }
    assert orders.partitionings["t"].provenance == "'transactions' reads several files"
