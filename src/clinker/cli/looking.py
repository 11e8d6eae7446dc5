"""A run that looks at nodes, and shows what it has found instead of writing it."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence

from clinker.cli.command import OK
from clinker.cli.execution import Execution
from clinker.diagnostics import Diagnostic
from clinker.engine.report.facts import Exit, RunError, RunReport
from clinker.plan.compile import Plan
from clinker.plan.probes import Outlet


class Looking(Execution):
    """Shows the records of some outlets."""

    def __init__(
        self,
        plan: Plan,
        findings: Sequence[Diagnostic],
        args: Namespace,
        spark_conf: Mapping[str, str],
        outlets: Mapping[str, Outlet],
    ) -> None:
        self._form: str = args.format
        own = {"format": "text", "log_format": "text", "openlineage": None, "report": None}
        super().__init__(plan, findings, Namespace(**{**vars(args), **own}), spark_conf)
        self._outlets = outlets

    def run(self) -> int:
        code = super().run()
        # Rejected records are among what there is to see.
        return OK if code == Exit.DEAD_LETTERS else code

    def _show(self, report: RunReport, error: RunError | None) -> None:
        if error:
            self._show_error(error, report)
            return
        from clinker.engine.report.as_tables import Screen, as_csv, as_json
        from clinker.engine.report.views import list_views

        views = list_views(self._plan, self._outlets, report)
        most: int = self._args.n
        if self._form != "table":
            write = as_csv if self._form == "csv" else as_json
            sys.stdout.write(write(views[0], most))
            return
        screen = Screen(sys.stdout)
        for number, view in enumerate(views):
            if number:
                screen.line("")
            screen.show(view, most, with_title=len(views) > 1, with_profile=self._args.profile)
        preview = self._plan.options.preview
        if preview and preview.records and not self._args.sample:
            screen.line(
                f"computed from the first {preview.records:,} records of each source, since they "
                "are large: --all computes it from all"
            )
