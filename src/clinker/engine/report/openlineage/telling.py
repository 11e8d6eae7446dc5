"""A run tells what it does, from its beginning to its end."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from clinker.engine.report.facts import Identity, RunError, RunReport
from clinker.engine.report.openlineage.events import Event, Events
from clinker.engine.report.openlineage.sending import Receiver, Undelivered


class Telling:
    """The events of one run on their way to a receiver."""

    def __init__(self, events: Events, receiver: Receiver) -> None:
        self._events = events
        self._receiver = receiver
        self._start: threading.Thread | None = None
        self._problems: list[str] = []

    def began(self, identity: Identity) -> None:
        """Tell that the run has begun, while it goes on."""
        event = self._events.started(identity)
        self._start = threading.Thread(target=self._send, args=(event,), daemon=True)
        self._start.start()

    def ended(self, report: RunReport, error: RunError | None) -> Iterator[str]:
        """Tell what became of it; why that was not possible, if it was not."""
        if self._start is None:
            self.began(report)
        assert self._start
        self._start.join()
        self._send(self._events.ended(report, error))
        yield from dict.fromkeys(self._problems)

    def _send(self, event: Event) -> None:
        try:
            self._receiver.send(event)
        except Undelivered as problem:
            self._problems.append(f"lineage was not delivered: {problem}")
