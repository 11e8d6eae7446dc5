"""Errors of the engine, in words for the user."""

from __future__ import annotations

from pathlib import Path

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException

from clinker.engine.report.facts import RunError
from clinker.engine.run.failures import engine_errors
from clinker.engine.session.settings import SessionSettings

TASK_FAILURE = """\
[STREAM_FAILED] Job aborted due to stage failure: Task 0 in stage 1.0 failed
  File "/opt/clinker/formats/csv_reader.py", line 12, in read
clinker.formats.reading.FormatError: orders.csv is not UTF-8 at byte 17
\tat org.apache.spark.api.python.PythonRunner.run(PythonRunner.scala:1)
"""
LOST = "ExecutorLostFailure (executor 1 exited caused by one of the running tasks)"


@pytest.mark.parametrize(
    ("problem", "exit_code", "message", "codes"),
    [
        (PySparkException(TASK_FAILURE), 4, "orders.csv is not UTF-8 at byte 17", []),
        (
            PySparkException("Job aborted\njava.lang.OutOfMemoryError: Java heap space"),
            1,
            "the run exceeded the memory limit of 512M",
            ["E310"],
        ),
        (
            PySparkException('  File "x.py", line 1\nMemoryError\n\tat org.apache.spark'),
            1,
            "the run exceeded the memory limit of 512M",
            ["E310"],
        ),
        (
            PySparkException("Lost task: SparkException: Python worker exited unexpectedly"),
            4,
            "a Python worker of Spark ended unexpectedly: it was killed, or it crashed",
            [],
        ),
        (
            PySparkException(
                f"{LOST} Reason: Container killed by YARN for exceeding memory limits."
            ),
            1,
            "the run exceeded the memory limit of 512M",
            ["E310"],
        ),
        (
            PySparkException(f"{LOST} Reason: worker decommissioned: gone"),
            4,
            "Spark lost an executor of the run: worker decommissioned: gone",
            [],
        ),
        (
            PySparkException("java.io.IOException: No space left on device"),
            4,
            "no space left on /spill",
            ["E321"],
        ),
        (
            PySparkException("Job aborted: java.io.IOException: Disk quota exceeded"),
            4,
            "this user's disk quota is used up on /spill",
            ["E321"],
        ),
        (
            PySparkException("awaitResult: \nCaused by: java.io.IOException: File too large"),
            4,
            "a file is larger than processes may write here (ulimit -f), on /spill",
            ["E321"],
        ),
        (
            Py4JNetworkError("Answer from Java side is empty"),
            4,
            "Spark ended before the run did",
            [],
        ),
        (ConnectionRefusedError(111, "refused"), 4, "Spark ended before the run did", []),
        (
            Py4JError("An error occurred while calling o50.getResult"),
            4,
            "Spark ended before the run did",
            [],
        ),
        (
            PySparkException("[PARSE_SYNTAX_ERROR] Syntax error\n\nJVM stacktrace:\n\tat x"),
            4,
            "Spark failed: [PARSE_SYNTAX_ERROR] Syntax error",
            [],
        ),
        (
            Py4JError("An error occurred while calling o46.select.\n: java.lang.Error: no\n\tat x"),
            4,
            "Spark failed: java.lang.Error: no",
            [],
        ),
    ],
    ids=lambda p: type(p).__name__ if isinstance(p, Exception) else "",
)
def test_an_error_of_spark_becomes_one_for_the_user(
    problem: Exception, exit_code: int, message: str, codes: list[str]
) -> None:
    settings = SessionSettings(local_dir=Path("/spill"))
    with pytest.raises(RunError) as caught, engine_errors(settings):
        raise problem
    error = caught.value
    assert (error.exit_code, error.message) == (exit_code, message)
    assert [d.code for d in error.diagnostics] == codes
    assert error.__cause__ is problem


def test_a_very_long_message_is_cut() -> None:
    with pytest.raises(RunError) as caught, engine_errors(SessionSettings()):
        raise PySparkException("x" * 10_000)
    assert len(caught.value.message) < 400


def test_other_errors_pass() -> None:
    with pytest.raises(KeyError), engine_errors(SessionSettings()):
        raise KeyError("x")
