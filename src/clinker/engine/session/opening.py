"""How a run comes to its session: opened for it, or lent to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clinker.engine.session.conf import REQUIRED
from clinker.engine.session.jvm import Jvm
from clinker.engine.session.settings import SessionError, SessionSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from clinker.engine.session.session import Session


def start_jvm(settings: SessionSettings) -> Jvm | None:
    """Start what `open_session` will need, and do not wait for it."""
    return None if settings.remote else Jvm(settings)


def open_session(settings: SessionSettings, jvm: Jvm | None = None) -> Session:
    """A session for these settings, in the JVM that was started early if it suits them."""
    if jvm is not None and jvm.settings != settings:
        jvm.kill()
        jvm = None
    if settings.remote:
        from clinker.engine.session.remote import connect

        return connect(settings.remote, settings).answer_signals()
    jvm = jvm or Jvm(settings)
    from clinker.engine.session.classic import attach

    return attach(jvm).answer_signals()


def adopt(spark: SparkSession) -> Session:
    """A session on the user's own Spark, which stays open when the run is over."""
    for name, value in REQUIRED.items():
        found = spark.conf.get(name)
        if (found or "").lower() != value.lower():
            raise SessionError(
                f"this Spark session has {name} = {found}, and results would depend on it: "
                f"set spark.conf.set('{name}', '{value}')"
            )
    from clinker.engine.session.session import EngineFacts, Session

    remote = type(spark).__module__.startswith("pyspark.sql.connect.")
    engine = "spark-connect" if remote else "spark"
    return Session(spark, EngineFacts(engine, spark.version, "adopted", None))
