"""The directory of one run: the JVM's log, its temporary files and what Spark spills.

A process holds a lock on the directory for as long as it lives, so that a later run recognizes
and removes what a killed one left behind.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

from clinker.engine.session.settings import SessionError

_PREFIX = "clinker-run-"
_LOCK = "lock"


class RunDirectory:
    """A directory that is removed when the run ends, or by the next run."""

    def __init__(self, parent: Path | None) -> None:
        place = parent or Path(tempfile.gettempdir())
        try:
            place.mkdir(parents=True, exist_ok=True)
            _remove_abandoned(place)
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
            self._lock = _locked(self.path)
        except OSError as problem:
            raise SessionError(
                f"cannot make a directory for the run in '{place}': {problem.strerror}"
            ) from problem

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _locked(directory: Path) -> int:
    """The lock of a directory. It gets its name when it is held, so that no one takes it before."""
    unnamed = directory / "unlocked"
    lock = os.open(unnamed, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    unnamed.rename(directory / _LOCK)
    return lock


def _remove_abandoned(place: Path) -> None:
    for found in place.glob(_PREFIX + "*"):
        try:
            lock = os.open(found / _LOCK, os.O_RDWR)
        except OSError:  # someone else's, or being made or removed this very moment
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # its run is alive
            pass
        else:
            shutil.rmtree(found, ignore_errors=True)
        finally:
            os.close(lock)
