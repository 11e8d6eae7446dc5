"""`clinker metrics`: gather what runs left behind."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from pathlib import Path

from clinker.cli.command import IO, OK, CommandError
from clinker.frozen import frozen

_NEEDED = {"schema_version", "execution_id", "pipeline_name"}
"""What tells metrics from other files; each line of an archive names its own version."""


@frozen
class Report:
    """The metrics of one run and the file they were found in."""

    file: Path
    order: tuple[str, str]
    """When it started, and its id for those that started together."""
    pipeline: str
    line: str


def run(args: Namespace) -> int:
    reports = find_reports(Path(args.spool_dir))
    if args.dry_run:
        print(f"Would collect {len(reports)} file(s) from {args.spool_dir}")
        for found in reports:
            print(f"  {found.file} ({found.pipeline})")
        return OK
    append(Path(args.output_file), reports)
    if args.delete_after_collect:
        for found in reports:
            found.file.unlink(missing_ok=True)
    print(f"Collected {len(reports)} file(s) → {args.output_file}")
    return OK


def find_reports(spool: Path) -> list[Report]:
    """The metrics files of a spool directory, in the order of the runs."""
    if not spool.is_dir():
        raise CommandError(f"the spool directory '{spool}' does not exist", IO)
    found = [report for file in sorted(spool.glob("*.json")) if (report := _read(file))]
    return sorted(found, key=lambda report: report.order)


def _read(file: Path) -> Report | None:
    try:
        content = json.loads(file.read_bytes())
    except OSError as problem:
        print(f"warning: {file} is skipped: {problem.strerror}", file=sys.stderr)
        return None
    except ValueError:
        print(f"warning: {file} is skipped: it is not JSON", file=sys.stderr)
        return None
    if not isinstance(content, dict) or not content.keys() >= _NEEDED:
        print(f"warning: {file} is skipped: it holds no metrics", file=sys.stderr)
        return None
    order = str(content.get("started_at", "")), str(content["execution_id"])
    line = json.dumps(content, separators=(",", ":"))
    return Report(file, order, str(content["pipeline_name"]), line)


def append(archive: Path, reports: list[Report]) -> None:
    """Add the reports to the archive; they are on disk when this returns."""
    if not reports:
        return
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        with archive.open("a", encoding="utf-8") as stream:
            stream.writelines(f"{report.line}\n" for report in reports)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as problem:
        raise CommandError(f"cannot write '{archive}': {problem.strerror}", IO) from problem
