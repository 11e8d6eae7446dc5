"""Log lines as JSON objects, one each, for programs that gather logs."""

from __future__ import annotations

import datetime as dt
import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from clinker.cxl.syntax.ast import TraceLevel
from clinker.cxl.values import text_of
from clinker.diagnostics import Diagnostic, Severity
from clinker.diagnostics.render import as_object
from clinker.engine.report.facts import Exit, Identity, RunError, RunReport
from clinker.engine.report.notation import duration_ms, timestamp

_LEVELS = {Severity.ERROR: TraceLevel.ERROR, Severity.WARNING: TraceLevel.WARN}


def log_line(
    level: TraceLevel, message: str, identity: Identity | None = None, **more: object
) -> str:
    """A line: these keys are there always, others where there is something to say."""
    content: dict[str, object] = {
        "timestamp": timestamp(dt.datetime.now(dt.UTC)),
        "level": level.value,
        "execution_id": identity.execution_id if identity else None,
        "batch_id": identity.batch_id if identity else None,
        "message": message,
    }
    content |= {key: value for key, value in more.items() if value is not None}
    return json.dumps(_plain(content), separators=(",", ":")) + "\n"


def diagnostic_line(diagnostic: Diagnostic, identity: Identity | None = None) -> str:
    """A finding about the pipeline, with all that is known of it."""
    level = _LEVELS[diagnostic.severity]
    found = as_object(diagnostic)
    return log_line(level, diagnostic.message, identity, diagnostic=found)


def write_diagnostics(
    diagnostics: Sequence[Diagnostic],
    identity: Identity | None = None,
    stream: TextIO | None = None,
) -> None:
    """A line for each of them, on standard error by default."""
    lines = (diagnostic_line(each, identity) for each in diagnostics)
    (stream or sys.stderr).writelines(lines)


def end_line(report: RunReport, error: RunError | None) -> tuple[TraceLevel, str]:
    """What a run has come to, and how much that matters."""
    counts = report.counts
    level = TraceLevel.WARN if report.exit_code == Exit.DEAD_LETTERS else TraceLevel.INFO
    message = "run complete"
    if error:
        level, message = TraceLevel.ERROR, error.message
    line = log_line(
        level,
        message,
        report,
        help=error.help if error else None,
        notes=error.notes or None if error else None,
        exit_code=int(report.exit_code),
        duration_ms=duration_ms(report),
        records={
            "total": counts.total,
            "ok": counts.ok,
            "written": counts.written,
            "dlq": counts.dlq,
        },
    )
    return level, line


def write_trace(trace: str) -> None:
    """Where in our code something went wrong."""
    sys.stderr.write(log_line(TraceLevel.DEBUG, "stack trace", stack=trace))


def write_error(message: str, identity: Identity | None = None, **more: object) -> None:
    sys.stderr.write(log_line(TraceLevel.ERROR, message, identity, **more))


def _plain(value: object) -> object:
    """A value as JSON has it: what it has no form for is told as text."""
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else text_of(value)
        case str():  # names of files may be any bytes
            return value.encode("utf-8", "backslashreplace").decode()
        case dt.date():
            return text_of(value)
        case Mapping():
            return {str(_plain(key)): _plain(each) for key, each in value.items()}
        case Sequence():
            return [_plain(each) for each in value]
    return _plain(str(value))
