"""Two commands that write the same file: one of them waits or ends, and no file is a mixture."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faults.runs import server

from tests.web import Reply, Request, json_reply, serving

CLINKER = str(Path(sys.executable).with_name("clinker"))
PIPELINE = """
pipeline: { name: p }
nodes:
  - type: source
    name: orders
    config:
      type: json
      transport:
        kind: rest
        url: "http://%s/orders"
        timeout_secs: 60
        max_pages: 1
        pagination: { strategy: link_header }
      schema: { id: int }
  - { type: output, name: o, input: orders, config: { type: csv, path: out/orders.csv } }
"""


class Held:
    """A service whose first answer comes when it is let go."""

    def __init__(self) -> None:
        self.asked, self.let_go = threading.Event(), threading.Event()
        self._calls = 0

    def __call__(self, request: Request) -> Reply:
        self._calls += 1
        number = self._calls
        if number == 1:
            self.asked.set()
            assert self.let_go.wait(60)
        return json_reply([{"id": number}])


@pytest.fixture(scope="module")
def spark() -> Iterator[str]:
    with server() as url:
        yield url


@pytest.fixture
def start(tmp_path: Path, spark: str) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def starting(*options: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [CLINKER, "run", str(tmp_path / "p.yaml"), "--force", "--remote", spark, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield starting
    for process in started:
        process.kill()
        process.wait()


def left(place: Path) -> list[str]:
    return sorted(path.name for path in place.rglob("*") if path.is_file())


def test_the_second_run_ends_or_waits(
    tmp_path: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    held = Held()
    with serving(held) as service:
        (tmp_path / "p.yaml").write_text(PIPELINE % service.host)
        first = start("--batch-id", "early\n")
        assert held.asked.wait(60)
        waiting = start("--wait", "--batch-id", "late")
        refused = start()
        _, told = refused.communicate(timeout=60)
        assert refused.returncode == 4
        assert "orders.csv' is being written by another run: batch 'early\\n', process" in told
        assert "help: wait for it with --wait, or let this run write other files" in told
        assert str(first.pid) in told
        impatient = start("--wait", "100ms")
        _, told = impatient.communicate(timeout=60)
        assert impatient.returncode == 4
        assert "help: wait longer" in told
        assert waiting.poll() is None
        held.let_go.set()
        assert first.wait(60) == 0
        _, told = waiting.communicate(timeout=60)
    assert waiting.returncode == 0, told
    assert "info: waiting: '" in told
    assert (tmp_path / "out" / "orders.csv").read_text() == "id\n2\n"
    assert left(tmp_path) == ["orders.csv", "p.yaml"]


def test_the_run_that_is_waited_for_is_killed(
    tmp_path: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    held = Held()
    with serving(held) as service:
        (tmp_path / "p.yaml").write_text(PIPELINE % service.host)
        first = start()
        assert held.asked.wait(60)
        waiting = start("--wait", "1h")
        time.sleep(2)
        assert waiting.poll() is None
        first.send_signal(signal.SIGKILL)
        _, told = waiting.communicate(timeout=60)
        held.let_go.set()
    assert waiting.returncode == 0, told
    assert left(tmp_path) == ["orders.csv", "p.yaml"]


def test_a_run_that_waits_is_interrupted(
    tmp_path: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    held = Held()
    with serving(held) as service:
        (tmp_path / "p.yaml").write_text(PIPELINE % service.host)
        first = start()
        assert held.asked.wait(60)
        waiting = start("--wait")
        assert waiting.stderr
        assert "waiting" in waiting.stderr.readline()
        os.kill(waiting.pid, signal.SIGINT)
        waiting.wait(30)
        assert waiting.returncode == 130
        held.let_go.set()
        assert first.wait(60) == 0
    assert left(tmp_path) == ["orders.csv", "p.yaml"]
