"""A web service for tests: a real one, on this machine, that answers as it is told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import orjson


@dataclass
class Request:
    """What a client asked for."""

    path: str
    parameters: dict[str, str]
    headers: dict[str, str]
    """By their names in small letters."""


@dataclass
class Reply:
    """What the service answers."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    """What it says of how long the body is, if that is not the truth."""
    pieces: Callable[[], Iterator[bytes]] | None = None
    """The bytes to send instead of all this, in their own time."""


def json_reply(value: object, **headers: str) -> Reply:
    return Reply(orjson.dumps(value), headers={k.replace("_", "-"): v for k, v in headers.items()})


Answering = Callable[[Request], Reply]


class Service:
    """A service while it runs, and what it was asked for."""

    def __init__(self, answer: Answering) -> None:
        self.answer = answer
        self.requests: list[Request] = []
        self.is_over = threading.Event()
        """What dawdles stops then."""
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}/orders"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self.is_over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def drip(self, data: bytes, seconds: float) -> Iterator[bytes]:
        """A byte from time to time."""
        for byte in data:
            yield bytes([byte])
            if self.is_over.wait(seconds):
                return


@contextmanager
def serving(answer: Answering | Sequence[Reply]) -> Iterator[Service]:
    """A service that answers by a function, or with one reply after another."""
    if not callable(answer):
        replies = iter(answer)
        service = Service(lambda request: next(replies, Reply(status=410)))
    else:
        service = Service(answer)
    service.start()
    try:
        yield service
    finally:
        service.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, service: Service) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.service = service

    def handle_error(self, *_: object) -> None:
        pass  # clients that go away are what tests are about


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(parts.path, dict(parse_qsl(parts.query)), headers)
        self.server.service.requests.append(request)
        reply = self.server.service.answer(request)
        if reply.pieces:
            self.close_connection = True
            for piece in reply.pieces():
                self.wfile.write(piece)
                self.wfile.flush()
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        length = len(reply.body) if reply.length is None else reply.length
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(reply.body)
        if length != len(reply.body):
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


def paged(records: Sequence[Mapping[str, object]], size: int) -> Answering:
    """A service with these records: `/offset`, `/cursor` and `/link` page in their own ways."""

    def answer(request: Request) -> Reply:
        if request.path == "/offset":
            start, count = (int(request.parameters[name]) for name in ("offset", "limit"))
            return json_reply(records[start : start + count])
        start = int(request.parameters.get("at", "0"))
        following = start + size if start + size < len(records) else None
        some = records[start : start + size]
        if request.path == "/cursor":
            return json_reply({"orders": some, "meta": {"next": following}})
        if request.path == "/link" and following is not None:
            link = f'</link?at=0>; rel="first", </link?at={following}>; rel="last next"'
            return json_reply(some, Link=link)
        return json_reply(some if request.path == "/link" else records)

    return answer
