"""UUIDs of version 7: they begin with the time they were made at, and grow."""

from __future__ import annotations

import secrets
import time
import uuid
from collections.abc import Iterable, Iterator
from itertools import accumulate

_RANDOM_BITS = 74
_VERSION = 7 << 12
_VARIANT = 2 << 62
_LOW_BITS = 62
_MILLISECOND = 1_000_000
_STEP_BITS = 32


class Uuid7Source:
    """Makes UUIDs, each greater than the one before."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> uuid.UUID:
        return uuid.UUID(self.texts(1)[0])

    def texts(self, count: int) -> list[str]:
        """So many of them at once, at least one."""
        fresh = (time.time_ns() // _MILLISECOND) << _RANDOM_BITS
        if fresh > self._last:
            fresh |= secrets.randbits(_RANDOM_BITS - 1)
        else:
            # More than once within a millisecond, or the clock was set back.
            fresh = self._last + 1
        high, low = divmod(fresh, 1 << _LOW_BITS)
        if low + (count << _STEP_BITS) >= 1 << _LOW_BITS:
            high, low = high + 1, 0
        steps = memoryview(secrets.token_bytes(count * _STEP_BITS // 8)).cast("I")
        lows = list(accumulate(steps, lambda number, step: number + 1 + step, initial=low))
        self._last = (high << _LOW_BITS) + lows[-1]
        return list(_texts(high, lows[:-1]))


def _texts(high: int, lows: Iterable[int]) -> Iterator[str]:
    """The texts of numbers with the same high digits."""
    milliseconds, random = divmod(high, 1 << (_RANDOM_BITS - _LOW_BITS))
    digits = f"{milliseconds << 16 | _VERSION | random:016x}"
    before = f"{digits[:8]}-{digits[8:12]}-{digits[12:]}-"
    for low in lows:
        digits = f"{_VARIANT | low:x}"
        yield f"{before}{digits[:4]}-{digits[4:]}"
