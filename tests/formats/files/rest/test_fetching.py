"""Pages fetched from a real service on this machine."""

from __future__ import annotations

import gzip
import logging
import socket
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clinker.config.transport import RestTransport
from clinker.formats.common.read_spec import FormatError
from clinker.formats.files.rest.fetching import Endpoint, FetchError
from clinker.formats.files.rest.retrying import Patience
from clinker.formats.files.spool import Spool
from tests.web import Reply, Request, Service, json_reply, paged, serving

SECRET = "s3cr3t"


class Client:
    """Fetches all pages of a service."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.waits: list[float] = []

    def fetch(self, url: str, most: int | None = None, **options: Any) -> list[bytes]:
        transport = RestTransport(kind="rest", url=url, max_pages=10, **options)
        spool = Spool(lambda: self.folder, most)
        patience = Patience(self.waits.append, chance=lambda: 1.0)
        bodies: list[bytes] = []
        with Endpoint(transport, "orders", spool, patience) as endpoint:
            while endpoint.has_more:
                page = endpoint.fetch()
                body = page.body.read_bytes()
                bodies.append(body)
                endpoint.look_for_next(page, lambda body=body: body.count(b"id"))  # type: ignore[misc]
        return bodies

    def refused(self, url: str, **options: Any) -> FetchError:
        with pytest.raises(FetchError) as raised:
            self.fetch(url, **options)
        return raised.value


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


ORDERS = [{"id": n} for n in range(5)]


def tokens(parameter: str, pointer: str) -> dict[str, str]:
    strategy = "cursor_token"
    return {"strategy": strategy, "cursor_param": parameter, "next_token_pointer": pointer}


class TestPaging:
    def test_offsets(self, client: Client) -> None:
        with serving(paged(ORDERS, 2)) as service:
            url = f"http://{service.host}/offset?kind=new"
            pages = client.fetch(url, pagination={"strategy": "offset", "limit": 2})
        assert pages == [b'[{"id":0},{"id":1}]', b'[{"id":2},{"id":3}]', b'[{"id":4}]']
        assert [request.parameters for request in service.requests] == [
            {"kind": "new", "offset": offset, "limit": "2"} for offset in "024"
        ]

    def test_tokens(self, client: Client) -> None:
        with serving(paged(ORDERS, 3)) as service:
            url = f"http://{service.host}/cursor"
            pages = client.fetch(url, pagination=tokens("at", "/meta/next"))
        assert len(pages) == 2
        assert [request.parameters for request in service.requests] == [{}, {"at": "3"}]

    def test_links(self, client: Client) -> None:
        with serving(paged(ORDERS, 2)) as service:
            pages = client.fetch(
                f"http://{service.host}/link", pagination={"strategy": "link_header"}
            )
        assert len(pages) == 3

    def test_links_that_lead_back(self, client: Client) -> None:
        def answer(request: Request) -> Reply:
            return json_reply([], Link="</orders?p=2>; rel=next")

        with serving(answer) as service:
            problem = client.refused(service.url, pagination={"strategy": "link_header"})
        assert "page 2 of" in problem.message
        assert "fetched already" in problem.message
        assert len(service.requests) == 2

    def test_tokens_that_repeat(self, client: Client) -> None:
        with serving(lambda request: json_reply({"n": SECRET})) as service:
            problem = client.refused(service.url, pagination=tokens("p", "/n"))
        assert problem.message == (
            f"page 2 of {service.url}?p=… has the same token at '/n' as a page before it"
        )

    def test_links_to_other_hosts(self, client: Client) -> None:
        link = "<https://evil.example.com/x?y=z>; rel=next"
        with serving([json_reply([], Link=link)]) as service:
            problem = client.refused(service.url, pagination={"strategy": "link_header"})
        assert problem.message == (
            f"page 1 of {service.url} has a next page that leads to another host: "
            "https://evil.example.com/x?y=…"
        )
        assert "'evil.example.com'" in str(problem.help)


class TestLoggingIn:
    @pytest.mark.parametrize(
        ("auth", "name", "value"),
        [
            ({"scheme": "bearer", "token": SECRET}, "authorization", f"Bearer {SECRET}"),
            ({"scheme": "header", "name": "X-Key", "value": SECRET}, "x-key", SECRET),
            (
                {"scheme": "basic", "username": "me", "password": "it's"},
                "authorization",
                "Basic bWU6aXQncw==",
            ),
        ],
    )
    def test_schemes(self, client: Client, auth: Any, name: str, value: str) -> None:
        with serving([json_reply([])]) as service:
            client.fetch(service.url, auth=auth, headers={"X-Team": "data", "x-key": "other"})
        headers = service.requests[0].headers
        assert headers[name] == value
        assert headers["x-team"] == "data"

    def test_a_user_in_the_address(self, client: Client) -> None:
        with serving(paged(ORDERS, 2)) as service:
            url = f"http://me:{SECRET}@{service.host}/link"
            client.fetch(url, pagination={"strategy": "link_header"})
        sent = {request.headers["authorization"] for request in service.requests}
        assert sent == {"Basic bWU6czNjcjN0"}
        assert len(service.requests) == 3

    def test_secrets_are_never_told(
        self, client: Client, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
    ) -> None:
        caplog.set_level(logging.DEBUG)
        with serving(lambda request: Reply(status=401)) as service:
            url = f"http://me:{SECRET}@{service.host}/orders?key={SECRET}"
            auth = {"scheme": "bearer", "token": SECRET}
            problem = client.refused(url, auth=auth, headers={"X-A": SECRET})
        assert problem.message == f"page 1 of {service.url}?key=… gave status 401"
        everything = [caplog.text, *capfd.readouterr(), str(problem), str(problem.help)]
        assert not any(SECRET in text for text in everything)
        assert problem.__cause__ is None


class TestRedirects:
    def test_on_the_same_host(self, client: Client) -> None:
        def answer(request: Request) -> Reply:
            if request.path == "/orders":
                return Reply(status=302, headers={"Location": "moved?x=1"})
            return json_reply([1])

        with serving(answer) as service:
            auth = {"scheme": "bearer", "token": SECRET}
            assert client.fetch(service.url, auth=auth) == [b"[1]"]
        assert service.requests[1].path == "/moved"
        assert service.requests[1].headers["authorization"] == f"Bearer {SECRET}"

    def test_to_another_host(self, client: Client) -> None:
        with serving([]) as other:
            location = f"{other.url}?token={SECRET}"
            with serving([Reply(status=307, headers={"Location": location})]) as service:
                problem = client.refused(service.url, auth={"scheme": "bearer", "token": SECRET})
        assert problem.message == (
            f"page 1 of {service.url} is redirected to another host: {other.url}?token=…"
        )
        assert not other.requests

    def test_to_a_host_that_is_allowed(self, client: Client) -> None:
        with (
            serving([json_reply([1])]) as other,
            serving([Reply(status=301, headers={"Location": other.url})]) as service,
        ):
            options: dict[str, Any] = {
                "auth": {"scheme": "header", "name": "X-Key", "value": SECRET},
                "headers": {"X-Team": SECRET},
                "allow_redirects_to": (other.host,),
            }
            assert client.fetch(service.url, **options) == [b"[1]"]
        assert SECRET in service.requests[0].headers.values()
        assert SECRET not in str(other.requests[0])

    @pytest.mark.parametrize("location", ["file:///etc/passwd", ""])
    def test_to_nowhere(self, client: Client, location: str) -> None:
        with serving([Reply(status=302, headers={"Location": location})]) as service:
            problem = client.refused(service.url)
        assert "is redirected to something that is not a web address" in problem.message

    def test_in_circles(self, client: Client) -> None:
        with serving(lambda _: Reply(status=302, headers={"Location": "/orders"})) as service:
            assert "redirected more than 10 times" in client.refused(service.url).message
        assert len(service.requests) == 11


class TestTrouble:
    def test_busy_services_are_asked_again(self, client: Client) -> None:
        busy = Reply(status=429, headers={"Retry-After": "7"})
        with serving([busy, Reply(status=503), json_reply([1])]) as service:
            assert client.fetch(service.url) == [b"[1]"]
        assert client.waits == [7.0, 1.0]

    def test_until_patience_ends(self, client: Client) -> None:
        with serving(lambda _: Reply(status=503)) as service:
            problem = client.refused(service.url, retries=2)
        assert problem.message == f"page 1 of {service.url} gave status 503 after 3 attempts"
        assert len(service.requests) == 3

    @pytest.mark.parametrize("status", [400, 404, 304, 418])
    def test_refusals_are_final(self, client: Client, status: int) -> None:
        with serving(lambda _: Reply(status=status)) as service:
            problem = client.refused(service.url)
        assert problem.message == f"page 1 of {service.url} gave status {status}"
        assert len(service.requests) == 1

    def test_nobody_listens(self, client: Client) -> None:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{unused.getsockname()[1]}/"
            problem = client.refused(url, retries=1)
        assert problem.message == (
            f"page 1 of {url} could not be fetched: Connection refused after 2 attempts"
        )

    def test_a_body_that_ends_early_is_fetched_again(self, client: Client) -> None:
        cut = Reply(b"[1,", length=100)
        with serving([cut, json_reply([1])]) as service:
            assert client.fetch(service.url) == [b"[1]"]
        assert len(list(client.folder.iterdir())) == 1

    def test_something_else_than_http(self, client: Client) -> None:
        with serving(lambda _: Reply(pieces=lambda: iter([b"\x00garbage\r\n\r\n"]))) as service:
            problem = client.refused(service.url, retries=0)
        assert "not HTTP" in problem.message

    def test_dropped_connections(self, client: Client) -> None:
        def nothing() -> Iterator[bytes]:
            yield from ()

        with serving([Reply(pieces=nothing), json_reply([1])]) as service:
            assert client.fetch(service.url) == [b"[1]"]

    @pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"])
    def test_answers_that_drip(self, client: Client, head: bytes) -> None:
        services: list[Service] = []

        def dripping() -> Iterator[bytes]:
            yield head
            yield from services[0].drip(b"HTTP/1.1 200 OK" * 9, 0.2)

        with serving(lambda _: Reply(pieces=dripping)) as service:
            services.append(service)
            began = time.monotonic()
            problem = client.refused(service.url, timeout_secs=1, retries=0)
        assert time.monotonic() - began < 5
        assert problem.message == f"page 1 of {service.url} did not arrive in time"


class TestBodies:
    @pytest.mark.parametrize(
        ("encoding", "body"),
        [
            ("gzip", gzip.compress(b"[1]")),
            ("gzip", gzip.compress(b"[") + gzip.compress(b"1]")),
            ("deflate", zlib.compress(b"[1]")),
            ("deflate", zlib.compress(b"[1]", wbits=-15)),
            ("deflate, gzip", gzip.compress(zlib.compress(b"[1]"))),
            ("identity", b"[1]"),
        ],
    )
    def test_encodings(self, client: Client, encoding: str, body: bytes) -> None:
        with serving([Reply(body, headers={"Content-Encoding": encoding})]) as service:
            assert client.fetch(service.url) == [b"[1]"]
        assert service.requests[0].headers["accept-encoding"] == "gzip, deflate"

    @pytest.mark.parametrize(
        ("encoding", "body", "message"),
        [
            ("br", b"x", "is encoded as 'br', which was not asked for"),
            ("gzip", b"no gzip", "is compressed, but damaged"),
            ("gzip", gzip.compress(b"[1]")[:-2], "is compressed, but ends too early"),
        ],
    )
    def test_bad_encodings(self, client: Client, encoding: str, body: bytes, message: str) -> None:
        with serving([Reply(body, headers={"Content-Encoding": encoding})]) as service:
            assert message in client.refused(service.url).message

    def test_bombs(self, client: Client) -> None:
        body = gzip.compress(b" " * (64 << 20))
        with serving([Reply(body, headers={"Content-Encoding": "gzip"})]) as service:
            problem = client.refused(service.url, most=4 << 20)
        assert "more to write than storage.spill.disk_cap_bytes allows" in problem.message

    def test_all_pages_together_are_limited(self, client: Client) -> None:
        with serving(lambda _: Reply(b"id" * 500)) as service:
            problem = client.refused(
                service.url, most=1500, pagination={"strategy": "offset", "limit": 1}
            )
        assert "page 2 of" in problem.message


def test_no_room(tmp_path: Path) -> None:
    spool = Spool(lambda: tmp_path / "gone")
    with pytest.raises(FormatError, match="cannot be copied"), spool.file("x"):
        pass
