"""Runs one after the other, in a session of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from clinker.engine.report.facts import RunReport
from clinker.engine.run.observer import Observer
from clinker.engine.session import Jvm, SessionSettings, open_session, start_jvm
from clinker.plan.compile import Plan

if TYPE_CHECKING:
    from clinker.engine.session.session import Session

_MUCH = 64 * 2**20
"""So many bytes of data that nobody needs any more are worth the start of another engine."""


class Runs:
    """Opens a session when the first run needs it, and keeps it for the others.

    A run that fails takes the session along, since nobody knows in what state it is. So does one
    that leaves much on disk, which Spark removes whenever it likes to, and one whose temporary data
    are limited.
    """

    def __init__(self, settings: SessionSettings) -> None:
        self.settings = settings
        self.is_cold = False
        """Whether the engine could start faster if the machine were prepared for it."""
        self.jvm: Jvm | None = None
        """What Java runs in at the moment, if it does so here."""
        self._session: Session | None = None

    def run(self, plan: Plan, observer: Observer, *, is_last: bool = True) -> RunReport:
        """Run a plan; `RunError` if it cannot be completed."""
        self._start()
        # Java starts while Python loads what it needs to use it.
        from clinker.engine.run.run import run_in_own

        return run_in_own(plan, self, observer, is_last=is_last)

    def _start(self) -> None:
        if self.jvm is None and self._session is None:
            self.jvm = start_jvm(self.settings)
            self.is_cold = self.jvm is not None and self.jvm.is_cold

    @contextmanager
    def lend(self, plan: Plan, *, is_last: bool) -> Iterator[Session]:
        """The session, for one run."""
        with ExitStack() as ending:
            ending.callback(self._forget)
            session = self._session or open_session(self.settings, self.jvm)
            self._session = ending.enter_context(session)
            yield session
            if not (is_last or self._is_used_up(plan)):
                ending.pop_all()

    def _forget(self) -> None:
        self._session = self.jvm = None

    def _is_used_up(self, plan: Plan) -> bool:
        if self.jvm is None:
            return False
        has_limit = plan.storage.spill.disk_cap_bytes is not None
        from clinker.engine.run.watch import directory_size

        return has_limit or directory_size(self.jvm.directory.spill) > _MUCH

    def __enter__(self) -> Runs:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        session, jvm = self._session, self.jvm
        self._forget()
        if session:
            session.stop()
        elif jvm:
            jvm.kill()
