"""A run is followed while the engine computes: how much it has read, how many tasks are done."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType

from clinker.engine.reading.inputs import SourceInput
from clinker.engine.run.observer import Progress
from clinker.engine.run.prepare import Prepared
from clinker.engine.session.session import Session

_SECONDS = 0.25


class Following:
    """Tells the observer of a run how far the step at hand is, as long as there is one."""

    def __init__(self, prepared: Prepared, session: Session) -> None:
        self._prepared = prepared
        self._session = session
        self._reading: Sequence[SourceInput] = ()
        """The sources that workers read in this step."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="following", daemon=True)

    def step_started(self, output: str) -> None:
        """From here on this output is computed."""
        self._tell()
        prepared = self._prepared
        behind = prepared.plan.graph.ancestors(output)
        reading = [source for source in prepared.inputs if source.meter and source.name in behind]
        for source in reading:
            assert source.meter
            source.meter.reset()
        self._reading = reading
        prepared.observer.step_started(output, self._to_read or None, "bytes")
        prepared.watch.step_started(output)

    def __enter__(self) -> Following:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()
        self._tell()

    @property
    def _to_read(self) -> int:
        return sum(split.size for source in self._reading for split in source.inventory.splits)

    def _follow(self) -> None:
        while not self._ended.wait(_SECONDS):
            self._tell()

    def _tell(self) -> None:
        tasks = self._session.engine.tasks()
        read = sum(source.meter.read for source in self._reading if source.meter)
        if tasks or read:
            done, total = (tasks.done, tasks.total) if tasks else (0, 0)
            self._prepared.observer.progressed(Progress(read, self._to_read, done, total))
