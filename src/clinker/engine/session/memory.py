"""How much memory a run may use, and how much it used."""

from __future__ import annotations

import os
import resource
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from clinker.frozen import frozen

_MIB = 2**20
SMALLEST_LIMIT = 256 * _MIB
"""Half of it is the smallest heap that Spark sorts and groups 100 MB with."""
LEAST_TAKEN = 384 * _MIB
"""What a run takes that reads next to nothing: that heap, 90 MiB for Python, and Java's own."""
_BESIDE_HEAP = 256 * _MIB
"""For Python, and for what the JVM needs apart from its heap."""
_HEAP_SHARE = 0.6
_ROOMY = 512 * _MIB
"""A limit from which on tasks run on all cores: each takes another 170 MiB for its workers."""
_AMPLE = 1024 * _MIB
"""A limit from which on memory is better kept for later than given back."""
_GIVEN_BACK = str(_MIB // 4)
_RESERVED_SHARE = 0.4
_LARGEST_RESERVED = 300 * _MIB  # what Spark itself holds back
_PROC = Path("/proc")


@frozen
class MemorySplit:
    """A memory limit divided: the rest is for Python and for what a JVM needs beside its heap."""

    heap: int
    reserved: int
    """The part of the heap that Spark leaves to objects it does not count."""


def split_memory(limit: int) -> MemorySplit:
    limit = max(limit, LEAST_TAKEN)
    heap = min(int(limit * _HEAP_SHARE), limit - _BESIDE_HEAP)
    return MemorySplit(heap, min(int(heap * _RESERVED_SHARE), _LARGEST_RESERVED))


def tasks_at_once(limit: int, cores: int) -> int:
    """How many tasks may run beside each other."""
    return cores if limit >= _ROOMY else 1


def allocation_variables(limit: int) -> dict[str, str]:
    """Environment variables that keep processes from holding on to memory they do not use."""
    variables = {"MALLOC_ARENA_MAX": "2"}  # each thread's own arena would cost megabytes
    if limit < _AMPLE:
        variables |= {
            "ARROW_DEFAULT_MEMORY_POOL": "system",
            "MALLOC_TRIM_THRESHOLD_": _GIVEN_BACK,
            "MALLOC_MMAP_THRESHOLD_": _GIVEN_BACK,
        }
    return variables


class MemorySampler:
    """Watches the resident memory of this process and all below it: JVM, Python workers.

    The sum of several processes has no record that the system keeps, so it is looked at
    periodically; where there is no `/proc`, the largest of the processes counts.
    """

    def __init__(self, interval: float = 0.25) -> None:
        self._interval = interval
        self._peak = 0
        self._raising = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)

    @property
    def peak_bytes(self) -> int:
        self._look()
        return self._peak

    def start(self) -> MemorySampler:
        self._thread.start()
        return self

    def stop(self) -> None:
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> MemorySampler:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _watch(self) -> None:
        while not self._stopped.wait(self._interval):
            self._look()

    def _look(self) -> None:
        now = resident_bytes()
        with self._raising:  # two threads look: neither may put an older peak back
            self._peak = max(self._peak, now)


def resident_bytes() -> int:
    """What this process and all its descendants hold in memory now."""
    if not (_PROC / "self" / "statm").exists():
        return _largest_resident_bytes()
    pages = 0
    family = [(os.getpid(), "")]
    for member, of_parent in family:
        sizes = _read(_PROC / str(member) / "statm")
        if sizes and sizes != of_parent:  # before a child has begun, its memory is the parent's
            pages += int(sizes.split()[1])
        family += [(child, sizes) for child in _children(member)]
    return pages * resource.getpagesize()


def _largest_resident_bytes() -> int:
    used = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return used if sys.platform == "darwin" else used * 1024


def _children(process: int) -> Iterator[int]:
    for of_thread in (_PROC / str(process) / "task").glob("*/children"):
        yield from map(int, _read(of_thread).split())


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii")
    except OSError:  # the process has ended
        return ""
