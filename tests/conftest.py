"""What tests of all parts share: one Spark session for the whole process.

With `--connect` it is a session of a Spark Connect server, which runs in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import settings

from clinker.engine.session import SessionSettings, open_session
from clinker.engine.session.session import Session
from tests.object_store import Store, running_store

# How long a test takes depends on what else the machine does.
settings.register_profile("clinker", deadline=None)
settings.load_profile("clinker")

_MEMORY = 4 * 2**30
_SERVER = f"""
import socket, sys
from clinker.engine.session import SessionSettings, open_session

with socket.socket() as reserved:
    reserved.bind(("127.0.0.1", 0))
    port = reserved.getsockname()[1]
conf = {{
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.python.daemon.module": "pyspark.daemon",
    "spark.sql.artifact.isolation.enabled": "true",
    "spark.connect.grpc.binding.port": str(port),
}}
with open_session(SessionSettings(threads=2, memory_limit={_MEMORY}, spark_conf=conf)):
    print(port, flush=True)
    sys.stdin.read()
"""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--connect", action="store_true", help="run on a Spark Connect server")


@pytest.fixture(autouse=True, scope="session")
def _generous_process() -> Iterator[None]:
    """Commands that are run inside of this process leave its memory alone: it lives long, and has
    much that would be given back and asked for again."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("clinker.cli.execution.allocate_sparingly", lambda limit: None)
        yield


@contextmanager
def _server() -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout
        yield f"sc://localhost:{int(process.stdout.readline())}"
        process.communicate()


@pytest.fixture(scope="session")
def whole_store() -> Iterator[Store]:
    with running_store() as store:
        yield store


@pytest.fixture
def store(whole_store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """An object store with an empty bucket, which the environment leads to."""
    for name, value in whole_store.environment.items():
        monkeypatch.setenv(name, value)
    whole_store.clear()
    return whole_store


@pytest.fixture(scope="session")
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    if request.config.getoption("--connect"):
        with _server() as url, open_session(SessionSettings(remote=url)) as opened:
            yield opened
    else:
        with open_session(SessionSettings(threads=2, memory_limit=_MEMORY)) as opened:
            yield opened
