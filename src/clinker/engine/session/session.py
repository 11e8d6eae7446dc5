"""A session: a `SparkSession` with what is to be done when the run is over."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

from clinker.engine.session.batches import BatchLimit
from clinker.engine.session.engine import Engine, PartFunction
from clinker.frozen import frozen

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, Row, SparkSession

    from clinker.engine.flow.frame import Frame

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_CANCEL_SECONDS = 0.5
_QUERIES = ("SQL", "DataFrame")
_PARTITIONS = "spark.sql.shuffle.partitions"


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
        *,
        engine: Engine | None = None,
        remembers: bool = True,
    ) -> None:
        from clinker.engine.session.frames import Frames

        self.spark = spark
        self.engine = engine or Engine()
        self._frames = Frames(self, remembers=remembers)
        self.computed: list[DataFrame] = []
        self.facts = facts
        self.batches = BatchLimit(spark)
        self._ending = ExitStack()
        self._ending.callback(_silence_query_contexts())
        self._ending.callback(stop)
        self._handlers: dict[signal.Signals, Any] = {}
        self._interrupted = False
        self._stopped = threading.Event()

    @property
    def partitions(self) -> int | None:
        """Into how many parts the engine divides what it shuffles, if it says so."""
        told = self.spark.conf.get(_PARTITIONS, None)
        return int(told) if told else None

    # Frames

    def data_frame(self, frame: Frame) -> DataFrame:
        """The DataFrame that a frame describes."""
        return self._frames.built(frame)

    def rows(self, table: pa.Table) -> DataFrame:
        """A table as a DataFrame; it says explicitly that its times are in no zone."""
        import pyarrow as pa

        from clinker.engine.session.types import spark_schema

        if not table.num_rows:  # pyspark wants a chunk even then
            table = pa.Table.from_batches([pa.RecordBatch.from_pylist([], table.schema)])
        return self.engine.received(self.spark, table, spark_schema(table.schema))

    def table(self, frame: Frame) -> pa.Table:
        """All rows of a frame, here."""
        return self._collected(self._leaving(frame)).select(frame.names)

    def _collected(self, frame: DataFrame) -> pa.Table:
        if self._frames.nodes:
            self.computed.append(frame)
        return frame.toArrow()

    def iterate(self, frame: Frame) -> Iterator[Row]:
        """The rows of a frame, part after part."""
        return self._leaving(frame).toLocalIterator()

    def count(self, frame: Frame) -> int:
        return self.data_frame(frame).count()

    def run_in_parts(self, frame: Frame, function: PartFunction, schema: pa.Schema) -> pa.Table:
        """What a function gives for the batches of every part of a frame."""
        return self.engine.run_in_parts(self._leaving(frame), function, schema, self._collected)

    def label_frames(self, nodes: Mapping[Frame, str]) -> None:
        """Have the engine know of what nodes frames are the work, which `spilled` tells."""
        self._frames.nodes = nodes

    @contextmanager
    def counting(self) -> Iterator[None]:
        """What is computed inside is what `spilled` tells of."""
        self.engine.begin_counting()
        try:
            yield
        finally:
            self.computed.clear()
            self._frames.nodes = {}

    def spilled(self) -> Mapping[str, int] | None:
        """How many bytes the engine has written to disk for want of memory, by node."""
        return self.engine.spilled(self.computed)

    def _leaving(self, frame: Frame) -> DataFrame:
        return self.data_frame(self.engine.leaving(frame))

    def forget_frames(self) -> None:
        """Release what was remembered of frames."""
        self._frames.release()

    # Signals

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
            self.cancel_all()
        handler = self._handlers.get(signal.Signals(number))
        if callable(handler):
            handler(number, frame)

    def check(self) -> None:
        """Raise `KeyboardInterrupt` if a signal was answered, whatever has become of it since."""
        if self._interrupted:
            raise KeyboardInterrupt

    def cancel_all(self) -> None:
        """Cancel what is computed, and whatever is begun from now on."""
        threading.Thread(target=self._keep_cancelling, name="cancel", daemon=True).start()

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
