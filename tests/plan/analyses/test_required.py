"""Which columns of a source anything needs."""

from __future__ import annotations

import pytest

from clinker.plan.analyses.correlation import plan_correlation
from clinker.plan.analyses.ordering import plan_order
from clinker.plan.analyses.required import RequiredColumns, plan_required
from clinker.plan.analyses.windows import plan_windows
from tests.plan.compiling import bound


def required(nodes: str, error_handling: str = "{}") -> dict[str, RequiredColumns]:
    p = bound(nodes, error_handling)
    handling = p.pipeline.error_handling
    correlation, _ = plan_correlation(p.graph, p.nodes, handling)
    orders, _ = plan_order(p.nodes, correlation)
    windows, problems = plan_windows(p.graph, p.nodes, correlation, orders)
    assert problems == []
    return plan_required(p.nodes, windows, correlation, handling)


def of_s(nodes: str) -> str:
    """The columns of `s` that results need, as words."""
    return " ".join(required(SOURCE + nodes)["s"].for_results)


SOURCE = """\
- type: source
  name: s
  config: { type: csv, path: s.csv, schema: { a: string, b: string, c: string, d: string } }
"""
OTHER = """\
- type: source
  name: o
  config: { type: csv, path: o.csv, schema: { k: string, v: string, w: string } }
"""


def transform(cxl: str, more: str = "", upstream: str = "s") -> str:
    return f"""\
- type: transform
  name: t
  input: {upstream}
  config:
    cxl: {cxl}
{more}"""


def output(upstream: str, more: str = "", name: str = "out") -> str:
    return f"""\
- type: output
  name: {name}
  input: {upstream}
  config: {{ type: csv, path: {name}.csv, {more} }}
"""


ONLY_EMITTED = "include_unmapped: false"


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ("", "a b c d"),
        ("exclude: [b, c]", "a d"),
        ("exclude: [b, c], sort_order: [c]", "a c d"),
        ("exclude: [b, c], split: { max_records: 10, group_key: b }", "a b d"),
        ("mapping: { X: a }, exclude: [b]", "a c d"),
    ],
)
def test_outputs(options: str, needed: str) -> None:
    assert of_s(output("s", options)) == needed


@pytest.mark.parametrize(
    ("cxl", "needed"),
    [
        ("emit x = b", "b"),
        ("emit a = a.trim()", "a"),
        ('emit x = "1" filter c == "x"', "c"),
        ("emit x = b distinct", "b"),
        ("emit x = b distinct by d", "b d"),
        ("let y = c emit x = y", "c"),
        ("emit x = b trace c", "b c"),
        ("emit meta origin = d emit x = b", "b d"),
        ('emit each p in b.split(",") { emit x = p }', "b"),
    ],
)
def test_transforms(cxl: str, needed: str) -> None:
    assert of_s(transform(cxl) + output("t", ONLY_EMITTED)) == needed


def test_written_fields_hide_their_input() -> None:
    assert of_s(transform('emit a = "-" emit b = c') + output("t", "exclude: [c, d]")) == "c"


def test_bare_distinct_compares_every_field() -> None:
    assert of_s(transform("distinct") + output("t", "exclude: [a, b, c]")) == "a b c d"


def test_emits_after_a_fan_out_do_not_hide_their_input() -> None:
    fan_out = 'emit each p in b.split(",") { emit x = p } emit a = c'
    assert of_s(transform(fan_out) + output("t", "exclude: [b, c, d]")) == "a b c"


def test_validations_and_logs() -> None:
    more = """\
    validations:
      - { field: b, check: not_empty }
      - { check: c != "x" }
    log:
      - { level: info, when: per_record, message: m, condition: d == "x", fields: [a] }
"""
    nodes = transform('emit x = "1"', more) + output("t", ONLY_EMITTED)
    assert of_s(nodes) == "a b c d"


def test_aggregates() -> None:
    aggregate = """\
- type: aggregate
  name: g
  input: s
  config: { group_by: [a], cxl: emit n = count(*) emit m = max(c) }
"""
    assert of_s(aggregate + output("g")) == "a c"


def test_routes() -> None:
    route = """\
- type: route
  name: r
  input: s
  config: { conditions: { big: b == "x" }, default: small }
"""
    nodes = (
        route
        + output("r.big", "exclude: [b, c, d]")
        + output("r.small", "exclude: [b, c, d]", "o2")
    )
    assert of_s(nodes) == "a b"


def test_merges_ask_all_their_inputs() -> None:
    merge = "- { type: merge, name: m, inputs: [s, s2] }\n"
    found = required(
        SOURCE + SOURCE.replace("name: s", "name: s2") + merge + output("m", "exclude: [b, c]")
    )
    assert [found[name].for_results for name in ("s", "s2")] == [("a", "d"), ("a", "d")]


def combine(match: str, cxl: str) -> str:
    return f"""\
- type: combine
  name: j
  input: {{ l: s, r: o }}
  config: {{ where: l.a == r.k, match: {match}, propagate_ck: driver, cxl: {cxl} }}
"""


def test_combines() -> None:
    found = required(SOURCE + OTHER + combine("first", "emit x = l.b emit y = r.v") + output("j"))
    assert found["s"].for_results == ("a", "b")
    assert found["o"].for_results == ("k", "v")


@pytest.mark.parametrize(
    ("exclude", "driver", "build"),
    [
        ("[c, d]", ("a", "b"), ("k", "v", "w")),
        ("[c, d, r]", ("a", "b"), ("k",)),
    ],
)
def test_collected_records_are_whole(
    exclude: str, driver: tuple[str, ...], build: tuple[str, ...]
) -> None:
    found = required(SOURCE + OTHER + combine("collect", '""') + output("j", f"exclude: {exclude}"))
    assert found["s"].for_results == driver
    assert found["o"].for_results == build


def test_windows() -> None:
    window = "    analytic_window: { group_by: [b], sort_by: [c] }\n"
    nodes = transform("emit x = $window.first_value(d)", window) + output("t", ONLY_EMITTED)
    assert of_s(nodes) == "b c d"


def test_lookups_need_columns_of_both_sources() -> None:
    window = "    analytic_window: { source: o, on: b, group_by: [k] }\n"
    nodes = transform("emit x = $window.first_value(v) emit y = c", window)
    found = required(SOURCE + OTHER + nodes + output("t", ONLY_EMITTED))
    assert found["s"].for_results == ("b", "c")
    assert found["o"].for_results == ("k", "v")


def test_keys_and_event_times_are_always_needed() -> None:
    source = """\
- type: source
  name: s
  config:
    type: csv
    path: s.csv
    correlation_key: k
    watermark: { column: at }
    schema: { k: string, at: date_time, x: string, y: string }
"""
    found = required(source + output("s", "exclude: [k, at, y]"))
    assert found["s"].for_results == ("k", "at", "x")


def test_values_that_may_reject_a_record_are_looked_at() -> None:
    source = """\
- type: source
  name: s
  config:
    type: csv
    path: s.csv
    schema:
      - { name: a, type: string }
      - { name: b, type: int }
      - { name: c, type: string, required: true }
      - { name: d, type: nullable(date) }
      - { name: e, type: any }
"""
    found = required(source + output("s", "exclude: [b, c, d, e]"))
    assert found["s"].for_results == ("a",)
    assert found["s"].to_reject == ("b", "c", "d")


def test_undeclared_columns_reach_outputs_that_show_them() -> None:
    assert required(SOURCE + output("s"))["s"].undeclared
    assert not required(SOURCE + output("s", ONLY_EMITTED))["s"].undeclared
    dropping = SOURCE.replace("path: s.csv,", "path: s.csv, on_unmapped: drop,")
    assert not required(dropping + output("s"))["s"].undeclared
    found = required(SOURCE + OTHER + combine("first", "emit x = l.b") + output("j"))
    assert (found["s"].undeclared, found["o"].undeclared) == (True, False)


@pytest.mark.parametrize(
    ("error_handling", "everything"),
    [
        ("{}", False),
        ("{ dlq: { path: d.csv } }", True),
        ("{ dlq: { path: d.csv, include_source_row: false } }", False),
        ("{ dlq: { per_source: { s: { path: d.csv } } } }", True),
        ("{ dlq: { per_source: { o: { path: d.csv } } } }", False),
    ],
)
def test_dead_letters_show_the_whole_source_row(error_handling: str, everything: bool) -> None:
    found = required(SOURCE + output("s", "exclude: [b, c, d]"), error_handling)["s"]
    assert found.for_results == ("a",)
    assert found.all_for_dead_letters is everything


LINES = """\
- type: source
  name: s
  config: { type: json, path: s.json, schema: { id: int, lines: array, tags: array } }
"""


def members(cxl: str, nodes: str = "", reader: str = "t", more: str = "") -> dict[str, str]:
    """The members of elements that are read of arrays of which nothing else is, as words."""
    pipeline = LINES + transform(f'"{cxl}"', more) + nodes + output(reader, ONLY_EMITTED)
    found = required(pipeline)["s"]
    assert set(found.members) <= set(found.for_results)
    return {name: " ".join(keys) for name, keys in found.members.items()}


def test_arrays_of_which_only_members_are_read() -> None:
    block = "emit each x in lines { emit a = x.a emit b = x.b + x.a }"
    assert members(f"emit id = id {block}") == {"lines": "a b"}
    assert members(f"filter id > 1 {block}") == {"lines": "a b"}


@pytest.mark.parametrize(
    "cxl",
    [
        "emit each x in lines { emit a = x.a emit all = x }",
        "emit each x in lines { emit a = x.a emit k = x['odd key'] }",
        "emit each x in lines { emit a = x.a emit n = lines.length() }",
        "emit n = lines.length() emit each x in lines { emit a = x.a }",
        "let l = lines emit each x in l { emit a = x.a }",
        "emit each x in lines { emit each y in tags { emit a = x.a emit b = y.b } }",
        "emit each x in lines { emit a = x.a } emit each y in lines { emit b = y.b }",
        "emit each x in lines { emit a = id }",
        "distinct emit each x in lines { emit a = x.a }",
    ],
)
def test_arrays_that_are_needed_whole(cxl: str) -> None:
    assert members(cxl) == {}


def test_arrays_that_others_need_whole() -> None:
    block = "emit each x in lines { emit a = x.a }"
    assert members(block, output("s", name="all")) == {}
    assert members(block, output("t", name="all")) == {}
    check = "    validations: [{ check: 'lines != null' }]\n"
    assert members(block, more=check) == {}


def test_arrays_whose_members_several_read() -> None:
    second = transform('"emit each y in lines { emit b = y.b }"').replace("name: t", "name: u")
    nodes = second + output("u", ONLY_EMITTED, name="other")
    assert members("emit each x in lines { emit a = x.a }", nodes) == {"lines": "b a"}
