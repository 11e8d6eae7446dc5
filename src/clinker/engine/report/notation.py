"""How times and files are written, whatever the form of the report."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from clinker.engine.report.facts import RunReport


def absolute(path: Path) -> str:
    """A file by a name that holds wherever it is read; bytes that are no text are escaped."""
    full = os.path.abspath(path)  # noqa: PTH100, Path.absolute keeps `..`
    return os.fsencode(full).decode("utf-8", "backslashreplace")


def timestamp(moment: datetime) -> str:
    """ISO 8601, in UTC."""
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def duration_ms(report: RunReport) -> int:
    return round((report.finished - report.started).total_seconds() * 1000)
