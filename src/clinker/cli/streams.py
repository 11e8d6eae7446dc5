"""Standard output and error of a process of our own.

What is said on standard error matters less than what is done: if it cannot be written, because the
disk of the log is full, it is lost. Standard output may be what a command is there for: that it
cannot be written is told, once.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputLost(Exception):
    """Standard output cannot be written to; the message says why, for the user."""


class _Output(io.FileIO):
    _is_lost = False

    def write(self, data: ReadableBuffer, /) -> int:
        if self._is_lost:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except OSError as problem:
            self._is_lost = True
            raise OutputLost(f"cannot write to standard output: {problem.strerror}") from None


class _Log(io.FileIO):
    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return memoryview(data).nbytes


def take_standard_streams() -> None:
    """Put streams of these kinds in the place of Python's.

    Whoever starts a process may have closed what it inherits. The next files to be opened would
    take the numbers, and whatever is printed would end up in them.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    sys.stdout = _text(_Output(1, "wb", closefd=False), sys.stdout)
    sys.stderr = _text(_Log(2, "wb", closefd=False), sys.stderr, is_log=True)
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115, for the whole process


def _text(raw: io.FileIO, before: TextIO | None, *, is_log: bool = False) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        before.encoding if before else "utf-8",
        "backslashreplace",  # names of files may be any bytes
        line_buffering=is_log or raw.isatty(),
        write_through=getattr(before, "write_through", False),
    )
