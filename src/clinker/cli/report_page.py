"""The page that a run leaves about itself, if the user asks for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from clinker.cli.command import IO, CommandError
from clinker.cxl.failure import printable
from clinker.cxl.syntax.ast import TraceLevel
from clinker.diagnostics import Diagnostic, errors
from clinker.engine.report.facts import Exit, RunError, RunReport, failed_report, identify
from clinker.plan.compile import Plan

if TYPE_CHECKING:
    from clinker.engine.report.as_html.leaving import ReportFile


def report_file(target: str | None, plan: Plan) -> ReportFile | None:
    """Where the report goes, if there is to be one; a mistake if it cannot be written."""
    if not target or plan.options.preview:
        return None
    from clinker.engine.report.as_html.leaving import ReportFile, Unwritable

    file = ReportFile.of(target)
    try:
        file.check(plan)
    except Unwritable as problem:
        raise CommandError(f"--report: {printable(str(problem))}", IO) from problem
    return file


def leave_report(
    file: ReportFile, report: RunReport, error: RunError | None, findings: Sequence[Diagnostic]
) -> tuple[TraceLevel, str]:
    """Put the report into its file; what there is to say of that, and how much it matters."""
    from clinker.engine.report.as_html import report_page
    from clinker.engine.report.as_html.leaving import Unwritable

    try:
        left = file.leave(report.execution_id, report_page(report, error, findings))
    except Unwritable as problem:
        return TraceLevel.WARN, f"there is no report: {problem}"
    return TraceLevel.INFO, f"the report is in '{left}'"


def leave_report_of_mistakes(
    target: str, name: str, batch_id: str | None, findings: Sequence[Diagnostic]
) -> tuple[TraceLevel, str]:
    """The same for a pipeline that does not compile, so that it has not been run."""
    from clinker.engine.report.as_html.leaving import ReportFile

    problems = list(errors(findings))
    error = RunError(problems[0].message, Exit.CONFIGURATION, problems)
    report = failed_report(identify(batch_id), name, Exit.CONFIGURATION)
    warnings = [each for each in findings if not each.is_error]
    return leave_report(ReportFile.of(target), report, error, warnings)
