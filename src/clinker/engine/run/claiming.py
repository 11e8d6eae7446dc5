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
from clinker.stores.urls import FilePath, ObjectUrl

_PAUSE_SECONDS = 0.2
_STORE_PAUSE_SECONDS = 2.0
"""Stores want money for every question."""
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
        claimant = Claimant(
            run_id=identity.execution_id,
            batch_id=identity.batch_id,
            process=os.getpid(),
            host=socket.gethostname(),
            started=timestamp(identity.started),
        )
        self._claims = publication.claims(claimant)
        self._object_claims = publication.object_claims(claimant)

    def claim(self, paths: Sequence[FilePath]) -> None:
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
            is_object = isinstance(conflict.path, ObjectUrl)
            time.sleep(_STORE_PAUSE_SECONDS if is_object else _PAUSE_SECONDS)
            self._recover()

    def _conflict(self, paths: Sequence[FilePath]) -> Conflict | None:
        """The first that is in the way; whoever waits for it holds nothing that others wait for."""
        files = [path for path in paths if isinstance(path, Path)]
        urls = [path for path in paths if isinstance(path, ObjectUrl)]
        try:
            conflict = self._conflict_of_files(files) or self._conflict_of_objects(urls)
            if conflict:
                self._claims.withdraw()
                self._object_claims.withdraw()
            return conflict
        except WriteError as problem:
            raise RunError(printable(str(problem)), Exit.IO, help=problem.help) from problem

    def _conflict_of_files(self, files: Sequence[Path]) -> Conflict | None:
        if not files:
            return None
        base_dir = self._plan.options.base_dir
        places = [place for path in files for place in with_parents(path.parent, base_dir)]
        with writing_to(files[0]):
            return self._claims.make(files, [place for place in places if isinstance(place, Path)])

    def _conflict_of_objects(self, urls: Sequence[ObjectUrl]) -> Conflict | None:
        if not urls:
            return None
        with writing_to(urls[0]):
            return self._object_claims.make(urls)


def _busy(conflict: Conflict, *, has_waited: bool) -> RunError:
    wait = "wait longer" if has_waited else "wait for it with --wait"
    help = f"{wait}, or let this run write other files"
    return RunError(_told(conflict), Exit.IO, help=help)


def _told(conflict: Conflict) -> str:
    who = conflict.claimant
    run = f"batch '{who.batch_id}', process {who.process} on {who.host}, since {who.started}"
    return printable(f"'{conflict.path}' is being written by another run: {run}")
