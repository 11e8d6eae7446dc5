"""Files of configuration: found in directories, read at once or refused at once."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

_OTHERS = (
    (stat.S_ISFIFO, "it is a pipe, not a file"),
    (stat.S_ISSOCK, "it is a socket, not a file"),
    (stat.S_ISCHR, "it is a device, not a file"),
    (stat.S_ISBLK, "it is a device, not a file"),
)


def files_below(directory: Path) -> Iterator[Path]:
    """The files of a directory and of those below it, in order; what is hidden is left out.

    Virtual environments, repositories and the like hold files of others.
    """
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(names) if not name.startswith("."))


def read_plain(path: Path) -> bytes:
    """What is in a file; `OSError` for what is none, as a pipe that might be waited for."""
    _check(path, path.stat().st_mode)  # to open a device may do something
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        _check(path, os.fstat(stream.fileno()).st_mode)
        return stream.read()


def _check(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    for is_kind, reason in _OTHERS:
        if is_kind(mode):
            raise OSError(errno.EINVAL, reason, str(path))
