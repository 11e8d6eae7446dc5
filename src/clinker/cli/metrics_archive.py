"""The archive of metrics: lines of JSON, one for each run and never two, whoever else appends."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import SEEK_END
from pathlib import Path
from typing import BinaryIO

from clinker.cli.command import IO, CommandError
from clinker.cxl.failure import printable
from clinker.formats.files.marks import take

_BEGIN = b'{"execution_id":'
"""With what our lines begin; other things are left as they are."""
_OWN_LINE = re.compile(rb'\{"execution_id":"(?P<id>[\w-]+)"', re.ASCII)
_BLOCK = 1 << 20


class Archive:
    """An archive that nobody else changes meanwhile."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file

    def ids(self) -> set[str]:
        """The runs that are in it."""
        self._file.seek(0)
        found: set[str] = set()
        for line in self._file:
            own = _OWN_LINE.match(line)
            if own and line.endswith(b"}\n"):
                found.add(own["id"].decode())
                continue
            with suppress(ValueError, RecursionError):  # somebody else's
                content = json.loads(line)
                if isinstance(content, dict):
                    found.add(str(content.get("execution_id")))
        return found

    def append(self, lines: Sequence[str]) -> None:
        """Add lines; they are on disk when this returns."""
        self._mend()
        self._file.seek(0, SEEK_END)
        self._file.write("".join(f"{line}\n" for line in lines).encode())
        self._file.flush()
        os.fsync(self._file.fileno())

    def _mend(self) -> None:
        """Whoever was killed or had no space left may have written half of a line: it is removed,
        since its run is still in the spool directory."""
        tail = self._tail()
        if not tail:
            return
        if tail.startswith(_BEGIN) and not _is_json(tail):
            self._file.seek(-len(tail), SEEK_END)
            self._file.truncate()
            warning = "half of a line at its end, left by a collect that was killed, is removed"
            print(f"warning: {printable(str(self._path))}: {warning}", file=sys.stderr)
        else:
            self._file.seek(0, SEEK_END)
            self._file.write(b"\n")

    def _tail(self) -> bytes:
        """What stands behind the last end of a line."""
        end = self._file.seek(0, SEEK_END)
        tail = b""
        while end:
            begin = max(0, end - _BLOCK)
            self._file.seek(begin)
            _, newline, behind = self._file.read(end - begin).rpartition(b"\n")
            tail = behind + tail
            if newline:
                break
            end = begin
        return tail


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


@contextmanager
def opened_archive(path: Path) -> Iterator[Archive]:
    """An archive to append to; it is made if need be. One collect waits for the other."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked_file(path) as file:
            yield Archive(path, file)
    except OSError as problem:
        raise CommandError(f"cannot write '{path}': {problem.strerror}", IO) from problem


@contextmanager
def _locked_file(path: Path) -> Iterator[BinaryIO]:
    while True:
        flags = os.O_RDWR | os.O_CREAT | os.O_NONBLOCK
        with os.fdopen(os.open(path, flags, 0o666), "r+b") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise CommandError(f"cannot write '{path}': it is not a regular file", IO)
            take(file.fileno(), wait=True)
            # Meanwhile it may have been put away, and another begun.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    yield file
                    return


def archived_ids(path: Path) -> set[str]:
    """The runs in an archive that may not exist."""
    try:
        with path.open("rb") as file:
            return Archive(path, file).ids()
    except FileNotFoundError:
        return set()
    except OSError as problem:
        raise CommandError(f"cannot read '{path}': {problem.strerror}", IO) from problem


@contextmanager
def locked_directory(path: Path) -> Iterator[None]:
    """While nobody else collects from a directory."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        raise CommandError(f"the spool directory '{path}' does not exist", IO) from None
    except OSError as problem:
        raise CommandError(f"cannot read '{path}': {problem.strerror}", IO) from problem
    try:
        take(descriptor, wait=True)
        yield
    finally:
        os.close(descriptor)
