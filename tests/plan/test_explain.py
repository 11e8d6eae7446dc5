"""`--explain`: the plan of a pipeline as text, JSON and Graphviz."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from textwrap import dedent
from typing import Any

import jsonschema
import pytest

from clinker.formats.files.local import input_file
from clinker.formats.files.staging.copying import make_copy
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.explain import explain
from clinker.plan.explain.as_text import size
from clinker.plan.options import Options
from clinker.staged_copies import StagedCopy
from tests.formats.files.staging.staged import Events
from tests.plan.compiling import brief

ROOT = Path(__file__).resolve().parents[2]
PIPELINES = [
    path
    for path in sorted((ROOT / "tests/config/data").glob("*.yaml"))
    if path.stem != "abbreviated"  # shows the ways to write nodes, not a pipeline that compiles
]
SCHEMA = json.loads((ROOT / "docs/explain/plan.schema.json").read_text("utf-8"))
GUIDE = (ROOT / "docs/explain.md").read_text("utf-8")

ORDERS = """\
  - type: source
    name: orders
    config:
      type: csv
      path: orders.csv
      schema:
        - { name: id, type: string }
        - { name: region, type: string }
        - { name: amount, type: float }
"""
KEYED = ORDERS.replace("path: orders.csv", "path: orders.csv\n      correlation_key: id")
SORTED = ORDERS.replace("path: orders.csv", "path: orders.csv\n      sort_order: [region]")
RATES = ORDERS.replace("orders", "rates").replace("amount", "rate")
OUT = "  - { type: output, name: out, input: INPUT, config: { type: csv, path: out.csv } }\n"
TOTALS = """\
  - type: aggregate
    name: totals
    input: orders
    config: { group_by: [region], cxl: "emit total = sum(amount)" }
"""


def output(reads: str) -> str:
    return OUT.replace("INPUT", reads)


def combine(where: str, more: str = "") -> str:
    return f"""\
  - type: combine
    name: joined
    input: {{ o: orders, r: rates }}
    config:
      where: "{where}"
      propagate_ck: driver
      cxl: "emit id = o.id"
      {more}
"""


def planned(
    base: Path, nodes: str, *, head: str = "", storage: str = "", force: bool = False
) -> Plan:
    """The plan of these nodes, with input files of 1024 bytes."""
    (base / "orders.csv").write_bytes(b"x" * 1024)
    (base / "rates.csv").write_bytes(b"x" * 1024)
    (base / "clinker.toml").write_text(storage)
    text = f"pipeline:\n  name: shop\n{dedent(head)}nodes:\n{nodes}"
    compiled = compile_pipeline(text.encode(), "pipeline.yaml", Options(base, force=force))
    assert compiled.plan, brief(compiled.diagnostics)
    return compiled.plan


def section(text: str, title: str) -> str:
    """What stands under a title, without blank lines."""
    found = re.search(rf"^=== {title} ===\n(.*?)(?=^=== |\Z)", text, re.MULTILINE | re.DOTALL)
    return "\n".join(line for line in found[1].splitlines() if line) if found else ""


def document(plan: Plan) -> Any:
    """The JSON form, after it was checked against its schema."""
    found = json.loads(explain(plan, "json"))
    jsonschema.Draft202012Validator(SCHEMA).validate(found)
    return found


def explained(base: Path, nodes: str, title: str, storage: str = "") -> str:
    return section(explain(planned(base, nodes, storage=storage), "text"), title)


# The nodes


def test_the_plan_begins_with_its_nodes_and_where_their_records_go(tmp_path: Path) -> None:
    text = explain(
        planned(
            tmp_path,
            ORDERS
            + """\
  - { type: transform, name: checked, input: orders, config: { cxl: "emit twice = amount * 2" } }
  - type: route
    name: by_value
    input: checked
    config: { conditions: { high: amount > 10 }, default: low }
  - { type: output, name: high, input: by_value.high, config: { type: csv, path: high.csv } }
  - { type: output, name: low, input: by_value.low, config: { type: csv, path: low.csv } }
""",
        ),
        "text",
    )
    assert text.startswith(
        dedent(
            """\
            Execution Plan: shop
            ====================

            Node 0: orders (Source, parallel: file-chunked)
              -> checked

            Node 1: checked (Transform, parallel: record)
              -> by_value

            Node 2: by_value (Route, parallel: record)
              -> [high] high
              -> [low] low

            Node 3: high (Output, parallel: serial)

            Node 4: low (Output, parallel: serial)

            === Resolved Outputs ===
            """
        )
    )
    assert section(text, "Routes") == dedent(
        """\
        Route 'by_value' (mode: exclusive):
          high if amount > 10 → high
          low (default) → low"""
    )


def test_outputs_show_the_files_they_will_be(tmp_path: Path) -> None:
    nodes = ORDERS + output("orders").replace(
        "path: out.csv", 'path: "{source_name}-{timestamp}.csv", split: { max_records: 5 }'
    )
    plan = planned(
        tmp_path, nodes, head="error_handling: { dlq: { path: dead.csv } }\n", force=True
    )
    assert section(explain(plan, "text"), "Resolved Outputs").splitlines() == [
        "  'out' → orders-{timestamp}.csv",
        "      [if_exists=overwrite, write_meta=false, split into orders-{timestamp}_0001.csv, …]",
        "  dead letters of 'orders' → dead.csv",
    ]


@pytest.mark.parametrize(
    ("backpressure", "policy"),
    [
        ("pause", "BackPressurePreferred -> Priority"),
        ("spill", "Priority"),
        ("both", "BackPressurePreferred -> LargestFirst"),
    ],
)
def test_the_policy_under_memory_pressure_is_named(
    tmp_path: Path, backpressure: str, policy: str
) -> None:
    head = f"  memory: {{ backpressure: {backpressure} }}\n"
    text = f"pipeline:\n  name: shop\n{head}nodes:\n{ORDERS}{output('orders')}"
    compiled = compile_pipeline(text.encode(), "p.yaml", Options(tmp_path))
    assert compiled.plan
    lines = section(explain(compiled.plan, "text"), "Execution Plan").splitlines()
    assert lines == [
        "Mode: Streaming",
        "Transforms: 0",
        "Output projections: 1",
        "DAG nodes: 2",
        f"arbitration: {policy}",
    ]


def test_a_source_shows_which_columns_are_read(tmp_path: Path) -> None:
    nodes = ORDERS + TOTALS + output("totals")
    assert explained(tmp_path, nodes, "Schemas").splitlines()[:3] == [
        "source.orders: id Nullable(String), region Nullable(String), amount Nullable(Float)",
        "  reads: region, amount",
        "  does not read: id",
    ]


# Buffers and volumes


def buffers(text: str) -> dict[str, str]:
    stanzas = re.findall(r"^(\w+\.\w+):\n(?:  .*\n)*?  buffer: (\w+)$", text, re.MULTILINE)
    return dict(stanzas)


def crossings(text: str) -> list[str]:
    found = re.findall(r"^edge (.*):\n.*\n  spark: (.*)$", text, re.MULTILINE)
    return [f"{edge}: {crossing}" for edge, crossing in found]


def test_a_fast_source_feeds_a_slow_aggregate(tmp_path: Path) -> None:
    """The worked example of the memory chapter."""
    text = explain(planned(tmp_path, ORDERS + TOTALS + output("totals")), "text")
    properties = section(text, "Physical Properties")
    assert "\n".join(properties.splitlines()[5:7]) == (
        "  buffer: materialized\n"
        "  arbitration: spill_priority=N/A, can_back_pressure=true, predicted_peak=1K, "
        "predicted_freed=0B, predicted_subtree_reclaim=1K"
    )
    assert (
        "  strategy: hash (the input is not known to be sorted by region)\n"
        "  buffer: materialized\n"
        "  arbitration: spill_priority=30, can_back_pressure=false, predicted_peak=1K, "
        "predicted_freed=1K, predicted_subtree_reclaim=1K\n"
    ) in properties
    assert section(text, "Buffer Edges").startswith(
        "edge source.orders -> aggregation.totals:\n"
        "  buffer: node_buffer (slot=0)\n"
        "  spark: shuffle (grouped by region)\n"
        "  arbitration: spill_priority=0, can_back_pressure=false, predicted_peak=1K, "
        "predicted_freed=1K (producer: source)\n"
    )
    assert section(text, "Estimated Spill Volume") == (
        "Estimated spill volume (per blocking stage):\n"
        "  [aggregation:hash] totals → 1K\n"
        "  Total: 1K"
    )


def test_what_runs_in_one_stage_is_streaming(tmp_path: Path) -> None:
    nodes = (
        ORDERS + "  - { type: transform, name: t, input: orders, config: { cxl: emit a = 1 } }\n"
    )
    text = explain(planned(tmp_path, nodes + output("t")), "text")
    assert set(buffers(text).values()) == {"streaming"}
    assert not section(text, "Buffer Edges")
    assert not section(text, "Estimated Spill Volume")


def test_sorted_records_are_grouped_as_they_come(tmp_path: Path) -> None:
    text = explain(planned(tmp_path, SORTED + TOTALS + output("totals")), "text")
    assert buffers(text)["aggregation.totals"] == "streaming"
    assert "  ordering: region\n" in text
    assert "spill_priority=30" not in text


@pytest.mark.parametrize(
    ("where", "more", "crossing"),
    [
        (
            "o.id == r.id",
            "",
            [
                "source.rates -> combine.joined: broadcast "
                "(build input; when it is large, both inputs are shuffled)"
            ],
        ),
        (
            "o.id == r.id",
            "strategy: grace_hash",
            [
                "source.orders -> combine.joined: shuffle (partitioned by the join key)",
                "source.rates -> combine.joined: shuffle (partitioned by the join key)",
                "combine.joined -> output.out: shuffle (put back into the order of the records)",
            ],
        ),
        (
            "o.amount < r.rate",
            "",
            [
                "source.orders -> combine.joined: cache (compared pair by pair)",
                "source.rates -> combine.joined: broadcast (build input, compared pair by pair)",
                "combine.joined -> output.out: shuffle (put back into the order of the records)",
            ],
        ),
    ],
)
def test_a_join_moves_its_inputs_as_its_strategy_asks(
    tmp_path: Path, where: str, more: str, crossing: list[str]
) -> None:
    nodes = ORDERS + RATES + combine(where, more) + output("joined")
    assert crossings(explain(planned(tmp_path, nodes), "text")) == crossing


def test_distinct_windows_and_sorted_outputs_shuffle(tmp_path: Path) -> None:
    nodes = (
        ORDERS
        + """\
  - { type: transform, name: once, input: orders, config: { cxl: distinct by id } }
  - type: transform
    name: ranked
    input: once
    config: { analytic_window: { group_by: [region] }, cxl: emit n = $window.count() }
"""
        + output("ranked").replace("path: out.csv", "path: out.csv, sort_order: [id]")
    )
    text = explain(planned(tmp_path, nodes), "text")
    assert crossings(text) == [
        "source.orders -> transform.once: shuffle (duplicates brought together)",
        "transform.once -> transform.ranked: shuffle (partitioned by region)",
        "transform.ranked -> output.out: shuffle (sorted by id)",
    ]
    assert section(text, "Windows").splitlines()[:2] == [
        "Window 'ranked':",
        "  Root: transform.once",
    ]
    assert "Node 2: ranked (Transform, parallel: partition)" in text
    assert "  Sort 'out' → lz4" in section(text, "Storage")


def test_a_window_over_another_source_is_a_connection(tmp_path: Path) -> None:
    nodes = (
        ORDERS
        + RATES
        + """\
  - type: transform
    name: rated
    input: orders
    config:
      analytic_window: { source: rates, group_by: [region], on: region }
      cxl: emit best = $window.max(rate)
"""
        + output("rated")
    )
    plan = planned(tmp_path, nodes)
    assert document(plan)["nodes"][2]["window"]["lookup"] == ["region"]
    text = explain(plan, "text")
    assert "Node 1: rates (Source, parallel: file-chunked)\n  -> [window] rated\n" in text
    assert '1 -> 2 [label="window", style=dashed];' in explain(plan, "dot")


def test_a_reclaim_stops_where_chains_meet(tmp_path: Path) -> None:
    nodes = ORDERS + RATES + combine("o.id == r.id") + output("joined")
    found = document(planned(tmp_path, nodes))["node_properties"]
    assert found["orders"]["predicted_subtree_reclaim_bytes"] == 0
    assert found["joined"]["predicted_peak_bytes"] == 2048
    assert found["joined"]["predicted_subtree_reclaim_bytes"] == 2048


def test_the_files_of_a_glob_are_added_up(tmp_path: Path) -> None:
    (tmp_path / "orders_2.csv").write_bytes(b"x" * 512)
    nodes = ORDERS.replace("path: orders.csv", 'glob: "orders*.csv"') + TOTALS + output("totals")
    assert "  Total: 1.50K" in explained(tmp_path, nodes, "Estimated Spill Volume")


def test_a_missing_file_has_no_size(tmp_path: Path) -> None:
    nodes = ORDERS.replace("orders.csv", "absent.csv") + TOTALS + output("totals")
    plan = planned(tmp_path, nodes)
    volume = section(explain(plan, "text"), "Estimated Spill Volume")
    assert "  [aggregation:hash] totals → unknown\n  Total (known stages): 0B (excludes" in volume
    found = document(plan)
    assert found["node_properties"]["orders"]["estimated_bytes"] is None
    assert found["storage_summary"]["estimated_spill"]["any_unknown"] is True


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0B"), (1023, "1023B"), (1024, "1K"), (1536, "1.50K"), (64 * 2**20, "64M"), (2**31, "2G")],
)
def test_sizes_are_shown_in_binary_units(number: int, shown: str) -> None:
    assert size(number) == shown


# Combines, CXL, retraction


def test_a_combine_shows_the_parts_of_its_condition(tmp_path: Path) -> None:
    where = "o.id == r.id and o.amount >= r.rate and (o.region == 'x' or r.rate > 1.0)"
    nodes = ORDERS + RATES + combine(where, "on_miss: skip") + output("joined")
    plan = planned(tmp_path, nodes)
    assert document(plan)["nodes"][2]["steps"][0]["ranges"] == [
        {"left": "o.amount", "op": ">=", "right": "r.rate"}
    ]
    assert section(explain(plan, "text"), "Combines") == dedent(
        """\
        Combine 'joined':
          Driving input: o (from orders)
          Step 1: build r (from rates)
            Strategy: hash_partition_iejoin (equi-join, the ranges checked inside each key)
            Equalities: o.id == r.id
            Ranges: o.amount >= r.rate
            Residuals: o.region == "x" or r.rate > 1.0
          Match: first
          On miss: skip
          Correlation keys: driver"""
    )


def test_a_program_shows_what_it_reads_writes_and_risks(tmp_path: Path) -> None:
    nodes = ORDERS + (
        "  - { type: transform, name: t, input: orders, "
        "config: { cxl: emit share = amount / id.to_float() } }\n"
    )
    assert explained(tmp_path, nodes + output("t"), "CXL") == dedent(
        """\
        transform.t:
          reads: id Nullable(String), amount Nullable(Float)
          writes: share Nullable(Float)
          can fail: division_by_zero, conversion_failed"""
    )


def test_retraction_shows_what_it_costs(tmp_path: Path) -> None:
    nodes = (
        KEYED
        + TOTALS
        + TOTALS.replace("totals", "extremes").replace("sum", "max")
        + """\
  - type: transform
    name: running
    input: totals
    config:
      analytic_window: { group_by: [region] }
      cxl: emit sofar = $window.sum(total)
"""
        + output("running")
        + output("extremes").replace("out", "other").replace("otherput", "output")
    )
    plan = planned(tmp_path, nodes)
    assert document(plan)["retraction"]["windows"][0]["partition_by"] == ["region"]
    assert section(explain(plan, "text"), "Retraction") == dedent(
        """\
        retraction enabled — 2 relaxed aggregates, 1 buffer-mode windows, fanout policy: any.
        aggregate 'totals':
          group_by omits: $ck.id
          accumulators: Reversible
          lineage: none, until a failure behind it leads back to its records
          synthetic key: $ck.aggregate.totals, ~16 bytes/output row
          groups: unknown at plan time
          on failure: computed again without the records taken back, never degraded
        aggregate 'extremes':
          group_by omits: $ck.id
          accumulators: BufferRequired
          lineage: none, until a failure behind it leads back to its records
          synthetic key: $ck.aggregate.extremes, ~16 bytes/output row
          groups: unknown at plan time
          on failure: computed again without the records taken back, never degraded
        window 'running':
          source: totals
          partition_by: region
          buffer: 2 Value slots/row (region, total)
          worst case: rows of the largest partition at 2 Value slots each
          on failure: computed again without the records taken back, never degraded"""
    )


def test_retraction_shows_who_has_a_policy_of_its_own(tmp_path: Path) -> None:
    own = KEYED.replace("correlation_key", "correlation_fanout_policy: all\n      correlation_key")
    assert own != KEYED
    plan = planned(tmp_path, own + TOTALS + output("totals"))
    first, second, *_ = section(explain(plan, "text"), "Retraction").splitlines()
    assert first.endswith("fanout policy: any.")
    assert second == "fanout policy of 'orders': all"
    assert document(plan)["retraction"]["own_fanout_policies"] == {"orders": "all"}


def test_strict_correlation_has_no_retraction_and_holds_its_outputs(tmp_path: Path) -> None:
    text = explain(planned(tmp_path, KEYED + output("orders")), "text")
    assert not section(text, "Retraction")
    held = "source.orders -> output.out: cache (held until the correlation groups are decided)"
    assert crossings(text) == [held]


# Storage


def test_the_defaults_of_storage(tmp_path: Path) -> None:
    plan = planned(tmp_path, ORDERS + output("orders"))
    text = explain(plan, "text")
    place = tempfile.gettempdir()
    assert document(plan)["storage_summary"]["spill_root"] == {
        "path": place,
        "source": "OS temp dir (default)",
    }
    assert section(text, "Storage").splitlines() == [
        f"Spill root: {place} [OS temp dir (default)]",
        "Spill disk cap: unlimited (default)",
        "Spill compression: Auto (default)",
    ]
    assert section(text, "Staging Plan") == "Staging is disabled: every source reads in place."


def test_names_of_directories_cannot_write_lines_of_their_own(tmp_path: Path) -> None:
    storage = '[storage.spill]\ndir = "a\\n=== Schemas ===\\u001b[2J"\n'
    text = explain(planned(tmp_path, ORDERS + output("orders"), storage=storage), "text")
    shown = r"a\n=== Schemas ===\x1b[2J [storage.spill.dir]"
    assert section(text, "Storage").splitlines()[0] == f"Spill root: {tmp_path}/{shown}"


def test_a_spill_cap_shows_its_headroom(tmp_path: Path) -> None:
    storage = '[storage.spill]\ndir = "spill"\ndisk_cap_bytes = "2KB"\ncompress = "off"\n'
    plan = planned(tmp_path, ORDERS + TOTALS + output("totals"), storage=storage)
    lines = section(explain(plan, "text"), "Storage").splitlines()
    assert lines == [
        f"Spill root: {tmp_path}/spill [storage.spill.dir]",
        "Spill disk cap: 2000 bytes [storage.spill.disk_cap_bytes]",
        "Spill compression: Off [storage.spill.compress]",
        "  Aggregate 'totals' → off",
        "Cap headroom: 976 bytes free (1024 estimated of 2000 cap, 51%)",
        "  [per invocation — does NOT account for sibling invocations sharing the spill volume "
        "under partition-and-run]",
    ]
    summary = document(plan)["storage_summary"]
    assert summary["cap_headroom"] == {
        "headroom_bytes": 976,
        "estimated_bytes": 1024,
        "cap_bytes": 2000,
        "pct_of_cap": 51.2,
        "over_threshold": False,
    }


def test_a_cap_that_is_too_small_is_pointed_out(tmp_path: Path) -> None:
    storage = '[storage.spill]\ndisk_cap_bytes = "1KB"\n'
    nodes = ORDERS + TOTALS + output("totals")
    found = explained(tmp_path, nodes, "Storage", storage=storage)
    assert "Cap headroom: 24 bytes short (1024 estimated of 1000 cap, 102%)" in found
    assert "W331" in found


def test_staging_names_the_copies(tmp_path: Path) -> None:
    storage = (
        '[storage.staging]\nenabled = true\ndir = "staged"\n'
        'patterns = ["orders*"]\non_existing = "reuse"\n'
    )
    nodes = ORDERS + RATES + combine("o.id == r.id") + output("joined")
    plan = planned(tmp_path, nodes, storage=storage)
    staging = document(plan)["storage_summary"]["staging"]
    assert [file["staged"] for source in staging["sources"] for file in source["files"]] == [
        True,
        False,
    ]
    lines = section(explain(plan, "text"), "Staging Plan").splitlines()
    place = re.escape(f"{tmp_path}/staged/")
    staged = rf"  orders\.csv → staged: yes, path: {place}[0-9a-f]{{64}}\.staged, reuse: miss"
    assert lines[0] == "Source 'orders':"
    assert re.fullmatch(staged, lines[1])
    assert lines[2:] == [
        "Source 'rates':",
        "  rates.csv → staged: no (no pattern match, reads in place)",
    ]


def test_staging_tells_whether_the_copy_of_an_earlier_run_would_do(tmp_path: Path) -> None:
    storage = (
        '[storage.staging]\nenabled = true\ndir = "staged"\n'
        'patterns = ["*.csv"]\non_existing = "reuse"\n'
    )
    nodes = ORDERS + RATES + combine("o.id == r.id") + output("joined")
    plan = planned(tmp_path, nodes, storage=storage)
    (tmp_path / "staged").mkdir()
    for name in ("orders.csv", "rates.csv"):
        copy = StagedCopy.of(tmp_path / "staged", tmp_path / name)
        make_copy(input_file(0, str(tmp_path / name)), copy, "r", Events(), verifies=False)
    (tmp_path / "rates.csv").write_bytes(b"y" * 1024)
    before = sorted((tmp_path / "staged").iterdir())
    lines = section(explain(plan, "text"), "Staging Plan").splitlines()
    assert [line.rpartition(" ")[2] for line in lines] == ["'orders':", "hit", "'rates':", "miss"]
    sources = document(plan)["storage_summary"]["staging"]["sources"]
    assert [file["reuse"] for source in sources for file in source["files"]] == ["hit", "miss"]
    assert sorted((tmp_path / "staged").iterdir()) == before
    plan = planned(tmp_path, nodes, storage=storage.replace("reuse", "overwrite"))
    assert "reuse" not in section(explain(plan, "text"), "Staging Plan")


# All forms, on whole pipelines


def whole_plan(path: Path, base: Path) -> Plan:
    compiled = compile_pipeline(path.read_bytes(), path.name, Options(base))
    assert compiled.plan, brief(compiled.diagnostics)
    return compiled.plan


@pytest.mark.parametrize("path", PIPELINES, ids=lambda path: path.stem)
def test_the_json_form_is_what_its_schema_says(path: Path, tmp_path: Path) -> None:
    found = document(whole_plan(path, tmp_path))
    names = [node["name"] for node in found["nodes"]]
    assert names == list(found["node_properties"])
    assert [node["index"] for node in found["nodes"]] == list(range(len(names)))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("form", ["text", "json", "dot"])
@pytest.mark.parametrize("path", PIPELINES, ids=lambda path: path.stem)
def test_the_same_plan_gives_the_same_text_wherever_it_stands(
    path: Path, form: str, tmp_path: Path
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    texts = [explain(whole_plan(path, tmp_path / name), form) for name in "ab"]
    assert texts[0] == texts[1]
    assert texts[0].endswith("\n")
    assert str(tmp_path) not in texts[0]


_STRING = r'"(?:[^"\\\n]|\\.)*"'
_DOT = re.compile(
    rf"digraph {_STRING} \{{\n    rankdir=LR;\n    node \[shape=box\];\n"
    rf"(?:    \d+ \[label={_STRING}\];\n)+"
    rf"(?:    \d+ -> \d+(?: \[(?:label={_STRING})?(?:, )?(?:style=dashed)?\])?;\n)*\}}\n"
)


@pytest.mark.parametrize("path", PIPELINES, ids=lambda path: path.stem)
def test_the_dot_form_is_a_graph(path: Path, tmp_path: Path) -> None:
    assert _DOT.fullmatch(explain(whole_plan(path, tmp_path), "dot"))


def test_the_dot_form_shows_types_parallelism_and_ports(tmp_path: Path) -> None:
    nodes = ORDERS + (
        "  - { type: route, name: 'a \"b\"\\c', input: orders, "
        "config: { conditions: { out: amount > 1 }, default: rest } }\n"
    )
    text = explain(planned(tmp_path, nodes + output("'a \"b\"\\c.out'")), "dot")
    assert _DOT.fullmatch(text)
    assert '    0 [label="orders\\nSource\\nparallel: file-chunked"];' in text
    assert '    1 [label="a \\"b\\"\\\\c\\nRoute\\nparallel: record"];' in text
    assert '    1 -> 2 [label="out"];' in text


@pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed")
@pytest.mark.parametrize("path", PIPELINES, ids=lambda path: path.stem)
def test_graphviz_draws_the_dot_form(path: Path, tmp_path: Path) -> None:
    text = explain(whole_plan(path, tmp_path), "dot")
    drawn = subprocess.run(["dot", "-Tsvg"], input=text, text=True, capture_output=True)
    assert drawn.returncode == 0, drawn.stderr
    assert "<svg" in drawn.stdout


def test_explaining_needs_no_spark() -> None:
    modules = "clinker.plan.explain, clinker.engine.report.interpreted"
    check = f"import sys, {modules}; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0


def test_the_example_of_the_guide_is_explained_as_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/tmp")
    blocks = dict(re.findall(r"^```text (\w+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))
    (tmp_path / "orders.csv").write_bytes(b"x" * 1024)
    compiled = compile_pipeline(blocks["pipeline"].encode(), "p.yaml", Options(tmp_path))
    assert compiled.plan
    assert explain(compiled.plan, "text") == blocks["explained"]
