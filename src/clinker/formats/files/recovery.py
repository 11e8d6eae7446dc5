"""Recovery: what a run that was killed has left is removed, and a half-done commit undone.

Runs that are alive are never touched, nor are files of other users. Recovering again what was
recovered half-way is the same as recovering it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from clinker.formats.files.journal import Journal, JournalError, read_journal
from clinker.formats.files.marks import is_at, locked, mark_in, runs_in, sweep, take
from clinker.frozen import frozen
from clinker.stores.urls import FilePath, ObjectUrl


@frozen(kw_only=True)
class Recovered:
    """What came of a run that was killed."""

    directory: FilePath
    run_id: str
    undone: tuple[Path, ...] = ()
    """Files that are again as they were before it."""
    completed: tuple[ObjectUrl, ...] = ()
    """Objects that it was about to put in place, and now are."""
    removed: int = 0
    """How many files were lying aside."""
    problem: str | None = None
    """Why all was left as it is."""

    def __str__(self) -> str:
        if self.problem:
            what = f"'{self.directory}' has files of run {self.run_id}, which may have been killed"
            return f"{what}; they are left alone: {self.problem}"
        who = f"run {self.run_id}, which was killed"
        if self.undone:
            names = ", ".join(f"'{path}'" for path in self.undone)
            return f"{who} while it put its files in place, is undone: {names}"
        if self.completed:
            names = ", ".join(f"'{url}'" for url in self.completed)
            return f"{who} while it put its objects in place, is completed: {names}"
        files = "a file" if self.removed == 1 else f"{self.removed} files"
        return f"removed {files} that {who}, left in '{self.directory}'"


class _Alive(Exception):
    """The run has not ended, or another process looks after what it left."""


class _Unknown(Exception):
    """Nobody can tell whether it is alive; the message says why."""


def recover(directories: Iterable[Path], *, force: bool = False) -> list[Recovered]:
    """Recover what killed runs left in directories.

    With `force` also what belongs to runs of which nobody can tell whether they are alive, and what
    can be undone only in part.
    """
    recovered: list[Recovered] = []
    for directory in dict.fromkeys(d.resolve() for d in directories):
        try:
            runs = runs_in(directory)
        except OSError:  # it is not there, or nothing in it could be recovered
            continue
        recovered += filter(None, (_recover(directory, run_id, force) for run_id in runs))
    return recovered


def has_unfinished_commit(directories: Iterable[Path]) -> bool:
    """Whether a killed run has left a commit half-done in one of these directories."""
    for directory in directories:
        for run_id in runs_in(directory):
            try:
                with _take_over(directory, run_id, force=False) as home:
                    if read_journal(home, run_id):
                        return True
            except (_Alive, _Unknown, JournalError, OSError):
                continue
    return False


def may_be_alive(directory: Path, run_id: str) -> bool:
    """Whether a run that has left something in a directory has not ended, for all one can tell."""
    try:
        with _take_over(directory, run_id, force=False):
            return False
    except (_Alive, _Unknown):
        return True


def _recover(directory: Path, run_id: str, force: bool) -> Recovered | None:
    try:
        with _take_over(directory, run_id, force) as home:
            undone = _undo(home, run_id, force)
            removed = sum(sweep(place, run_id) for place in {directory, home} if place.is_dir())
            for place in dict.fromkeys((directory, home)):
                mark_in(place, run_id).unlink(missing_ok=True)
    except _Alive:
        return None
    except (_Unknown, JournalError) as problem:
        return Recovered(directory=directory, run_id=run_id, problem=str(problem))
    except OSError as problem:
        reason = f"{problem.strerror}: '{problem.filename}'"
        return Recovered(directory=directory, run_id=run_id, problem=reason)
    if not (undone or removed):
        return None
    return Recovered(directory=directory, run_id=run_id, undone=tuple(undone), removed=removed)


def _undo(home: Path, run_id: str, force: bool) -> list[Path]:
    journal = read_journal(home, run_id)
    if journal is None:
        return []
    if not force:
        journal.check()
    with locked(directory for directory in journal.directories if directory.is_dir()):
        undone = journal.undo()
    _sweep_others(journal)
    return undone


def _sweep_others(journal: Journal) -> None:
    for directory in journal.directories:
        if directory != journal.home and directory.is_dir():
            sweep(directory, journal.run_id)
            mark_in(directory, journal.run_id).unlink(missing_ok=True)


@contextmanager
def _take_over(directory: Path, run_id: str, force: bool) -> Iterator[Path]:
    """The home of a run that is dead, whose files nobody else looks after meanwhile."""
    home = _find_home(directory, run_id, force)
    mark = mark_in(home, run_id)
    try:
        lock = os.open(mark, os.O_RDWR | os.O_NOFOLLOW)
    except FileNotFoundError:
        # It goes last, so there is nothing that could still be undone.
        yield home
        return
    except OSError as problem:
        raise _Unknown(f"{problem.strerror}: '{mark}'") from None
    try:
        if os.fstat(lock).st_uid != os.geteuid():
            raise _Unknown("it was another user's")
        try:
            has_locks = take(lock)
        except BlockingIOError:
            raise _Alive from None
        if not has_locks and not force:
            raise _Unknown("the file system has no locks that would tell whether it is alive")
        if not is_at(lock, mark):
            raise _Alive
        yield home
    finally:
        os.close(lock)


def _find_home(directory: Path, run_id: str, force: bool) -> Path:
    mark = mark_in(directory, run_id)
    try:
        descriptor = os.open(mark, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return directory
    except OSError as problem:
        raise _Unknown(f"{problem.strerror}: '{mark}'") from None
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_uid != os.geteuid():
            raise _Unknown("it was another user's")
        content = os.fsdecode(file.read())
    if not content:
        return directory
    home = Path(os.path.normpath(directory / content))
    if home.is_dir():
        return home
    if force:
        return directory
    raise _Unknown(f"'{home}', which it wrote to first, is not there")
