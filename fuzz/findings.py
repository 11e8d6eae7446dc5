"""What a round can find, and the smallest input that shows it."""

from __future__ import annotations

import random
import signal
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TypeVar

PATIENCE = 5.0
"""Seconds that a round may take."""
_C = TypeVar("_C")
_T = TypeVar("_T")


class Kind(Enum):
    """What can be wrong with the answer to an input."""

    TRACEBACK = "traceback"
    HANG = "hang"
    LOST = "lost records"
    DIFFERENT = "other result"


class Wrong(Exception):
    """An answer that is not the expected one."""

    def __init__(self, kind: Kind, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class _Late(BaseException):
    """Interrupts what takes too long; nothing that catches exceptions catches it."""


@dataclass(frozen=True)
class Finding:
    """An input whose answer is wrong."""

    area: str
    round: int
    kind: Kind
    detail: str
    shown: str
    """The input, as small as could be made."""


@dataclass
class Tally:
    """What all rounds so far have found."""

    tried: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def count(self, kind: Kind) -> int:
        return sum(finding.kind is kind for finding in self.findings)

    def summary(self) -> str:
        tried = ", ".join(f"{area} {count}" for area, count in self.tried.items())
        counts = ", ".join(f"{kind.value} {self.count(kind)}" for kind in Kind)
        return f"tried {self.tried.total()} ({tried}): {counts}"


def dice(seed: int, area: str, round: int) -> random.Random:
    """The chance of one round, the same whenever it is played."""
    return random.Random(f"{seed}/{area}/{round}")


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Interrupts what takes longer."""

    def interrupt(_number: int, _frame: object) -> None:
        raise _Late

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def judged(check: Callable[[], object], seconds: float = PATIENCE) -> Wrong | None:
    """What is wrong, if the check says so or does not come to an end properly."""
    try:
        with limited(seconds):
            check()
    except Wrong as wrong:
        return wrong
    except _Late:
        return Wrong(Kind.HANG, f"no answer within {seconds:.0f} s")
    except Exception:  # noqa: BLE001 - to find those that nobody expects is what this is for
        return Wrong(Kind.TRACEBACK, "".join(traceback.format_exc(limit=-6)).strip())
    return None


def play_files(
    area: str,
    made: Callable[[random.Random], _C],
    check: Callable[[_C, Path], object],
    smaller: Callable[[_C, Callable[[_C], Wrong | None], Kind], _C],
    seed: int,
    rounds: range,
    tally: Tally,
) -> None:
    """Rounds in which a file is made at random and read; what is wrong is shown on a small one."""
    with tempfile.TemporaryDirectory() as folder:

        def wrong(case: _C) -> Wrong | None:
            return judged(lambda: check(case, Path(folder)))

        for number in rounds:
            case = made(dice(seed, area, number))
            tally.tried[area] += 1
            if problem := wrong(case):
                shown = str(smaller(case, wrong, problem.kind))
                tally.findings.append(Finding(area, number, problem.kind, problem.detail, shown))


def smallest(
    items: Sequence[_T],
    kind: Kind,
    wrong: Callable[[Sequence[_T]], Wrong | None],
    trials: int = 200,
) -> Sequence[_T]:
    """A part that goes wrong in the same way, with as few items as a limited search finds."""
    size = max(1, len(items) // 2)
    while size:
        at = 0
        while at < len(items) and trials > 0:
            less = [*items[:at], *items[at + size :]]
            trials -= 1
            found = wrong(less) if less else None
            if found and found.kind is kind:
                items = less
            else:
                at += size
        size //= 2
    return items
