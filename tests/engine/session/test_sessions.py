"""Sessions on this machine, in processes of their own: what users see, and what is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clinker.engine.session import Jvm, SessionError, SessionSettings

OPENING = """
import sys
from pathlib import Path
from clinker.engine.session import SessionSettings, open_session, start_jvm
settings = SessionSettings(threads=1, local_dir=Path(sys.argv[1]))
"""


def started(program: str, directory: Path, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", OPENING + program, str(directory)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    )


def is_running(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    return "State:\tZ" not in status


def wait_for_end(process: int, seconds: float = 30) -> bool:
    deadline = time.monotonic() + seconds
    while is_running(process) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not is_running(process)


def test_a_session_says_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    program = """
jvm = start_jvm(settings)
with open_session(settings, jvm) as session:
    spark = session.spark
    facts = session.facts
    rows = spark.range(3).selectExpr("upper('straße') AS s", "current_timezone() AS z").distinct()
    print(facts.engine, facts.version[:2], facts.master, facts.java.split(".")[0].isdigit())
    print([tuple(row) for row in rows.toArrow().to_pylist()[0].items()])
    spark.range(2).mapInArrow(lambda batches: batches, "id bigint").toArrow()
    print(jvm.process_id)
with open_session(settings) as session:
    print(session.spark.range(7).toArrow().num_rows)
"""
    with started(program, tmp_path) as process:
        output, errors = process.communicate()
    assert errors == ""
    facts, rows, jvm, count = output.splitlines()
    assert facts == "spark 4. local[1] True"
    assert rows == "[('s', 'STRASSE'), ('z', 'UTC')]"
    assert count == "7", "a second session in the same process"
    assert wait_for_end(int(jvm))
    assert list(tmp_path.iterdir()) == []


def test_the_jvm_does_not_outlive_a_killed_process(tmp_path: Path) -> None:
    program = """
jvm = start_jvm(settings)
print(jvm.process_id, flush=True)
with open_session(settings, jvm) as session:
    print("open", flush=True)
    session.spark.range(10**13).selectExpr("sum(hash(id))").toArrow()
"""
    with started(program, tmp_path) as process:
        assert process.stdout
        jvm = int(process.stdout.readline())
        assert process.stdout.readline() == "open\n"
        process.kill()
    assert wait_for_end(jvm)


def test_a_jvm_without_memory_ends_and_says_why(tmp_path: Path) -> None:
    program = """
import logging
from clinker.engine.run.failures import engine_errors
from clinker.engine.report.facts import RunError
logging.getLogger().addHandler(logging.NullHandler())  # as the command does: py4j tells all
jvm = start_jvm(settings)
try:
    with open_session(settings, jvm) as session, engine_errors(settings, jvm):
        session.spark.range(1).selectExpr("repeat(string(id), 2000000000) as s").toArrow()
except RunError as error:
    print(error.exit_code, error.diagnostics[0].code, error.message)
"""
    with started(program, tmp_path) as process:
        output, errors = process.communicate(timeout=120)
    assert (output, errors) == ("1 E310 the run exceeded the memory limit of 512M\n", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wait", [0.0, 3.0])
def test_a_signal_cancels_what_is_computed_or_about_to_be(wait: float, tmp_path: Path) -> None:
    program = """
import signal
signal.signal(signal.SIGTERM, signal.default_int_handler)
with open_session(settings) as session:
    print("open", flush=True)
    session.spark.range(10**13).selectExpr("sum(hash(id))").toArrow()
"""
    process = started(program, tmp_path)
    try:
        assert process.stdout
        assert process.stdout.readline() == "open\n"
        time.sleep(wait)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert errors.splitlines()[-1] == "KeyboardInterrupt"
    assert list(tmp_path.iterdir()) == []


def test_a_jvm_that_does_not_start(tmp_path: Path) -> None:
    options = {"spark.driver.extraJavaOptions": "-XX:MaxHeapSize=nonsense"}
    jvm = Jvm(SessionSettings(local_dir=tmp_path, spark_conf=options))
    with pytest.raises(SessionError, match=r"(?s)Java ended while Spark was starting.*nonsense"):
        jvm.address()
    jvm.kill()
    assert list(tmp_path.iterdir()) == []


def test_a_master_spark_does_not_know(tmp_path: Path) -> None:
    program = """
from clinker.engine.session import SessionError
try:
    open_session(SessionSettings(master="local[x]", local_dir=settings.local_dir))
except SessionError as problem:
    print(problem)
"""
    with started(program, tmp_path) as process:
        output, errors = process.communicate()
    assert errors == ""
    assert output.startswith("Spark did not start: ")
    assert "local[x]" in output
    assert list(tmp_path.iterdir()) == []


def test_an_early_jvm_with_other_settings_is_not_used(tmp_path: Path) -> None:
    program = """
early = start_jvm(settings)
wanted = SessionSettings(threads=2, memory_limit=2**30, local_dir=settings.local_dir)
with open_session(wanted, early) as session:
    print(session.facts.master, early.directory.path.exists())
"""
    with started(program, tmp_path) as process:
        output, _ = process.communicate()
    assert output == "local[2] False\n"


def test_an_unreadable_cache_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from clinker.engine.session import aot
    from clinker.engine.session.command import fixed_flags
    from clinker.engine.session.java import find_java
    from clinker.engine.session.jvm import spark_home

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    java = find_java(os.environ)
    file = aot.cache_file(java, fixed_flags(java), spark_home())
    if file is None:
        pytest.skip("this Java has no ahead-of-time cache")
    file.parent.mkdir(parents=True)
    file.write_bytes(b"not a cache")
    jvm = Jvm(SessionSettings(local_dir=tmp_path))
    port, secret = jvm.address()
    assert port and secret
    jvm.kill()


def test_a_process_that_uses_connect_may_start_one_that_does_not(tmp_path: Path) -> None:
    program = """
import os
with open_session(settings) as session:
    print(session.spark.range(7).toArrow().num_rows)
print(os.environ["SPARK_CONNECT_MODE_ENABLED"])
"""
    with started(program, tmp_path, SPARK_CONNECT_MODE_ENABLED="1") as process:
        output, errors = process.communicate()
    assert errors == ""
    assert output == "7\n1\n"
