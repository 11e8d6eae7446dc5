"""What globs match, and those that cannot be understood."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinker.plan.files.globs import GlobError, compile_glob, matches_any


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("*.csv", "a.csv", True),
        ("*.csv", "a/b.csv", False),
        ("**/*.csv", "a/b/c.csv", True),
        ("**/*.csv", "c.csv", True),
        ("a/**", "a/b/c", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "ab", False),
        ("[]]", "]", True),
        ("[!]]", "]", False),
        ("[a-c-]", "-", True),
        ("[[]", "[", True),
        ("[!a]", "/", False),
        ("a.b", "axb", False),
        ("{a}", "{a}", True),
    ],
)
def test_globs(pattern: str, text: str, matches: bool) -> None:
    assert bool(compile_glob(pattern).fullmatch(text)) is matches


@given(st.text("ab*?[]!-/.\\^", max_size=10), st.text("ab/.-]", max_size=6))
def test_any_text_is_a_glob_or_a_known_error(pattern: str, text: str) -> None:
    try:
        compile_glob(pattern).fullmatch(text)
    except GlobError as wrong:
        start, end = wrong.span
        assert 0 <= start < end <= len(pattern)


def test_a_pattern_matches_the_whole_path_or_the_name(tmp_path: Path) -> None:
    path = tmp_path / "data/a.csv"
    for pattern in ("*.csv", "data/*", "./data/*", f"{tmp_path}/**"):
        assert matches_any([pattern], path, tmp_path)
    for pattern in ("*", "data", "b.csv"):
        assert matches_any([pattern], path, tmp_path) is (pattern == "*")
