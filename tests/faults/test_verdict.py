"""How what a fault left is judged."""

from __future__ import annotations

import pytest
from faults.verdict import Verdict, judged

OLD = {"a": b"old", "b": b"old"}
NEW = {"a": b"new", "b": b"new", "c": b"new"}


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
