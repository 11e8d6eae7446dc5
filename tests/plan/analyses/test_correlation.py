"""Which records stand or fall together."""

from __future__ import annotations

import pytest

from clinker.diagnostics import Diagnostic
from clinker.plan.analyses.correlation import (
    Atomicity,
    Correlation,
    KeySet,
    Retraction,
    plan_correlation,
)
from tests.plan.compiling import bound, brief, notes


def correlated(nodes: str, error_handling: str = "{}") -> tuple[Correlation, list[Diagnostic]]:
    p = bound(nodes, error_handling)
    return plan_correlation(p.graph, p.nodes, p.pipeline.error_handling)


def source(name: str, more: str = "") -> str:
    """A source of four lines."""
    return f"""\
- type: source
  name: {name}
  config: {{ type: csv, path: {name}.csv, {more}
    schema: {{ order_id: string, region: string, department: string, amount: int }} }}
"""


def aggregate(group_by: str, upstream: str = "orders", more: str = "", name: str = "sums") -> str:
    """An aggregate of six lines."""
    return f"""\
- type: aggregate
  name: {name}
  input: {upstream}
  config:
    group_by: {group_by}
    cxl: emit amount = sum(amount)
{more}"""


ORDERS = source("orders", "correlation_key: order_id,")
BOTH_KEYS = source("orders", "correlation_key: [order_id, region],")


# Sources


def test_a_source_declares_its_key() -> None:
    correlation, problems = correlated(BOTH_KEYS + source("sensors"))
    assert problems == []
    assert correlation.sources["orders"].fields == ("order_id", "region")
    assert correlation.visible["orders"].columns == ("$ck.order_id", "$ck.region")
    assert not correlation.visible["sensors"]


def test_the_key_is_a_column_of_the_source() -> None:
    _, problems = correlated(source("orders", "correlation_key: [region, oder_id],"))
    assert brief(problems) == [
        "E153 6:68 correlation_key names 'oder_id', which is not a column of 'orders'"
    ]
    assert problems[0].help == "did you mean 'order_id'?"
    assert notes(problems[0]) == ["7:5 its columns are declared here"]


def test_a_policy_is_for_records_in_groups() -> None:
    lenient = source("orders", "correlation_fanout_policy: all,")
    [problem] = correlated(lenient)[1]
    assert brief([problem]) == [
        "W013 6:42 'correlation_fanout_policy' has no effect: the records of 'orders' are in no "
        "groups"
    ]
    assert not problem.is_error
    assert correlated(lenient, "{ correlation_key: order_id }")[1] == []


def test_the_deprecated_key_applies_to_every_source_that_has_the_column() -> None:
    other = source("others").replace("order_id: string, ", "")
    own = source("returns", "correlation_key: region,")
    correlation, problems = correlated(
        source("orders") + other + own, "{ correlation_key: order_id }"
    )
    assert problems == []
    assert {name: key.fields for name, key in correlation.sources.items()} == {
        "orders": ("order_id",),
        "returns": ("region",),
    }


def test_the_deprecated_key_is_a_column_of_some_source() -> None:
    _, problems = correlated(source("orders"), "{ correlation_key: [region, customer] }")
    assert brief(problems) == [
        "E153 2:45 correlation_key names 'customer', which is a column of no source"
    ]


# Row by row


def test_transforms_and_routes_keep_the_keys_even_if_the_field_is_rewritten() -> None:
    correlation, _ = correlated(
        ORDERS
        + """\
- { type: transform, name: anonymize, input: orders, config: { cxl: 'emit order_id = "-"' } }
- { type: route, name: split, input: anonymize, config: { conditions: { a: 'true' }, default: b } }
- { type: output, name: out, input: split.a, config: { type: csv, path: out.csv } }
"""
    )
    assert correlation.visible["out"] == KeySet(("order_id",))


# Merges

MERGE = "- { type: merge, name: all, inputs: [orders, returns] }\n"


def test_a_merge_is_one_domain() -> None:
    correlation, problems = correlated(
        ORDERS + source("returns", "correlation_key: order_id,") + MERGE
    )
    assert problems == []
    assert correlation.visible["all"] == KeySet(("order_id",))


def test_the_inputs_of_a_merge_have_the_same_keys() -> None:
    correlation, problems = correlated(
        ORDERS + source("returns", "correlation_key: [region, order_id],") + MERGE
    )
    assert brief(problems) == [
        "E314 12:46 'returns' and 'orders' have different correlation keys: "
        "region, order_id and order_id"
    ]
    assert notes(problems[0]) == [
        "12:38 the other input",
        "6:59 the correlation key of 'orders'",
        "10:60 the correlation key of 'returns'",
    ]
    assert correlation.visible["all"] == KeySet(("order_id",))


def test_an_unkeyed_source_does_not_merge_with_a_keyed_one() -> None:
    _, problems = correlated(ORDERS + source("returns") + MERGE)
    assert brief(problems) == [
        "E314 12:46 'returns' and 'orders' have different correlation keys: none and order_id"
    ]


def test_an_unknown_key_is_not_reported_twice() -> None:
    _, problems = correlated(ORDERS + source("returns", "correlation_key: oder_id,") + MERGE)
    assert [p.code for p in problems] == ["E153"]


@pytest.mark.parametrize(("mode", "agree"), [("auto_widen", True), ("drop", False)])
def test_the_inputs_of_a_merge_agree_on_undeclared_columns(mode: str, agree: bool) -> None:
    _, problems = correlated(source("orders") + source("returns", f"on_unmapped: {mode},") + MERGE)
    if agree:
        assert problems == []
        return
    assert brief(problems) == [
        "E315 12:46 'returns' and 'orders' disagree on undeclared columns: "
        "one keeps them, the other does not"
    ]
    assert notes(problems[0]) == [
        "5:9 'orders' uses 'auto_widen', the default",
        "10:56 'returns' uses 'drop'",
    ]


def test_dropping_and_rejecting_undeclared_columns_go_together() -> None:
    _, problems = correlated(
        source("orders", "on_unmapped: reject,") + source("returns", "on_unmapped: drop,") + MERGE
    )
    assert problems == []


def test_policies_reach_merges_through_other_nodes() -> None:
    transform = "- { type: transform, name: t, input: returns, config: { cxl: 'filter true' } }\n"
    _, problems = correlated(
        source("orders")
        + source("returns", "on_unmapped: { mode: drop },")
        + transform
        + MERGE.replace("returns", "t")
    )
    assert [p.code for p in problems] == ["E315"]


def test_groups_merge_with_any_policy() -> None:
    dropping = "on_unmapped: drop,"
    groups = aggregate("[order_id, region, department]", "returns")
    _, problems = correlated(
        source("orders", dropping) + source("returns") + groups + MERGE.replace("returns", "sums")
    )
    assert problems == []


# Aggregates


@pytest.mark.parametrize(
    ("group_by", "atomicity", "after"),
    [
        ("[order_id]", Atomicity.STRICT, KeySet(("order_id",))),
        ("[department, order_id]", Atomicity.STRICT, KeySet(("order_id",))),
        ("[department]", Atomicity.RELAXED, KeySet((), ("sums",))),
        ("[]", Atomicity.RELAXED, KeySet((), ("sums",))),
    ],
)
def test_an_aggregate_is_strict_if_it_groups_by_every_key(
    group_by: str, atomicity: Atomicity, after: KeySet
) -> None:
    correlation, problems = correlated(ORDERS + aggregate(group_by))
    assert problems == []
    assert correlation.aggregates["sums"].atomicity is atomicity
    assert correlation.visible["sums"] == after


def test_a_relaxed_aggregate_keeps_the_keys_it_groups_by() -> None:
    correlation, _ = correlated(BOTH_KEYS + aggregate("[region]"))
    assert correlation.relaxed == ("sums",)
    assert correlation.aggregates["sums"].omitted == KeySet(("order_id",))
    assert correlation.visible["sums"].columns == ("$ck.region", "$ck.aggregate.sums")


def test_an_aggregate_below_a_relaxed_one_is_relaxed() -> None:
    correlation, _ = correlated(
        ORDERS + aggregate("[department]") + aggregate("[department]", "sums", name="top")
    )
    assert correlation.relaxed == ("sums", "top")
    assert correlation.visible["top"] == KeySet((), ("top",))


def test_without_keys_an_aggregate_is_uncorrelated() -> None:
    correlation, _ = correlated(source("orders") + aggregate("[department]"))
    assert correlation.aggregates["sums"].atomicity is Atomicity.UNCORRELATED


def test_time_windows_are_strict() -> None:
    window = "    time_window: { tumbling: { size: 1h } }\n"
    correlation, _ = correlated(ORDERS + aggregate("[department]", more=window))
    assert correlation.aggregates["sums"].atomicity is Atomicity.STRICT
    assert correlation.visible["sums"] == KeySet()


@pytest.mark.parametrize(
    ("cxl", "retraction"),
    [
        ("emit a = sum(amount) emit b = collect(region)", Retraction.REVERSIBLE),
        ("emit a = count(*) emit b = any(region)", Retraction.REVERSIBLE),
        ("emit a = sum(amount) + max(amount)", Retraction.BUFFER_REQUIRED),
        ("emit a = avg(amount)", Retraction.BUFFER_REQUIRED),
    ],
)
def test_accumulators(cxl: str, retraction: Retraction) -> None:
    text = ORDERS + aggregate("[department]").replace("emit amount = sum(amount)", cxl)
    correlation, _ = correlated(text)
    assert correlation.aggregates["sums"].retraction is retraction


def test_a_relaxed_aggregate_cannot_stream() -> None:
    _, problems = correlated(ORDERS + aggregate("[department]", more="    strategy: streaming\n"))
    assert brief(problems) == [
        "E15Y 14:15 'sums' cannot stream: group_by omits 'order_id', "
        "by which records stand or fall together"
    ]
    assert problems[0].help == "use 'strategy: hash', or add 'order_id' to group_by"
    assert notes(problems[0]) == [
        "12:15 groups by this",
        "6:59 the correlation key of 'orders'",
    ]


def test_below_a_relaxed_aggregate_nothing_streams() -> None:
    _, problems = correlated(
        ORDERS
        + aggregate("[department]")
        + aggregate("[department]", "sums", "    strategy: streaming\n", name="top")
    )
    assert brief(problems) == [
        "E15Y 20:15 'top' cannot stream: failing records must be taken back from 'sums'"
    ]


def test_a_strict_aggregate_may_stream() -> None:
    _, problems = correlated(ORDERS + aggregate("[order_id]", more="    strategy: streaming\n"))
    assert problems == []


# Combines


def combine(propagate: str, more: str = "") -> str:
    return f"""\
- type: combine
  name: joined
  input: {{ o: orders, r: returns }}
  config:
    where: o.order_id == r.order_id
    cxl: emit order_id = o.order_id emit department = r.department emit amount = o.amount
    propagate_ck: {propagate}
{more}"""


@pytest.mark.parametrize(
    ("propagate", "drive", "fields"),
    [
        ("driver", "o", ("order_id",)),
        ("driver", "r", ("region", "department")),
        ("all", "o", ("order_id", "region", "department")),
        ("all", "r", ("region", "department", "order_id")),
        ("{ named: [department, elsewhere] }", "o", ("department",)),
    ],
)
def test_a_combine_propagates_keys(propagate: str, drive: str, fields: tuple[str, ...]) -> None:
    returns = source("returns", "correlation_key: [region, department],")
    correlation, problems = correlated(
        ORDERS + returns + combine(propagate, f"    drive: {drive}\n")
    )
    assert problems == []
    assert correlation.visible["joined"] == KeySet(fields)


def test_a_combine_keeps_the_lineage_of_aggregates() -> None:
    groups = aggregate("[department]", name="returns").replace(
        "emit amount", 'emit order_id = "x" emit amount'
    )
    correlation, _ = correlated(ORDERS + groups + combine("driver"))
    assert correlation.visible["joined"] == KeySet(("order_id",), ("returns",))
