"""Claims: which files a living run is going to write, so that no other run writes them meanwhile.

A claim is a file beside a run's mark, `.clinker-<run id>.claims`, in the directories that the files
go to; of directories that do not exist yet, in the nearest above. It holds for as long as the run
lives. Claims are made one at a time: whoever makes one looks at those of all others first.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from clinker.formats.files.marks import (
    Marks,
    claims_in,
    locked,
    nearest_directory,
    runs_in,
    staging_directory,
    write_aside,
)
from clinker.formats.files.recovery import may_be_alive
from clinker.frozen import frozen
from clinker.stores.urls import FilePath


@frozen(kw_only=True)
class Claimant:
    """What a run says of itself to those that it is in the way of."""

    run_id: str
    batch_id: str
    process: int
    host: str
    started: str

    @property
    def facts(self) -> dict[str, Any]:
        """What is written down of it, beside the run that it is."""
        return {
            "batch_id": self.batch_id,
            "process": self.process,
            "host": self.host,
            "started": self.started,
        }


@frozen(kw_only=True)
class Conflict:
    """A file that another run is going to write."""

    path: FilePath
    claimant: Claimant


class Claims:
    """The claims of a run."""

    def __init__(self, marks: Marks, claimant: Claimant) -> None:
        self._marks = marks
        self._claimant = claimant
        self._claimed: list[Path] = []

    def make(self, paths: Sequence[Path], places: Iterable[Path]) -> Conflict | None:
        """Claim these files and no others; if another run is in the way, nothing is claimed.

        Others are looked for in `places`: wherever a run that writes these files leaves its mark.
        """
        real = {path.resolve(): path for path in paths}
        by_directory: dict[Path, list[str]] = {}
        for path in real:
            by_directory.setdefault(staging_directory(path), []).append(str(path))
        around = {place.resolve() for place in map(nearest_directory, places)}
        around = {place for place in around if os.access(place, os.R_OK | os.X_OK)}
        around |= by_directory.keys()  # of files that links lead to
        with locked(around):
            self.withdraw()
            for directory in sorted(around):
                for run_id in runs_in(directory):
                    if run_id != self._claimant.run_id:
                        conflict = _conflict(directory, run_id, real)
                        if conflict:
                            return conflict
            self._write(by_directory)
        return None

    def withdraw(self) -> None:
        """Claim nothing any more."""
        for claims in self._claimed:
            claims.unlink(missing_ok=True)
        self._claimed.clear()

    def _write(self, by_directory: Mapping[Path, Sequence[str]]) -> None:
        for directory, names in by_directory.items():
            claim = {"claimant": self._claimant.facts, "paths": names}
            content = json.dumps(claim).encode()
            claims = claims_in(directory, self._claimant.run_id)
            write_aside(self._marks.new_name(directory), content).rename(claims)
            self._claimed.append(claims)


def _conflict(directory: Path, run_id: str, wanted: dict[Path, Path]) -> Conflict | None:
    """A file that a run has claimed, if that run may be alive."""
    content = _read(claims_in(directory, run_id))
    taken = (wanted.get(Path(path)) for path in content.get("paths", ()))
    path = next(filter(None, taken), None)
    if path is None or not may_be_alive(directory, run_id):
        return None
    return Conflict(path=path, claimant=Claimant(**content["claimant"], run_id=run_id))


def _read(claims: Path) -> dict[str, Any]:
    """What a run has claimed; nothing if it has ended, or is another user's."""
    try:
        descriptor = os.open(claims, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return {}
    with os.fdopen(descriptor, "rb") as file:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return {}
        content: dict[str, Any] = json.loads(file.read())
    return content
