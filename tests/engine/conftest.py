"""What tests of the engine share: the Spark session of all tests, and runs in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from clinker.cxl.sql.dialect import writing_in
from clinker.engine.reading import inputs
from clinker.engine.session.recognizing import engine_named
from clinker.engine.session.session import Session

from .whole_runs import Workplace


@pytest.fixture(scope="session")
def spark(session: Session) -> SparkSession:
    return session.spark


@pytest.fixture(autouse=True)
def in_dialect(request: pytest.FixtureRequest) -> Iterator[None]:
    """Tests that write SQL by themselves write that of the engine they run on."""
    with writing_in(engine_named(request.config.getoption("--engine")).dialect):
        yield


@pytest.fixture
def workplace(tmp_path: Path, session: Session) -> Workplace:
    return Workplace(tmp_path, session)


@pytest.fixture(params=["driver", "workers"])
def either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs whose inputs the driver reads by itself, and runs that leave it to Spark's workers."""
    if request.param == "workers":
        monkeypatch.setattr(inputs, "SMALL_INPUT", -1)
    return str(request.param)
