"""Sessions on a Spark Connect server, and on sessions that are the user's own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from faults.runs import can_mount, server, small_disk

import clinker
from tests.engine.session.test_tasks import COUNT

from .whole_java import has_whole_java

SERVER = """
import socket
from clinker.engine.session import SessionError, SessionSettings, adopt, open_session

with socket.socket() as reserved:
    reserved.bind(("127.0.0.1", 0))
    port = reserved.getsockname()[1]
server = SessionSettings(
    threads=2,  # with one, Spark sometimes waits for itself when it hands out the package encrypted
    memory_limit=2**31,
    spark_conf={
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.python.daemon.module": "pyspark.daemon",  # as of a server that knows nothing of us
        "spark.sql.artifact.isolation.enabled": "true",
        "spark.connect.grpc.binding.port": str(port),
    },
)
url = f"sc://localhost:{port}"
with open_session(server) as serving:
    serving.spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        adopt(serving.spark)
    except SessionError as problem:
        print(problem)
    serving.spark.conf.set("spark.sql.session.timeZone", "UTC")
    with adopt(serving.spark) as own:
        print(own.spark.range(2).count(), own.facts.engine)
    print(serving.spark.range(2).count(), "still open")
    settings = SessionSettings(
        remote=url + "/;user_id=me", batch_size=11, spark_conf={"spark.executor.x": "1"}
    )
    with open_session(settings) as session:
        print(session.facts.engine, session.facts.master == url, session.facts.java)
        spark = session.spark
        print(spark.conf.get("spark.sql.session.timeZone"))
        print(spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch"))
        print(spark.range(5).mapInArrow(lambda batches: batches, "id bigint").toArrow().num_rows)
        with adopt(spark) as adopted:
            print(adopted.facts.engine)
        spark.conf.set("spark.sql.variable.substitute", "true")
        try:
            adopt(spark, lends_frames=True)
        except SessionError as problem:
            print(problem)
        session.interrupt()
try:
    open_session(settings)
except SessionError as problem:
    print("refused:", str(problem).startswith("no Spark server answers at"))
"""


def test_a_connect_server() -> None:
    done = subprocess.run([sys.executable, "-c", SERVER], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "this Spark session has spark.sql.session.timeZone = Asia/Tokyo, and results would depend "
        "on it: set spark.conf.set('spark.sql.session.timeZone', 'UTC')",
        "2 spark",
        "2 still open",
        "spark-connect True None",
        "UTC",
        "11",
        "5",
        "spark-connect",
        "this Spark session has spark.sql.variable.substitute = true, and names in your data could "
        "read environment variables: set spark.conf.set('spark.sql.variable.substitute', 'false')",
        "refused: True",
    ]


MIXING = """
import socket
from clinker.engine.session import SessionError, SessionSettings, open_session

with socket.socket() as reserved:
    reserved.bind(("127.0.0.1", 0))
    port = reserved.getsockname()[1]
conf = {
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.port": str(port),
}
with open_session(SessionSettings(threads=1, memory_limit=2**31, spark_conf=conf)):
    try:
        open_session(SessionSettings(remote=f"sc://localhost:{port}"))
    except SessionError as problem:
        print(str(problem).replace(str(port), "PORT"))
"""


def test_a_server_that_would_mix_the_packages_of_its_clients() -> None:
    done = subprocess.run([sys.executable, "-c", MIXING], capture_output=True, text=True)
    assert (done.stderr, done.stdout) == (
        "",
        "the Spark server at 'sc://localhost:PORT' does not keep its clients apart, so that their "
        "versions of clinker would mix: start it with --conf "
        "spark.sql.artifact.isolation.enabled=true\n",
    )


@pytest.fixture(scope="module")
def shared() -> Iterator[str]:
    with server() as url:
        yield url


CLIENT = """
import sys
import pyarrow as pa
from clinker.engine.session import SessionSettings, open_session

def versions(batches):
    import clinker
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"version": [clinker.__version__] * batch.num_rows})

with open_session(SessionSettings(remote=sys.argv[1])) as session:
    frame = session.spark.range(4).mapInArrow(versions, "version string").distinct()
    print(frame.toArrow().to_pydict())
"""


def client(place: Path, version: str, url: str) -> subprocess.Popen[str]:
    """A client with a version of the package that is its own."""
    package = place / version / "clinker"
    if not package.exists():
        no_caches = shutil.ignore_patterns("__pycache__")
        shutil.copytree(Path(clinker.__file__).parent, package, ignore=no_caches)
        with (package / "__init__.py").open("a") as file:
            file.write(f"\n__version__ = {version!r}\n")
    return subprocess.Popen(
        [sys.executable, "-c", CLIENT, url],
        env={**os.environ, "PYTHONPATH": str(package.parent)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_clients_of_several_versions(tmp_path: Path, shared: str) -> None:
    for version in ("1.old", "2.new", "1.old"):
        found = client(tmp_path, version, shared).communicate()
        assert found == (f"{{'version': ['{version}']}}\n", "")
    at_once = {version: client(tmp_path, version, shared) for version in ("1.old", "2.new")}
    for version, process in at_once.items():
        assert process.communicate() == (f"{{'version': ['{version}']}}\n", "")


def test_a_client_that_is_killed_does_not_disturb_the_next(tmp_path: Path, shared: str) -> None:
    for seconds in (1.5, 2, 2.5):
        process = client(tmp_path, "1.old", shared)
        time.sleep(seconds)
        process.kill()
        process.communicate()
    assert client(tmp_path, "2.new", shared).communicate() == ("{'version': ['2.new']}\n", "")


WATCHED = """
import json, sys
from clinker.engine.session import SessionSettings, open_session
from tests.engine.session.test_tasks import tasks_told

with open_session(SessionSettings(remote=sys.argv[1])) as session:
    print(json.dumps(sorted(tasks_told(session))))
"""


def test_a_server_tells_of_its_tasks(shared: str) -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, shared], cwd=root, capture_output=True, text=True
    )
    assert done.stderr == ""
    told = [finished for finished, total in json.loads(done.stdout) if total == COUNT]
    assert any(0 < finished < COUNT for finished in told), done.stdout


def test_no_room_for_temporary_files(tmp_path: Path, shared: str) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "in.csv").write_text("id\n1\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = (SCRIPTS / "clinker", shared)
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -f 100; exec "$0" run p.yaml --remote "$1"', *command],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
    )
    place = f"cannot pack clinker for the workers of Spark in '{temporary}'"
    assert (done.returncode, done.stderr) == (4, f"error: {place}: File too large\n")
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.skipif(not can_mount(), reason="needs a volume of its own")
def test_a_full_disk_for_temporary_files(tmp_path: Path, shared: str) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE)
    (tmp_path / "in.csv").write_text("id\n1\n")
    with small_disk(tmp_path / "disk", 100) as disk:
        disk.mkdir()
        done = subprocess.run(
            [SCRIPTS / "clinker", "run", "p.yaml", "--remote", shared],
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(disk)},
            capture_output=True,
            text=True,
        )
        assert list(disk.iterdir()) == []
    place = f"cannot pack clinker for the workers of Spark in '{disk}'"
    assert (done.returncode, done.stderr) == (4, f"error: {place}: No space left on device\n")
    assert not (tmp_path / "out.csv").exists()


SESSIONS = Path(__file__).parents[3] / "docs" / "running" / "sessions.md"
SCRIPTS = Path(sys.executable).parent
PIPELINE = """\
pipeline: { name: p }
nodes:
  - type: source
    name: s
    config: { type: csv, path: in.csv, schema: [{ name: id, type: int }] }
  - { type: transform, name: t, input: s, config: { cxl: "emit next = id + 1" } }
  - { type: output, name: o, input: t, config: { type: csv, path: out.csv } }
"""


@contextmanager
def documented_server(directory: Path) -> Iterator[str]:
    """The server of the documentation, in a directory of its own."""
    lines = SESSIONS.read_text(encoding="utf-8").splitlines()
    (command,) = [line for line in lines if " spark-submit --class " in line]
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    given = f"{command} --conf spark.connect.grpc.binding.port={port} --conf spark.ui.enabled=false"
    environment = {**os.environ, "PATH": f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"}
    environment.pop("JAVA_HOME", None)
    log = directory / "log"
    with log.open("wb") as to_log:
        process = subprocess.Popen(
            ["/bin/sh", "-c", given],
            cwd=directory,
            env=environment,
            stdout=to_log,
            stderr=to_log,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 120
        while f"started at: 127.0.0.1:{port}" not in log.read_text().replace("/", ""):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield f"sc://localhost:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


@pytest.mark.skipif(not has_whole_java(), reason="spark-submit needs a whole JDK")
def test_a_large_input_of_a_pipeline_that_is_named_by_a_relative_path(tmp_path: Path) -> None:
    work = tmp_path / "work" / "pipelines"
    work.mkdir(parents=True)
    (work / "p.yaml").write_text(PIPELINE)
    row = f"1,{'x' * 1000}\n"
    (work / "in.csv").write_text("id,text\n" + row * 5_000)
    server = tmp_path / "server"
    server.mkdir()
    with documented_server(server) as url:
        done = subprocess.run(
            [SCRIPTS / "clinker", "run", "pipelines/p.yaml"],
            cwd=work.parent,
            env={**os.environ, "CLINKER_REMOTE": url},
            capture_output=True,
            text=True,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert (work / "out.csv").stat().st_size > 5_000_000
