"""How times and files are written, whatever the form of the report."""

from __future__ import annotations

import os
from datetime import datetime

from clinker.engine.report.facts import RunReport
from clinker.plan.analyses.passing import NodePassing
from clinker.stores.urls import FilePath, ObjectUrl

_UNITS = ("B", "kB", "MB", "GB", "TB")


def absolute(path: FilePath) -> str:
    """A file by a name that holds wherever it is read; bytes that are no text are escaped."""
    if isinstance(path, ObjectUrl):
        return str(path)
    full = os.path.abspath(path)  # noqa: PTH100, Path.absolute keeps `..`
    return os.fsencode(full).decode("utf-8", "backslashreplace")


def timestamp(moment: datetime) -> str:
    """ISO 8601, in UTC."""
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def node_counts(node: NodePassing) -> dict[str, object]:
    """What came into a node and left it, for programs."""
    return {
        "name": node.name,
        "kind": node.kind,
        "records_in": node.records_in,
        "records_out": node.records_out,
        "rejected": node.rejected,
        "filtered": node.filtered,
        "distinct": node.distinct,
        "ports": dict(node.ports),
    }


def duration_ms(report: RunReport) -> int:
    return round((report.finished - report.started).total_seconds() * 1000)


def byte_size(size: int) -> str:
    """A number of bytes with the unit that suits it."""
    amount = float(size)
    unit = 0
    while amount >= 999.95 and unit + 1 < len(_UNITS):
        amount /= 1000
        unit += 1
    return f"{amount:.1f} {_UNITS[unit]}" if unit else f"{size} B"
