"""Python workers that have nothing to do are ended where memory is short."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

RESTING = """
import os, sys
from clinker.engine.session import SessionSettings, open_session, start_jvm
from clinker.engine.session.usage import children

settings = SessionSettings(threads=2, memory_limit=int(sys.argv[1]))

def own_process(batches):
    import pyarrow as pa
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"id": [os.getpid()] * len(batch)})

def workers():
    numbers = spark.range(0, 2, 1, 2).mapInArrow(own_process, "id bigint").toArrow()
    return set(numbers["id"].to_pylist())

def alive():
    return {worker for daemon in children(jvm.process_id) for worker in children(daemon)}

jvm = start_jvm(settings)
with open_session(settings, jvm) as session:
    spark = session.spark
    first = workers()
    before = alive()
    session.engine.rest()
    while alive() & before and settings.memory_limit < 2**30:
        pass
    print(first <= before, len(alive()), bool(workers() & first))
"""


@pytest.mark.parametrize(
    ("megabytes", "said"), [(512, "True 0 False"), (2048, "True 2 True")], ids=["little", "ample"]
)
def test_workers_that_wait_are_ended_and_others_take_their_place(megabytes: int, said: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RESTING, str(megabytes * 2**20)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout.strip() == said, done.stderr
