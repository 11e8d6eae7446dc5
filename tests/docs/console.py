"""Terminal sessions in the documentation: what the reader types and what the screen shows.

A line `$ …` is a command, which goes on over line ends inside quotes and behind a backslash. What
follows it is its output, standard output and standard error together. In it `…` stands for any
text, and on a line of its own for any number of lines: for what differs from run to run, or is
left out.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from clinker.cli import cxl

_PROMPT = "$ "
_INSERTED_FILE = re.compile(r"\$\(cat ([^)]+)\)")


@dataclass(frozen=True)
class Command:
    words: tuple[str, ...]
    expected: str

    def matches(self, shown: str) -> bool:
        return re.fullmatch(_pattern(self.expected), shown) is not None


def commands(session: str) -> list[Command]:
    """The commands of a session, each with the output it shows."""
    lines = session.splitlines()
    found: list[Command] = []
    while lines:
        if not lines[0].startswith(_PROMPT):
            raise ValueError(f"no command leads to the output {lines[0]!r}")
        words = _command(lines)
        output: list[str] = []
        while lines and not lines[0].startswith(_PROMPT):
            output.append(lines.pop(0) + "\n")
        found.append(Command(words, "".join(output)))
    return found


def _command(lines: list[str]) -> tuple[str, ...]:
    typed = lines.pop(0).removeprefix(_PROMPT)
    while True:
        try:
            if not typed.endswith("\\"):
                return tuple(shlex.split(typed))
            typed = typed.removesuffix("\\")
        except ValueError:  # a quotation is still open
            typed += "\n"
        typed += lines.pop(0)


def _pattern(expected: str) -> str:
    parts = []
    for line in expected.splitlines():
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(map(re.escape, line.split("…"))) + r"\n")
    return "".join(parts)


class Terminal:
    """Runs commands in the current directory, in this process."""

    def __init__(self) -> None:
        self.exit_code = 0

    def run(self, words: Sequence[str]) -> str:
        """What the screen shows for a command."""
        if list(words) == ["echo", "$?"]:
            return f"{self.exit_code}\n"
        stdin = b""
        if "|" in words:
            pipe = words.index("|")
            stdin = (_echoed(words[:pipe]) + "\n").encode()
            words = words[pipe + 1 :]
        program, *args = words
        if program != "cxl":
            raise ValueError(f"only cxl can be run, not {program}")
        screen = io.StringIO()
        with _connected(screen, stdin):
            try:
                self.exit_code = cxl.main([_with_files(arg) for arg in args])
            except SystemExit as end:
                self.exit_code = end.code if isinstance(end.code, int) else 1
        return screen.getvalue()


def _echoed(words: Sequence[str]) -> str:
    if words[0] != "echo":
        raise ValueError(f"only echo can be piped, not {words[0]}")
    return " ".join(words[1:])


@contextlib.contextmanager
def _connected(screen: io.StringIO, stdin: bytes) -> Iterator[None]:
    keyboard, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    try:
        with contextlib.redirect_stdout(screen), contextlib.redirect_stderr(screen):
            yield
    finally:
        sys.stdin = keyboard


def _with_files(word: str) -> str:
    """The word with every `$(cat file)` replaced, as a shell does it."""
    return _INSERTED_FILE.sub(lambda m: Path(m[1]).read_text("utf-8").rstrip("\n"), word)
