"""The exit codes of `clinker`, and how a command ends with one of them."""

from __future__ import annotations

OK = 0
CONFIGURATION = 1
USAGE = 2
IO = 4
INTERRUPTED = 130


class CommandError(Exception):
    """A command cannot go on; the message is for the user."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
