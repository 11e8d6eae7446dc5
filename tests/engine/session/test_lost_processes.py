"""What is said when processes of a run are killed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clinker.engine.session.jvm import spark_home

from .whole_java import has_whole_java

KILLING = """
import logging, os, signal, sys, threading, time
from pathlib import Path
from clinker.engine.run.failures import engine_errors
from clinker.engine.report.facts import RunError
from clinker.engine.session import SessionSettings, open_session, start_jvm

logging.getLogger().addHandler(logging.NullHandler())  # as the command does: py4j tells all
victim, directory, master = sys.argv[1:]
settings = SessionSettings(
    threads=1,
    master=master or None,
    local_dir=Path(directory),
    spark_conf={"spark.task.maxFailures": "1"},
)

def children(process):
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, listed.read_text().split()):
            yield child, Path(f"/proc/{child}/cmdline").read_bytes().decode().split("\\0")
            yield from children(child)

def forks(*commands):
    found = children(jvm.process_id)
    return [child for child, words in found if any(command in words for command in commands)]

def kill():
    daemons = ("clinker.engine.session.daemon", "pyspark.daemon")
    while len(workers := forks(*daemons)) < 2:  # the second one computes
        time.sleep(0.05)
    executors = forks("org.apache.spark.executor.CoarseGrainedExecutorBackend")
    found = {"java": [jvm.process_id], "worker": workers[1:], "executor": executors}
    os.kill(found[victim][0], signal.SIGKILL)

def wait(batches):
    for batch in batches:
        time.sleep(60)
        yield batch

jvm = start_jvm(settings)
try:
    with open_session(settings, jvm) as session, engine_errors(settings, jvm):
        threading.Thread(target=kill, daemon=True).start()
        session.spark.range(1).mapInArrow(wait, "id bigint").toArrow()
except RunError as error:
    print(int(error.exit_code), [d.code for d in error.diagnostics], error.message)
"""


def said(victim: str, directory: Path, master: str = "", **variables: str) -> str:
    directory.mkdir(exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", KILLING, victim, str(directory), master],
        capture_output=True,
        text=True,
        timeout=200,
        env={**os.environ, **variables},
    )
    assert done.stderr == ""
    return done.stdout


def test_a_worker(tmp_path: Path) -> None:
    assert said("worker", tmp_path) == (
        "4 [] a Python worker of Spark ended unexpectedly: it was killed, or it crashed\n"
    )


def test_java(tmp_path: Path) -> None:
    assert said("java", tmp_path) == "4 [] Spark ended before the run did: SIGKILL killed Java\n"


@pytest.mark.skipif(not has_whole_java(), reason="executors need a whole JDK")
def test_an_executor(tmp_path: Path) -> None:
    home = tmp_path / "spark"  # where executors put their files
    home.mkdir()
    for entry in spark_home().iterdir():
        (home / entry.name).symlink_to(entry)
    java = Path(shutil.which("java") or "").resolve().parent.parent
    message = said(
        "executor",
        tmp_path / "run",
        "local-cluster[1,1,1024]",
        SPARK_HOME=str(home),
        SPARK_SCALA_VERSION="2.13",
        JAVA_HOME=str(java),
        PYSPARK_PYTHON=sys.executable,
    )
    assert message == "4 [] Spark lost an executor of the run: Command exited with code 137\n"
