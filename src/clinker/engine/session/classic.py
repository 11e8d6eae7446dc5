"""Sessions in a JVM of our own: on this machine, or as the driver of a cluster."""

from __future__ import annotations

import os
import pwd
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import (  # type: ignore[import-untyped]
    Py4JError,
    Py4JJavaError,
    Py4JNetworkError,
)
from pyspark import SparkContext, StorageLevel
from pyspark.java_gateway import launch_gateway
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType
from pyspark.sql.udf import UserDefinedFunction
from pyspark.util import PythonEvalType

from clinker.cxl.failure import printable
from clinker.engine.flow.frame import BatchFunction
from clinker.engine.session import spilling
from clinker.engine.session.conf import master
from clinker.engine.session.endpoint import check_reachable
from clinker.engine.session.engine import Engine, Tasks
from clinker.engine.session.jvm import Jvm
from clinker.engine.session.memory import AMPLE
from clinker.engine.session.mode import enter_mode
from clinker.engine.session.package import ship_package
from clinker.engine.session.secrets import hide_secrets, shown_address
from clinker.engine.session.session import EngineFacts, Session
from clinker.engine.session.settings import SessionError
from clinker.engine.session.usage import children


class Classic(Engine):
    """Spark in a JVM that this process talks to."""

    def __init__(self, spark: SparkSession, java: int, *, is_ample: bool) -> None:
        self._spark = spark
        self._java = java
        """The number of its process."""
        self._is_ample = is_ample
        self._counted_stage = -1
        """The last stage of what is not to be told any more."""

    def tasks(self) -> Tasks | None:
        tracker = self._spark.sparkContext.statusTracker()
        try:
            found = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        except (Py4JError, ConnectionError):  # the JVM is gone, which others tell
            return None
        stages = [stage for stage in found if stage]
        done = sum(stage.numCompletedTasks for stage in stages)
        return Tasks(done, sum(stage.numTasks for stage in stages)) if stages else None

    def rest(self) -> None:
        """Python workers are forked quickly, and hold memory while they wait.

        Another thread may have the same Spark compute something.
        """
        if not self._is_ample and self.tasks() is None:
            for daemon in children(self._java):
                for worker in children(daemon):
                    with suppress(ProcessLookupError):
                        os.kill(worker, signal.SIGKILL)

    def label(self, frame: DataFrame, node: str) -> None:
        spilling.label(self._spark, frame, node)

    def spilled(self, computed: Sequence[DataFrame]) -> Mapping[str, int]:
        return spilling.by_node(self._spark, computed, self._counted_stage)

    def begin_counting(self) -> None:
        self._counted_stage = spilling.newest_stage(self._spark)

    def keep(self, frame: DataFrame) -> DataFrame:
        """In a small heap, what is kept there would leave no room to sort and join."""
        level = StorageLevel.MEMORY_AND_DISK if self._is_ample else StorageLevel.DISK_ONLY
        return frame.persist(level)

    def map_in_arrow(
        self, frame: DataFrame, function: BatchFunction, schema: StructType
    ) -> DataFrame:
        """As Spark does it, except that it would import pandas, only to see that it is there."""
        run = UserDefinedFunction(function, schema, evalType=PythonEvalType.SQL_MAP_ARROW_ITER_UDF)
        column: Any = run(*(frame[name] for name in frame.columns))
        return DataFrame(frame._jdf.mapInArrow(column._jc, False, None), frame.sparkSession)


def attach(jvm: Jvm) -> Session:
    """The session of a JVM that was started for it."""
    settings = jvm.settings
    if SparkContext._active_spark_context is not None:
        jvm.kill()
        raise SessionError(
            "this process has a Spark session already, and no room for another: run the pipeline "
            "in that one, as in plan.run(spark)"
        )
    leave_mode = enter_mode(connect=False)
    try:
        if settings.master:
            check_reachable(settings.master)
        spark = _spark(jvm)
        if not settings.is_local:
            ship_package(spark, jvm.directory.path)
    except BaseException:
        _forget()
        jvm.kill()
        leave_mode()
        raise
    facts = EngineFacts("spark", spark.version, shown_address(master(settings)), jvm.java.version)

    def stop() -> None:
        _stop(spark, jvm)
        leave_mode()

    is_ample = settings.memory_limit >= AMPLE
    return Session(spark, facts, stop, engine=Classic(spark, jvm.process_id, is_ample=is_ample))


def _spark(jvm: Jvm) -> SparkSession:
    port, secret = jvm.address()
    known = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    python = sys.executable if jvm.settings.is_local else os.environ.get("PYSPARK_PYTHON")
    try:
        with _variables(known):
            gateway = launch_gateway()  # type: ignore[no-untyped-call]
        if not _has_name():
            _name_user(gateway)
        with _variables({"PYSPARK_PYTHON": python or "python3"}), _own_interrupt_handler():
            context = SparkContext(gateway=gateway)
        spark = SparkSession(context)
    except Py4JJavaError as problem:
        reason = hide_secrets(_root_cause(problem), jvm.settings)
        raise SessionError(f"Spark did not start: {reason}") from problem
    except Py4JNetworkError as problem:
        message = f"the connection to Spark broke while it was starting{jvm.last_words()}"
        raise SessionError(message) from problem
    # The server for accumulators, which we do not use, would print that the JVM has ended.
    server: Any = context._accumulatorServer
    server.handle_error = _ignore
    return spark


def _has_name() -> bool:
    try:
        pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return True


def _name_user(gateway: Any) -> None:
    """Give a user a name whom the system knows by number only, as in many containers.

    Hadoop would ask the system for it, and fail.
    """
    name = os.environ.get("HADOOP_USER_NAME") or str(os.geteuid())
    users = gateway.jvm.org.apache.hadoop.security.UserGroupInformation
    users.setLoginUser(users.createRemoteUser(name))


def _ignore(*_: object) -> None:
    """Say nothing."""


def _root_cause(problem: Py4JJavaError) -> str:
    cause = problem.java_exception
    while (deeper := cause.getCause()) is not None:
        cause = deeper
    return printable(str(cause.getMessage() or cause.toString()).strip().partition("\n")[0])


@contextmanager
def _variables(changed: Mapping[str, str]) -> Iterator[None]:
    """Environment variables through which pyspark is told what it takes from nowhere else."""
    before = {name: os.environ.get(name) for name in changed}
    os.environ.update(changed)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _own_interrupt_handler() -> Iterator[None]:
    """Keeps pyspark from answering Ctrl-C in our place."""
    handler = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, handler)


def _stop(spark: SparkSession, jvm: Jvm) -> None:
    if jvm.settings.is_local and not jvm.settings.spark_conf:
        # Nobody but this run knows of the JVM, and a clean end would take a second.
        _forget()
        jvm.kill()
        return
    stopping = threading.Thread(target=_stop_context, args=(spark.sparkContext,), name="stop")
    stopping.start()
    stopping.join()
    _forget()
    jvm.finish()


def _stop_context(context: SparkContext) -> None:
    with suppress(Py4JError, ConnectionError):  # it has stopped by itself, or the JVM is gone
        context._jsc.sc().stop()


def _forget() -> None:
    """Make pyspark's globals ready for another session in this process."""
    context = SparkContext._active_spark_context
    if context is not None:
        context._jsc = None
        server, context._accumulatorServer = context._accumulatorServer, None  # type: ignore[assignment]
        threading.Thread(target=server.shutdown, daemon=True).start()
    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.close()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
