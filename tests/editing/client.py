"""An editor as far as tests need one: it speaks the protocol with a real `clinker lsp` process."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from typing import Any

PATIENCE = 60
"""Seconds after which an answer is given up; far more than it ever takes."""


class RequestFailed(Exception):
    """The server's answer was an error."""


class Editor:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._messages: Queue[dict[str, Any]] = Queue()
        self._later: list[dict[str, Any]] = []
        self._number = 0
        self.texts: dict[Path, tuple[str, int]] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    # The protocol

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            length = 0
            while header.strip():
                name, _, value = header.decode().partition(":")
                if name.lower() == "content-length":
                    length = int(value)
                header = stream.readline()
            self._messages.put(json.loads(stream.read(length)))

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self.process.stdin
        assert stream is not None
        stream.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        stream.flush()

    def notify(self, method: str, params: Any) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, params: Any) -> Any:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        answer = self._wait(lambda m: m.get("id") == number and "method" not in m)
        if "error" in answer:
            raise RequestFailed(answer["error"]["message"])
        return answer["result"]

    def _wait(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while True:
            for message in self._later:
                if fits(message):
                    self._later.remove(message)
                    return message
            try:
                self._later.append(self._messages.get(timeout=deadline - time.monotonic()))
            except Empty:
                raise TimeoutError(f"no answer; instead: {self._later}") from None

    # Files

    def open(self, path: Path, text: str | None = None) -> list[Any]:
        """Open a file, and what the server has to say about it."""
        content = path.read_text(encoding="utf-8") if text is None else text
        self.texts[path] = (content, 1)
        item = {"uri": path.as_uri(), "languageId": "yaml", "version": 1, "text": content}
        self.notify("textDocument/didOpen", {"textDocument": item})
        return self.diagnostics(path)

    def change(self, path: Path, text: str) -> None:
        """Replace the text, without waiting for anything."""
        version = self.texts[path][1] + 1
        self.texts[path] = (text, version)
        document = {"uri": path.as_uri(), "version": version}
        changes = {"textDocument": document, "contentChanges": [{"text": text}]}
        self.notify("textDocument/didChange", changes)

    def diagnostics(self, path: Path) -> list[Any]:
        """What is published about the text as it is now."""
        uri, version = path.as_uri(), self.texts[path][1]

        def fits(message: dict[str, Any]) -> bool:
            params = message.get("params", {})
            is_diagnostics = message.get("method") == "textDocument/publishDiagnostics"
            return is_diagnostics and params["uri"] == uri and params.get("version") == version

        found: list[Any] = self._wait(fits)["params"]["diagnostics"]
        return found

    # Questions

    def at(self, path: Path, marked: str) -> dict[str, Any]:
        """The place of `|` in a stretch of the text, counted as the protocol does."""
        before, _, after = marked.partition("|")
        text = self.texts[path][0]
        assert text.count(before + after) == 1, f"{before + after!r} is not there once"
        offset = text.index(before + after) + len(before)
        line = text.count("\n", 0, offset)
        start = text.rfind("\n", 0, offset) + 1
        unit = len(text[start:offset].encode("utf-16-le")) // 2
        place = {"line": line, "character": unit}
        return {"textDocument": {"uri": path.as_uri()}, "position": place}

    def complete(self, path: Path, marked: str) -> dict[str, Any]:
        items = self.request("textDocument/completion", self.at(path, marked))["items"]
        return {item["label"]: item for item in items}

    def hover(self, path: Path, marked: str) -> str:
        told = self.request("textDocument/hover", self.at(path, marked))
        return told["contents"]["value"] if told else ""

    def definition(self, path: Path, marked: str) -> list[str]:
        return self._shown(self.request("textDocument/definition", self.at(path, marked)))

    def references(self, path: Path, marked: str) -> list[str]:
        params = {**self.at(path, marked), "context": {"includeDeclaration": True}}
        return self._shown(self.request("textDocument/references", params))

    def rename(self, path: Path, marked: str, name: str) -> str:
        """The text after a renaming."""
        params = {**self.at(path, marked), "newName": name}
        changes = self.request("textDocument/rename", params)["changes"]
        assert list(changes) == [path.as_uri()]
        return self.edited(path, changes[path.as_uri()])

    def format(self, path: Path) -> str:
        options = {"tabSize": 2, "insertSpaces": True}
        params = {"textDocument": {"uri": path.as_uri()}, "options": options}
        return self.edited(path, self.request("textDocument/formatting", params))

    def edited(self, path: Path, edits: list[Any]) -> str:
        text = self.texts[path][0]
        places = [(self._offset(text, e["range"]["start"]), e) for e in edits]
        for start, edit in sorted(places, key=lambda place: -place[0]):
            end = self._offset(text, edit["range"]["end"])
            text = text[:start] + edit["newText"] + text[end:]
        return text

    @staticmethod
    def _offset(text: str, place: dict[str, int]) -> int:
        lines = text.splitlines(keepends=True)
        before = "".join(lines[: place["line"]])
        line = (lines[place["line"]] if place["line"] < len(lines) else "").encode("utf-16-le")
        return len(before) + len(line[: 2 * place["character"]].decode("utf-16-le"))

    def _shown(self, locations: list[Any]) -> list[str]:
        """`file:line:text` of each place, so that tests can be read."""
        return [self._show(location) for location in locations]

    def _show(self, location: dict[str, Any]) -> str:
        path = Path(location["uri"].removeprefix("file://"))
        text = self.texts[path][0] if path in self.texts else path.read_text(encoding="utf-8")
        start, end = location["range"]["start"], location["range"]["end"]
        stretch = text[self._offset(text, start) : self._offset(text, end)]
        return f"{path.name}:{start['line'] + 1}:{stretch}"


@contextmanager
def editing(folder: Path, *options: str, **capabilities: Any) -> Iterator[Editor]:
    command = [str(Path(sys.executable).with_name("clinker")), "lsp", "--stdio", *options]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder
    ) as process:
        editor = Editor(process)
        try:
            params = {"processId": None, "rootUri": folder.as_uri(), "capabilities": capabilities}
            editor.request("initialize", params)
            editor.notify("initialized", {})
            yield editor
            editor.request("shutdown", None)
            editor.notify("exit", None)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()
