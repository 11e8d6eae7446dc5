"""Cases run, one after the other, in a session that all of them share."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from clinker.config.case import Case, CaseFile
from clinker.diagnostics import Diagnostic, Label, errors
from clinker.diagnostics.suggest import did_you_mean
from clinker.engine.report.facts import Exit, RunError, RunReport
from clinker.engine.report.views import View, list_views
from clinker.engine.run.observer import Quiet
from clinker.engine.run.run import run_in
from clinker.engine.session.session import Session
from clinker.formats.files.dead_letter_file import Entry
from clinker.frozen import frozen
from clinker.plain_files import read_plain
from clinker.plan.compile import Compiled, Plan, compile_pipeline
from clinker.plan.options import Options, Preview
from clinker.plan.probes import Outlet, also_looking_at, list_outlets, looking_at
from clinker.plan.values import with_values
from clinker.testing.given import CODE, given_problems, write_given


@frozen(kw_only=True)
class Attempt:
    """What became of a case."""

    exit_code: int = Exit.OK
    views: Mapping[str, View]
    """The records of the outlets about which something is expected."""
    rejected: Sequence[Entry] = ()
    diagnostics: Sequence[Diagnostic] = ()
    message: str = ""
    """What ended the run, if something did."""
    seconds: float = 0.0


class Unusable(Exception):
    """A case cannot be tried; the findings are about the test file."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(diagnostics[0].message)
        self.diagnostics = tuple(diagnostics)


@frozen(kw_only=True)
class Trying:
    """Tries cases of one test file."""

    path: Path
    file: CaseFile
    session: Callable[[Plan], Session]
    """Opens the session when it is first needed."""
    base_dir: Path | None = None
    rules_path: Path | None = None
    allow_absolute_paths: bool = False
    memory_limit: int | None = None
    threads: int | None = None

    @property
    def pipeline(self) -> Path:
        return Path(os.path.normpath(self.path.parent / self.file.pipeline))

    def attempt(self, case: Case) -> Attempt:
        """Run a case; `Unusable` if it does not fit its pipeline."""
        compiled = self._compiled(case)
        if compiled.plan is None:
            found = list(errors(compiled.diagnostics))
            code = Exit.IO if compiled.lacks_inputs else Exit.CONFIGURATION
            return _failed(code, found[0].message, found)
        return self._run(case, compiled.plan)

    def _compiled(self, case: Case) -> Compiled:
        try:
            content = read_plain(self.pipeline)
        except OSError as problem:
            message = f"cannot read the pipeline '{self.file.pipeline}': {problem.strerror}"
            label = Label(self.file.at("pipeline"))
            raise Unusable([Diagnostic(CODE, message, label)]) from None
        options = Options(
            base_dir=self.base_dir or self.pipeline.parent,
            channel=self.path.parent / case.channel if case.channel else None,
            rules_path=self.rules_path,
            allow_absolute_paths=self.allow_absolute_paths,
            memory_limit=self.memory_limit,
            threads=self.threads,
            preview=Preview(lists_rejected=True),
            variables={**os.environ, **case.environment},
        )
        return compile_pipeline(content, str(self.pipeline), options)

    def _run(self, case: Case, plan: Plan) -> Attempt:
        outlets = self._outlets(case, plan)
        if problems := list(given_problems(plan, case)):
            raise Unusable(problems)
        for name, value in case.vars.items():
            try:
                plan = with_values(plan, {name: value})
            except ValueError as problem:
                label = Label(case.key_at("vars", name))
                raise Unusable([Diagnostic(CODE, str(problem), label)]) from None
        session = self.session(plan)
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="clinker-test-") as folder:
            given = write_given(plan, case, self.path.parent, Path(folder))
            plan = replace(plan, options=replace(plan.options, given=given))
            try:
                outcome = _looked(plan, outlets, session)
            except RunError as problem:
                outcome = _failed(problem.exit_code, problem.message, problem.diagnostics)
        return replace(outcome, seconds=time.monotonic() - began)

    def _outlets(self, case: Case, plan: Plan) -> dict[str, Outlet]:
        known = list_outlets(plan)
        outlets: dict[str, Outlet] = {}
        for name in case.expect.records:
            if name not in known:
                help = did_you_mean(name, known) or f"its nodes are: {', '.join(known)}"
                label = Label(case.expect.key_at("records", name))
                message = f"the pipeline has no node '{name}'"
                raise Unusable([Diagnostic(CODE, message, label, help=help)])
            outlet = known[name]
            ports = plan.nodes[outlet.node].node.ports
            if ports and outlet.port is None:
                label = Label(case.expect.key_at("records", name))
                message = f"records leave '{name}' by its ports"
                help = "name one of them: " + ", ".join(f"{name}.{port}" for port in ports)
                raise Unusable([Diagnostic(CODE, message, label, help=help)])
            outlets[name] = outlet
        return outlets


def _looked(plan: Plan, outlets: Mapping[str, Outlet], session: Session) -> Attempt:
    """The run itself, and what is to be seen at some outlets."""
    # Where records fall together, an output more makes others fall.
    elsewhere = {
        name: outlet
        for name, outlet in outlets.items()
        if plan.correlation.sources and plan.nodes[outlet.node].unit.kind != "output"
    }
    here = {name: outlet for name, outlet in outlets.items() if name not in elsewhere}
    whole = also_looking_at(plan, here)
    report = run_in(whole, session, Quiet())
    views = {view.outlet: view for view in list_views(whole, here, report)}
    if elsewhere:
        part = looking_at(plan, elsewhere)
        seen = list_views(part, elsewhere, run_in(part, session, Quiet()))
        views |= {view.outlet: view for view in seen}
    return Attempt(exit_code=report.exit_code, views=views, rejected=_rejected(report))


def _rejected(report: RunReport) -> Sequence[Entry]:
    assert report.rejected
    return list(report.rejected.entries)


def _failed(code: int, message: str, diagnostics: Sequence[Diagnostic]) -> Attempt:
    return Attempt(exit_code=code, views={}, message=message, diagnostics=tuple(diagnostics))
