"""What may have been meant."""

from __future__ import annotations

import time

import pytest

from clinker.diagnostics.suggest import closest


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("amoutn", "amount"),
        ("uper", "upper"),
        ("AMOUNT", "amount"),
        ("xyz", None),
        ("lenght", "length"),
    ],
)
def test_suggestions(name: str, meant: str | None) -> None:
    assert closest(name, ["amount", "upper", "length", "abc"]) == meant


def test_a_name_among_thousands_is_found_at_once() -> None:
    names = [f"customer_field_{number:05}" for number in range(10_000)]
    began = time.process_time()
    for number in range(1000):
        assert closest(f"custmoer_field_{number:05}", names) == names[number]
        assert closest(f"nothing_like_it_{number}", names) is None
    assert time.process_time() - began < 20


def test_a_long_name_is_no_burden() -> None:
    began = time.process_time()
    assert closest("x" * 60_000, ["x" * 59_999, "y"] * 1000) == "x" * 59_999
    assert closest("a" * 60_000, ["b" * 60_000] * 100) is None
    assert time.process_time() - began < 20
