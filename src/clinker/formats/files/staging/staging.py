"""The staged sources of one run: copied or found, held while they are read, given up at the end."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, Protocol
from uuid import uuid4

from clinker.formats.files.local import input_file
from clinker.formats.files.staging.copying import Progress, make_copy, remove_copy, unusable
from clinker.formats.files.staging.locks import SourceLock, allow_locks
from clinker.formats.files.staging.purging import purge, tidy
from clinker.frozen import frozen
from clinker.staged_copies import Manifest, StagedCopy
from clinker.stores.urls import FilePath, canonical

_SHORTEST_WAIT, _LONGEST_WAIT = 0.02, 0.5


@frozen(kw_only=True)
class Rules:
    """What the user decides about staging."""

    on_existing: Literal["overwrite", "reuse", "error"] = "overwrite"
    cleanup: Literal["on_success", "always", "never"] = "on_success"
    verifies: bool = True
    most: int | None = None
    """How many bytes a run may copy; None for any number."""


class Watcher(Progress, Protocol):
    """Is told what happens to the sources of a run."""

    def purged(self, files: int) -> None:
        """So many files that killed runs have left are removed."""

    def waiting(self, source: FilePath) -> None:
        """Another run copies it, or reads the copy that this one would replace."""

    def copied(self, source: FilePath, size: int) -> None: ...

    def reused(self, source: FilePath) -> None: ...


class CapExceeded(Exception):
    """To copy a source would take more than a run may."""

    def __init__(self, source: FilePath, size: int, copied: int) -> None:
        super().__init__(str(source))
        self.source, self.size, self.copied = source, size, copied


class CopyExists(Exception):
    """There is a copy already, and none is to be touched."""

    def __init__(self, source: FilePath, copy: Path) -> None:
        super().__init__(str(copy))
        self.source, self.copy = source, copy


class _Held:
    """A staged source of this run."""

    def __init__(self, lock: SourceLock) -> None:
        self.lock = lock
        self.is_used = False
        """Whether the run reads its copy, and so decides what becomes of it."""


class Staging:
    """Holds staged sources in a directory, from `hold` until `end`."""

    def __init__(self, directory: Path, rules: Rules, watcher: Watcher) -> None:
        self._directory = directory
        self._rules = rules
        self._watcher = watcher
        self._run = uuid4().hex
        self._copied = 0
        self._held: dict[StagedCopy, _Held] = {}

    def hold(self, sources: Iterable[FilePath]) -> dict[FilePath, Path]:
        """The copies to read instead of sources; they stay as they are until the end.

        FormatError if a source cannot be copied; CopyDiffers, CapExceeded and CopyExists.
        """
        copies = {source: StagedCopy.of(self._directory, source) for source in sources}
        named = {copy: source for source, copy in copies.items() if copy not in self._held}
        self._prepare(named)
        # Everybody takes locks in the same order, so nobody waits for somebody who waits.
        for copy in sorted(named, key=lambda copy: os.fsencode(canonical(named[copy]))):
            held = self._held[copy] = _Held(SourceLock(copy.lock))
            try:
                self._hold(copy, named[copy], held.lock)
            except OSError as problem:
                raise unusable(copy, str(named[copy]), problem) from None
            held.is_used = True
        return {source: copy.path for source, copy in copies.items()}

    def end(self, *, succeeded: bool) -> None:
        """Give up all copies, and remove those that nobody is to use again; OSError if one cannot.

        What another run reads stays: the last one removes it.
        """
        cleanup = self._rules.cleanup
        removes = cleanup == "always" or (cleanup == "on_success" and succeeded)
        failed = None
        for copy, held in self._held.items():
            try:
                _give_up(copy, held, removes=removes)
            except OSError as problem:
                failed = problem
            finally:
                held.lock.release()
        self._held.clear()
        if failed:
            raise failed

    def _prepare(self, named: Mapping[StagedCopy, FilePath]) -> None:
        try:
            if removed := purge(self._directory):
                self._watcher.purged(removed)
            allow_locks(len(named) + len(self._held))
        except OSError as problem:
            if named:
                copy, source = next(iter(named.items()))
                raise unusable(copy, str(source), problem) from None

    def _hold(self, copy: StagedCopy, source: FilePath, lock: SourceLock) -> None:
        """Share the lock of a copy that may be used; make one if there is none."""
        before = copy.committed()
        if before and self._rules.on_existing == "error":
            raise CopyExists(source, copy.path)
        is_ours = is_waiting = False
        pause = _SHORTEST_WAIT
        while True:
            if not lock.share(wait=is_waiting):
                is_waiting = True
                self._watcher.waiting(source)
                continue
            if self._may_use(copy, source, before):
                if not is_ours:
                    self._watcher.reused(source)
                return
            if lock.own():
                # While the lock changed, another run may have had it.
                if not self._may_use(copy, source, before):
                    self._copy(source, copy)
                    is_ours = True
                continue
            if not is_waiting:
                is_waiting = True
                self._watcher.waiting(source)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_WAIT)

    def _may_use(self, copy: StagedCopy, source: FilePath, before: Manifest | None) -> bool:
        """Whether a copy is fresh, and allowed to be used.

        What another run has copied since this one asked is as good as a copy of its own.
        """
        manifest = copy.committed()
        if manifest is None or (self._rules.on_existing != "reuse" and manifest == before):
            return False
        file = input_file(0, str(source))
        return manifest.is_fresh(file.size, file.mtime_ns)

    def _copy(self, source: FilePath, copy: StagedCopy) -> None:
        file = input_file(0, str(source))
        most = self._rules.most
        if most is not None and self._copied + file.size > most:
            raise CapExceeded(source, file.size, self._copied)
        make_copy(file, copy, self._run, self._watcher, verifies=self._rules.verifies)
        self._copied += file.size
        self._watcher.copied(source, file.size)


def _give_up(copy: StagedCopy, held: _Held, *, removes: bool) -> None:
    removes = removes and held.is_used
    if (removes or not held.is_used) and held.lock.own():
        if removes:
            remove_copy(copy)
        tidy(copy, held.lock)
