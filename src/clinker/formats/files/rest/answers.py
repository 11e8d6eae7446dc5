"""One request and its answer: redirects followed, the body written to the spool, all in time."""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Generic, TypeVar

import httpx

from clinker.cxl.failure import shown
from clinker.diagnostics.addresses import mask
from clinker.formats.common.read_spec import FormatError
from clinker.formats.files.rest.addresses import (
    is_allowed_host,
    is_same_host,
    resolve,
    show_host,
)
from clinker.formats.files.rest.bodies import ACCEPTED, BodyError, unpack_body
from clinker.formats.files.spool import SpoolFile
from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.config.transport import RestTransport

_MOST_REDIRECTS = 10
_REDIRECTS = (301, 302, 303, 307, 308)
_TOO_MANY_REQUESTS = 429
_WAYS_OUT = {
    401: "check what is sent to log in: 'auth' and the variables it is taken from",
    403: "check what is sent to log in: 'auth' and the variables it is taken from",
    404: "check 'url'",
    _TOO_MANY_REQUESTS: "the service limits how often it is asked: try later, or raise 'retries'",
}

Result = TypeVar("Result")


class RequestError(Exception):
    """A request that did not bring what it should; the message continues 'page 3 of …'."""

    def __init__(
        self,
        message: str,
        help: str | None = None,
        *,
        may_pass: bool = False,
        retry_after: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.help = help
        self.may_pass = may_pass
        """Whether the same request may succeed later."""
        self.retry_after = retry_after
        """When to try again, in the words of the service."""


@frozen
class Answer:
    """What a service has answered; the body is in the spool."""

    url: str
    """Where it was found, redirects followed."""
    links: list[str]


class Service:
    """A web service: what is sent with every request, and where that may lead."""

    def __init__(
        self, transport: RestTransport, url: str, user: tuple[str, str] | None = None
    ) -> None:
        self._url = url
        self._hosts = transport.allow_redirects_to
        self._seconds = float(transport.timeout_secs)
        self._own_headers = _encode_headers(transport, user)
        self._client = httpx.Client(
            timeout=self._seconds,
            follow_redirects=False,
            headers={"accept-encoding": ACCEPTED},
        )

    def close(self) -> None:
        self._client.close()

    def get(self, url: str, file: SpoolFile) -> Answer:
        """Fetch an address into a file; RequestError if that fails or takes too long."""
        self.check_host(url, "leads")
        fetching = _Fetching(self._client, self._own_headers_for, self.check_host, url, file)
        return _Apart(fetching.run, fetching.abandon).wait(self._seconds)

    def check_host(self, url: str, verb: str) -> None:
        """RequestError if an address leads to a host that nobody has named."""
        if not (is_same_host(url, self._url) or is_allowed_host(url, self._hosts)):
            host = show_host(url)
            raise RequestError(
                f"{verb} to another host: {mask(url)}",
                f"if it can be trusted, add '{host}' to 'allow_redirects_to'",
            )

    def _own_headers_for(self, url: str) -> Mapping[bytes, bytes]:
        """What is sent to the service itself, and to nobody else."""
        return self._own_headers if is_same_host(url, self._url) else {}


def _encode_headers(
    transport: RestTransport, user: tuple[str, str] | None
) -> Mapping[bytes, bytes]:
    headers = dict(transport.headers)
    auth = transport.auth
    if auth.scheme == "bearer":
        headers = _set(headers, "Authorization", f"Bearer {auth.token}")
    elif auth.scheme == "header":
        headers = _set(headers, auth.name, auth.value)
    elif auth.scheme == "basic":
        user = auth.username, auth.password
    if user and auth.scheme in ("none", "basic"):
        encoded = b64encode(":".join(user).encode()).decode()
        headers = _set(headers, "Authorization", f"Basic {encoded}")
    return {name.encode(): value.strip().encode() for name, value in headers.items()}


def _set(headers: Mapping[str, str], name: str, value: str) -> dict[str, str]:
    others = {key: text for key, text in headers.items() if key.lower() != name.lower()}
    return others | {name: value}


class _Fetching:
    """A request while it is made, by a thread of its own that others may tell to stop."""

    def __init__(
        self,
        client: httpx.Client,
        headers_for: Callable[[str], Mapping[bytes, bytes]],
        check_host: Callable[[str, str], None],
        url: str,
        file: SpoolFile,
    ) -> None:
        self._client = client
        self._headers_for = headers_for
        self._check_host = check_host
        self._url = url
        self._file = file
        self._is_abandoned = False

    def abandon(self) -> None:
        self._is_abandoned = True

    def run(self) -> Answer:
        url = self._url
        try:
            for _ in range(_MOST_REDIRECTS + 1):
                request = self._client.build_request("GET", url, headers=self._headers(url))
                with closing(self._client.send(request, stream=True)) as response:
                    if response.status_code not in _REDIRECTS:
                        return self._receive(response, url)
                    url = self._follow(response, url)
        except httpx.TimeoutException:
            raise _too_late() from None
        except httpx.HTTPError as problem:
            raise _failure(problem) from None
        except httpx.InvalidURL:
            raise RequestError("has an address that cannot be read") from None
        raise RequestError(f"was redirected more than {_MOST_REDIRECTS} times")

    def _headers(self, url: str) -> list[tuple[bytes, bytes]]:
        return list(self._headers_for(url).items())

    def _follow(self, response: httpx.Response, url: str) -> str:
        location = response.headers.get("location")
        target = resolve(location, url) if location else None
        if target is None:
            raise RequestError("is redirected to something that is not a web address")
        self._check_host(target, "is redirected")
        return target

    def _receive(self, response: httpx.Response, url: str) -> Answer:
        if not response.is_success:
            raise _refusal(response)
        try:
            encoding = response.headers.get("content-encoding", "")
            for piece in unpack_body(response.iter_raw(), encoding):
                if self._is_abandoned:
                    break
                self._file.write(piece)
        except BodyError as problem:
            raise RequestError(str(problem)) from None
        except FormatError as problem:  # no room
            raise RequestError(problem.message, problem.help) from None
        return Answer(url, response.headers.get_list("link"))


def _refusal(response: httpx.Response) -> RequestError:
    status = response.status_code
    return RequestError(
        f"gave status {status}",
        _WAYS_OUT.get(status),
        may_pass=status == _TOO_MANY_REQUESTS or response.is_server_error,
        retry_after=response.headers.get("retry-after"),
    )


def _too_late() -> RequestError:
    return RequestError(
        "did not arrive in time", "raise 'timeout_secs' if the service is slow", may_pass=True
    )


def _failure(problem: httpx.HTTPError) -> RequestError:
    """What went wrong on the way. What a library says may quote what was sent, so little of it
    is repeated."""
    cause: BaseException | None = problem
    while cause:
        if isinstance(cause, OSError) and cause.strerror:
            return RequestError(f"could not be fetched: {shown(cause.strerror)}", may_pass=True)
        cause = cause.__cause__ or cause.__context__
    reason = "the connection failed"
    if isinstance(problem, httpx.RemoteProtocolError):
        reason = "the connection ended early, or what came over it is not HTTP"
    elif isinstance(problem, httpx.ProxyError):
        reason = "the proxy did not let it through"
    return RequestError(
        f"could not be fetched: {reason}",
        may_pass=isinstance(problem, httpx.TransportError)
        and not isinstance(problem, httpx.LocalProtocolError | httpx.UnsupportedProtocol),
    )


class _Apart(Generic[Result]):
    """Something that another thread does, so that nobody waits for it longer than they want to.

    A library waits for every part of an answer anew, and for the names of hosts for ever.
    """

    def __init__(self, work: Callable[[], Result], abandon: Callable[[], None]) -> None:
        self._work = work
        self._abandon = abandon
        self._is_done = threading.Event()
        self._result: Result | None = None
        self._problem: BaseException | None = None
        # It must not keep the process from ending.
        self._thread = threading.Thread(target=self._run, daemon=True)

    def wait(self, seconds: float) -> Result:
        """The result, within its time; a signal ends the wait as well."""
        self._thread.start()
        try:
            is_in_time = self._is_done.wait(seconds)
        except BaseException:
            self._abandon()
            raise
        if not is_in_time:
            self._abandon()
            raise _too_late()
        if self._problem:
            raise self._problem
        assert self._result is not None
        return self._result

    def _run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as problem:  # noqa: BLE001, it is raised where it is waited for
            self._problem = problem
        finally:
            self._is_done.set()
