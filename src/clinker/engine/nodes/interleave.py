"""The order in which a seeded interleave takes records from its inputs.

The generator is WyRand, as the reference documents it, so that a seed gives the same order
everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

_MASK = (1 << 64) - 1
_INCREMENT = 0x2D358DCCAA6C78A5
_XOR = 0x8BB84B93962EACC9


class _WyRand:
    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def _next(self) -> int:
        self._state = (self._state + _INCREMENT) & _MASK
        product = self._state * (self._state ^ _XOR)
        return (product & _MASK) ^ (product >> 64)

    def below(self, bound: int) -> int:
        """A number from 0 up to, without, `bound`; every one equally likely."""
        product = self._next() * bound
        if product & _MASK < bound:
            threshold = (_MASK + 1 - bound) % bound
            while product & _MASK < threshold:
                product = self._next() * bound
        return product >> 64


def seeded_order(seed: int, counts: Sequence[int]) -> Iterator[int]:
    """The input that each record is taken from, given how many records each input has."""
    remaining = list(counts)
    waiting = [number for number, count in enumerate(counts) if count]
    generator = _WyRand(seed)
    while waiting:
        picked = waiting[generator.below(len(waiting))]
        yield picked
        remaining[picked] -= 1
        if not remaining[picked]:
            waiting.remove(picked)
