"""Values in the names of files."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinker.file_names import name_part


@pytest.mark.parametrize(
    ("value", "part"),
    [
        (None, "~null"),
        ("", "~empty"),
        ("~null", "~7Enull"),
        ("Zürich (West), 2.", "Zürich (West), 2~2E"),
        ("..", "~2E~2E"),
        ("-rf", "~2Drf"),
        (" a ", "~20a~20"),
        ("a/b\\c:d\0\n", "a~2Fb~5Cc~3Ad~00~0A"),
        ("e\u0301", "e~CC~81"),
        ("${HOME}`id`", "~24~7BHOME~7D~60id~60"),
        ("a" * 200, "a" * 60 + "~hb40af6d2f2f34472"),
    ],
)
def test_values_as_parts_of_names(value: str | None, part: str) -> None:
    assert name_part(value) == part


VALUES = st.none() | st.text(max_size=150) | st.text("a~./\\%é\u0301 -", max_size=150)


@given(VALUES, VALUES)
def test_no_two_values_have_the_same_part(one: str | None, other: str | None) -> None:
    assert (name_part(one) == name_part(other)) == (one == other)


@given(VALUES)
def test_a_part_is_one_part_everywhere(value: str | None) -> None:
    part = name_part(value)
    assert 0 < len(part.encode()) <= 200
    assert PurePosixPath(part).parts == PureWindowsPath(part).parts == (part,)
