"""What the operating system did to processes of a run."""

from __future__ import annotations

from pathlib import Path

_COUNTERS = Path("/proc/vmstat")
_NAME = "oom_kill"


def out_of_memory_kills() -> int:
    """How many processes the system has killed for want of memory since it started.

    Zero where it does not count them.
    """
    try:
        counters = _COUNTERS.read_text(encoding="ascii").split()
    except OSError:
        return 0
    return int(counters[counters.index(_NAME) + 1]) if _NAME in counters else 0
