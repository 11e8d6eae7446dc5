"""Sessions on a Spark Connect server: no JVM here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, cast

from pyspark.errors import PySparkException
from pyspark.sql.connect.session import SparkSession as RemoteSession

from clinker.engine.session.conf import runtime_conf
from clinker.engine.session.endpoint import check_reachable
from clinker.engine.session.engine import Engine, Tasks
from clinker.engine.session.mode import enter_mode
from clinker.engine.session.package import ship_package
from clinker.engine.session.recognizing import is_sail
from clinker.engine.session.secrets import hide_secrets, shown_address
from clinker.engine.session.session import EngineFacts, Session
from clinker.engine.session.settings import SessionError, SessionSettings
from clinker.engine.session.workspace import RunDirectory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.connect.shell.progress import ProgressHandler, StageInfo

_ISOLATED = "spark.sql.artifact.isolation.enabled"
"""Only a server can choose it. Servers that are started as such do; those that are plugins of
another application do not."""


class Remote(Engine):
    """Spark behind a Connect server, which tells how far it is whenever it likes to."""

    def __init__(self, session: RemoteSession) -> None:
        self._latest: Tasks | None = None
        # It takes any function, and asks its own type checker for a class.
        session.registerProgressHandler(cast("ProgressHandler", self._told))

    def tasks(self) -> Tasks | None:
        return self._latest

    def _told(
        self,
        stages: Iterable[StageInfo] | None,
        inflight_tasks: int,
        operation_id: str | None,
        done: bool,
    ) -> None:
        known = list(stages or ())
        total = sum(stage.num_tasks for stage in known)
        finished = sum(stage.num_completed_tasks for stage in known)
        self._latest = Tasks(finished, total) if total and not done else None


def connect(url: str, settings: SessionSettings) -> Session:
    check_reachable(url)
    leave_mode = enter_mode(connect=True)
    with ExitStack() as undoing, _refusals(url, settings):
        undoing.callback(leave_mode)
        remote = RemoteSession.builder.remote(url).create()
        undoing.callback(remote.stop)
        spark = cast("SparkSession", remote)
        engine = Remote(remote)
        if is_sail(spark):
            raise SessionError(
                f"the server at '{shown_address(url)}' is Sail, which is used on this machine "
                "only: run with --engine sail instead of --remote"
            )
        _check_isolation(spark, url)
        for name, value in runtime_conf(settings).items():
            spark.conf.set(name, value)
        _ship_package(spark, settings)
        version = spark.version
        undoing.pop_all()

    def stop() -> None:
        remote.stop()
        leave_mode()

    facts = EngineFacts("spark-connect", version, shown_address(url), None)
    return Session(spark, facts, stop, engine=engine)


@contextmanager
def _refusals(url: str, settings: SessionSettings) -> Iterator[None]:
    try:
        yield
    except PySparkException as problem:
        reason = hide_secrets(str(problem).strip().partition("\n")[0], settings)
        message = f"the Spark server at '{shown_address(url)}' refused: {reason}"
        raise SessionError(message) from problem


def _check_isolation(spark: SparkSession, url: str) -> None:
    """Whether workers will get the package of this client, and no other.

    Otherwise they ask for those of clients that are gone, and go on with the modules of another
    version that they have imported for somebody else.
    """
    if spark.conf.get(_ISOLATED, "true") == "false":
        raise SessionError(
            f"the Spark server at '{shown_address(url)}' does not keep its clients apart, so that "
            f"their versions of clinker would mix: start it with --conf {_ISOLATED}=true"
        )


def _ship_package(spark: SparkSession, settings: SessionSettings) -> None:
    directory = RunDirectory(settings.local_dir)
    try:
        ship_package(spark, directory.path)
    finally:
        directory.remove()
