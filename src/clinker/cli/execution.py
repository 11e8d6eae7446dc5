"""One run of a compiled pipeline, from its signals and screen to its report and metrics."""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from clinker.cli.command import DETAILED, IO, CommandError, internal_error, report_it
from clinker.cli.log_lines import write_diagnostics, write_trace
from clinker.cli.progress import Log, watching
from clinker.cli.report_page import leave_report, report_file
from clinker.cli.session_settings import session_settings
from clinker.cli.signals import Interruption, broken_connections_told
from clinker.cli.streams import OutputLost
from clinker.cxl.syntax.ast import TraceLevel
from clinker.diagnostics import Diagnostic, errors, in_reading_order
from clinker.diagnostics.render import print_diagnostics
from clinker.engine.report.as_json import report_as_json
from clinker.engine.report.as_metrics import metrics, spool_directory, write_metrics
from clinker.engine.report.as_text import preview_content, preview_summary, summary
from clinker.engine.report.facts import Exit, RunError, RunReport, failed_report, identify
from clinker.engine.run.failures import memory_warning
from clinker.engine.run.journal import Journal
from clinker.engine.run.observer import Observer
from clinker.engine.run.runs import Runs
from clinker.engine.run.starting import check_start
from clinker.engine.session.allocation import allocate_sparingly
from clinker.engine.session.conf import memory_split
from clinker.engine.session.secrets import hide_secrets
from clinker.engine.session.settings import SessionError, SessionSettings
from clinker.imports import admit_pandas
from clinker.plan.compile import Plan
from clinker.plan.files.discovery import Discovery, check_inputs, discover_all, input_size

if TYPE_CHECKING:
    from clinker.engine.report.openlineage import Telling

_NO_WORKERS = 2 * 2**20
"""Up to so many bytes are read without Python workers, with any memory limit."""


class Execution:
    """A run as the command line asks for it."""

    def __init__(
        self,
        plan: Plan,
        findings: Sequence[Diagnostic],
        args: Namespace,
        spark_conf: Mapping[str, str],
    ) -> None:
        self._report_file = report_file(args.report, plan)
        self._plan = plan
        self._args = args
        self._compiled = findings
        self._findings = list(findings)
        self._files: Mapping[str, Discovery] = {}
        self._missing: list[Diagnostic] = []
        self._level = TraceLevel(args.log_level)
        self._quiet: bool = args.quiet
        self._is_json = args.format == "json"
        self._logs_json = args.log_format == "json"
        self._debugs = args.log_level in DETAILED
        # Spark tells its details in lines of its own.
        speaks = self._debugs and not self._logs_json
        self._settings = session_settings(plan, args, spark_conf, speaks)
        self._telling = _telling(plan, args.openlineage)

    def run(self) -> int:
        """Run the pipeline, tell what became of it and return the exit code."""
        settings = self.look()
        with Interruption() as interruption, Runs(settings) as runs:
            return self.run_in(runs, interruption)

    def look(self) -> SessionSettings:
        """Look for the files of the sources, and tell what their run asks of the engine."""
        plan = self._plan
        self._files = discover_all(plan.graph, plan.options, datetime.now(UTC))
        problems = check_inputs(plan.graph, plan.options, self._files)
        self._missing = list(errors(problems))
        told = (problem for problem in problems if not problem.is_error)
        self._findings = in_reading_order([*self._compiled, *told])
        return replace(self._settings, input_size=input_size(self._files))

    def run_in(self, runs: Runs, interruption: Interruption, *, is_last: bool = True) -> int:
        """The same as one of several runs."""
        if self._settings.remote:
            admit_pandas()
        if not self._debugs:
            _silence_libraries()
        allocate_sparingly(self._settings.memory_limit)
        self._tell(self._findings)
        with broken_connections_told():
            with watching(
                self._level, interruption, quiet=self._quiet, as_json=self._logs_json
            ) as log:
                log.on_begin = self._telling.began if self._telling else None
                journal = Journal(log)
                begun = partial(self._run, runs, journal, is_last=is_last)
                outcome, error = self._outcome(log, begun)
            if self._plan.options.preview:
                interruption.too_late()
            else:
                interruption.stands(outcome.exit_code)
            told = journal.completed(outcome)
            with self._no_defect_matters("the metrics are missing", journal):
                self._leave_metrics(told, error, journal)
            with self._no_defect_matters("the lineage is not told", journal):
                for problem in self._telling.ended(told, error) if self._telling else ():
                    journal.warned(problem)
            outcome = journal.completed(outcome)
            if self._report_file:
                with self._no_defect_matters(f"there is no report: '{self._args.report}'", log):
                    log.logged(*leave_report(self._report_file, outcome, error, self._findings))
        try:
            self._show(outcome, error)
            if runs.is_cold and is_last and self._shows_summary(error):
                self._hint()
            sys.stdout.flush()
        except OutputLost as problem:
            if self._plan.options.preview:  # which was all that was wanted
                raise
            log.warned(str(problem))
        log.ended(outcome, error)
        return int(outcome.exit_code)

    def _tell(self, findings: Sequence[Diagnostic]) -> None:
        if self._logs_json and self._level is not TraceLevel.ERROR:
            write_diagnostics(findings)
        elif not self._is_json and self._level is not TraceLevel.ERROR:
            print_diagnostics(findings)

    def _outcome(self, log: Log, run: Callable[[], RunReport]) -> tuple[RunReport, RunError | None]:
        pipeline = self._plan.pipeline.pipeline.name
        try:
            return run(), None
        except RunError as problem:
            error = problem
        except SessionError as problem:
            error = RunError(str(problem), Exit.IO)
            error.__cause__ = problem
        except KeyboardInterrupt:
            error = RunError("interrupted: nothing was written", Exit.INTERRUPTED)
        except Exception as problem:  # noqa: BLE001, so that the metrics tell of it, too
            error = self._defect(problem, log)
        identity = log.identity or identify(self._plan.options.batch_id)
        report = failed_report(identity, pipeline, error.exit_code, error.counts, self._plan)
        return replace(report, peak_rss_bytes=log.peak_rss_bytes), error

    def _defect(self, problem: Exception, log: Log) -> RunError:
        outputs = "nothing was written"
        if log.is_publishing:
            outputs = "outputs may have been written: look at them before you use them"
        message = f"{internal_error(problem)}; {outputs}"
        error = RunError(message, Exit.INTERNAL, help=report_it(self._args))
        error.__cause__ = problem
        return error

    def _run(self, runs: Runs, journal: Journal, *, is_last: bool) -> RunReport:
        if self._missing:
            raise RunError(self._missing[0].message, Exit.IO, self._missing)
        warnings = check_start(self._plan, self._settings, self._files)
        self._tell(warnings)
        self._findings += warnings
        is_little = input_size(self._files) <= _NO_WORKERS
        if warning := memory_warning(self._settings, is_little=is_little):
            journal.warned(warning)
        return runs.run(self._plan, journal, is_last=is_last)

    def _leave_metrics(self, report: RunReport, error: RunError | None, log: Observer) -> None:
        spool = spool_directory(self._plan)
        if spool is None or self._plan.options.preview:
            return
        message = error.message if error else None
        settings = self._settings
        is_elsewhere = settings.master or settings.remote
        threads = settings.threads if is_elsewhere else memory_split(settings).tasks
        try:
            write_metrics(spool, metrics(self._plan, report, threads=threads, error=message))
        except OSError as problem:
            log.warned(f"the metrics cannot be written to '{spool}': {problem.strerror}")

    @contextmanager
    def _no_defect_matters(self, what: str, log: Observer) -> Iterator[None]:
        """What is left about a run comes after its files, which are in place whatever happens."""
        try:
            yield
        except Exception as problem:  # noqa: BLE001, the run has its outcome already
            self._show_trace(problem)
            log.warned(f"{what}: {internal_error(problem)}; {report_it(self._args)}")

    def _show(self, report: RunReport, error: RunError | None) -> None:
        """Tell what became of the run."""
        preview = self._plan.options.preview
        if error:
            self._show_error(error, report)
        elif preview and preview.output:
            _write_preview(report, preview.output)
        elif preview and not self._is_json:
            _print_preview(report)
        if self._is_json:
            findings = [*self._findings, *(error.diagnostics if error else ())]
            self._show_json(report_as_json(report, findings, error))
        elif self._shows_summary(error):
            self._show_summary(report)

    def _hint(self) -> None:
        if sys.stderr.isatty() and not self._plan.options.preview:
            print("hint: `clinker warmup`, once, makes runs start faster", file=sys.stderr)

    def _show_json(self, report: Mapping[str, object]) -> None:
        print(json.dumps(report, indent=2))

    def _shows_summary(self, error: RunError | None) -> bool:
        return not (error or self._is_json or self._is_silent)

    @property
    def _is_silent(self) -> bool:
        is_terse = self._quiet or self._level in (TraceLevel.ERROR, TraceLevel.WARN)
        return is_terse or self._logs_json

    def _show_summary(self, report: RunReport) -> None:
        if self._plan.options.preview:  # standard output is for the records
            sys.stderr.write(preview_summary(report))
        else:
            sys.stdout.write(summary(report, with_nodes=self._args.count_nodes))

    def _show_trace(self, problem: Exception) -> None:
        if not self._debugs:
            return
        trace = hide_secrets("".join(traceback.format_exception(problem)), self._settings)
        if self._logs_json:
            write_trace(trace)
        else:
            sys.stderr.write(trace)

    def _show_error(self, error: RunError, report: RunReport) -> None:
        if error.exit_code != Exit.INTERRUPTED:
            self._show_trace(error)
        if self._logs_json:
            write_diagnostics(error.diagnostics, report)
        elif error.exit_code == Exit.INTERRUPTED:
            print(error.message, file=sys.stderr)
        elif self._is_json:
            return
        elif error.diagnostics:
            print_diagnostics(error.diagnostics)
        else:
            print(f"error: {error.message}", file=sys.stderr)
            for note in error.notes:
                print(f"  {note}", file=sys.stderr)
            if error.help:
                print(f"  help: {error.help}", file=sys.stderr)


def _telling(plan: Plan, target: str | None) -> Telling | None:
    """Who is told of the lineage of a run, if anybody is."""
    if not target or plan.options.preview:
        return None
    from clinker.engine.report.openlineage import Events, Telling, receiver_of

    namespace = os.environ.get("OPENLINEAGE_NAMESPACE") or "clinker"
    return Telling(Events(plan, namespace), receiver_of(target, os.environ))


def _print_preview(report: RunReport) -> None:
    """The bytes as they are, in whatever encoding the terminal may be set to."""
    sys.stdout.flush()
    sys.stdout.buffer.write(preview_content(report))
    sys.stdout.buffer.flush()


def _write_preview(report: RunReport, file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(preview_content(report))
    except OSError as problem:
        raise CommandError(f"cannot write '{file}': {problem.strerror}", IO) from problem


def _silence_libraries() -> None:
    """What goes wrong is told by us, once: no warnings of Python, Spark and the like."""
    logging.getLogger().addHandler(logging.NullHandler())
    warnings.simplefilter("ignore")
