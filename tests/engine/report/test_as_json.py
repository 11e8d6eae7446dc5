"""How the report of a run is shown to programs."""

from __future__ import annotations

import json
import re
from pathlib import Path

from clinker.engine.report.as_json import report_as_json
from clinker.engine.report.facts import RunError
from tests.engine.report.reports import report

ROOT = Path(__file__).resolve().parents[3]
HERE = Path.cwd()


def test_the_report_as_json() -> None:
    error = RunError("it failed", 3, help="try again")
    shown = json.loads(json.dumps(report_as_json(report(), [], error)))
    assert shown["duration_ms"] == 1500
    assert shown["started_at"] == "2026-04-11T10:00:00.000Z"
    assert shown["records"]["written"] == 3
    assert shown["sources"] == [
        {"name": "orders", "files": [str(HERE / "orders.csv")], "records": 4, "rejected": 1}
    ]
    assert shown["outputs"] == [
        {"name": "result", "files": [str(HERE / "out/result.csv")], "records": 3, "bytes": 120}
    ]
    assert shown["error"] == {"message": "it failed", "help": "try again"}


def test_the_documentation_knows_every_key_of_the_report() -> None:
    page = (ROOT / "docs" / "running" / "running.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page.partition("## The report as JSON")[2], re.MULTILINE)
    shown = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert shown == list(report_as_json(report(), []))
