"""The spool of a run: private copies of what cannot be read where it is, as long as the run lasts.

What a web service sends and what compressed files hold is written there first, and read from there
like any other file. How much that will be is up to others, so there is a limit to it.
"""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from clinker.formats.common.read_spec import FormatError
from clinker.frozen import frozen

_MOST_RESERVED = 1 << 30
_RESERVED_SHARE = 20
"""One of so many parts of a disk is left to others, unless that is more than they need."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@frozen
class Room:
    """How many more bytes may be written, and why not more."""

    size: int
    reason: str
    help: str


class Spool:
    """Files in a directory that is made when the first one is, by whoever removes it again.

    Several threads may write to it at once.
    """

    def __init__(self, make_directory: Callable[[], Path], most: int | None = None) -> None:
        self._make_directory = make_directory
        self._most = most
        self._directory: Path | None = None
        self._files = 0
        self._size = 0
        self._changing = threading.Lock()

    @contextmanager
    def file(self, shown: str) -> Iterator[SpoolFile]:
        """A new file for a copy of what people call `shown`; it is removed if that fails."""
        path = self._new_path()
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as problem:
            raise self._unwritable(shown, problem) from None
        file = SpoolFile(path, shown, os.fdopen(descriptor, "wb"), self)
        try:
            with file.stream:
                yield file
        except BaseException as problem:
            path.unlink(missing_ok=True)
            with self._changing:
                self._size -= file.size
            if isinstance(problem, OSError) and problem.errno in _NO_ROOM:
                raise self._unwritable(shown, problem) from None
            raise

    def folder(self) -> Path:
        """A new folder, for notes that take no room to speak of."""
        path = self._new_path()
        path.mkdir(0o700)
        return path

    def _new_path(self) -> Path:
        with self._changing:
            if self._directory is None:
                self._directory = self._make_directory()
            self._files += 1
            return self._directory / f"{self._files - 1}"

    def take(self, size: int, shown: str) -> None:
        """Make sure that there is room for so many more bytes; FormatError if there is not."""
        with self._changing:
            room = self._room()
            if size > room.size:
                raise FormatError(f"has {room.reason}", shown, room.help)
            self._size += size

    def _room(self) -> Room:
        assert self._directory
        free = shutil.disk_usage(self._directory)
        reserve = min(_MOST_RESERVED, free.total // _RESERVED_SHARE)
        place = self._directory.parent
        on_disk = Room(
            free.free - reserve,
            f"more to write than there is room for in '{place}'",
            "make room there, or set storage.spill.dir in clinker.toml to a larger disk",
        )
        if self._most is None or self._most - self._size > on_disk.size:
            return on_disk
        return Room(
            self._most - self._size,
            f"more to write than storage.spill.disk_cap_bytes allows, which is {self._most} bytes",
            "raise storage.spill.disk_cap_bytes in clinker.toml if this much is expected",
        )

    def _unwritable(self, shown: str, problem: OSError) -> FormatError:
        assert self._directory
        message = f"cannot be copied to '{self._directory.parent}': {problem.strerror}"
        help = "make room there, or set storage.spill.dir in clinker.toml to another directory"
        return FormatError(message, shown, help)


class SpoolFile:
    """A file of a spool, while it is written."""

    def __init__(self, path: Path, shown: str, stream: BinaryIO, spool: Spool) -> None:
        self.path = path
        self.stream = stream
        self.size = 0
        self._shown = shown
        self._spool = spool

    def write(self, data: bytes | memoryview, /) -> int:
        """Append to the file; FormatError if there is no room for that."""
        self._spool.take(len(data), self._shown)
        self.size += len(data)
        return self.stream.write(data)
