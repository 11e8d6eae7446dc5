"""Sessions on a Spark Connect server: no JVM here."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pyspark.errors import PySparkException
from pyspark.sql.connect.session import SparkSession as RemoteSession

from clinker.engine.session.conf import runtime_conf
from clinker.engine.session.endpoint import check_reachable
from clinker.engine.session.mode import enter_mode
from clinker.engine.session.package import ship_package
from clinker.engine.session.secrets import hide_secrets, shown_address
from clinker.engine.session.session import EngineFacts, Session
from clinker.engine.session.settings import SessionError, SessionSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def connect(url: str, settings: SessionSettings) -> Session:
    check_reachable(url)
    leave_mode = enter_mode(connect=True)
    try:
        remote = RemoteSession.builder.remote(url).create()
        spark = cast("SparkSession", remote)
        for name, value in runtime_conf(settings).items():
            spark.conf.set(name, value)
        with tempfile.TemporaryDirectory() as directory:
            ship_package(spark, Path(directory))
        version = spark.version
    except PySparkException as problem:
        leave_mode()
        reason = hide_secrets(str(problem).strip().partition("\n")[0], settings)
        message = f"the Spark server at '{shown_address(url)}' refused: {reason}"
        raise SessionError(message) from problem

    def stop() -> None:
        remote.stop()
        leave_mode()

    facts = EngineFacts("spark-connect", version, shown_address(url), None)
    return Session(spark, facts, stop)
