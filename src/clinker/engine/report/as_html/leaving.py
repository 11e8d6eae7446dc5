"""The file that a report is left in; none but a report is ever replaced by one."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from clinker.engine.report.as_html.page import GENERATOR
from clinker.engine.report.leaving import leave, try_to_leave
from clinker.frozen import frozen
from clinker.plan.compile import Plan
from clinker.plan.files.paths import is_directory, list_destinations

_HEAD = 1000
"""So far from the beginning of a page it says that it is one of ours."""


class Unwritable(Exception):
    """A report cannot be left where it should be; the message says why, for the user."""


@frozen
class ReportFile:
    """Where the report of a run goes: to a file, or under its own name into a directory."""

    target: Path
    is_directory: bool

    @staticmethod
    def of(text: str) -> ReportFile:
        target = Path(text)
        return ReportFile(target, text.endswith(("/", os.sep)) or is_directory(target))

    def check(self, plan: Plan) -> None:
        """`Unwritable` if it is clear before the run that there can be no report."""
        file = self._file("report")
        written = list_destinations(plan.pipeline, plan.graph, plan.options, plan.channel)
        try:
            identity = os.path.realpath(file)
            for each in written:
                if each.identity == identity:
                    raise Unwritable(f"'{file}' is the file of {each.what}")
            self._check_replaced(file)
            try_to_leave(file)
        except (OSError, ValueError) as problem:
            raise _unwritable(file, problem) from problem

    def leave(self, execution_id: str, page: str) -> Path:
        """Put a report into its file, and tell which; `Unwritable` if that is impossible."""
        file = self._file(execution_id)
        try:
            self._check_replaced(file)
            file.parent.mkdir(parents=True, exist_ok=True)
            leave(file, page)
        except (OSError, ValueError) as problem:
            raise _unwritable(file, problem) from problem
        return file

    def _file(self, name: str) -> Path:
        return self.target / f"{name}.html" if self.is_directory else self.target

    def _check_replaced(self, file: Path) -> None:
        try:
            found = file.stat()
        except FileNotFoundError:
            return
        is_replaceable = stat.S_ISREG(found.st_mode) and (not found.st_size or _is_report(file))
        if not is_replaceable:
            raise Unwritable(f"'{file}' exists and is no report of a run")


def _is_report(file: Path) -> bool:
    with file.open("rb") as stream:
        return f'content="{GENERATOR}"'.encode() in stream.read(_HEAD)


def _unwritable(file: Path, problem: OSError | ValueError) -> Unwritable:
    why = problem.strerror if isinstance(problem, OSError) else "this is no name of a file"
    return Unwritable(f"'{file}' cannot be written: {why}")
