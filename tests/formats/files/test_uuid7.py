"""UUIDs that grow."""

from __future__ import annotations

import time
import uuid
from itertools import pairwise

import pytest

from clinker.formats.files.uuid7 import Uuid7Source


def test_version_variant_and_time() -> None:
    before = time.time_ns() // 1_000_000
    made = Uuid7Source().next()
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert before <= made.int >> 80 <= time.time_ns() // 1_000_000


@pytest.mark.parametrize("step", [0, -5_000_000, 1_000_000])
def test_each_is_greater_whatever_the_clock_does(
    monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    times = iter(range(10**18, 10**18 + 1000 * (step or 1), step)) if step else None
    monkeypatch.setattr(time, "time_ns", lambda: next(times) if times else 10**18)
    source = Uuid7Source()
    made = [source.next() for _ in range(1000)]
    assert all(a < b and str(a) < str(b) for a, b in pairwise(made))


def test_many_at_once() -> None:
    source = Uuid7Source()
    texts = [str(source.next()), *source.texts(500), *source.texts(500), str(source.next())]
    assert all(a < b for a, b in pairwise(texts))
    assert {(uuid.UUID(text).version, uuid.UUID(text).variant) for text in texts} == {
        (7, uuid.RFC_4122)
    }
