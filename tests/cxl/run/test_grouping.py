"""Aggregate programs over records."""

from __future__ import annotations

import pytest

from clinker.cxl.check.resolve import Context, ProgramKind, Row
from clinker.cxl.failure import Failure
from clinker.cxl.run.evaluate import Surroundings
from clinker.cxl.run.grouping import GroupProgram
from clinker.cxl.types import ANY
from clinker.cxl.values import Value
from tests.cxl.running import aggregate, compiled

SALES: list[dict[str, Value]] = [
    {"dept": "b", "amount": 10, "price": 1.5},
    {"dept": "a", "amount": 20, "price": 2.5},
    {"dept": "b", "amount": None, "price": 3.5},
    {"dept": None, "amount": 5, "price": 0.5},
]


def test_groups_appear_in_the_order_of_their_first_record() -> None:
    found = aggregate("emit n = count(*) emit total = sum(amount)", SALES, ["dept"])
    assert found == [
        {"dept": "b", "n": 2, "total": 10},
        {"dept": "a", "n": 1, "total": 20},
        {"dept": None, "n": 1, "total": 5},
    ]


def test_any_expression_may_surround_aggregates() -> None:
    text = """
    emit average = avg(price).round(1)
    emit premium = max(price) > 2.0
    emit grade = match { sum(amount) >= 20 => "high", _ => "low" }
    emit label = dept ?? "none"
    emit both = grade + "/" + label
    """
    found = aggregate(text, SALES, ["dept"])
    assert [r["both"] for r in found] == ["low/b", "high/a", "low/none"]
    assert [r["average"] for r in found] == [2.5, 2.5, 0.5]


def test_filters_and_lets_see_single_records() -> None:
    text = "filter amount > 5 let double = amount * 2 emit total = sum(double)"
    assert aggregate(text, SALES, ["dept"]) == [
        {"dept": "b", "total": 20},
        {"dept": "a", "total": 40},
    ]


def test_traces_see_the_records_that_are_grouped() -> None:
    seen: list[str] = []
    context = Context(row=Row({"amount": ANY}), kind=ProgramKind.AGGREGATE)
    program = compiled("filter amount > 5 trace amount.to_string() emit n = count(*)", context)
    surroundings = Surroundings(trace=lambda _, message: seen.append(message))
    GroupProgram(program, (), surroundings).run(SALES)
    assert seen == ["10", "20"]


def test_without_group_by_there_is_always_one_record() -> None:
    text = "emit n = count(*) emit total = sum(amount) emit all = collect(amount)"
    assert aggregate(text, SALES) == [{"n": 4, "total": 35, "all": [10, 20, None, 5]}]
    empty = Context(row=Row({"amount": ANY}), kind=ProgramKind.AGGREGATE)
    found = GroupProgram(compiled(text, empty), (), Surroundings()).run([])
    assert found.records == [{"n": 0, "total": None, "all": []}]


def test_int_and_float_keys_meet_numerically() -> None:
    records: list[dict[str, Value]] = [{"k": 1}, {"k": 1.0}, {"k": 2}]
    assert aggregate("emit n = count(*)", records, ["k"]) == [{"k": 1, "n": 2}, {"k": 2, "n": 1}]


def test_float_sums_do_not_depend_on_order() -> None:
    values: list[Value] = [1e16, 1.0, -1e16, 0.1, 0.2, 0.3]
    forwards = aggregate("emit s = sum(x)", [{"x": v} for v in values])
    backwards = aggregate("emit s = sum(x)", [{"x": v} for v in reversed(values)])
    assert forwards == backwards == [{"s": 1.6}]


def test_means_survive_sums_beyond_the_floats() -> None:
    records: list[dict[str, Value]] = [{"v": 1.0, "w": 1e308}, {"v": 1.0, "w": 1e308}]
    text = "emit a = avg(w) emit b = weighted_avg(v, w) emit c = sum(w)"
    assert aggregate(text, records) == [{"a": 1e308, "b": 1.0, "c": float("inf")}]


def test_a_failing_record_counts_in_no_aggregate() -> None:
    records: list[dict[str, Value]] = [{"x": "1"}, {"x": "oops"}, {"x": "2"}]
    context = Context(row=Row({"x": ANY}), kind=ProgramKind.AGGREGATE)
    program = compiled("emit n = count(*) emit s = sum(x.to_int())", context)
    found = GroupProgram(program, (), Surroundings()).run(records)
    assert found.records == [{"n": 2, "s": 3}]
    assert [(r.position, r.failure.detail) for r in found.rejected] == [
        (1, "cannot convert 'oops' to Int")
    ]


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("emit s = sum(x)", "sum expects Numeric, got String"),
        ("emit s = min(x)", "min cannot compare Int or String"),
        ("emit s = any(x)", "any expects Bool, got Int"),
    ],
)
def test_wrong_values_in_aggregates(text: str, detail: str) -> None:
    with pytest.raises(Failure) as raised:
        aggregate(text, [{"x": 1}, {"x": "a"}])
    assert raised.value.detail == detail
    assert raised.value.category == "aggregate_type_error"
