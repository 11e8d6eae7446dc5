"""Sail in this process: a Spark Connect server without a JVM, for one run.

It listens on a free port of 127.0.0.1. Python functions of a run are executed by threads of this
process, which share it with everything else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from clinker.engine.session.conf import cores, runtime_conf
from clinker.engine.session.memory import sail_pool
from clinker.engine.session.mode import enter_mode
from clinker.engine.session.sail_engine import SailEngine
from clinker.engine.session.session import EngineFacts, Session
from clinker.engine.session.settings import SessionError, SessionSettings
from clinker.engine.session.workspace import RunDirectory
from clinker.imports import admit_pandas

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NOT_INSTALLED = "the engine Sail is not installed: run pip install 'clinker-spark[sail]'"


def check_installed() -> None:
    if find_spec("pysail") is None:
        raise SessionError(_NOT_INSTALLED)


def start_sail(settings: SessionSettings) -> Session:
    """A session in a Sail server of its own."""
    check_installed()
    admit_pandas()
    from pysail import __version__ as version
    from pysail.spark import SparkConnectServer

    with ExitStack() as undoing:
        undoing.callback(enter_mode(connect=True))
        directory = RunDirectory(settings.local_dir)
        undoing.callback(directory.remove)
        with _variables(_configuration(settings, directory)):
            server = SparkConnectServer("127.0.0.1", 0)
            server.start(background=True)
        undoing.callback(server.stop)
        assert server.listening_address
        _, port = server.listening_address
        from pyspark.sql.connect.session import SparkSession as RemoteSession

        remote = RemoteSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        undoing.callback(remote.stop)
        spark = cast("SparkSession", remote)
        for name, value in runtime_conf(settings).items():
            spark.conf.set(name, value)
        stop = undoing.pop_all().close
    facts = EngineFacts("sail", version, f"local[{cores(settings)}]", None)
    return Session(spark, facts, stop, engine=SailEngine())


def _configuration(settings: SessionSettings, directory: RunDirectory) -> dict[str, str]:
    """Sail's own settings, which it reads from the environment when a server is made."""
    return {
        "RUST_LOG": "info" if settings.debug else "off",
        "SAIL_MODE": "local",
        "SAIL_EXECUTION__BATCH_SIZE": str(settings.batch_size),
        "SAIL_EXECUTION__DEFAULT_PARALLELISM": str(cores(settings)),
        "SAIL_RUNTIME__MEMORY_POOL__TYPE": "fair",
        "SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE": str(sail_pool(settings.memory_limit)),
        "SAIL_RUNTIME__TEMPORARY_FILES__PATHS": f'["{directory.path}"]',
    }


@contextmanager
def _variables(chosen: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in chosen}
    os.environ.update(chosen)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
