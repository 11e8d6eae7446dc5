"""What an engine is at work on, asked while it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator

import pyarrow as pa

from clinker.engine.session.engine import Tasks
from clinker.engine.session.session import Session

COUNT = 6
SECONDS = 1.5


def tasks_told(session: Session) -> set[tuple[int, int]]:
    """What a session tells, by and by, of a computation that takes a while."""
    told: set[tuple[int, int]] = set()
    ended = threading.Event()

    def slowly(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        time.sleep(SECONDS)
        yield from batches

    def follow() -> None:
        while not ended.wait(0.1):
            if tasks := session.engine.tasks():
                told.add((tasks.done, tasks.total))

    following = threading.Thread(target=follow)
    following.start()
    try:
        session.spark.range(0, COUNT, 1, COUNT).mapInArrow(slowly, "id bigint").toArrow()
    finally:
        ended.set()
        following.join()
    return told


def test_an_engine_tells_how_many_tasks_are_done(session: Session) -> None:
    told = tasks_told(session)
    assert {total for _, total in told} == {COUNT}
    assert len(told) > 1
    assert session.engine.tasks() in (None, Tasks(COUNT, COUNT))
