"""A run is watched while it is under way, and ended if it takes more than it may."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from clinker.diagnostics import Diagnostic, Label
from clinker.engine.report.facts import Exit, RunError
from clinker.engine.run.at_work import AtWork
from clinker.engine.run.observer import Observer
from clinker.engine.session.memory import LEAST_FOR_MUCH
from clinker.engine.session.session import Session
from clinker.engine.session.usage import Usage, usage
from clinker.frozen import frozen
from clinker.plan.compile import Plan

_SECONDS = 0.25
_SHARE_OF_TIME = 0.02
"""How much of its time a run may be looked at: large heaps take long to look through."""
_TOLERANCE = 1.1
"""How far above its memory limit a run may be for a moment."""
_LOOKS = 3
"""So often in a row a run has to be above its memory limit before it is ended."""
_BLOCK = 512


@frozen
class Limits:
    """How many bytes a run may take; None where it is not limited."""

    memory: int | None = None
    disk: int | None = None


def run_limits(plan: Plan, *, is_local: bool) -> Limits:
    """The limits of a run, whose memory is only known here if its engine is here as well.

    What the engine takes whatever it does is no reason to end it: of that a warning has told.
    """
    memory = int(max(plan.memory_limit, LEAST_FOR_MUCH) * _TOLERANCE)
    return Limits(memory if is_local else None, plan.storage.spill.disk_cap_bytes)


class Watch:
    """What a run takes, looked at as long as it lasts."""

    def __init__(self, plan: Plan, limits: Limits, observer: Observer) -> None:
        self._plan = plan
        self._limits = limits
        self._observer = observer
        self._places: list[Path] = []
        self._peak = Usage()
        self._disk_peak = 0
        self._above = 0
        self._looked = -math.inf
        """When that was last."""
        self.at_work = AtWork(plan)
        """What is computed at the moment."""
        self._session: Session | None = None
        self._excess: RunError | None = None
        self._looking = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._keep_looking, name="watch", daemon=True)

    @property
    def peak(self) -> Usage:
        """The most memory that was seen in use."""
        if self._is_due:
            self._look()
        return self._peak

    @property
    def disk_peak(self) -> int:
        """The most bytes of temporary data that were seen at a time."""
        return self._disk_peak

    def add(self, place: Path) -> None:
        """Look at a directory of temporary data as well."""
        self._places.append(place)

    def guard(self, session: Session) -> None:
        """End what this session computes when the run takes too much."""
        self._session = session
        if self._excess:
            session.cancel_all()

    def step_started(self, output: str) -> None:
        """From here on this output is computed."""
        self.at_work = AtWork(self._plan, output)

    def check(self) -> None:
        """Look once more; `RunError` if the run has taken too much."""
        self._look()
        if self._excess:
            raise self._excess

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Tell what ended a run in place of what it died of."""
        try:
            yield
        except Exception as problem:
            if self._excess and self._excess is not problem:
                raise self._excess from problem
            raise

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopped.set()
        self._thread.join()
        last = usage() if self._is_due else Usage()
        self._observer.measured(self._peak.or_more(last).resident)

    def _keep_looking(self) -> None:
        pause = _SECONDS
        while not self._stopped.wait(pause):
            begun = time.monotonic()
            self._look()
            pause = max(_SECONDS, (time.monotonic() - begun) / _SHARE_OF_TIME)

    @property
    def _is_due(self) -> bool:
        """Whether the last look is so long ago that another one is worth its time."""
        return time.monotonic() - self._looked >= _SECONDS

    def _look(self) -> None:
        with self._looking:  # two threads do: neither may put an older peak back
            now, on_disk = usage(), sum(map(directory_size, self._places))
            self._looked = time.monotonic()
            self._peak = self._peak.or_more(now)
            self._disk_peak = max(self._disk_peak, on_disk)
            problem = self._disk_problem(on_disk) or self._memory_problem(now)
            if problem is None or self._excess:
                return
            self._excess = problem
        if self._session:
            self._session.cancel_all()

    def _disk_problem(self, on_disk: int) -> RunError | None:
        cap = self._limits.disk
        if cap is None or on_disk <= cap:
            return None
        spill = self._plan.storage.spill
        message = (
            f"the run wrote {on_disk} bytes of temporary data, more than the {cap} bytes "
            "of storage.spill.disk_cap_bytes"
        )
        help = "raise it, remove it, or make the run need less: more memory, or less input at once"
        diagnostic = Diagnostic("E320", message, Label(spill.at("disk_cap_bytes")), help=help)
        return RunError(message, Exit.IO, [diagnostic])

    def _memory_problem(self, now: Usage) -> RunError | None:
        most = self._limits.memory
        self._above = self._above + 1 if most is not None and now.held > most else 0
        if self._above < _LOOKS:
            return None
        held = f"all processes of the run together held {now.held // 2**20}M"
        return self.at_work.memory_exceeded(self._plan.memory_limit, held)


def directory_size(place: Path) -> int:
    """What a directory takes on its disk."""
    total, waiting = 0, [place]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(Path(entry))
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
        except OSError:  # removed meanwhile
            continue
    return total
