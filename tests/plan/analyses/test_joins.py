"""Combines: how their conditions are taken apart and in which order inputs are joined."""

from __future__ import annotations

from collections import Counter
from textwrap import indent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clinker.cxl.check.typed import Expr, Promote
from clinker.plan.analyses.joins import Comparison, Join, Joins, Strategy, conjuncts, plan_joins
from clinker.plan.nodes import PlannedCombine
from tests.plan.compiling import bound, brief, notes

SCHEMA = """\
    schema:
      - { name: id, type: int }
      - { name: amount, type: float }
      - { name: day, type: date }
      - { name: at, type: date_time }
      - { name: key, type: string }
      - { name: either, type: numeric }
"""


def source(name: str, extra: str = "") -> str:
    more = indent(extra, "    ") if extra else ""
    return (
        f"- type: source\n  name: {name}\n  config:\n    type: csv\n    path: x.csv\n{more}{SCHEMA}"
    )


def combine(where: str, inputs: str = "a, b", extra: str = "", sources: str = "") -> Joins:
    """The names of the inputs are on line 6 of the file, the condition on line 11, column 7."""
    names = inputs.split(", ")
    node = (
        "- type: combine\n  name: joined\n"
        f"  input: {{ {', '.join(f'{name}: {name}' for name in names)} }}\n"
        f"  config:\n    propagate_ck: driver\n    cxl: emit id = {names[0]}.id\n"
        f"    where: >-\n      {where}\n    {extra}\n"
    )
    pipeline = bound(node + (sources or "".join(map(source, names))))
    return plan_joins(pipeline.nodes)


def joined(where: str, inputs: str = "a, b", extra: str = "", sources: str = "") -> Join:
    joins = combine(where, inputs, extra, sources)
    assert "joined" in joins.by_node, brief(joins.diagnostics)
    return joins.by_node["joined"]


def written(expr: Expr) -> str:
    place = expr.location
    return place.source.text[place.span.start : place.span.end]


def shown(comparison: Comparison) -> str:
    return f"{written(comparison.probe)} {comparison.op} {written(comparison.build)}"


def test_each_part_is_an_equality_a_range_or_a_residual() -> None:
    join = joined('a.id == b.id and a.at <= b.at and a.amount >= 100 and b.key == "us-east"')
    (step,) = join.steps
    assert [shown(c) for c in step.equalities] == ["a.id == b.id"]
    assert [shown(c) for c in step.ranges] == ["a.at <= b.at"]
    assert [written(r) for r in step.residuals] == ["a.amount >= 100", 'b.key == "us-east"']
    assert step.strategy is Strategy.HASH_PARTITION_IEJOIN


@pytest.mark.parametrize(
    ("part", "normalized"),
    [
        ("b.id == a.id", "a.id == b.id"),
        ("b.id < a.id", "a.id > b.id"),
        ("b.id <= a.id", "a.id >= b.id"),
        ("b.id > a.id", "a.id < b.id"),
        ("b.id >= a.id + 1", "a.id + 1 <= b.id"),
        ("b.key.lower() == a.key.trim()", "a.key.trim() == b.key.lower()"),
    ],
)
def test_the_joined_side_comes_first(part: str, normalized: str) -> None:
    (step,) = joined(part).steps
    (comparison,) = step.comparisons
    assert shown(comparison) == normalized
    assert (comparison.probe_input, step.build) == ("a", "b")


@pytest.mark.parametrize(
    "part",
    [
        "a.id != b.id",
        "a.id == b.id or a.key == b.key",
        "a.id + b.id == b.amount",
        "a.key == a.key",
        "a.key.starts_with(b.key)",
        "not (a.id == b.id)",
        "true",
    ],
)
def test_everything_else_is_a_residual(part: str) -> None:
    (step,) = joined(f"a.id == b.id and ({part})").steps
    assert len(step.equalities) == 1
    assert len(step.residuals) == 1


def test_nested_parentheses_around_and_are_taken_apart() -> None:
    (step,) = joined("(a.id == b.id and (a.key == b.key and a.at < b.at)) and a.id > 1").steps
    assert (len(step.equalities), len(step.ranges), len(step.residuals)) == (2, 1, 1)


@pytest.mark.parametrize(
    ("condition", "promoted", "common", "exact"),
    [
        ("a.id == b.id", (False, False), "Int", True),
        ("a.id == b.amount", (True, False), "Float", True),
        ("a.amount == b.id", (False, True), "Float", True),
        ("a.day == b.at", (True, False), "DateTime", True),
        ("a.day == b.day", (False, False), "Date", True),
        ("a.either == b.amount", (True, False), "Float", True),
        ("a.either == b.id", (True, True), "Float", False),
        ("a.either == b.either", (True, True), "Float", False),
        ("a.key == b.key", (False, False), "String", True),
    ],
)
def test_keys_of_different_types_are_promoted(
    condition: str, promoted: tuple[bool, bool], common: str, exact: bool
) -> None:
    (comparison,) = joined(condition).steps[0].equalities
    assert tuple(isinstance(s, Promote) for s in (comparison.probe, comparison.build)) == promoted
    assert str(comparison.common) == common
    assert comparison.is_exact is exact


@pytest.mark.parametrize(
    ("where", "extra", "strategy"),
    [
        ("a.id == b.id", "", Strategy.HASH_BUILD_PROBE),
        ("a.id == b.id", "strategy: grace_hash", Strategy.GRACE_HASH),
        ("a.id == b.id and a.at < b.at", "strategy: grace_hash", Strategy.HASH_PARTITION_IEJOIN),
        ("a.at < b.at", "strategy: grace_hash", Strategy.IEJOIN),
        ("a.at < b.at and a.id < b.id", "", Strategy.IEJOIN),
    ],
)
def test_strategies(where: str, extra: str, strategy: Strategy) -> None:
    (step,) = joined(where, extra=extra).steps
    assert step.strategy is strategy
    assert step.strategy.on_spark


@pytest.mark.parametrize(
    ("where", "order", "strategy"),
    [
        ("a.at < b.at", "at", Strategy.SORT_MERGE),
        ("a.at < b.at", "id", Strategy.IEJOIN),
        ("a.at < b.at.add_days(1)", "at", Strategy.IEJOIN),
        ("a.at < b.at", "{ field: at, order: desc }", Strategy.IEJOIN),
    ],
)
def test_sorted_sources_are_merged(where: str, order: str, strategy: Strategy) -> None:
    sources = "".join(source(name, f"sort_order: [{order}]\n") for name in "ab")
    assert joined(where, sources=sources).steps[0].strategy is strategy


def test_inputs_are_joined_from_the_driver_in_declared_order() -> None:
    join = joined("a.id == c.id and c.key == b.key and b.id == d.id", "a, b, c, d")
    assert [step.build for step in join.steps] == ["c", "b", "d"]
    join = joined("a.id == c.id and c.key == b.key and b.id == d.id", "a, b, c, d", "drive: d")
    assert join.driver == "d"
    assert [step.build for step in join.steps] == ["b", "c", "a"]


def test_a_part_is_used_as_soon_as_all_its_inputs_are_there() -> None:
    join = joined("a.id == b.id and b.id == c.id and a.id + b.id > c.id and a.id > 5", "a, b, c")
    first, second = join.steps
    assert [written(r) for r in first.residuals] == ["a.id > 5"]
    assert [written(r) for r in second.residuals] == ["a.id + b.id > c.id"]


def test_a_cycle_of_equalities_is_checked_in_full() -> None:
    join = joined("a.id == b.id and b.id == c.id and a.id == c.id", "a, b, c")
    assert [shown(c) for c in join.steps[1].equalities] == ["b.id == c.id", "a.id == c.id"]
    assert [c.probe_input for c in join.steps[1].equalities] == ["b", "a"]


PARTS = st.sampled_from(
    [
        "a.id == b.id",
        "c.id == b.id",
        "a.at < c.at",
        "d.key == a.key",
        "d.day >= b.at",
        "a.id != b.id",
        "a.id + b.id > c.id",
        "d.amount > 3",
        "a.id == a.amount",
        "1 == 1",
        "(b.key == c.key or a.id == d.id)",
    ]
)


@settings(max_examples=40)
@given(st.lists(PARTS, max_size=12), st.sampled_from("abcd"))
def test_no_part_is_ever_lost(parts: list[str], driver: str) -> None:
    where = " and ".join(["a.id == b.id and b.id == c.id and c.id == d.id", *parts])
    pipeline = bound(
        "".join(source(name) for name in "abcd")
        + "- type: combine\n  name: x\n  input: { a: a, b: b, c: c, d: d }\n"
        + f"  config: {{ propagate_ck: driver, drive: {driver}, cxl: emit id = a.id, "
        + f"where: '{where}' }}\n"
    )
    join = plan_joins(pipeline.nodes).by_node["x"]
    planned = pipeline.nodes["x"]
    assert isinstance(planned, PlannedCombine)
    used = [c.written for s in join.steps for c in s.comparisons]
    used += [residual for step in join.steps for residual in step.residuals]
    assert Counter(map(id, used)) == Counter(map(id, conjuncts(planned.where)))
    known = {driver}
    for step in join.steps:
        assert all(c.probe_input in known for c in step.comparisons)
        known.add(step.build)


@pytest.mark.parametrize(
    ("where", "inputs", "message"),
    [
        ("true", "a, b", "E305 11:7 the condition never compares 'b' with 'a'"),
        ("a.id == a.id", "a, b", "E305 11:7 the condition never compares 'b' with 'a'"),
        (
            "a.id == b.id and c.id == 1",
            "a, b, c",
            "E305 11:7 the condition never compares 'c' with 'a' and 'b'",
        ),
        (
            "a.id == b.id and c.id == d.id",
            "a, b, c, d",
            "E305 11:7 the condition never compares 'c' and 'd' with 'a' and 'b'",
        ),
        (
            "a.id > 1 and a.id != b.id",
            "a, b",
            "E305 11:20 this relates 'b' to 'a', but not by an equality or a range",
        ),
        (
            "a.id == b.id or a.key == b.key",
            "a, b",
            "E305 11:7 this relates 'b' to 'a', but not by an equality or a range",
        ),
    ],
)
def test_inputs_that_are_not_compared(where: str, inputs: str, message: str) -> None:
    joins = combine(where, inputs, "drive: a")
    assert brief(joins.diagnostics) == [message]
    assert joins.by_node == {}
    assert joins.diagnostics[0].help
    assert notes(joins.diagnostics[0])


def test_every_group_of_loose_inputs_is_reported() -> None:
    found = combine("a.id == b.id", "a, b, c, d", "drive: a").diagnostics
    assert [d.message for d in found] == [
        "the condition never compares 'c' with 'a' and 'b'",
        "the condition never compares 'd' with 'a' and 'b'",
    ]


def test_ranges_alone_are_slow() -> None:
    joins = combine("a.at <= b.at and b.id <= a.id")
    assert brief(joins.diagnostics) == [
        "W305 11:7 'b' and 'a' are joined by ranges alone, so every pair is compared"
    ]
    assert not joins.diagnostics[0].is_error
    assert "joined" in joins.by_node


def test_three_inputs_without_a_driver() -> None:
    joins = combine("a.id == b.id and b.id == c.id", "a, b, c")
    assert brief(joins.diagnostics) == [
        "W306 6:12 3 inputs and no 'drive': 'a' drives because it comes first"
    ]
    assert combine("a.id == b.id and b.id == c.id", "a, b, c", "drive: b").diagnostics == []


def test_metadata_is_the_drivers() -> None:
    sources = (
        source("a")
        + source("b")
        + ("- type: transform\n  name: t\n  input: a\n  config:\n    cxl: emit meta m = id\n")
    )
    nodes = sources + (
        "- type: combine\n  name: c\n  input: { t: t, b: b }\n"
        "  config: { propagate_ck: driver, where: $meta.m == b.id, cxl: emit id = t.id }\n"
    )
    pipeline = bound(nodes)
    (step,) = plan_joins(pipeline.nodes).by_node["c"].steps
    assert [shown(c) for c in step.equalities] == ["$meta.m == b.id"]
