"""How processes of a run allocate memory: under a small limit none holds on to what it does not
use."""

from __future__ import annotations

import ctypes
import os

from clinker.engine.session.memory import AMPLE

_GIVEN_BACK = 2**18
"""Free memory of so many bytes in a row goes back to the system."""
_ARENAS = 2
"""Each thread's own would cost megabytes."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
_SPARING_ARROW = {"ARROW_DEFAULT_MEMORY_POOL": "system"}


def allocation_variables(limit: int) -> dict[str, str]:
    """Environment variables for processes that are begun."""
    variables = {
        "MALLOC_ARENA_MAX": str(_ARENAS),
        # Threads that libraries start when they are imported would not survive in forked workers.
        "JE_ARROW_MALLOC_CONF": "background_thread:false",
        "OPENBLAS_NUM_THREADS": "1",
    }
    if limit < AMPLE:
        variables |= {
            **_SPARING_ARROW,
            "MALLOC_TRIM_THRESHOLD_": str(_GIVEN_BACK),
            "MALLOC_MMAP_THRESHOLD_": str(_GIVEN_BACK),
        }
    return variables


def allocate_sparingly(limit: int) -> None:
    """The same for this process, before it has imported Arrow."""
    if limit >= AMPLE:
        return
    os.environ |= _SPARING_ARROW
    # Other C libraries than glibc have no such settings.
    if mallopt := getattr(ctypes.CDLL(None), "mallopt", None):
        mallopt(_M_TRIM_THRESHOLD, _GIVEN_BACK)
        mallopt(_M_MMAP_THRESHOLD, _GIVEN_BACK)
        mallopt(_M_ARENA_MAX, _ARENAS)
