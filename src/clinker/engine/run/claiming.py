"""Two runs never write the same file at the same time: the second waits, or ends."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from clinker.cxl.failure import printable
from clinker.cxl.syntax.ast import TraceLevel
from clinker.engine.report.facts import Exit, Identity, RunError
from clinker.engine.report.notation import timestamp
from clinker.engine.run.observer import Observer
from clinker.formats.common.writing import WriteError, writing_to
from clinker.formats.files.claims import Claimant, Conflict
from clinker.formats.files.publication import Publication
from clinker.plan.compile import Plan
from clinker.plan.files.paths import with_parents

_PAUSE_SECONDS = 0.2
_PATIENCE_SECONDS = 1.0
"""A run that is just ending is waited for in any case."""


class Claiming:
    """The claims of a run, and its waiting for those of others."""

    def __init__(
        self,
        plan: Plan,
        identity: Identity,
        publication: Publication,
        observer: Observer,
        recover: Callable[[], None],
    ) -> None:
        self._plan = plan
        self._observer = observer
        self._recover = recover
        """What runs have left that were killed, their claims as well, is removed by it."""
        self._claims = publication.claims(
            Claimant(
                run_id=identity.execution_id,
                batch_id=identity.batch_id,
                process=os.getpid(),
                host=socket.gethostname(),
                started=timestamp(identity.started),
            )
        )

    def claim(self, paths: Sequence[Path]) -> None:
        """Claim these files and no others; `RunError` if another run does not let go of them."""
        wait = self._plan.options.wait
        end = time.monotonic() + (wait if wait is not None else _PATIENCE_SECONDS)
        is_told = False
        while conflict := self._conflict(paths):
            if time.monotonic() >= end:
                raise _busy(conflict, has_waited=wait is not None)
            if wait is not None and not is_told:
                self._observer.step_started("waiting for another run")
                self._observer.logged(TraceLevel.INFO, f"waiting: {_told(conflict)}")
                is_told = True
            time.sleep(_PAUSE_SECONDS)
            self._recover()

    def _conflict(self, paths: Sequence[Path]) -> Conflict | None:
        base_dir = self._plan.options.base_dir
        places = [place for path in paths for place in with_parents(path.parent, base_dir)]
        if not paths:
            return None
        try:
            with writing_to(paths[0]):
                return self._claims.make(paths, places)
        except WriteError as problem:
            raise RunError(printable(str(problem)), Exit.IO, help=problem.help) from problem


def _busy(conflict: Conflict, *, has_waited: bool) -> RunError:
    wait = "wait longer" if has_waited else "wait for it with --wait"
    help = f"{wait}, or let this run write other files"
    return RunError(_told(conflict), Exit.IO, help=help)


def _told(conflict: Conflict) -> str:
    who = conflict.claimant
    run = f"batch '{who.batch_id}', process {who.process} on {who.host}, since {who.started}"
    return printable(f"'{conflict.path}' is being written by another run: {run}")
