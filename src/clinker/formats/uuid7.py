"""UUIDs of version 7: they begin with the time they were made at, and grow."""

from __future__ import annotations

import secrets
import time
import uuid
from itertools import accumulate

_RANDOM_BITS = 74
_VERSION = 7 << 76
_VARIANT = 2 << 62
_LOW_BITS = 62
_MILLISECOND = 1_000_000
_STEP_BYTES = 4


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
        steps = memoryview(secrets.token_bytes(count * _STEP_BYTES)).cast("I")
        numbers = list(accumulate(steps, lambda number, step: number + 1 + step, initial=fresh))
        self._last = numbers[-1]
        return [_text(number) for number in numbers[:-1]]


def _text(number: int) -> str:
    milliseconds, random = number >> _RANDOM_BITS, number & ((1 << _RANDOM_BITS) - 1)
    high, low = random >> _LOW_BITS, random & ((1 << _LOW_BITS) - 1)
    digits = f"{milliseconds << 80 | _VERSION | high << 64 | _VARIANT | low:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
