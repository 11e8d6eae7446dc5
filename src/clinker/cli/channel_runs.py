"""Runs for several channels, one after the other in one session."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence

from clinker.cli.command import tell_problem
from clinker.cli.execution import Execution
from clinker.cli.several import ChannelPlan, worst
from clinker.cli.signals import INTERRUPTED, Interruption
from clinker.cxl.failure import printable
from clinker.diagnostics import Diagnostic
from clinker.engine.report.facts import RunError, RunReport
from clinker.engine.run.runs import Runs


class Interruptions(Interruption):
    """An `Interruption` of several runs: the exit code stands with that of the last one."""

    def __init__(self) -> None:
        super().__init__()
        self._codes: list[int] = []
        self._is_last = False

    def begin(self, *, is_last: bool) -> None:
        """Another run may be cancelled; `Interrupted` if a signal has come since the one before."""
        self._is_last = is_last
        self._is_too_late = False
        self.check()

    def stands(self, code: int) -> None:
        self._codes.append(code)
        if self._is_last:
            super().stands(worst(self._codes))
        else:
            self.too_late()


class _Told:
    """What the runs have said so far."""

    def __init__(self) -> None:
        self.findings: set[object] = set()
        self.reports: list[Mapping[str, object]] = []
        self.has_shown = False
        """Whether something is on the screen that the next is to be set off from."""


class ChannelRun(Execution):
    """One of the runs, which says whose it is."""

    def __init__(self, run: ChannelPlan, conf: Mapping[str, str], told: _Told) -> None:
        super().__init__(run.plan, run.findings, run.args, conf)
        self.channel = run.channel
        self._told = told

    def _tell(self, findings: Sequence[Diagnostic]) -> None:
        new = [finding for finding in findings if finding.identity not in self._told.findings]
        self._told.findings |= {finding.identity for finding in new}
        super()._tell(new)

    def _show(self, report: RunReport, error: RunError | None) -> None:
        if self._shows_summary(error):
            print("\n" * self._told.has_shown + self._title)
            self._told.has_shown = True
        elif error and not (self._is_json or self._logs_json):
            print(self._title, file=sys.stderr)
        super()._show(report, error)

    @property
    def sums_up(self) -> bool:
        """Whether what became of all of them is told at the end."""
        return not (self._is_json or self._is_silent)

    @property
    def _title(self) -> str:
        return f"==> {printable(self.channel)} <=="

    def _show_json(self, report: Mapping[str, object]) -> None:
        self._told.reports.append(report)


def run_several(plans: Sequence[ChannelPlan], conf: Mapping[str, str]) -> int:
    """Run them all, whatever becomes of single ones, and return the worst exit code.

    Only a signal ends those that have not begun.
    """
    args, told = plans[0].args, _Told()
    runs = [ChannelRun(plan, conf, told) for plan in plans]
    # What is shuffled is divided as the largest of them needs it.
    settings = max((run.look() for run in runs), key=lambda each: each.input_size or 0)
    codes: dict[str, int] = {}
    with Interruptions() as interruption, Runs(settings) as session:
        for run in runs:
            is_last = run is runs[-1]
            try:
                interruption.begin(is_last=is_last)
                if codes:
                    run.look()
                codes[run.channel] = run.run_in(session, interruption, is_last=is_last)
            except KeyboardInterrupt:  # it has not begun
                break
            if codes[run.channel] == INTERRUPTED:
                break
    if args.format == "json":
        print(json.dumps(told.reports, indent=2))
    elif runs[0].sums_up:
        ended = (f"{printable(channel)} {code}" for channel, code in codes.items())
        print(f"\nExit codes: {', '.join(ended)}")
    left = [run.channel for run in runs if run.channel not in codes]
    if left:
        message = f"interrupted: there was no run for {', '.join(map(printable, left))}"
        tell_problem(args, message)
    return INTERRUPTED if left else worst(codes.values())
