"""Claims: which objects a living run is going to write, so that no other run writes them meanwhile.

They stand in its marks. A run first writes down what it claims, then looks at what others claim: of
two that do so at the same time at least one sees the other, and lets go.
"""

from __future__ import annotations

from collections.abc import Sequence

from clinker.formats.files.claims import Claimant, Conflict
from clinker.formats.files.objects.marks import ObjectMarks, read_mark, runs_in
from clinker.stores.urls import ObjectUrl


class ObjectClaims:
    """The claims of a run."""

    def __init__(self, marks: ObjectMarks, claimant: Claimant) -> None:
        self._marks = marks
        self._claimant = claimant

    def make(self, urls: Sequence[ObjectUrl]) -> Conflict | None:
        """Claim these objects and no others; if another run is in the way, nothing is claimed.

        OSError if a store cannot be asked.
        """
        by_directory: dict[ObjectUrl, list[ObjectUrl]] = {}
        for url in urls:
            by_directory.setdefault(url.parent, []).append(url)
        for directory, claimed in by_directory.items():
            self._marks.put(directory, self._claimant, [str(url) for url in claimed])
        for directory, claimed in by_directory.items():
            if conflict := self._conflict(directory, claimed):
                self.withdraw()
                return conflict
        return None

    def withdraw(self) -> None:
        """Claim nothing any more."""
        self._marks.remove()

    def _conflict(self, directory: ObjectUrl, claimed: Sequence[ObjectUrl]) -> Conflict | None:
        wanted = {str(url): url for url in claimed}
        for run_id, found in runs_in(directory).items():
            mark = None if run_id == self._marks.run_id else read_mark(directory, run_id, found)
            if mark is None:
                continue
            url = next(filter(None, map(wanted.get, mark.paths)), None)
            if url and mark.claimant and mark.may_be_alive:
                return Conflict(path=url, claimant=mark.claimant)
        return None
