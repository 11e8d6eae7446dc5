"""What a run leaves in the directories it writes to, until it ends.

All of it is called `.clinker-<run id>…`. The mark, `.clinker-<run id>.run`, comes before anything
else and goes last. In the first of the directories, the run's *home*, the process holds a lock on
it for as long as it lives; in the others it says where the home is. So whoever finds such files can
tell whether the run that made them is still alive.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

_NAME = re.compile(
    r"\.clinker-(?P<run>[\w-]+?)(?:\.run|\.journal|\.claims|-\d+\.(?:tmp|parts))", re.ASCII
)
_NO_SUCH_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)
_NO_SUCH_LOCK = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS, errno.EINVAL, errno.EBADF)
_MOST_LOCKED = 256
"""So many directories are locked at once; each takes a file descriptor."""


def mark_in(directory: Path, run_id: str) -> Path:
    return directory / f".clinker-{run_id}.run"


def journal_in(directory: Path, run_id: str) -> Path:
    return directory / f".clinker-{run_id}.journal"


def claims_in(directory: Path, run_id: str) -> Path:
    return directory / f".clinker-{run_id}.claims"


def nearest_directory(directory: Path) -> Path:
    """A directory, or what is there of the way to it: that is where runs work until it is made."""
    while not os.path.lexists(directory):
        directory = directory.parent
    return directory


def staging_directory(path: Path) -> Path:
    """Where a file lies aside: its own directory, or the nearest above it that exists."""
    directory = nearest_directory(path.parent)
    if not directory.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{directory} is no directory")
    return directory


def runs_in(directory: Path) -> list[str]:
    """The runs that have left something in a directory, alive or not."""
    with os.scandir(directory) as entries:
        runs = {match["run"] for entry in entries if (match := _NAME.fullmatch(entry.name))}
    return sorted(runs)


def sweep(directory: Path, run_id: str) -> int:
    """Remove everything of a run but its mark, and nothing of other users; how much that was."""
    mark = mark_in(directory, run_id).name
    with os.scandir(directory) as entries:
        names = [entry.name for entry in entries if entry.name != mark]
    own = [name for name in names if (m := _NAME.fullmatch(name)) and m["run"] == run_id]
    return sum(_remove(directory / name) for name in own)


def _remove(path: Path) -> bool:
    try:
        status = path.lstat()
        if status.st_uid != os.geteuid():
            return False
        if stat.S_ISDIR(status.st_mode):
            shutil.rmtree(path)
        else:
            path.unlink()
    except FileNotFoundError:  # someone else removes it as well
        return False
    return True


class Marks:
    """The marks of a living run."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.home: Path | None = None
        self._lock: int | None = None
        self._numbers = count(1)
        self._marked: dict[Path, None] = {}

    def put(self, directory: Path) -> None:
        """Mark a directory, if it is not marked yet."""
        if directory in self._marked:
            return
        if self.home is None:
            self._lock = _locked_mark(mark_in(directory, self.run_id))
            self.home = directory
            self._marked[directory] = None
        else:
            self._marked[directory] = None  # a full disk may leave half a mark
            _write_mark(self._numbered(directory, "tmp"), directory, self.run_id, self.home)

    def new_name(self, directory: Path, kind: str = "tmp") -> Path:
        """A name in a directory that only this run has."""
        self.put(directory)
        return self._numbered(directory, kind)

    def _numbered(self, directory: Path, kind: str) -> Path:
        return directory / f".clinker-{self.run_id}-{next(self._numbers)}.{kind}"

    def leave(self) -> None:
        """Leave everything where it is, for a recovery."""
        if self._lock is not None:
            os.close(self._lock)
        self._marked.clear()
        self.home = self._lock = None

    def remove(self) -> None:
        """Remove the marks, that of the home last, and all that lies beside them."""
        for directory in reversed(self._marked):
            # What cannot be removed now stays for a later run to remove.
            with suppress(OSError):
                sweep(directory, self.run_id)
                mark_in(directory, self.run_id).unlink(missing_ok=True)
        self.leave()


def _locked_mark(mark: Path) -> int:
    """A new mark with a lock on it."""
    while True:
        lock = os.open(mark, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            # Another run may have taken the lock first, and the file for one of a run that is gone.
            if not take(lock, wait=True) or is_at(lock, mark):
                return lock
        except BaseException:
            os.close(lock)
            mark.unlink(missing_ok=True)
            raise
        os.close(lock)


def _write_mark(aside: Path, directory: Path, run_id: str, home: Path) -> None:
    """A mark is there as a whole or not at all."""
    content = os.fsencode(os.path.relpath(home, directory))
    while True:
        try:
            write_aside(aside, content).rename(mark_in(directory, run_id))
            return
        except FileNotFoundError:
            # Without a mark beside it, another run takes it for one of a run that is gone.
            if not directory.is_dir():
                raise


def write_aside(path: Path, content: bytes) -> Path:
    """A new file, to be renamed once it is complete."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    return path


def is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file still has this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat(follow_symlinks=False))
    except FileNotFoundError:
        return False


def take(descriptor: int, *, wait: bool = False) -> bool:
    """Lock an open file; False where there are no locks, BlockingIOError if another has it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as problem:
        if problem.errno in _NO_SUCH_LOCK:
            return False
        raise
    return True


@contextmanager
def locked(directories: Iterable[Path]) -> Iterator[None]:
    """While no other run changes what is in these directories, or undoes what another did there.

    Some file systems have no locks on directories; there runs must not end at the same moment.
    """
    with ExitStack() as held:
        opened: list[tuple[tuple[int, int], int]] = []
        for directory in sorted(set(directories))[:_MOST_LOCKED]:
            descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            held.callback(os.close, descriptor)
            status = os.fstat(descriptor)
            opened.append(((status.st_dev, status.st_ino), descriptor))
        # Everybody takes them in the same order, whatever names they have.
        before = None
        for identity, descriptor in sorted(opened):
            if identity != before:
                take(descriptor, wait=True)
            before = identity
        yield


def sync_directory(directory: Path) -> None:
    """Bring the names in a directory to the disk."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SUCH_SYNC:
            raise
    finally:
        os.close(descriptor)
