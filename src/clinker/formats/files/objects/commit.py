"""The commit: objects that lie aside get their names.

Stores change one object at a time. So what is to change is written down first, as `commit.json` in
the run's home; from then on the outcome is certain. Whoever finds it after the run is gone makes
the changes that are missing, and leaves alone what others have changed since.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator, Sequence

from clinker.formats.common.writing import WriteError, writing_to
from clinker.formats.files.free_names import Naming
from clinker.formats.files.objects.marks import MARK, ObjectMarks, aside_directory
from clinker.frozen import frozen
from clinker.stores.access import (
    find,
    find_if_any,
    open_object,
    put_in_place,
    read_object,
    remove_object,
    write_object,
)
from clinker.stores.urls import ObjectUrl, parse_url

_RECORD = "commit.json"


@frozen(kw_only=True)
class ObjectPlacement:
    """A complete object that lies aside, and where it goes."""

    aside: ObjectUrl
    path: ObjectUrl
    naming: Naming
    meta: ObjectUrl | None = None
    """Another one, which goes beside it and has its name with `.meta.json` at the end."""


@frozen
class ObjectChange:
    """A name that gets another object, or loses its own."""

    url: ObjectUrl
    aside: ObjectUrl | None
    """None if it is removed."""
    before: str | None
    """What tells the object that had the name; None if there was none."""

    def make(self) -> None:
        if self.aside is None:
            remove_object(self.url)
        else:
            put_in_place(self.aside, self.url)

    @property
    def is_due(self) -> bool:
        """Whether nobody has put another object there since, be it the run itself or another.

        Where a move does not replace, an object is missing for a moment.
        """
        now = state_of(self.url)
        return now == self.before or (now is None and self.aside is not None)


class ObjectCommit:
    """All changes that a run makes to objects."""

    def __init__(
        self,
        marks: ObjectMarks,
        placements: Sequence[ObjectPlacement],
        removals: Sequence[ObjectUrl],
    ) -> None:
        self._marks = marks
        self.paths: list[ObjectUrl] = []
        """The names that the objects get, in the order of their placements."""
        self._changes: list[ObjectChange] = []
        for placement in placements:
            with writing_to(placement.path):
                self._plan(placement)
        for url in removals:
            with writing_to(url):
                if before := state_of(url):
                    self._changes.append(ObjectChange(url, None, before))

    def carry_out(self, *, beside_files: bool) -> None:
        """Make all changes; WriteError if that is not possible now, with what is to be done.

        A single one needs no record, since it happens or does not, unless files have been changed
        already that belong to it.
        """
        if len(self._changes) > 1 or (self._changes and beside_files):
            self._carry_out_all()
            return
        for change in self._changes:
            with writing_to(change.url):
                change.make()

    def _carry_out_all(self) -> None:
        with writing_to(self._changes[0].url):
            home = self._marks.home or self._marks.put(self._changes[0].url.parent)
            write_record(home, self._marks, self._changes)
        made = 0
        try:
            for change in self._changes:
                with writing_to(change.url):
                    change.make()
                made += 1
            with writing_to(home):
                remove_object(record_in(home, self._marks.run_id))
        except BaseException as problem:
            self._marks.leave()
            if not isinstance(problem, WriteError):
                raise
            raise WriteError(
                f"{problem}; {made} of {len(self._changes)} objects are in place: "
                f"when that is mended, `clinker recover {home}` completes it"
            ) from problem

    def _plan(self, placement: ObjectPlacement) -> None:
        if find_if_any(placement.aside) is None:
            raise OSError(errno.ENOENT, "another run took this one for killed, and removed it")
        path = self._free(placement)
        self.paths.append(path)
        self._changes.append(ObjectChange(path, placement.aside, state_of(path)))
        if placement.meta:
            beside = path.with_name(f"{path.name}.meta.json")
            self._changes.append(ObjectChange(beside, placement.meta, state_of(beside)))

    def _free(self, placement: ObjectPlacement) -> ObjectUrl:
        path = placement.path
        if placement.naming.if_exists == "overwrite":
            return path
        for name in placement.naming.candidates(path.name):
            url = path.with_name(name)
            if url not in self.paths and find_if_any(url) is None:
                return url
        raise FileExistsError(errno.EEXIST, "it exists already")


def record_in(home: ObjectUrl, run_id: str) -> ObjectUrl:
    return aside_directory(home, run_id) / _RECORD


def write_record(home: ObjectUrl, marks: ObjectMarks, changes: Sequence[ObjectChange]) -> None:
    content = {
        "version": 1,
        "changes": [
            [str(change.url), str(change.aside) if change.aside else None, change.before]
            for change in changes
        ],
        "directories": [str(directory) for directory in marks.directories],
    }
    write_object(record_in(home, marks.run_id), json.dumps(content).encode())


@frozen
class Record:
    """What a commit that was not completed is to change, and where its run has left something."""

    run_id: str
    changes: tuple[ObjectChange, ...]
    directories: tuple[ObjectUrl, ...]

    def complete(self) -> list[ObjectUrl]:
        """Make the changes that are missing; the objects that were changed now.

        ValueError if its run cannot have written it: whoever may write to one directory must not
        have others changed by those who may write there.
        """
        for change in self.changes:
            self._check(change)
        due = [change for change in self.changes if change.is_due]
        for change in due:
            change.make()
        return [change.url for change in due]

    def _check(self, change: ObjectChange) -> None:
        place = aside_directory(change.url.parent, self.run_id)
        is_its_own = change.aside is None or change.aside.parent == place
        if not (is_its_own and change.url.is_plain and find_if_any(place / MARK)):
            raise ValueError(f"it has left no mark in '{change.url.parent}', where it would write")


def read_record(home: ObjectUrl, run_id: str) -> Record | None:
    """The record of a commit that has begun, if there is one; ValueError if it is damaged.

    Whoever is interrupted before it has written anything leaves an empty one.
    """
    try:
        written = read_object(record_in(home, run_id))
    except FileNotFoundError:
        return None
    if not written:
        return None
    content = json.loads(written)
    if content.get("version") != 1:
        raise ValueError("it was written by another version")
    return Record(
        run_id,
        tuple(_changes(content["changes"])),
        tuple(_url(text) for text in content["directories"]),
    )


def _changes(recorded: Sequence[Sequence[str | None]]) -> Iterator[ObjectChange]:
    for url, aside, before in recorded:
        yield ObjectChange(_url(url or ""), _url(aside) if aside else None, before)


def _url(text: str) -> ObjectUrl:
    url = parse_url(text)
    if url is None:
        raise ValueError("it names what is no object")
    return url


def state_of(url: ObjectUrl) -> str | None:
    """What tells an object from others that have its name before or after it; None if there is
    none. Times alone do not: some stores count in seconds."""
    try:
        facts = find(url)
        with open_object(url) as stream:
            return f"{facts.modified_ns} {stream.version}"
    except (FileNotFoundError, IsADirectoryError):
        return None
