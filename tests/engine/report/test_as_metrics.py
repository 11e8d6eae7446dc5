"""The metrics file of a run."""

from __future__ import annotations

import json
import re
import stat
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from clinker.cli.clinker import main
from clinker.engine.report.as_metrics import execution_mode, metrics, spool_directory, write_metrics
from clinker.engine.report.facts import (
    Counts,
    DeadLetterFile,
    OutputReport,
    Retracted,
    RunReport,
    SourceReport,
    SpilledNode,
)
from clinker.plan.analyses.passing import NodePassing
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.options import Options

PIPELINE = """\
pipeline:
  name: customer_etl
  metrics: { spool_dir: spool }
nodes:
  - type: source
    name: customers
    config: { type: csv, path: customers.csv, schema: [{ name: id, type: int }] }
  - type: output
    name: result
    input: customers
    config: { type: csv, path: result.csv }
"""
STARTED = datetime(2026, 4, 11, 10, 0, 0, tzinfo=UTC)
ROOT = Path(__file__).resolve().parents[3]
EXECUTION = "01912345-6789-7abc-8ef0-123456789abc"


def plan(folder: Path, text: str = PIPELINE, **options: object) -> Plan:
    (folder / "customers.csv").write_text("id\n1\n")
    chosen = Options(base_dir=folder, **options)  # type: ignore[arg-type]
    compiled = compile_pipeline(text.encode(), str(folder / "daily_etl.yaml"), chosen)
    assert compiled.plan, compiled.diagnostics
    return compiled.plan


def report(folder: Path) -> RunReport:
    return RunReport(
        execution_id=EXECUTION,
        batch_id="b",
        started=STARTED,
        finished=STARTED + timedelta(seconds=5),
        pipeline="customer_etl",
        exit_code=2,
        counts=Counts(total=50_000, ok=49_950, written=49_950, dlq=50, filtered=3),
        sources=(
            SourceReport(
                name="customers",
                files=(folder / "customers.csv",),
                records=50_000,
                rejected=50,
                rollback_cursor=49_998,
            ),
        ),
        outputs=(
            OutputReport(name="result", paths=(folder / "result.csv",), records=49_950, bytes=1),
        ),
        dead_letter_files=(DeadLetterFile(path=folder / "errors.csv", entries=50),),
        peak_rss_bytes=134_217_728,
        nodes=(
            NodePassing(
                name="customers",
                kind="source",
                records_in=50_000,
                records_out=49_950,
                rejected=50,
                filtered=0,
                distinct=0,
            ),
        ),
        spilled=(SpilledNode(node="by_region", bytes=1_048_576, estimate=None),),
    )


def test_the_metrics_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "prod-etl-01")
    found = metrics(plan(tmp_path), report(tmp_path), threads=4)
    assert list(found.items()) == [
        ("execution_id", EXECUTION),
        ("schema_version", 1),
        ("pipeline_name", "customer_etl"),
        ("config_path", str(tmp_path / "daily_etl.yaml")),
        ("hostname", "prod-etl-01"),
        ("started_at", "2026-04-11T10:00:00.000Z"),
        ("finished_at", "2026-04-11T10:00:05.000Z"),
        ("duration_ms", 5000),
        ("exit_code", 2),
        ("records_total", 50_000),
        ("records_ok", 49_950),
        ("records_dlq", 50),
        ("execution_mode", "streaming"),
        ("peak_rss_bytes", 134_217_728),
        ("thread_count", 4),
        ("input_files", [str(tmp_path / "customers.csv")]),
        ("output_files", [str(tmp_path / "result.csv")]),
        ("dlq_path", str(tmp_path / "errors.csv")),
        ("error", None),
        ("batch_id", "b"),
        ("records_written", 49_950),
        ("per_source_record_counts", {"customers": 50_000}),
        ("per_source_dlq_counts", {"customers": 50}),
        ("per_source_rollback_cursors", {"customers": 49_998}),
        ("records_filtered", 3),
        ("records_distinct", None),
        (
            "nodes",
            [
                {
                    "name": "customers",
                    "kind": "source",
                    "records_in": 50_000,
                    "records_out": 49_950,
                    "rejected": 50,
                    "filtered": 0,
                    "distinct": 0,
                    "ports": {},
                }
            ],
        ),
        ("spilled", [{"node": "by_region", "bytes": 1_048_576, "estimate_bytes": None}]),
    ]


def retract(folder: Path) -> object:
    facts = Retracted(
        rounds=6,
        computed_again=7,
        key_columns=1,
        output_rows=2,
        failed_groups=3,
        records_taken_back=4,
        groups_recomputed=0,
        partitions_recomputed=None,
    )
    found = metrics(plan(folder), replace(report(folder), retracted=facts), threads=1)
    return found["correlation"]


def test_what_it_took_to_settle_groups(tmp_path: Path) -> None:
    assert retract(tmp_path) == {
        "retract": {
            "rounds": 6,
            "groups_recomputed": 0,
            "partitions_recomputed": None,
            "subdag_replay_rows": 7,
            "output_rows_retracted_total": 2,
            "degrade_fallback_count": 0,
            "synthetic_ck_columns_emitted_total": 1,
            "synthetic_ck_fanout_lookups_total": 3,
            "synthetic_ck_fanout_rows_expanded_total": 4,
        }
    }


def test_the_documentation_knows_every_counter_of_retraction(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "running" / "metrics.md").read_text("utf-8")
    counters = retract(tmp_path)
    assert isinstance(counters, dict)
    assert re.findall(r"^\| `correlation\.retract\.(\w+)` \|", page, re.MULTILINE) == list(
        counters["retract"]
    )


def test_the_documentation_knows_every_field(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "running" / "metrics.md").read_text("utf-8")
    [example] = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    about_runs, _, about_nodes = page.partition("## Records by node")
    written = metrics(plan(tmp_path), report(tmp_path), threads=4)
    assert list(json.loads(example)) == list(written) == documented(about_runs)
    nodes = json.loads(json.dumps(written["nodes"]))
    fields = list(json.loads(example)["nodes"][0])
    assert [list(node) for node in nodes] == [fields]
    assert fields == documented(about_nodes)


def documented(page: str) -> list[str]:
    """What the first cells of its tables name."""
    rows = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


def test_records_that_are_grouped_are_not_streamed(tmp_path: Path) -> None:
    node = (
        "  - { type: aggregate, name: n, input: customers, config: { cxl: emit n = count(*) } }\n"
    )
    grouped = PIPELINE.replace("    input: customers\n", "    input: n\n").replace(
        "  - type: output\n", node + "  - type: output\n"
    )
    text = grouped.replace("config: { cxl", "config: { group_by: [id], cxl")
    assert execution_mode(plan(tmp_path, text)) == "batch"


@pytest.mark.parametrize("given", [None, Path("elsewhere")])
def test_the_caller_decides_where_metrics_go(tmp_path: Path, given: Path | None) -> None:
    chosen = spool_directory(plan(tmp_path, metrics_spool_dir=given))
    assert chosen == (given or tmp_path / "spool")


def test_only_the_user_of_the_run_can_read_them(tmp_path: Path) -> None:
    file = write_metrics(tmp_path / "spool", {"execution_id": "one"})
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_archived_in_the_order_of_the_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spool, archive = tmp_path / "spool", tmp_path / "archives" / "all.ndjson"
    compiled = plan(tmp_path)
    for name, hours in (("b", 1), ("a", 2), ("c", 0)):
        late = STARTED + timedelta(hours=hours)
        found = metrics(compiled, report(tmp_path), threads=1)
        write_metrics(spool, {**found, "execution_id": name, "started_at": late.isoformat()})
    args = ["--spool-dir", str(spool), "--output-file", str(archive), "--delete-after-collect"]
    assert main(["metrics", "collect", *args]) == 0
    assert capsys.readouterr().out == f"Collected 3 file(s) → {archive}\n"
    lines = archive.read_text().splitlines()
    assert [json.loads(line)["execution_id"] for line in lines] == ["c", "b", "a"]
    assert not list(spool.iterdir())
