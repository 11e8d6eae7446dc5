"""How a run comes to its session: opened for it, or lent to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from clinker.engine.session.conf import REQUIRED, TIME_ZONE, UNSUBSTITUTED
from clinker.engine.session.jvm import Jvm
from clinker.engine.session.settings import SessionError, SessionSettings
from clinker.engine_names import TITLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from clinker.engine.session.session import Session

_UTC = re.compile(
    r"(?:Etc/)?(?:UTC|UCT|GMT|Universal|Zulu|Greenwich)|UT|Z"
    r"|(?:(?:Etc/)?GMT|UTC|UT)?[+-]?00?(?::?00(?::?00)?)?",
    re.IGNORECASE,
)


def start_jvm(settings: SessionSettings) -> Jvm | None:
    """Start what `open_session` will need, and do not wait for it."""
    if settings.engine == "sail":
        from clinker.engine.session.sail import check_installed

        check_installed()
        return None
    return None if settings.remote else Jvm(settings)


def open_session(settings: SessionSettings, jvm: Jvm | None = None) -> Session:
    """A session for these settings, in the JVM that was started early if it suits them."""
    if jvm is not None and jvm.settings != settings:
        jvm.kill()
        jvm = None
    if settings.engine == "sail":
        from clinker.engine.session.sail import start_sail

        return start_sail(settings).answer_signals()
    if settings.remote:
        from clinker.engine.session.remote import connect

        return connect(settings.remote, settings).answer_signals()
    jvm = jvm or Jvm(settings)
    from clinker.engine.session.classic import attach

    return attach(jvm).answer_signals()


def adopt(spark: SparkSession, *, lends_frames: bool = False) -> Session:
    """A session on the user's own Spark, which stays open, and as it was, when the run is over.

    Frames that are lent to the user outlive it. A Connect server reads the text of their
    expressions again whenever they are used, so there nothing can be changed only for a while.
    """
    from clinker.engine.session.recognizing import engine_of, is_remote

    remote = is_remote(spark)
    _check(spark, REQUIRED, "results would depend on it")
    if lends_frames and remote:
        _check(spark, UNSUBSTITUTED, "names in your data could read environment variables")
    from clinker.engine.session.session import EngineFacts, Session

    engine = engine_of(spark)
    if lends_frames and not engine.keeps_order:
        raise SessionError(
            f"{TITLES[engine.name]} keeps no order of records, so that it has no DataFrame of "
            "those of a node to lend: use a session of Spark"
        )
    restore = _changed(spark, UNSUBSTITUTED)
    name = "spark-connect" if remote and engine.name == "spark" else engine.name
    facts = EngineFacts(name, spark.version, "adopted", None)
    # What a frame that is lent remembers nobody would release.
    return Session(spark, facts, restore, engine=engine, remembers=not lends_frames)


def _check(spark: SparkSession, wanted: Mapping[str, str], why: str) -> None:
    for name, value in wanted.items():
        found = spark.conf.get(name) or ""
        is_as_wanted = is_utc(found) if name == TIME_ZONE else found.lower() == value.lower()
        if not is_as_wanted:
            raise SessionError(
                f"this Spark session has {name} = {found}, and {why}: "
                f"set spark.conf.set('{name}', '{value}')"
            )


def is_utc(zone: str) -> bool:
    """Whether clocks of a zone, by whatever of its names, always show what those of UTC show."""
    return _UTC.fullmatch(zone.strip()) is not None


def _changed(spark: SparkSession, wanted: Mapping[str, str]) -> Callable[[], None]:
    """Change settings of a session; gives what undoes it."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    before = {name: spark.conf.get(name) or "" for name in wanted}

    def set_all(values: Mapping[str, str]) -> None:
        for name, value in values.items():
            spark.conf.set(name, value)

    def restore() -> None:
        with suppress(Py4JError, PySparkException, ConnectionError):  # its JVM or server is gone
            set_all(before)

    set_all(wanted)
    return restore
