"""Where events go. A run never fails since they cannot be sent, and never waits long for it."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from clinker.engine.report.openlineage.events import Event
from clinker.engine.session.secrets import shown_address

SECONDS = 5.0
"""The longest that a run waits for a service to take an event, in all."""
KEY = "OPENLINEAGE_API_KEY"


class Undelivered(Exception):
    """An event could not be sent; the message says why, for the user."""


class Receiver(Protocol):
    def send(self, event: Event) -> None:
        """Hand over an event; `Undelivered` if that is impossible."""


def receiver_of(target: str, environment: Mapping[str, str]) -> Receiver:
    """Who takes the events: a web service by its address, else a file."""
    if target.startswith(("http://", "https://")):
        return Service(target, environment.get(KEY))
    return EventFile(Path(target))


class EventFile:
    """A file that a line is appended to for each event, whoever else does the same."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def send(self, event: Event) -> None:
        line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # A pipe that nobody reads from would be waited for.
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK
            descriptor = os.open(self._path, flags, 0o600)
            try:
                # In one piece, so that lines of several runs do not mix.
                if os.write(descriptor, line) != len(line):
                    raise Undelivered(f"'{self._path}' is incomplete: there is no space left")
            finally:
                os.close(descriptor)
        except OSError as problem:
            raise Undelivered(f"cannot write '{self._path}': {problem.strerror}") from problem


class Service:
    """A web service that events are posted to."""

    def __init__(self, url: str, key: str | None = None, seconds: float = SECONDS) -> None:
        self._url = url
        self._key = key
        self._seconds = seconds

    def send(self, event: Event) -> None:
        problems: list[str] = []
        posting = threading.Thread(target=self._post, args=(event, problems), daemon=True)
        posting.start()
        # What a service does drop by drop may take longer than any time limit of a connection.
        posting.join(self._seconds)
        if posting.is_alive():
            problems.append(f"no answer within {self._seconds:g} seconds")
        if problems:
            raise Undelivered(f"{shown_address(self._url)}: {problems[0]}")

    def _post(self, event: Event, problems: list[str]) -> None:
        import httpx

        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        try:
            answer = httpx.post(
                self._url,
                content=json.dumps(event).encode(),
                headers=headers,
                timeout=self._seconds,
                follow_redirects=False,
            )
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as problem:
            # Its own words may repeat the address, with all that is secret in it.
            problems.append(_reason(problem))
            return
        if not answer.is_success:
            problems.append(f"answered {answer.status_code}")


def _reason(problem: Exception) -> str:
    import httpx

    match problem:
        case httpx.TimeoutException():
            return "no answer in time"
        case httpx.ConnectError():
            return "cannot be reached"
        case httpx.HTTPError():
            return "the connection broke"
    return "this is not an address that can be asked"
