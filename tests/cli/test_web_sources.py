"""The whole command, against a web service: what it prints, and how it is interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web import Reply, Request, json_reply, serving

CLINKER = str(Path(sys.executable).with_name("clinker"))
SECRET = "s3cr3t-t0k3n"
PIPELINE = """
pipeline: { name: p }
nodes:
  - type: source
    name: orders
    config:
      type: json
      transport:
        kind: rest
        url: "http://me:${SECRET}@%s/orders?api_key=${SECRET}"
        max_pages: 20
        timeout_secs: 20
        pagination: { strategy: link_header }
        headers: { X-Team: "${SECRET}" }
        auth: { scheme: bearer, token: "${SECRET}" }
      schema: { id: int }
  - { type: output, name: o, input: orders, config: { type: csv, path: out.csv } }
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "spill").mkdir()
    (tmp_path / "clinker.toml").write_text("[storage.spill]\ndir = 'spill'\n")
    return tmp_path


def start(place: Path, host: str, *options: str) -> subprocess.Popen[str]:
    (place / "p.yaml").write_text(PIPELINE % host)
    return subprocess.Popen(
        [CLINKER, "run", "p.yaml", *options],
        cwd=place,
        env={**os.environ, "SECRET": SECRET},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def left(place: Path) -> set[str]:
    """All files but what was there before."""
    return {path.name for path in place.rglob("*")} - {"spill", "clinker.toml", "p.yaml"}


@pytest.mark.parametrize("options", [("--dry-run",), ("--explain",), ("--explain", "json")])
def test_the_service_is_not_asked(place: Path, options: tuple[str, ...]) -> None:
    with serving([]) as service:
        process = start(place, service.host, *options)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert not service.requests
    assert SECRET not in out + err


def test_secrets_stay_out_of_everything(place: Path) -> None:
    def answer(request: Request) -> Reply:
        if request.parameters.get("page") == "2":
            return Reply(SECRET.encode(), status=403)
        return json_reply([{"id": 1}], Link=f"<?page=2&key={SECRET}>; rel=next")

    with serving(answer) as service:
        options = ("--log-level", "debug", "--metrics-spool-dir", "metrics")
        process = start(place, service.host, *options)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 4
    assert f"page 2 of http://{service.host}/orders?page=…&key=… gave status 403" in err
    assert SECRET not in out + err
    metrics = (place / "metrics").glob("*")
    assert not any(SECRET in file.read_text() for file in metrics)
    assert not list((place / "spill").iterdir())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("behaviour", ["hangs", "is busy"])
def test_interrupting(place: Path, number: signal.Signals, behaviour: str) -> None:
    def hang() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n"
        service.is_over.wait()

    def answer(request: Request) -> Reply:
        if behaviour == "hangs":
            return Reply(pieces=hang)
        return Reply(status=429, headers={"Retry-After": "60"})

    with serving(answer) as service:
        process = start(place, service.host)
        while not service.requests:
            time.sleep(0.05)
            assert process.poll() is None
        time.sleep(0.3)
        began = time.monotonic()
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        took = time.monotonic() - began
    assert (process.returncode, err.strip()) == (130, "interrupted: nothing was written")
    assert took < 5
    assert left(place) == set()


def test_the_next_run_removes_what_a_killed_one_left(place: Path) -> None:
    def hang() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n"
        service.is_over.wait()

    def answer(request: Request) -> Reply:
        if request.parameters.get("page") == "2":
            return Reply(pieces=hang)
        return json_reply([{"id": 1}], Link="<?page=2>; rel=next")

    with serving(answer) as service:
        process = start(place, service.host)
        while len(service.requests) < 2:
            time.sleep(0.05)
            assert process.poll() is None
        process.kill()
        process.communicate(timeout=60)
    (directory,) = (d for d in (place / "spill").iterdir() if list(d.glob("[0-9]*")))
    assert directory.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o777 for file in directory.iterdir()} == {0o600}
    with serving([json_reply([{"id": 1}])]) as service:
        process = start(place, service.host)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert (place / "out.csv").read_text() == "id\n1\n"
    assert not list((place / "spill").iterdir())
