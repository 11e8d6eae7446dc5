"""What killed runs have left in a staging directory, removed by the next run."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

from clinker.formats.files.staging.copying import remove_copy
from clinker.formats.files.staging.locks import SourceLock
from clinker.staged_copies import StagedCopy

_NAME = re.compile(
    r"(?P<id>[0-9a-f]{64})\.(?P<kind>staged|manifest\.json|lock|[\w-]+\.partial)", re.ASCII
)
_PAIR = {"staged", "manifest.json"}


def purge(directory: Path) -> int:
    """Remove what is of no use in a staging directory and belongs to nobody alive; how many files.

    That are copies and manifests without the other, partial files, and locks of nothing. Whole
    copies stay, and so does whatever others have put there.
    """
    found: dict[str, set[str]] = defaultdict(set)
    with os.scandir(directory) as entries:
        for entry in entries:
            if match := _NAME.fullmatch(entry.name):
                found[match["id"]].add(match["kind"])
    removed = 0
    for name, kinds in sorted(found.items()):
        if kinds - {"lock"} != _PAIR:
            # What cannot be removed now, another run may be able to.
            with suppress(OSError):
                removed += _purge(StagedCopy(directory, name), kinds)
    return removed


def _purge(copy: StagedCopy, kinds: set[str]) -> int:
    lock = SourceLock(copy.lock)
    if not lock.own():
        return 0
    try:
        # Whoever makes them has the lock alone, so these belong to nobody.
        partial = [copy.directory / f"{copy.id}.{kind}" for kind in kinds - _PAIR - {"lock"}]
        half = list(copy.leftovers())
        for path in partial:
            path.unlink(missing_ok=True)
        if len(half) == 1:
            remove_copy(copy)
        return len(partial) + (len(half) == 1) + tidy(copy, lock)
    finally:
        lock.release()


def tidy(copy: StagedCopy, lock: SourceLock) -> bool:
    """Remove a lock that one has alone, if there is nothing for it to protect."""
    if any(copy.leftovers()):
        return False
    lock.remove()
    return True
