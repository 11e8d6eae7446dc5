"""UUIDs of version 7: they begin with the time they were made at, and grow."""

from __future__ import annotations

import secrets
import time
import uuid

_RANDOM_BITS = 74
_VERSION = 7 << 76
_VARIANT = 2 << 62
_LOW_BITS = 62
_MILLISECOND = 1_000_000
_LARGEST_STEP = 1 << 32


class Uuid7Source:
    """Makes UUIDs, each greater than the one before."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> uuid.UUID:
        fresh = (time.time_ns() // _MILLISECOND) << _RANDOM_BITS
        if fresh > self._last:
            self._last = fresh | secrets.randbits(_RANDOM_BITS - 1)
        else:
            # More than one within a millisecond, or the clock was set back.
            self._last += 1 + secrets.randbelow(_LARGEST_STEP)
        milliseconds, random = self._last >> _RANDOM_BITS, self._last & ((1 << _RANDOM_BITS) - 1)
        high, low = random >> _LOW_BITS, random & ((1 << _LOW_BITS) - 1)
        return uuid.UUID(int=milliseconds << 80 | _VERSION | high << 64 | _VARIANT | low)
