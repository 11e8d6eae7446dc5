"""The commit: the moment in which the files of a run get their names, all or none of them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from clinker.formats.common.writing import WriteError, writing_to
from clinker.formats.files.free_names import Naming
from clinker.formats.files.journal import Change, Journal, Written, read_journal
from clinker.formats.files.marks import Marks, locked, sync_directory
from clinker.formats.files.recovery import has_unfinished_commit, recover
from clinker.frozen import frozen

_ATTEMPTS = 3
"""So often what other runs have left half-done is recovered before it is left as it is."""


@frozen(kw_only=True)
class Placement:
    """A complete file that lies aside, and where it goes."""

    aside: Path
    path: Path
    naming: Naming
    meta: Path | None = None
    """Another one, which goes beside it and has its name with `.meta.json` at the end."""

    @property
    def candidates(self) -> Iterator[Path]:
        """The paths that it may get."""
        return map(self.path.with_name, self.naming.candidates(self.path.name))


@frozen(kw_only=True)
class _Step:
    """One of the changes, and how it is made."""

    change: Change
    is_backed_up: bool = False
    """Whether what is there has its second name already."""

    def take(self) -> None:
        """Make the change; FileExistsError if the name was free and is no longer."""
        path, aside, backup = self.change.path, self.change.aside, self.change.backup
        if backup and not self.is_backed_up:
            path.rename(backup)
        if aside and backup:
            aside.replace(path)
        elif aside:
            _move_to_free(aside, path)


class Commit:
    """All changes that a run makes to names of files."""

    def __init__(
        self, marks: Marks, placements: Sequence[Placement], removals: Sequence[Path]
    ) -> None:
        self._marks = marks
        self._placements = placements
        self._removals = removals
        self._steps: list[list[_Step]] = []
        """Those of each placement, then those of each removal."""
        self._made: list[Path] = []
        self._planned: set[Path] = set()

    def carry_out(self) -> list[Path]:
        """Make all changes, or none if that fails; the names that the files got."""
        paths = [*(placement.path for placement in self._placements), *self._removals]
        parents = list(dict.fromkeys(path.parent for path in paths))
        self._made = _missing(parents)
        existing = [directory for directory in parents if directory not in self._made]
        for directory in existing:
            with writing_to(directory):
                self._marks.put(directory)
        with _settled(existing):
            self._plan()
            try:
                self._write_journal()
                self._make_changes()
                for directory in dict.fromkeys([*parents, *(d.parent for d in self._made)]):
                    with writing_to(directory):
                        sync_directory(directory)
                if not self._is_atomic:
                    self._journal().remove()
            except BaseException:
                self._undo()
                raise
        return [self._steps[at][0].change.path for at in range(len(self._placements))]

    def _plan(self) -> None:
        for placement in self._placements:
            with writing_to(placement.path):
                self._steps.append(self._placing(placement))
        for path in self._removals:
            with writing_to(path):
                backup = self._marks.new_name(path.parent)
                change = Change(path=path, aside=None, new=None, backup=backup)
                self._steps.append([_Step(change=change)])

    def _placing(self, placement: Placement) -> list[_Step]:
        path = placement.path
        if placement.naming.if_exists != "overwrite":
            path = _first_free(path for path in placement.candidates if path not in self._planned)
        self._planned.add(path)
        steps = [self._step(placement.aside, path)]
        if placement.meta:
            steps.append(self._step(placement.meta, path.with_name(path.name + ".meta.json")))
        return steps

    def _step(self, aside: Path, path: Path) -> _Step:
        new = Written.at(aside)
        if not os.path.lexists(path):
            return _Step(change=Change(path=path, aside=aside, new=new, backup=None))
        backup = self._marks.new_name(path.parent)
        change = Change(path=path, aside=aside, new=new, backup=backup)
        return _Step(change=change, is_backed_up=_link(path, backup))

    def _make_changes(self) -> None:
        for directory in self._made:
            with writing_to(directory):
                directory.mkdir(exist_ok=True)
                self._marks.put(directory)
        for at, placement in enumerate(self._placements):
            with writing_to(placement.path):
                self._place(at, placement)
        for steps, path in zip(self._steps[len(self._placements) :], self._removals, strict=True):
            with writing_to(path):
                steps[0].take()

    def _place(self, at: int, placement: Placement) -> None:
        while not self._took(at, 0, placement.naming.if_exists != "error"):
            self._steps[at] = self._placing(placement)
            self._write_journal()
        while placement.meta and not self._took(at, 1):
            self._steps[at][1] = self._step(placement.meta, self._steps[at][1].change.path)
            self._write_journal()

    def _took(self, at: int, number: int, may_be_in_the_way: bool = True) -> bool:
        """Make a change, unless someone has taken its name meanwhile."""
        try:
            self._steps[at][number].take()
        except FileExistsError:
            if not may_be_in_the_way:
                raise
            return False
        return True

    def _journal(self) -> Journal:
        assert self._marks.home is not None
        return Journal(
            home=self._marks.home,
            run_id=self._marks.run_id,
            changes=[step.change for steps in self._steps for step in steps],
            made=self._made,
        )

    @property
    def _is_atomic(self) -> bool:
        """Whether there is a single rename, which happens or does not: it needs no journal."""
        steps = [step for steps in self._steps for step in steps]
        is_rename = len(steps) == 1 and bool(steps[0].change.aside) and not self._made
        return is_rename and (steps[0].is_backed_up or not steps[0].change.backup)

    def _write_journal(self) -> None:
        if self._is_atomic:
            return
        journal = self._journal()
        with writing_to(journal.home):
            for directory in journal.directories:
                if directory != journal.home and directory not in self._made:
                    sync_directory(directory)  # the backups in it
            journal.write(self._marks.new_name(journal.home))

    def _undo(self) -> None:
        home = self._marks.home
        assert home is not None
        try:
            is_atomic = self._is_atomic
            journal = self._journal() if is_atomic else read_journal(home, self._marks.run_id)
            if journal:
                journal.undo()
        except OSError as problem:
            self._marks.leave()
            raise WriteError(
                f"cannot put back '{problem.filename}': {problem.strerror}; "
                f"when that is mended, `clinker recover {home}` brings back all that was there"
            ) from problem


@contextmanager
def _settled(directories: Sequence[Path]) -> Iterator[None]:
    """While no other run commits in these directories, and none has left there a commit half-done
    that could be undone over this one."""
    for attempts_left in reversed(range(_ATTEMPTS)):
        with ExitStack() as held:
            with writing_to(", ".join(map(str, directories))):
                held.enter_context(locked(directories))
                is_settled = not has_unfinished_commit(directories)
            if is_settled or not attempts_left:
                yield
                return
        recover(directories)


def _missing(directories: Iterable[Path]) -> list[Path]:
    """Those that are to be made, outer ones first."""
    missing: dict[Path, None] = {}
    for directory in directories:
        chain = []
        while not os.path.lexists(directory):
            chain.append(directory)
            directory = directory.parent
        missing |= dict.fromkeys(reversed(chain))
    return list(missing)


def _first_free(candidates: Iterable[Path]) -> Path:
    for path in candidates:
        if not os.path.lexists(path):
            return path
    raise FileExistsError(errno.EEXIST, "it exists already")


def _link(source: Path, path: Path) -> bool:
    """Give a file a second name; False where there are none."""
    try:
        path.hardlink_to(source)
    except OSError:
        return False
    return True


def _move_to_free(aside: Path, path: Path) -> None:
    """A link fails if the name is taken, a rename replaces; not all file systems have links."""
    try:
        path.hardlink_to(aside)
    except FileExistsError:
        raise FileExistsError(errno.EEXIST, "it exists already") from None
    except OSError:
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "it exists already") from None
        aside.rename(path)
