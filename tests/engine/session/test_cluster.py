"""Runs on a standalone cluster of Spark, one of whose workers is killed, or lacks our packages."""

from __future__ import annotations

import csv
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from clinker.engine.session.jvm import spark_home

from .whole_java import has_whole_java

pytestmark = pytest.mark.skipif(not has_whole_java(), reason="a cluster needs a whole JDK")

SCRIPTS = Path(sys.executable).parent
ROWS = 300_000
PIPELINE = """\
pipeline: { name: on_a_cluster, concurrency: { chunk_size: 400000 } }
error_handling: { strategy: continue, dlq: { path: rejected.csv } }
nodes:
  - type: source
    name: rows
    config:
      type: csv
      path: in.csv
      schema: { id: int, region: string, amount: float, quantity: int }
  - type: transform
    name: totals
    input: rows
    config: { cxl: "emit total = amount * quantity" }
  - type: aggregate
    name: regions
    input: totals
    config: { group_by: [region], cxl: "emit sum = sum(total)" }
  - { type: output, name: all, input: totals, config: { type: csv, path: out.csv } }
  - { type: output, name: sums, input: regions, config: { type: csv, path: sums.csv } }
"""
ON_BOTH = ("spark.cores.max=2", "spark.scheduler.minRegisteredResourcesRatio=1.0")
"""Nothing is computed before two workers are there to do it."""
_GIVEN = {"in.csv", "p.yaml"}
_OF_A_RUN = ("_cxl_dlq_id", "_cxl_dlq_timestamp")


class Cluster:
    """A master and its workers, on this machine."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._processes: list[subprocess.Popen[bytes]] = []
        with socket.socket() as reserved:
            reserved.bind(("127.0.0.1", 0))
            port = reserved.getsockname()[1]
        self.url = f"spark://127.0.0.1:{port}"
        self._start("master.Master", "--port", str(port), until="New state: ALIVE")

    def add_worker(self) -> int:
        """The process of another worker, which knows nothing of clinker."""
        directory = self._place / f"worker-{len(self._processes)}"
        room = ("-c", "1", "-m", "1g", "-d", str(directory))
        return self._start("worker.Worker", *room, self.url, until="Successfully registered")

    def _start(self, name: str, *arguments: str, until: str) -> int:
        log = self._place / f"{name}-{len(self._processes)}.log"
        home = spark_home()
        environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
        environment.pop("JAVA_HOME", None)  # that on the path is known to be whole
        command = (str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}")
        with log.open("wb") as to_log:
            process = subprocess.Popen(
                [*command, "--host", "127.0.0.1", "--webui-port", "0", *arguments],
                cwd=self._place,
                env=environment,
                stdout=to_log,
                stderr=to_log,
            )
        self._processes.append(process)
        deadline = time.monotonic() + 120
        while until not in log.read_text():
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        return process.pid

    def stop(self) -> None:
        for process in self._processes:
            kill_with_children(process.pid)
            process.wait()


def kill_with_children(process: int) -> None:
    for each in [process, *children(process)]:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


def children(process: int) -> Iterator[int]:
    """The processes that a process has started, and those that they have."""
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").glob("*/children"):
            for child in map(int, task.read_text().split()):
                yield child
                yield from children(child)


def is_above(process: int, name: str) -> bool:
    """Whether one of its processes has been started under a name."""
    words = []
    for child in children(process):
        with suppress(OSError):
            words.append(Path(f"/proc/{child}/cmdline").read_text())
    return any(name in each for each in words)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("cluster")
    with (directory / "in.csv").open("w") as file:
        file.write("id,region,amount,quantity\n")
        for number in range(ROWS):
            quantity = "many" if number % 1000 == 7 else number % 13
            file.write(f"{number},r{number % 97},{number * 7919 % 100_000 / 100},{quantity}\n")
    return directory


@pytest.fixture(scope="module")
def cluster(place: Path) -> Iterator[Cluster]:
    started = Cluster(place)
    try:
        started.add_worker()
        yield started
    finally:
        started.stop()


@contextmanager
def run(
    directory: Path, *options: str, python: Path = Path(sys.executable)
) -> Iterator[subprocess.Popen[str]]:
    directory.mkdir()
    os.link(directory.parent / "in.csv", directory / "in.csv")
    (directory / "p.yaml").write_text(PIPELINE)
    with subprocess.Popen(
        [SCRIPTS / "clinker", "run", "p.yaml", "--quiet", *options],
        cwd=directory,
        env={**os.environ, "PYSPARK_PYTHON": str(python)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


def left(directory: Path) -> dict[str, object]:
    """All that a run has left."""
    paths = {path.name: path for path in directory.iterdir() if path.name not in _GIVEN}
    rows = csv.DictReader(paths["rejected.csv"].open())
    rejected = [{n: v for n, v in row.items() if n not in _OF_A_RUN} for row in rows]
    return {name: path.read_bytes() for name, path in paths.items()} | {"rejected.csv": rejected}


@pytest.fixture(scope="module")
def here(place: Path) -> dict[str, object]:
    """What the pipeline leaves on this machine."""
    with run(place / "here") as process:
        assert process.communicate()[1] == ""
    assert process.returncode == 2
    found = left(place / "here")
    assert sorted(found) == ["out.csv", "rejected.csv", "sums.csv"]
    return found


def has_an_executor(worker: int, directory: Path) -> bool:
    return is_above(worker, "CoarseGrainedExecutorBackend")


def computes(worker: int, directory: Path) -> bool:
    return is_above(worker, "pyspark.daemon")


def has_written_parts(worker: int, directory: Path) -> bool:
    return len(list(directory.glob(".clinker-*/part-*"))) > 1


@pytest.mark.parametrize("is_due", [has_an_executor, computes, has_written_parts])
def test_a_worker_that_is_killed(
    place: Path,
    cluster: Cluster,
    here: dict[str, object],
    is_due: Callable[[int, Path], bool],
) -> None:
    victim = cluster.add_worker()
    directory = place / is_due.__name__
    conf = (word for setting in ON_BOTH for word in ("--spark-conf", setting))
    with run(directory, "--master", cluster.url, *conf) as process:
        while not is_due(victim, directory):
            assert process.poll() is None
            time.sleep(0.02)
        kill_with_children(victim)
        assert process.communicate()[1] == ""
    assert process.returncode == 2
    assert left(directory) == here


def test_workers_without_our_packages(
    place: Path, cluster: Cluster, here: dict[str, object]
) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "bare"], check=True)
    python = place / "bare" / "bin" / "python"
    with run(place / "lacking", "--master", cluster.url, python=python) as process:
        assert process.communicate()[1] == (
            "error: Spark's workers cannot import 'pyarrow', which their Python lacks\n"
            "  help: install clinker-spark there as well, or send what is installed here "
            "with --ship-env\n"
        )
    assert process.returncode == 4
    options = ("--master", cluster.url, "--ship-env")
    with run(place / "shipped", *options, python=python) as process:
        assert process.communicate()[1] == ""
    assert process.returncode == 2
    assert left(place / "shipped") == here
