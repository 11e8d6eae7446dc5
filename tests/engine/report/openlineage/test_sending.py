"""Events on their way: to files, and to services that may be out of order."""

from __future__ import annotations

import json
import os
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from clinker.engine.report.openlineage.sending import (
    EventFile,
    Service,
    Undelivered,
    receiver_of,
)

Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def service(answer: Answer) -> Iterator[tuple[str, list[tuple[Any, Any]]]]:
    """A service's address, and what it got: headers and contents."""
    got: list[tuple[Any, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((dict(self.headers), json.loads(content)))
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/api/v1/lineage", got
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def created(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(201)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


def test_a_service_gets_events() -> None:
    with service(created) as (url, got):
        receiver_of(url, {"OPENLINEAGE_API_KEY": "k3y"}).send({"eventType": "START"})
        receiver_of(url, {}).send({"eventType": "COMPLETE"})
    assert [content["eventType"] for _, content in got] == ["START", "COMPLETE"]
    assert [headers.get("Authorization") for headers, _ in got] == ["Bearer k3y", None]


def test_a_service_refuses() -> None:
    def refuse(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(503)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with service(refuse) as (url, _), pytest.raises(Undelivered, match="answered 503"):
        Service(url).send({})


def test_a_service_that_is_down_is_named_without_its_secrets() -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
        with pytest.raises(Undelivered) as failed:
            Service(f"http://me:s3cret@127.0.0.1:{port}/v1?api_key=s3cret").send({})
    assert str(failed.value) == f"http://127.0.0.1:{port}/v1: cannot be reached"


def test_a_service_that_answers_drop_by_drop_is_not_waited_for() -> None:
    over = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        while not over.wait(0.1):
            handler.wfile.write(b".")

    with service(drip) as (url, _):
        begun = time.monotonic()
        with pytest.raises(Undelivered, match="no answer within 1 seconds"):
            Service(url, seconds=1.0).send({})
        waited = time.monotonic() - begun
        over.set()
    assert waited < 30


@pytest.mark.parametrize("url", ["http://", "http://[::1", "http://a b/", "https://\x00/"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(Undelivered):
        Service(url).send({})


def test_a_file_gets_a_line_for_each_event(tmp_path: Path) -> None:
    file = tmp_path / "new" / "events.ndjson"
    events = [{"eventType": "START", "name": 'two\n"lines"'}, {"eventType": "COMPLETE"}]
    for event in events:
        receiver_of(str(file), {}).send(event)
    assert [json.loads(line) for line in file.read_text().splitlines()] == events
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_lines_of_many_runs_do_not_mix(tmp_path: Path) -> None:
    file = tmp_path / "events.ndjson"

    def send(number: int) -> None:
        for _ in range(50):
            EventFile(file).send({"number": number, "long": "x" * 20_000})

    threads = [threading.Thread(target=send, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([json.loads(line) for line in file.read_text().splitlines()]) == 200


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(Undelivered, match="Is a directory"):
        EventFile(tmp_path).send({})
    if os.path.exists("/dev/full"):  # noqa: PTH110
        with pytest.raises(Undelivered, match="No space left"):
            EventFile(Path("/dev/full")).send({})


def test_nobody_waits_for_the_reader_of_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Undelivered, match="No such device or address"):
        EventFile(tmp_path / "pipe").send({})
