"""A few rounds of what `scripts/faults` plays many of, and how it judges them."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from faults.__main__ import CHEAP, as_table, play
from faults.verdict import Verdict, judged

OLD = {"a": b"old", "b": b"old"}
NEW = {"a": b"new", "b": b"new", "c": b"new"}


@pytest.mark.parametrize("kind", CHEAP)
def test_rounds_without_spark(tmp_path: Path, kind: str) -> None:
    for number in range(10):
        assert CHEAP[kind](tmp_path / str(number), Random(number)) is Verdict.SURVIVED


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (OLD, Verdict.SURVIVED),
        (NEW, Verdict.SURVIVED),
        ({**OLD, "a": b"new"}, Verdict.MIXED),
        ({**OLD, "c": b"new"}, Verdict.MIXED),
        ({"a": b"new", "b": b"new"}, Verdict.MIXED),
        ({"a": b"old"}, Verdict.LOST),
        ({**OLD, "a": b"ol"}, Verdict.LOST),
        ({**OLD, "d": b""}, Verdict.LOST),
        ({**OLD, "out/.clinker-x-1.tmp": b""}, Verdict.LEFTOVERS),
        ({**NEW, "temporary/clinker-run-x/lock": b""}, Verdict.LEFTOVERS),
    ],
)
def test_verdicts(found: dict[str, bytes], verdict: Verdict) -> None:
    assert judged(found, OLD, NEW) is verdict


def test_the_table() -> None:
    counts = play(4, seed=3, only="a recovery")
    assert as_table(counts).splitlines() == [
        "| What happens | tried | survived | lost | mixed | leftovers | wrong exit code |",
        "|---|---:|---:|---:|---:|---:|---:|",
        "| a recovery is killed | 4 | 4 | 0 | 0 | 0 | 0 |",
        "| **all** | 4 | 4 | 0 | 0 | 0 | 0 |",
    ]
