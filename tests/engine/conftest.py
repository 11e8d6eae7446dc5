"""The Spark session of all tests, for those that need no more than that."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from clinker.engine.session.session import Session


@pytest.fixture(scope="session")
def spark(session: Session) -> SparkSession:
    return session.spark
