"""A session: a `SparkSession` with what is to be done when the run is over."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from clinker.engine.session.batches import BatchLimit
from clinker.frozen import frozen

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_CANCEL_SECONDS = 0.5
_QUERIES = ("SQL", "DataFrame")


@frozen
class EngineFacts:
    """What a report says about the engine."""

    engine: str
    version: str
    master: str
    java: str | None


def _silence_query_contexts() -> Callable[[], None]:
    """Keep pyspark from printing the SQL, and the data in it, of what fails; gives what undoes it.

    What goes wrong is told by us.
    """
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in _QUERIES]
    before = [logger.disabled for logger in loggers]

    def disable(all_disabled: Iterable[bool]) -> None:
        for logger, disabled in zip(loggers, all_disabled, strict=True):
            logger.disabled = disabled

    disable(True for _ in loggers)
    return lambda: disable(before)


def _cancel(spark: SparkSession) -> None:
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    # With its JVM or server gone, there is nothing to cancel.
    with suppress(Py4JError, PySparkException, ConnectionError):
        spark.interruptAll()


class Session:
    """A Spark session for as long as a run needs it."""

    def __init__(
        self,
        spark: SparkSession,
        facts: EngineFacts,
        stop: Callable[[], None],
    ) -> None:
        self.spark = spark
        self.facts = facts
        self.batches = BatchLimit(spark)
        self._ending = ExitStack()
        self._ending.callback(_silence_query_contexts())
        self._ending.callback(stop)
        self._handlers: dict[signal.Signals, Any] = {}
        self._interrupted = False
        self._stopped = threading.Event()

    def interrupt(self) -> None:
        """Cancel what the session is computing.

        The thread at hand may have been stopped between a question to Spark and its answer, so
        another one asks.
        """
        asking = threading.Thread(target=_cancel, args=(self.spark,), name="interrupt")
        asking.start()
        asking.join()

    def answer_signals(self) -> Session:
        """Let signals that end the run cancel what is computed before they take their course.

        Otherwise pyspark waits for it. The session is of no use afterwards: a computation that
        is only about to start is cancelled as well.
        """
        if threading.current_thread() is threading.main_thread():
            self._handlers = {number: signal.getsignal(number) for number in _ENDING}
            for number, handler in self._handlers.items():
                if callable(handler):
                    signal.signal(number, self._answer)
        return self

    def _answer(self, number: int, frame: FrameType | None) -> None:
        if not self._interrupted:
            self._interrupted = True
            threading.Thread(target=self._keep_cancelling, name="interrupt", daemon=True).start()
        handler = self._handlers.get(signal.Signals(number))
        if callable(handler):
            handler(number, frame)

    def check(self) -> None:
        """Raise `KeyboardInterrupt` if a signal was answered, whatever has become of it since."""
        if self._interrupted:
            raise KeyboardInterrupt

    def _keep_cancelling(self) -> None:
        while not self._stopped.is_set():
            _cancel(self.spark)
            self._stopped.wait(_CANCEL_SECONDS)

    def stop(self) -> None:
        """Release everything the session holds. A second time does nothing."""
        handlers, self._handlers = self._handlers, {}
        self._stopped.set()
        try:
            self._ending.close()
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

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
