"""The directory of one run: the JVM's log, its temporary files and what Spark spills.

A process holds a lock on the directory for as long as it lives, so that a later run recognizes
and removes what a killed one left behind. It does so only in a directory that is there for spilled
data: the system's directory for temporary files belongs to everyone.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from clinker.engine.session.settings import SessionError
from clinker.plan.files.storage import temporary_directory

_PREFIX = "clinker-run-"
_LOCK = "lock"
SPILL = "spill"
ARGUMENTS = "arguments"
"""The file that Java is started with, by which the Java of a directory is known."""
_SECONDS_TO_LOCK = 60
"""After so long a directory that has no lock will not get one any more."""


class RunDirectory:
    """A directory that is removed when the run ends; if it was killed, by the next one.

    The latter only below a `parent` that was chosen for it.
    """

    def __init__(self, parent: Path | None) -> None:
        place = parent or temporary_directory()
        try:
            if parent:
                remove_abandoned(parent)
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
            self._lock = _locked(self.path)
        except OSError as problem:
            raise SessionError(
                f"cannot make a directory for the run in '{place}': {problem.strerror}"
            ) from problem

    @property
    def spill(self) -> Path:
        """Where Spark spills to."""
        return self.path / SPILL

    def remove(self) -> None:
        _remove(self.path)
        os.close(self._lock)


def _locked(directory: Path) -> int:
    """The lock of a directory. It gets its name when it is held, so that no one takes it before."""
    unnamed = directory / "unlocked"
    try:
        lock = os.open(unnamed, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:  # no room for another file
        directory.rmdir()
        raise
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    unnamed.rename(directory / _LOCK)
    return lock


def remove_abandoned(place: Path | None = None) -> int:
    """Remove what killed runs have left in a directory, by default the system's; how many."""
    found = (place or temporary_directory()).glob(_PREFIX + "*")
    return sum(_was_abandoned(directory) for directory in found)


def _was_abandoned(directory: Path) -> bool:
    """Whether a directory has been removed since its run is gone."""
    try:
        status = directory.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return False  # a link to anywhere, or someone else's
    try:
        lock = os.open(directory / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        if time.time() - status.st_mtime <= _SECONDS_TO_LOCK:
            return False  # it is about to get one
        _remove(directory)
        return True
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # its run is alive
        return False
    else:
        _end_java(directory)
        _remove(directory)
        return True
    finally:
        os.close(lock)


def _end_java(directory: Path) -> None:
    """End the Java of a run that is gone. It ends by itself, but if it was just starting it would
    miss the directory, and wait for ever."""
    end = os.fsencode(f"/{directory.name}/{ARGUMENTS}")
    for process in Path("/proc").glob("[0-9]*"):
        # Processes come and go, and others' are not ours to look at.
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if any(word.startswith(b"@") and word.endswith(end) for word in words):
                os.kill(int(process.name), signal.SIGKILL)


def _remove(directory: Path) -> None:
    """The lock goes last: if this is killed, another run can tell that it may go on with it."""
    with suppress(OSError):
        for entry in os.scandir(directory):
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry, ignore_errors=True)
            elif entry.name != _LOCK:
                Path(entry).unlink(missing_ok=True)
    shutil.rmtree(directory, ignore_errors=True)
