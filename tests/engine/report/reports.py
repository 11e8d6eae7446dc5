"""Reports of runs to be shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from clinker.engine.report.facts import Counts, OutputReport, RunReport, SourceReport

STARTED = datetime(2026, 4, 11, 10, 0, 0, tzinfo=UTC)


def report(**changes: object) -> RunReport:
    fields: dict[str, object] = {
        "execution_id": "01912345-6789-7abc-8ef0-123456789abc",
        "batch_id": "daily",
        "started": STARTED,
        "finished": STARTED + timedelta(milliseconds=1500),
        "pipeline": "orders",
        "exit_code": 2,
        "counts": Counts(total=4, ok=3, written=3, dlq=1),
        "sources": (
            SourceReport(name="orders", files=(Path("orders.csv"),), records=4, rejected=1),
        ),
        "outputs": (output("result", "out/result.csv"),),
    }
    return RunReport(**{**fields, **changes})  # type: ignore[arg-type]


def output(name: str, *paths: str, preview: bytes | None = None, size: int = 120) -> OutputReport:
    return OutputReport(
        name=name, paths=tuple(map(Path, paths)), records=3, bytes=size, preview=preview
    )
