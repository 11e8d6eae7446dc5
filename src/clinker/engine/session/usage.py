"""How much memory a process and all below it hold: the command, Java, Python workers."""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator
from pathlib import Path

from clinker.frozen import frozen

_PROC = Path("/proc")
_ROLLUP = "smaps_rollup"


@frozen
class Usage:
    """Memory at one moment, in bytes."""

    resident: int = 0
    """All that is in memory, what processes share counted once; mapped files among it."""
    held: int = 0
    """Without mapped files: what the system cannot take back."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.resident + other.resident, self.held + other.held)

    def or_more(self, other: Usage) -> Usage:
        """The most of either."""
        return Usage(max(self.resident, other.resident), max(self.held, other.held))


def usage(process: int | None = None) -> Usage:
    """What a process, by default this one, and all its descendants hold now."""
    if not (_PROC / "self" / "statm").exists():
        return _largest_of_processes()
    total = Usage()
    family = [(process or os.getpid(), "")]
    for member, of_parent in family:
        sizes = _read(_PROC / str(member) / "statm")
        if sizes and sizes != of_parent:  # before a child has begun, its memory is the parent's
            total += _shared_out(member) or _whole(sizes)
        family += [(child, sizes) for child in children(member)]
    return total


def _shared_out(process: int) -> Usage | None:
    """The memory of a process, and its part of what it shares; not told to everyone."""
    parts = dict(
        line.split(":", 1)
        for line in _read(_PROC / str(process) / _ROLLUP).splitlines()
        if line.startswith("Pss")
    )
    if "Pss_Anon" not in parts:
        return None
    sizes = {name: int(text.split()[0]) * 1024 for name, text in parts.items()}
    return Usage(sizes["Pss"], sizes["Pss_Anon"] + sizes["Pss_Shmem"])


def _whole(statm: str) -> Usage:
    _, resident, of_files, *_ = map(int, statm.split())
    page = resource.getpagesize()
    return Usage(resident * page, (resident - of_files) * page)


def _largest_of_processes() -> Usage:
    used = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    size = used if sys.platform == "darwin" else used * 1024
    return Usage(size, size)


def children(process: int) -> Iterator[int]:
    """The processes that another one has begun."""
    for of_thread in (_PROC / str(process) / "task").glob("*/children"):
        yield from map(int, _read(of_thread).split())


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except OSError:  # the process has ended, or is not ours
        return ""
