"""What a run leaves in the directories of a store that it writes to, until it ends.

All of it lies in `.clinker/<run id>/` there. The mark, `run.json`, comes first. It says where the
run's *home* is, the first of its directories, and which process it is; a run renews it as long as
it lives, since stores have no locks. So whoever finds one can tell whether its run is alive: by its
process on the same machine, elsewhere by the age of the mark.
"""

from __future__ import annotations

import json
import os
import re
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from clinker.formats.files.claims import Claimant
from clinker.frozen import frozen
from clinker.stores.access import (
    ObjectFacts,
    list_objects,
    read_object,
    remove_directory,
    write_object,
)
from clinker.stores.urls import ASIDE, ObjectUrl, parse_url

MARK = "run.json"
_RUN_ID = re.compile(r"[\w-]+", re.ASCII)
_RENEWAL_SECONDS = 60.0
LEASE = timedelta(minutes=30)
"""A mark that was not renewed for so long is that of a run that is gone. Stores take no requests
from machines whose clocks are a quarter of an hour wrong."""


def aside_directory(directory: ObjectUrl, run_id: str) -> ObjectUrl:
    return directory / ASIDE / run_id


def runs_in(directory: ObjectUrl) -> dict[str, list[ObjectFacts]]:
    """What runs have left in a directory, alive or not."""
    place = directory / ASIDE
    runs: dict[str, list[ObjectFacts]] = {}
    for found in list_objects(place, recursive=True):
        run_id, _, rest = found.url.key.removeprefix(f"{place.key}/").partition("/")
        if rest and _RUN_ID.fullmatch(run_id):
            runs.setdefault(run_id, []).append(found)
    return runs


@frozen
class Mark:
    """What the mark of a run says."""

    home: ObjectUrl
    process: _Process
    claimant: Claimant | None
    paths: Sequence[str]
    """The URLs of the objects that it is going to write here."""
    renewed: datetime

    @property
    def may_be_alive(self) -> bool:
        if self.process.is_of_this_machine:
            return _started(self.process.number) == self.process.started
        return datetime.now(UTC) - self.renewed < LEASE


def read_mark(directory: ObjectUrl, run_id: str, found: Sequence[ObjectFacts]) -> Mark | None:
    """The mark of a run among what was found of it; None if there is none, or none any more."""
    url = aside_directory(directory, run_id) / MARK
    facts = next((each for each in found if each.url == url), None)
    if facts is None:
        return None
    try:
        content = json.loads(read_object(url))
        claimant = content["claimant"]
        return Mark(
            parse_url(content["home"]) or directory,
            _Process(**content["process"]),
            Claimant(**claimant, run_id=run_id) if claimant else None,
            [str(path) for path in content["paths"]],
            facts.modified,
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


class ObjectMarks:
    """The marks of a living run."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.home: ObjectUrl | None = None
        self._marked: dict[ObjectUrl, bytes] = {}
        self._numbers = count(1)
        self._ended = threading.Event()
        self._changing = threading.Lock()

    def put(
        self,
        directory: ObjectUrl,
        claimant: Claimant | None = None,
        paths: Sequence[str] = (),
    ) -> ObjectUrl:
        """Mark a directory, or change what its mark says; the home of the run."""
        if self.home is None:
            self.home = directory
            threading.Thread(target=self._renew, args=(self._ended,), daemon=True).start()
        content = {
            "home": str(self.home),
            "process": vars(_this_process()),
            "claimant": claimant.facts if claimant else None,
            "paths": list(paths),
        }
        with self._changing:
            self._marked[directory] = json.dumps(content).encode()
            write_object(aside_directory(directory, self.run_id) / MARK, self._marked[directory])
        return self.home

    def new_name(self, directory: ObjectUrl) -> ObjectUrl:
        """A name in a directory that only this run has."""
        if directory not in self._marked:
            self.put(directory)
        return aside_directory(directory, self.run_id) / f"{next(self._numbers)}.tmp"

    @property
    def directories(self) -> list[ObjectUrl]:
        return list(self._marked)

    def leave(self) -> None:
        """Leave everything where it is, for a recovery."""
        with self._changing:
            self._ended.set()
            self._marked.clear()
        self.home = None
        self._ended = threading.Event()

    def remove(self) -> None:
        """Remove the marks, and all that lies beside them."""
        directories = self.directories
        self.leave()
        for directory in reversed(directories):
            # What cannot be removed now stays for a later run to remove.
            with suppress(OSError):
                remove_directory(aside_directory(directory, self.run_id))

    def _renew(self, ended: threading.Event) -> None:
        while not ended.wait(_RENEWAL_SECONDS):
            with self._changing:
                marked = {} if ended.is_set() else dict(self._marked)
                for directory, content in marked.items():
                    # The next time will do as well.
                    with suppress(OSError):
                        write_object(aside_directory(directory, self.run_id) / MARK, content)


@frozen(kw_only=True)
class _Process:
    """What tells a process from all others, as far as its system says."""

    host: str
    boot: str | None
    namespace: str | None
    number: int
    started: str | None

    @property
    def is_of_this_machine(self) -> bool:
        here = _this_process()
        told = (here.host, here.boot, here.namespace)
        return all(told) and told == (self.host, self.boot, self.namespace)


def _this_process() -> _Process:
    number = os.getpid()
    return _Process(
        host=socket.gethostname(),
        boot=_told(Path("/proc/sys/kernel/random/boot_id")),
        namespace=_namespace(),
        number=number,
        started=_started(number),
    )


def _namespace() -> str | None:
    """Processes of containers have numbers of their own."""
    try:
        return os.readlink("/proc/self/ns/pid")  # noqa: PTH115, it leads to no file
    except OSError:
        return None


def _started(number: int) -> str | None:
    """When a process started, by the clock of the system; None if there is none."""
    stat = _told(Path(f"/proc/{number:d}/stat"))
    return stat.rpartition(")")[2].split()[19] if stat else None


def _told(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
