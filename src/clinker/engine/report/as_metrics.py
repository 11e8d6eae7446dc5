"""Metrics: what a run leaves behind for monitoring, one small JSON file each."""

from __future__ import annotations

import json
import resource
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from clinker.config.nodes import SourceNode
from clinker.config.transport import RestTransport
from clinker.engine.report.as_json import spilled_as_json
from clinker.engine.report.facts import Retracted, RunReport
from clinker.engine.report.leaving import leave
from clinker.engine.report.notation import absolute, duration_ms, node_counts, timestamp
from clinker.plan.compile import Plan
from clinker.plan.explain.handoffs import Crossing, hand_offs
from clinker.plan.explain.operators import operator
from clinker.plan.files.discovery import discover
from clinker.plan.files.paths import resolve

SCHEMA_VERSION = 1
SUFFIX = ".json"


def spool_directory(plan: Plan) -> Path | None:
    """Where the metrics of a run go: the caller decides, else the pipeline file."""
    chosen = plan.options.metrics_spool_dir
    written = plan.pipeline.pipeline.metrics.spool_dir
    if chosen is None and written is not None:
        return resolve(written, plan.options.base_dir)
    return chosen


def metrics(
    plan: Plan, report: RunReport, *, threads: int | None, error: str | None = None
) -> dict[str, object]:
    """The metrics of a run that ended, with `error` if it failed."""
    counts = report.counts
    return {
        "execution_id": report.execution_id,
        "schema_version": SCHEMA_VERSION,
        "pipeline_name": report.pipeline,
        "config_path": absolute(plan.path),
        "hostname": socket.gethostname(),
        "started_at": timestamp(report.started),
        "finished_at": timestamp(report.finished),
        "duration_ms": duration_ms(report),
        "exit_code": int(report.exit_code),
        "records_total": counts.total,
        "records_ok": counts.ok,
        "records_dlq": counts.dlq,
        "execution_mode": execution_mode(plan),
        "peak_rss_bytes": report.peak_rss_bytes or _peak_rss_bytes(),
        "thread_count": threads,
        "input_files": _input_files(plan, report),
        "output_files": [absolute(path) for output in report.outputs for path in output.paths],
        "dlq_path": next((absolute(file.path) for file in report.dead_letter_files), None),
        "error": error,
        "batch_id": report.batch_id,
        "records_written": counts.written,
        "per_source_record_counts": {source.name: source.records for source in report.sources},
        "per_source_dlq_counts": {source.name: source.rejected for source in report.sources},
        "per_source_rollback_cursors": {
            source.name: source.rollback_cursor
            for source in report.sources
            if source.rollback_cursor is not None
        },
        "records_filtered": counts.filtered,
        "records_distinct": counts.distinct,
        "nodes": [node_counts(node) for node in report.nodes],
        "spilled": spilled_as_json(report),
        **_correlation(report.retracted),
    }


def _correlation(retracted: Retracted | None) -> dict[str, object]:
    """What it took to settle groups; nothing is ever given up halfway, so nothing degrades."""
    if retracted is None:
        return {}
    counters = {
        "rounds": retracted.rounds,
        "groups_recomputed": retracted.groups_recomputed,
        "partitions_recomputed": retracted.partitions_recomputed,
        "subdag_replay_rows": retracted.computed_again,
        "output_rows_retracted_total": retracted.output_rows,
        "synthetic_ck_columns_emitted_total": retracted.key_columns,
        "synthetic_ck_fanout_lookups_total": retracted.failed_groups,
        "synthetic_ck_fanout_rows_expanded_total": retracted.records_taken_back,
        "degrade_fallback_count": 0,
    }
    return {"correlation": {"retract": counters}}


def execution_mode(plan: Plan) -> str:
    """`streaming` if records pass from the sources to the outputs without being held anywhere."""
    operators = {unit.name: operator(plan, unit) for unit in plan.graph}
    passed_on = all(h.crossing is Crossing.PIPELINED for h in hand_offs(plan, operators))
    return "streaming" if passed_on else "batch"


def _peak_rss_bytes() -> int:
    """For runs that ended too early to know: the larger of this process and its children."""
    everyone = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = max(resource.getrusage(who).ru_maxrss for who in everyone)
    return used if sys.platform == "darwin" else used * 1024


def _input_files(plan: Plan, report: RunReport) -> list[str]:
    if report.sources:
        return [absolute(file) for source in report.sources for file in source.files]
    return [
        absolute(file.path)
        for unit, source in plan.graph.of(SourceNode)
        if not isinstance(source.config.transport, RestTransport)
        for file in discover(unit.name, source.config, plan.options, report.started).files
    ]


def write_metrics(spool: Path, content: Mapping[str, object]) -> Path:
    """Put the metrics into the spool directory, whole or not at all; the file they are in."""
    spool.mkdir(parents=True, exist_ok=True)
    file = spool / f"{content['execution_id']}{SUFFIX}"
    leave(file, json.dumps(content) + "\n")
    return file
