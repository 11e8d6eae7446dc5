"""Processes that are killed at a chosen moment."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

_TOUCHES_FILES = frozenset(
    "open os.rename os.link os.remove os.mkdir os.rmdir os.chmod os.scandir fcntl.flock".split()
)


def killed_at(moment: int, work: Callable[[], object]) -> bool:
    """Do work in a process of its own; kill it (-9) before it touches files for the n-th time.

    Whether it was killed: it may have ended before.
    """
    _, status = os.waitpid(started(work, moment), 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise RuntimeError("the work has failed before it was killed")
    return os.WIFSIGNALED(status)


def started(work: Callable[[], object], moment: int | None = None) -> int:
    """A process that does work and is killed as above, if it is to be."""
    child = os.fork()
    if not child:
        try:
            if moment:
                _die_at(moment)
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return child


def _die_at(moment: int) -> None:
    left = moment

    def count(event: str, _: object) -> None:
        nonlocal left
        if event in _TOUCHES_FILES:
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
