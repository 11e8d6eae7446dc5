"""A session: a `SparkSession` with what is to be done when the run is over."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from clinker.frozen import frozen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@frozen
class EngineFacts:
    """What a report says about the engine."""

    engine: str
    version: str
    master: str
    java: str | None


def _nothing() -> None:
    """A session that is not ours stays as it is."""


def _set_interrupt_handler(handler: Any) -> None:
    signal.signal(signal.SIGINT, handler)


def _cancel(spark: SparkSession) -> None:
    # With its JVM or server gone, there is nothing to cancel.
    with suppress(Py4JError, PySparkException):
        spark.interruptAll()


class Session:
    """A Spark session for as long as a run needs it."""

    def __init__(
        self,
        spark: SparkSession,
        facts: EngineFacts,
        stop: Callable[[], None] = _nothing,
    ) -> None:
        self.spark = spark
        self.facts = facts
        self._stop = stop
        self._restore = _nothing
        self._interrupted = False

    def interrupt(self) -> None:
        """Cancel what the session is computing.

        The thread at hand may have been stopped between a question to Spark and its answer, so
        another one asks.
        """
        asking = threading.Thread(target=_cancel, args=(self.spark,), name="interrupt")
        asking.start()
        asking.join()

    def answer_interrupts(self) -> Session:
        """Let Ctrl-C cancel what is computed before it takes its course: pyspark waits for it."""
        if threading.current_thread() is not threading.main_thread():
            return self
        before = signal.getsignal(signal.SIGINT)

        def answer(number: int, frame: FrameType | None) -> None:
            self._interrupted = True
            self.interrupt()
            if callable(before):
                before(number, frame)

        signal.signal(signal.SIGINT, answer)
        self._restore = lambda: _set_interrupt_handler(before)
        return self

    def stop(self) -> None:
        """Release everything the session holds. A second time does nothing."""
        stop, self._stop = self._stop, _nothing
        restore, self._restore = self._restore, _nothing
        try:
            stop()
        finally:
            restore()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        if self._interrupted and isinstance(problem, Exception):
            # What Spark says about a cancelled job hides why it was cancelled.
            raise KeyboardInterrupt from None
