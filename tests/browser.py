"""A real browser without a screen, asked over the protocol of its developer tools."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect
from websockets.sync.connection import Connection

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
)
_SECONDS = 60
REQUIRED = "CLINKER_REQUIRE_BROWSER"
"""Set where a missing browser is a failure, as in continuous integration."""


class Browser:
    """One page of a browser."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._numbers = itertools.count(1)
        self._events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: object) -> Any:
        """What the browser answers."""
        number = next(self._numbers)
        self._connection.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = self._receive()
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]

    def open(self, page: Path) -> None:
        """Load a file, and wait until that is done."""
        self._events.clear()
        self.call("Page.navigate", url=page.as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._receive()
        self.evaluate("1")  # what was said while it loaded has arrived by now

    def complaints(self) -> list[str]:
        """What the browser has said on its console about the page, and what the page fetched."""
        said = [
            json.dumps(event["params"])
            for event in self._events
            if event["method"]
            in ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled")
        ]
        asked = [
            event["params"]["request"]["url"]
            for event in self._events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [*said, *asked[1:]]

    def evaluate(self, expression: str) -> Any:
        """The value of JavaScript in the page."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def resize(self, width: int, height: int = 900, *, is_mobile: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=is_mobile,
        )

    def prefer(self, scheme: str, media: str = "") -> None:
        """`light` or `dark`; on `print` or, without a word, on a screen."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)

    def press(self, key: str) -> None:
        codes = {"Tab": 9, "Enter": 13}
        key_ = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **key_, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **key_)

    def picture(self, file: Path) -> None:
        """The whole page as PNG."""
        taken = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(taken["data"]))

    def _receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self._connection.recv(_SECONDS))
        if "method" in message:
            self._events.append(message)
        return message


@contextmanager
def browsing() -> Iterator[Browser]:
    """A browser with an empty page; the test is skipped where there is none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        missing = "there is no Chromium on this machine to look at the page with"
        assert not os.environ.get(REQUIRED), missing
        pytest.skip(missing)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            with connect(_page_address(Path(profile), process), max_size=None) as connection:
                yield Browser(connection)
        finally:
            process.terminate()
            process.wait(_SECONDS)


def _page_address(profile: Path, process: subprocess.Popen[bytes]) -> str:
    """Where the browser listens for questions about its page."""
    told = profile / "DevToolsActivePort"
    until = time.monotonic() + _SECONDS
    while not (told.exists() and told.read_text().count("\n")):
        assert process.poll() is None, "the browser ended by itself"
        assert time.monotonic() < until, "the browser does not start"
        time.sleep(0.05)
    port, path = told.read_text().split("\n")
    with connect(f"ws://127.0.0.1:{port}{path}") as connection:
        connection.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
        targets = json.loads(connection.recv(_SECONDS))["result"]["targetInfos"]
    page = next(target["targetId"] for target in targets if target["type"] == "page")
    return f"ws://127.0.0.1:{port}/devtools/page/{page}"
