"""Locks of staged sources: those who read a copy share one, whoever changes it has it alone.

A lock is a file without content. The system gives it up when its process ends, however it ends, so
a lock that can be had belongs to nobody who is alive.
"""

from __future__ import annotations

import errno
import fcntl
import os
import resource
from pathlib import Path

from clinker.formats.files.marks import is_at

_SPARE = 512
"""How many files a run may have open besides its locks."""


class SourceLock:
    """The lock of one staged source, as one run sees it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def share(self, *, wait: bool = False) -> bool:
        """Have it together with others; False if another has it alone."""
        return self._take(fcntl.LOCK_SH | (0 if wait else fcntl.LOCK_NB))

    def own(self) -> bool:
        """Have it alone, shared or not before; False if others have it, and then this one has not.

        Of those who share it and try this at once, the last one gets it.
        """
        return self._take(fcntl.LOCK_EX | fcntl.LOCK_NB)

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def remove(self) -> None:
        """Remove the file of a lock that one has alone: others see that, and make a new one."""
        self._path.unlink(missing_ok=True)
        self.release()

    def _take(self, operation: int) -> bool:
        while True:
            if self._descriptor is None:
                self._descriptor = self._opened()
            try:
                fcntl.flock(self._descriptor, operation)
            except BlockingIOError:
                self.release()
                return False
            # Between opening and locking, another may have removed it with the copy.
            if is_at(self._descriptor, self._path):
                return True
            self.release()

    def _opened(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(self._path, flags, 0o600)
        if os.fstat(descriptor).st_uid != os.geteuid():
            os.close(descriptor)
            raise PermissionError(errno.EACCES, "another user stages the same file there")
        return descriptor


def allow_locks(number: int) -> None:
    """Let this process have so many locks at once; `OSError` if the system does not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = number + _SPARE
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        why = f"it takes {needed} open files at once, of which the system allows {hard}"
        raise OSError(errno.EMFILE, why)
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
