"""`clinker metrics`: gather what runs left behind."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
from argparse import Namespace
from pathlib import Path
from typing import NoReturn

from clinker.cli.command import IO, OK, CommandError
from clinker.cli.metrics_archive import archived_ids, locked_directory, opened_archive
from clinker.cxl.failure import printable
from clinker.frozen import frozen

_NEEDED = {"schema_version": int, "execution_id": str, "pipeline_name": str}
"""What tells metrics from other files; each line of an archive names its own version."""
_HALF_WRITTEN = re.compile(r"\.[\w-]+\.json\.\d+\.tmp", re.ASCII)
_ABANDONED_SECONDS = 24 * 3600
_MAX_BYTES = 64 * 2**20
"""Far more than the names of all files of a run take."""


@frozen
class Report:
    """The metrics of one run and the file they were found in."""

    file: Path
    order: tuple[str, str]
    """When it started, and its id for those that started together."""
    pipeline: str
    line: str


class _Unfit(Exception):
    """A file of a spool directory that is not what a run leaves there; the message says why."""


def run(args: Namespace) -> int:
    spool, archive = Path(args.spool_dir), Path(args.output_file)
    if args.dry_run:
        reports = _new(find_reports(spool, archive), archived_ids(archive))
        print(f"Would collect {len(reports)} file(s) from {args.spool_dir}")
        for report in reports:
            print(f"  {printable(str(report.file))} ({printable(report.pipeline)})")
        return OK
    with locked_directory(spool):
        reports = find_reports(spool, archive)
        added = _append(archive, reports)
        if args.delete_after_collect:
            _delete([*(report.file for report in reports), *_abandoned(spool)])
    known = len(reports) - added
    print(f"Collected {added} file(s) → {args.output_file}" + (f", {known} known" if known else ""))
    return OK


def _append(archive: Path, reports: list[Report]) -> int:
    """Add what is not there yet, which may be all if an earlier collect was killed."""
    if not reports:
        return 0
    with opened_archive(archive) as opened:
        added = _new(reports, opened.ids())
        if added:
            opened.append([report.line for report in added])
    return len(added)


def _new(reports: list[Report], known: set[str]) -> list[Report]:
    """One report for each run that is not known."""
    by_run = {report.order[1]: report for report in reversed(reports)}
    return [r for r in reports if r.order[1] not in known and by_run[r.order[1]] is r]


def _abandoned(spool: Path) -> list[Path]:
    """What killed runs left half-written, long ago."""
    entries = [entry for entry in os.scandir(spool) if _HALF_WRITTEN.fullmatch(entry.name)]
    before = time.time() - _ABANDONED_SECONDS
    return [Path(e.path) for e in entries if e.stat(follow_symlinks=False).st_mtime < before]


def find_reports(spool: Path, archive: Path) -> list[Report]:
    """The metrics files of a spool directory, in the order of the runs; the archive is none."""
    try:
        files = sorted(Path(entry.path) for entry in os.scandir(spool))
    except FileNotFoundError:
        raise CommandError(f"the spool directory '{spool}' does not exist", IO) from None
    except OSError as problem:
        raise CommandError(f"cannot read '{spool}': {problem.strerror}", IO) from problem
    reports: list[Report] = []
    for file in files:
        if file.name.startswith(".") or file.suffix != ".json" or _is_same(file, archive):
            continue
        try:
            reports.append(_report(file, _read(file)))
        except (_Unfit, OSError) as problem:
            reason = problem.strerror if isinstance(problem, OSError) else problem
            print(f"warning: {printable(str(file))} is skipped: {reason}", file=sys.stderr)
    return sorted(reports, key=lambda report: report.order)


def _is_same(file: Path, archive: Path) -> bool:
    return os.path.abspath(file) == os.path.abspath(archive)  # noqa: PTH100


def _read(file: Path) -> bytes:
    """What is in a file of the directory itself: no link is followed, no pipe waited for."""
    if not stat.S_ISREG(file.lstat().st_mode):
        raise _Unfit("it is not a regular file")
    # It may have become another kind of file by now.
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
        content = stream.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise _Unfit(f"it is larger than {_MAX_BYTES // 2**20} MiB")
    return content


def _report(file: Path, written: bytes) -> Report:
    try:
        content = json.loads(written, parse_constant=_refuse)
        line = json.dumps(content, separators=(",", ":"), allow_nan=False)
    except ValueError:
        raise _Unfit("it is not JSON") from None
    except RecursionError:
        raise _Unfit("it is nested too deeply") from None
    if not isinstance(content, dict) or not _is_metrics(content):
        raise _Unfit("it holds no metrics")
    order = str(content.get("started_at", "")), content["execution_id"]
    return Report(file, order, content["pipeline_name"], line)


def _is_metrics(content: dict[str, object]) -> bool:
    return all(isinstance(content.get(name), kind) for name, kind in _NEEDED.items())


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _delete(files: list[Path]) -> None:
    for file in files:
        try:
            file.unlink(missing_ok=True)
        except OSError as problem:
            message = f"collected, but '{file}' cannot be deleted: {problem.strerror}"
            raise CommandError(message, IO) from problem
