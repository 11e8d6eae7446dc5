"""Runs that stage the same source at once, some of which are killed at random moments."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

from clinker.formats.files.staging import Rules, Staging
from clinker.stores.urls import FilePath
from faults.dying import started
from faults.verdict import Verdict

PROCESSES = 10
_MOST_BYTES = 6 << 20
_MOMENTS = 30
"""How often a run touches files, about: once it has a copy it does no more than read it."""
_SECONDS_TO_KILL = 0.15
_SECONDS_TO_HANG = 120
_RULES = (
    Rules(on_existing="reuse", cleanup="never"),
    Rules(on_existing="reuse"),
    Rules(on_existing="overwrite", cleanup="never"),
    Rules(on_existing="overwrite"),
    Rules(on_existing="overwrite", cleanup="always", verifies=False),
)
_LAST = Rules(on_existing="reuse", cleanup="always")


class Place:
    """A source, where it is staged and what runs have to say about that."""

    def __init__(self, place: Path, content: bytes) -> None:
        place.mkdir(parents=True)
        self.content = content
        self.source = place / "source.csv"
        self.source.write_bytes(content)
        self.directory = place / "staged"
        self.directory.mkdir()
        self._copies = place / "copies"
        self._wrong = place / "wrong"

    @property
    def copies(self) -> int:
        """How often the source was copied."""
        return self._copies.stat().st_size if self._copies.exists() else 0

    @property
    def has_wrong(self) -> bool:
        """Whether a run has read what is not in the source."""
        return self._wrong.exists()

    def stage(self, rules: Rules, seconds: float, begin: Callable[[], object]) -> None:
        """A run that reads the source for some time."""
        signal.alarm(_SECONDS_TO_HANG)
        begin()
        staging = Staging(self.directory, rules, self)
        try:
            copy = staging.hold([self.source])[self.source]
            self._read(copy)
            time.sleep(seconds)
            self._read(copy)
        finally:
            staging.end(succeeded=True)

    def _read(self, copy: Path) -> None:
        if copy.read_bytes() != self.content:
            self._wrong.touch()

    def copied(self, source: FilePath, size: int) -> None:
        with self._copies.open("ab") as file:
            file.write(b".")

    def purged(self, files: int) -> None: ...

    def waiting(self, source: FilePath) -> None: ...

    def copying(self, source: FilePath, size: int) -> None: ...

    def verifying(self, source: FilePath, size: int) -> None: ...

    def advanced(self, size: int) -> None: ...

    def reused(self, source: FilePath) -> None: ...


def staging_round(directory: Path, random: Random) -> Verdict:
    """Ten runs at once, about every other one killed; then one that nobody disturbs."""
    place = Place(directory, random.randbytes(random.randint(0, _MOST_BYTES)))
    rules = random.choice(_RULES)
    has_failed = _play(place, rules, random)
    copies, found = place.copies, list(place.directory.glob("*.staged"))
    last = started(partial(place.stage, _LAST, 0, lambda: None))
    has_failed |= os.waitpid(last, 0)[1] != 0
    if place.has_wrong:
        return Verdict.LOST
    # What is kept to be used again is copied once, whoever was killed.
    if len(found) > 1 or (rules == _RULES[0] and copies > 1):
        return Verdict.MIXED
    if any(place.directory.iterdir()):
        return Verdict.LEFTOVERS
    return Verdict.WRONG_CODE if has_failed else Verdict.SURVIVED


def _play(place: Place, rules: Rules, random: Random) -> bool:
    """Whether a run has ended badly that was not killed."""
    waiting, beginning = os.pipe()

    def begin() -> None:
        os.close(beginning)
        os.read(waiting, 1)

    runs: list[int] = []
    at: list[tuple[float, int]] = []
    for _ in range(PROCESSES):
        fate = random.random()
        moment = random.randint(1, _MOMENTS) if fate < 0.3 else None
        seconds = random.choice((0, random.uniform(0, 0.1)))
        runs.append(started(partial(place.stage, rules, seconds, begin), moment))
        if 0.3 <= fate < 0.5:
            at.append((random.uniform(0, _SECONDS_TO_KILL), runs[-1]))
    os.close(beginning)
    os.close(waiting)
    begun = time.monotonic()
    for moment_to_kill, run in sorted(at):
        time.sleep(max(0, begun + moment_to_kill - time.monotonic()))
        with suppress(ProcessLookupError):
            os.kill(run, signal.SIGKILL)
    statuses = [os.waitpid(run, 0)[1] for run in runs]
    return any(status != 0 and os.WTERMSIG(status) != signal.SIGKILL for status in statuses)
