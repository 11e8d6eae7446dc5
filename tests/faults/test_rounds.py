"""A few rounds of what `scripts/faults` plays many of."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from faults.__main__ import CHEAP, as_table, play
from faults.verdict import Verdict


@pytest.mark.parametrize("kind", CHEAP)
def test_rounds_without_spark(tmp_path: Path, kind: str) -> None:
    for number in range(10):
        assert CHEAP[kind](tmp_path / str(number), Random(number)) is Verdict.SURVIVED


def test_the_table() -> None:
    counts = play(4, seed=3, only="a recovery")
    assert as_table(counts).splitlines() == [
        "| What happens | tried | survived | lost | mixed | leftovers | wrong exit code |",
        "|---|---:|---:|---:|---:|---:|---:|",
        "| a recovery is killed | 4 | 4 | 0 | 0 | 0 | 0 |",
        "| **all** | 4 | 4 | 0 | 0 | 0 | 0 |",
    ]
