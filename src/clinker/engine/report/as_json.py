"""The report of a run as programs read it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from clinker.diagnostics import Diagnostic
from clinker.diagnostics.render import render_json
from clinker.engine.report.facts import RunError, RunReport
from clinker.engine.report.notation import absolute, duration_ms, node_counts, timestamp


def report_as_json(
    report: RunReport, diagnostics: Sequence[Diagnostic], error: RunError | None = None
) -> dict[str, object]:
    """The report as an object for `json.dumps`."""
    counts = report.counts
    return {
        "execution_id": report.execution_id,
        "batch_id": report.batch_id,
        "pipeline": report.pipeline,
        "started_at": timestamp(report.started),
        "finished_at": timestamp(report.finished),
        "duration_ms": duration_ms(report),
        "exit_code": int(report.exit_code),
        "records": {
            "total": counts.total,
            "ok": counts.ok,
            "written": counts.written,
            "dlq": counts.dlq,
            "filtered": counts.filtered,
            "distinct": counts.distinct,
        },
        "sources": [
            {
                "name": source.name,
                "files": [absolute(file) for file in source.files],
                "records": source.records,
                "rejected": source.rejected,
            }
            for source in report.sources
        ],
        "nodes": [node_counts(node) for node in report.nodes],
        "outputs": [
            {
                "name": output.name,
                "files": [absolute(path) for path in output.paths],
                "records": output.records,
                "bytes": output.bytes,
                **({"preview": output.preview.decode()} if output.preview is not None else {}),
            }
            for output in report.outputs
        ],
        "dead_letters": {
            "files": [
                {"path": absolute(file.path), "entries": file.entries}
                for file in report.dead_letter_files
            ],
            "categories": dict(report.rejections),
        },
        "peak_rss_bytes": report.peak_rss_bytes,
        "engine": dict(report.engine),
        "warnings": list(report.warnings),
        "diagnostics": json.loads(render_json(diagnostics)),
        "error": {"message": error.message, "help": error.help} if error else None,
    }
