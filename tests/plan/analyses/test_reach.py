"""How many source records reached an output, told by how many were written."""

from __future__ import annotations

import pytest

from clinker.plan.analyses.reach import keeps_every_record, reached
from tests.plan.compiling import bound

_SOURCES = """
- type: source
  name: orders
  config: {name: orders, type: csv, path: o.csv, schema: [{name: id, type: int}]}
- type: source
  name: products
  config: {name: products, type: csv, path: p.csv, schema: [{name: id, type: int}]}
"""


def _transform(name: str, reads: str, cxl: str = "emit a = 1") -> str:
    return f"- {{type: transform, name: {name}, input: {reads}, config: {{cxl: '{cxl}'}}}}\n"


def _route(mode: str) -> str:
    conditions = "{low: id < 5, mid: id < 9}"
    config = f"{{mode: {mode}, conditions: {conditions}, default: high}}"
    return f"- {{type: route, name: r, input: orders, config: {config}}}\n"


def _combine(match: str) -> str:
    cxl = "" if match == "collect" else "emit id = o.id"
    return f"""
- type: combine
  name: c
  input: {{o: orders, p: products}}
  config: {{match: {match}, drive: o, where: o.id == p.id, cxl: "{cxl}", propagate_ck: driver}}
"""


def _merge(*inputs: str) -> str:
    return f"- {{type: merge, name: m, inputs: [{', '.join(inputs)}]}}\n"


def _output(name: str, reads: str) -> str:
    config = f"{{name: {name}, type: csv, path: {name}.csv}}"
    return f"- {{type: output, name: {name}, input: {reads}, config: {config}}}\n"


_GROUPS = """
- {type: aggregate, name: g, input: orders, config: {group_by: [id], cxl: emit n = count(*)}}
"""


@pytest.mark.parametrize(
    ("nodes", "written", "expected"),
    [
        ("", {"orders": 7}, 7),
        (_transform("t", "orders", "filter id > 1"), {"t": 3}, 3),
        ("", {"orders": 7, "products": 2}, 9),
        (_merge("orders", "products"), {"m": 5}, 5),
        (_combine("first"), {"c": 4}, 4),
        (_combine("collect"), {"c": 4}, 4),
        (_combine("all"), {"c": 4}, None),
        (_GROUPS, {"g": 2}, None),
        (_GROUPS, {"g": 2, "orders": 9}, None),
        (_transform("t", "orders", "emit each x in [1, 2] { emit y = x }"), {"t": 8}, None),
        (_route("exclusive"), {"r.low": 1, "r.mid": 2}, 3),
        (_route("inclusive"), {"r.low": 1, "r.mid": 2}, None),
        (_route("exclusive") + _merge("r.low", "r.high"), {"m": 6, "r.mid": 2}, 8),
        (_route("inclusive") + _merge("r.low", "r.mid"), {"m": 6}, None),
        # Whatever reaches the one reaches the other as well.
        (_transform("t", "orders"), {"t": 3, "orders": 7}, 7),
        (_transform("t", "orders") + _transform("u", "t"), {"u": 3, "t": 7}, 7),
        (_transform("t", "orders") + _transform("u", "orders"), {"t": 3, "u": 7}, None),
    ],
)
def test_reached(nodes: str, written: dict[str, int], expected: int | None) -> None:
    outputs = {f"out_{n}": place for n, place in enumerate(written)}
    text = "".join(_output(name, place) for name, place in outputs.items())
    planned = bound(_SOURCES + nodes + text).nodes
    assert reached(planned, {name: written[place] for name, place in outputs.items()}) == expected


def test_outputs_of_the_same_records_count_once() -> None:
    planned = bound(_SOURCES + _output("a", "orders") + _output("b", "orders")).nodes
    assert reached(planned, {"a": 3, "b": 3}) == 3


_BOTH = _merge("orders", "products")


@pytest.mark.parametrize(
    ("nodes", "reads", "expected"),
    [
        (_BOTH, ["m"], True),
        ("", ["orders", "products"], True),
        (_BOTH + _transform("t", "m"), ["t"], True),
        (_BOTH + _transform("t", "m"), ["t", "m"], False),
        (_BOTH + _transform("t", "m", "filter id > 1"), ["t"], False),
        (_BOTH + _transform("t", "m", "distinct"), ["t"], False),
        (_BOTH + _transform("t", "m", "emit each x in [1, 2] { emit y = x }"), ["t"], False),
        (_route("exclusive"), ["r.low", "r.mid", "r.high", "products"], True),
        (_route("exclusive"), ["r.low", "r.mid", "products"], False),
        (_route("exclusive"), ["r.low", "r.mid", "r.high", "r.high", "products"], False),
        (_route("inclusive"), ["r.low", "r.mid", "r.high", "products"], False),
        (_GROUPS, ["g", "products"], False),
        (_combine("first"), ["c"], False),
        ("", ["orders"], False),  # nobody reads the other
    ],
)
def test_keeps_every_record(nodes: str, reads: list[str], expected: bool) -> None:
    outputs = "".join(_output(f"out_{n}", place) for n, place in enumerate(reads))
    found = bound(_SOURCES + nodes + outputs)
    assert keeps_every_record(found.graph, found.nodes) is expected


def test_sorting_may_drop_records() -> None:
    dropping = "type: csv, sort_order: [{field: id, null_order: drop}]"
    found = bound(_SOURCES + _BOTH + _output("o", "m").replace("type: csv", dropping))
    assert not keeps_every_record(found.graph, found.nodes)
