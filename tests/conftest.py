"""What tests of all parts share: one Spark session for the whole process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from clinker.engine.session import SessionSettings, open_session
from clinker.engine.session.session import Session


@pytest.fixture(scope="session")
def session() -> Iterator[Session]:
    with open_session(SessionSettings(threads=2, memory_limit=2 * 2**30)) as opened:
        yield opened
