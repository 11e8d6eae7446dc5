"""How many records pass between nodes, told by what was read, rejected and written."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from clinker.plan.analyses.passing import (
    Contradiction,
    Known,
    NodePassing,
    Passing,
    Way,
    dropped,
)
from tests.plan.compiling import bound

_ORDERS = """
- type: source
  name: orders
  config: {name: orders, type: csv, path: o.csv, schema: [{name: id, type: int}]}
"""
_PRODUCTS = """
- type: source
  name: products
  config: {name: products, type: csv, path: p.csv, schema: [{name: id, type: int}]}
"""
_GROUPS = """
- {type: aggregate, name: g, input: %s, config: {group_by: [id], cxl: emit n = count(*)}}
"""


def _transform(name: str, reads: str, cxl: str = "emit a = 1") -> str:
    return f"- {{type: transform, name: {name}, input: {reads}, config: {{cxl: '{cxl}'}}}}\n"


def _route(mode: str) -> str:
    config = f"{{mode: {mode}, conditions: {{low: id < 5}}, default: high}}"
    return f"- {{type: route, name: r, input: orders, config: {config}}}\n"


def _combine(match: str, on_miss: str = "null_fields", cxl: str = "emit id = o.id") -> str:
    return f"""
- type: combine
  name: c
  input: {{o: orders, p: products}}
  config:
    match: {match}
    on_miss: {on_miss}
    drive: o
    where: o.id == p.id
    cxl: "{cxl}"
    propagate_ck: driver
"""


def _merge(*inputs: str) -> str:
    return f"- {{type: merge, name: m, inputs: [{', '.join(inputs)}]}}\n"


def _output(name: str, reads: str, more: str = "") -> str:
    config = f"{{name: {name}, type: csv, path: {name}.csv{more}}}"
    return f"- {{type: output, name: {name}, input: {reads}, config: {config}}}\n"


def _passing(
    nodes: str,
    written: Mapping[str, int],
    rejected: Mapping[str, int] | None = None,
    counted: Mapping[Way, int] | None = None,
    *,
    adds_up: bool = True,
) -> Passing:
    known = Known(
        read={"orders": 10, "products": 4},
        written=written,
        rejected=rejected or {},
        counted=counted or {},
    )
    pipeline = bound(_ORDERS + nodes)
    planned = [pipeline.nodes[unit.name] for unit in pipeline.graph]
    return Passing(planned, known, adds_up=adds_up)


def _in_out(passing: NodePassing) -> tuple[int | None, int | None]:
    return passing.records_in, passing.records_out


def test_records_pass_on_unless_they_are_rejected() -> None:
    nodes = _transform("t", "orders") + _output("o", "t")
    passing = _passing(nodes, {"o": 7}, {"orders": 1, "t": 2})
    assert [(each.name, *_in_out(each), each.rejected) for each in passing.every()] == [
        ("orders", 10, 9, 1),
        ("t", 9, 7, 2),
        ("o", 7, 7, 0),
    ]
    assert dropped(passing.every()) == (0, 0)
    assert not passing.unknown()


def test_what_a_program_drops_is_known_by_what_is_left() -> None:
    nodes = _transform("t", "orders", "filter id > 3") + _transform("u", "t") + _output("o", "u")
    passing = _passing(nodes, {"o": 5}, {"u": 1})
    assert _in_out(passing.of("t")) == (10, 6)
    assert passing.of("t").filtered == 4
    assert passing.of("t").distinct == 0
    assert dropped(passing.every()) == (4, 0)
    nodes = _transform("t", "orders", "distinct by id") + _output("o", "t")
    assert dropped(_passing(nodes, {"o": 5}).every()) == (0, 5)


def test_two_programs_that_drop_must_be_counted() -> None:
    nodes = (
        _transform("t", "orders", "filter id > 3")
        + _transform("u", "t", "distinct by id")
        + _output("o", "u")
    )
    passing = _passing(nodes, {"o": 5})
    assert _in_out(passing.of("t")) == (10, None)
    assert _in_out(passing.of("u")) == (None, 5)
    assert dropped(passing.every()) == (None, None)
    assert passing.unknown() == [("t", None)]
    counted = _passing(nodes, {"o": 5}, counted={("t", None): 7})
    assert _in_out(counted.of("u")) == (7, 5)
    assert dropped(counted.every()) == (3, 2)


def test_a_program_that_drops_in_two_ways() -> None:
    nodes = _transform("t", "orders", "filter id > 3 distinct by id") + _output("o", "t")
    passing = _passing(nodes, {"o": 5})
    assert _in_out(passing.of("t")) == (10, 5)
    assert dropped(passing.every()) == (None, None)


def test_records_that_are_taken_apart() -> None:
    nodes = _transform("t", "orders", "emit each x in [1, 2] { emit y = x }") + _output("o", "t")
    passing = _passing(nodes, {"o": 20})
    assert _in_out(passing.of("t")) == (10, 20)
    assert dropped(passing.every()) == (0, 0)


def test_groups() -> None:
    passing = _passing(_GROUPS % "orders" + _output("o", "g"), {"o": 3}, {"g": 2})
    assert _in_out(passing.of("g")) == (10, 3)
    assert passing.of("g").rejected == 2


@pytest.mark.parametrize(("mode", "high"), [("exclusive", 6), ("inclusive", None)])
def test_branches(mode: str, high: int | None) -> None:
    nodes = _route(mode) + _output("a", "r.low") + _GROUPS % "r.high" + _output("b", "g")
    passing = _passing(nodes, {"a": 3, "b": 2}, {"r": 1})
    assert _in_out(passing.of("r")) == (10, 9)
    assert passing.of("r").ports == {"low": 3, "high": high}
    assert passing.of("g").records_in == high


def test_merges() -> None:
    nodes = (
        _PRODUCTS
        + _transform("t", "products", "filter id > 2")
        + _merge("orders", "t")
        + _output("o", "m")
    )
    passing = _passing(nodes, {"o": 12})
    assert passing.of("t").filtered == 2
    assert _in_out(passing.of("m")) == (12, 12)


def test_joins() -> None:
    def of(combine: str, **rejected: int) -> NodePassing:
        nodes = _PRODUCTS + combine + _GROUPS % "c" + _output("o", "g")
        return _passing(nodes, {"o": 1}, rejected).of("c")

    assert _in_out(of(_combine("first"))) == (14, 10)
    assert _in_out(of(_combine("collect", cxl=""))) == (14, 10)
    assert _in_out(of(_combine("all"))) == (14, None)
    assert _in_out(of(_combine("first", "skip"))) == (14, None)
    assert _in_out(of(_combine("first"), c=1)) == (14, None)
    assert _in_out(of(_combine("first", cxl="filter o.id > 1 emit id = o.id"))) == (14, None)


def test_records_that_a_join_rejects_may_be_those_it_only_looks_at() -> None:
    nodes = _PRODUCTS + _combine("first") + _output("o", "c")
    passing = _passing(nodes, {"o": 10}, {"c": 2})
    assert _in_out(passing.of("c")) == (14, 10)
    assert passing.of("c").rejected == 2


def test_an_output_that_drops() -> None:
    order = ", sort_order: [{field: id, null_order: drop}]"
    passing = _passing(_output("o", "orders", order), {"o": 8})
    assert _in_out(passing.of("o")) == (10, 8)


@pytest.mark.parametrize(
    ("nodes", "written"),
    [
        (_output("o", "orders"), {"o": 9}),
        (_output("o", "orders"), {"o": 11}),
        (_transform("t", "orders", "filter id > 3") + _output("o", "t"), {"o": 11}),
        (_transform("t", "orders") + _output("o", "t") + _output("p", "t"), {"o": 10, "p": 9}),
        (_route("exclusive") + _output("a", "r.low") + _output("b", "r.high"), {"a": 6, "b": 3}),
        (_route("exclusive") + _output("a", "r.low"), {"a": 11}),
    ],
)
def test_numbers_that_cannot_be_true(nodes: str, written: Mapping[str, int]) -> None:
    with pytest.raises(Contradiction):
        _passing(nodes, written).every()


def test_records_that_were_taken_back() -> None:
    nodes = _transform("t", "orders") + _output("o", "t")
    passing = _passing(nodes, {"o": 3}, {"t": 1}, adds_up=False)
    assert _in_out(passing.of("orders")) == (10, None)
    assert _in_out(passing.of("t")) == (None, None)
    assert passing.of("t").rejected == 1
    assert _in_out(passing.of("o")) == (None, 3)
