"""How long texts a pattern is sure to take in time."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from clinker.cxl.run.backtracking import UNLIMITED
from clinker.cxl.run.patterns import Pattern, compile_pattern, full_match, search

NEVER, SQUARE, CUBE = 0, 10_000, 464

LONGEST = [
    # pattern, matched as a whole, searched for
    ("abc", UNLIMITED, UNLIMITED),
    ("[0-9]+", UNLIMITED, UNLIMITED),
    (r"order-([0-9]+)", UNLIMITED, UNLIMITED),
    (r"(\d{1,3}\.){3}\d{1,3}", UNLIMITED, UNLIMITED),
    (r"https?://([^/]+)(/.*)?", UNLIMITED, UNLIMITED),
    ("Jan|Feb|Mar|Apr|May|Jun", UNLIMITED, UNLIMITED),
    (r"\bcat\b", UNLIMITED, UNLIMITED),
    # The search begins anew at each character.
    (r"\d+-\d+", UNLIMITED, SQUARE),
    (r"^\d+-\d+", UNLIMITED, UNLIMITED),
    (r"\s+$", UNLIMITED, SQUARE),
    ("a.*b", UNLIMITED, SQUARE),
    # What follows a loop can begin inside of it.
    (".*foo.*", SQUARE, SQUARE),
    ("a.*b.*c", SQUARE, CUBE),
    (r"[\w.]+@[\w.-]+\.[a-z]+", SQUARE, SQUARE),
    (r"\p{L}+\d", UNLIMITED, SQUARE),
    (r"\p{L}+[^,]+", SQUARE, SQUARE),
    ("^(.*?),(.*?),(.*)$", CUBE, CUBE),
    # Loops in loops
    ("(?:ab)*c", UNLIMITED, SQUARE),
    ("(?:[a-z]+,)*[a-z]+", SQUARE, SQUARE),
    ("(a+)+$", NEVER, NEVER),
    ("(?:a*)*b", NEVER, NEVER),
    ("(a|a)*b", NEVER, NEVER),
    ("(.*a){20}", 2, 2),
    ("(?:a{1,20}){1,20}b", NEVER, NEVER),
    ("a?" * 40 + "b", 0, 0),
]


@pytest.mark.parametrize(("pattern", "whole", "part"), LONGEST)
def test_how_long_a_text_may_be(pattern: str, whole: int, part: int) -> None:
    compiled = compile_pattern(pattern)
    assert (compiled.longest_whole, compiled.longest_part) == (whole, part)


@pytest.mark.parametrize("pattern", [pattern for pattern, *_ in LONGEST])
@pytest.mark.parametrize("match", [full_match, search])
def test_a_text_that_is_short_enough_is_matched_in_time(
    pattern: str, match: Callable[[Pattern, str], bool]
) -> None:
    compiled = compile_pattern(pattern)
    longest = compiled.longest_whole if match is full_match else compiled.longest_part
    length = min(longest, 30_000) // 5
    for piece in ("a", "ab", "1", "1-", "foo", ",", "a.", " ", "x@x."):
        match(compiled, piece * (length // len(piece)) + "\n!")


@pytest.mark.parametrize(
    "pattern",
    [
        "a?" * 4900,
        "".join(chr(0x4E00 + i) + "?" for i in range(4900)),
        "|".join(f"ab{i}" for i in range(1500)),
        "(a|b)" * 1900,
        "[a-z]{0,1000}" * 300,
        "(?:" * 50 + "a*" + ")*" * 50,
    ],
)
def test_a_pattern_is_judged_quickly(pattern: str) -> None:
    began = time.process_time()
    compile_pattern.__wrapped__(pattern)
    assert time.process_time() - began < 3
