"""`clinker check`"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path

from clinker import __version__
from clinker.cli.command import CONFIGURATION, IO, OK, USAGE, CommandError
from clinker.diagnostics import Diagnostic, each_once, errors, in_reading_order
from clinker.diagnostics.render import print_diagnostics, render_json
from clinker.editing.checking import NO_DIRECTORY, check_content
from clinker.editing.walking import File, UnknownKind, read_files
from clinker.plan.options import Options


def run(args: Namespace) -> int:
    options = Options(
        Path(args.base_dir) if args.base_dir else NO_DIRECTORY,
        rules_path=Path(args.rules_path) if args.rules_path else None,
        allow_absolute_paths=args.allow_absolute_paths,
        variables=dict(os.environ),
    )
    files, problems = read(args.paths)
    findings = in_reading_order(
        each_once(
            finding
            for file in files
            for finding in check_content(file.path, file.content, file.kind, options)
        )
    )
    _show(findings, len(files), args.format)
    if problems:
        return tell(problems)
    return CONFIGURATION if any(errors(findings)) else OK


def read(paths: Sequence[str]) -> tuple[list[File], list[OSError]]:
    """The files to work on, and why some cannot be read."""
    files: list[File] = []
    problems: list[OSError] = []
    for found in read_files(paths):
        match found:
            case File():
                files.append(found)
            case OSError():
                problems.append(found)
            case UnknownKind():
                known = "files end in .yaml, .yml or .cxl, or are clinker.toml"
                raise CommandError(f"'{found}' is no file of ours: {known}", USAGE)
    if not files and not problems:
        raise CommandError(f"no pipelines or other files of ours in {', '.join(paths)}", IO)
    return files, problems


def tell(problems: Iterable[OSError]) -> int:
    """Say which files cannot be read; the exit code for that."""
    for problem in problems:
        print(f"error: cannot read '{problem.filename}': {problem.strerror}", file=sys.stderr)
    return IO


def _show(findings: Sequence[Diagnostic], files: int, form: str) -> None:
    match form:
        case "json":
            sys.stdout.write(render_json(findings))
        case "github":
            from clinker.diagnostics.as_github import render_github

            sys.stdout.write(render_github(findings))
        case "sarif":
            from clinker.diagnostics.as_sarif import render_sarif

            sys.stdout.write(render_sarif(findings, __version__))
        case _:
            print_diagnostics(findings)
            _sum_up(findings, files)


def _sum_up(findings: Sequence[Diagnostic], files: int) -> None:
    wrong = len(list(errors(findings)))
    warnings = len(findings) - wrong
    checked = f"{_count(files, 'file')} checked"
    parts = [
        *([_count(wrong, "error")] if wrong else ()),
        *([_count(warnings, "warning")] if warnings else ()),
    ]
    if wrong:
        print(f"{checked}: {', '.join(parts)}", file=sys.stderr)
    else:
        print(f"ok: {checked}" + (f": {parts[0]}" if parts else ""))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
