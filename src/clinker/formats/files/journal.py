"""The journal of a commit: what it changes, written down before it changes anything.

It lies in the run's home for as long as the commit may still be undone: to remove it is what makes
the commit final, for all files at once. Every step of undoing can be done again, so it does not
matter where a machine stops.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from clinker.formats.files.marks import journal_in, mark_in, sweep, sync_directory
from clinker.frozen import frozen


class JournalError(Exception):
    """A commit that cannot be undone; the message says why."""


@frozen
class Written:
    """What tells a file from others that may have its name one day; renaming keeps it."""

    size: int
    mtime_ns: int

    @staticmethod
    def at(path: Path) -> Written:
        status = path.stat(follow_symlinks=False)
        return Written(status.st_size, status.st_mtime_ns)


@frozen(kw_only=True)
class Change:
    """A name that gets another file, or loses its own."""

    path: Path
    aside: Path | None
    """The name that the file has before; None if one is removed."""
    new: Written | None
    backup: Path | None
    """The other name of what was there before; None if nothing was."""

    def undo(self) -> bool:
        """Whether there was something to undo. What others have put there since stays."""
        if self.backup:
            has_to_return = self._is_done() or not os.path.lexists(self.path)
            if has_to_return and os.path.lexists(self.backup):
                self.backup.replace(self.path)
                return True
        elif self._is_done():
            self.path.unlink()
            return True
        return False

    def _is_done(self) -> bool:
        if self.aside is None:
            return not os.path.lexists(self.path)
        try:
            if os.path.lexists(self.aside):
                return self.path.samefile(self.aside)
            return Written.at(self.path) == self.new
        except FileNotFoundError:
            return False


@frozen(kw_only=True)
class Journal:
    """All that a commit changes."""

    home: Path
    run_id: str
    changes: Sequence[Change]
    made: Sequence[Path]
    """The directories that it makes, outer ones first."""

    @property
    def directories(self) -> list[Path]:
        """Those in which files change, or lie aside."""
        paths = [path for change in self.changes for path in (change.path, change.aside) if path]
        return list(dict.fromkeys([self.home, *(path.parent for path in paths)]))

    def write(self, aside: Path) -> None:
        """Bring it to the disk; `aside` is a new name in the home."""
        content = json.dumps(
            {
                "version": 1,
                "changes": [self._recorded(change) for change in self.changes],
                "made": [self._relative(directory) for directory in self.made],
            }
        )
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode())
            file.flush()
            os.fsync(file.fileno())
        aside.replace(journal_in(self.home, self.run_id))
        sync_directory(self.home)

    def remove(self) -> None:
        """Make final what was done, be it the commit or its undoing."""
        journal_in(self.home, self.run_id).unlink(missing_ok=True)
        # If a machine fails now, the disk may still have it; nothing can be done about that.
        with suppress(OSError):
            sync_directory(self.home)

    def check(self) -> None:
        """JournalError if a directory is not the one it was: one on a volume that is not there."""
        for directory in self.directories:
            if directory not in self.made and not mark_in(directory, self.run_id).exists():
                raise JournalError(f"'{directory}', which it wrote to as well, is not there")

    def undo(self) -> list[Path]:
        """Bring back what was there before; the files that were changed.

        OSError if some of them cannot be brought back; then it is to be tried again.
        """
        undone = []
        failed = None
        # Nothing has been done in a directory that is not marked yet.
        marked = [d for d in self.directories if mark_in(d, self.run_id).exists()]
        for change in reversed(self.changes):
            try:
                if change.path.parent in marked and change.undo():
                    undone.append(change.path)
            except OSError as problem:
                failed = problem
        if failed:
            raise failed
        for directory in marked:
            sync_directory(directory)
        for directory in reversed(self.made):
            # It may be in use by now, or not be made yet.
            with suppress(OSError):
                sweep(directory, self.run_id)
                mark_in(directory, self.run_id).unlink(missing_ok=True)
                directory.rmdir()
        self.remove()
        return undone[::-1]

    def _recorded(self, change: Change) -> list[object]:
        new = change.new
        return [
            self._relative(change.path),
            self._relative(change.aside) if change.aside else None,
            [new.size, new.mtime_ns] if new else None,
            change.backup.name if change.backup else None,
        ]

    def _relative(self, path: Path) -> str:
        """Volumes may be found elsewhere when they are looked at again."""
        return os.path.relpath(path, self.home)


def read_journal(home: Path, run_id: str) -> Journal | None:
    """The journal of a commit that is not final, if there is one."""
    try:
        content = json.loads(journal_in(home, run_id).read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        raise JournalError("its journal is damaged") from None
    if content.get("version") != 1:
        raise JournalError("its journal was written by another version")
    return Journal(
        home=home,
        run_id=run_id,
        changes=[_change(home, *recorded) for recorded in content["changes"]],
        made=[_absolute(home, path) for path in content["made"]],
    )


def _change(
    home: Path, path: str, aside: str | None, new: list[int] | None, backup: str | None
) -> Change:
    target = _absolute(home, path)
    return Change(
        path=target,
        aside=_absolute(home, aside) if aside else None,
        new=Written(*new) if new else None,
        backup=target.with_name(backup) if backup else None,
    )


def _absolute(home: Path, path: str) -> Path:
    return Path(os.path.normpath(home / path))
