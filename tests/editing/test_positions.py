from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinker.diagnostics import Span
from clinker.editing.positions import Lines, Shift

TEXT = "a😀b\r\nzwei\rdré\n"


@pytest.mark.parametrize(
    ("encoding", "place", "offset"),
    [
        ("utf-16", (0, 3), 2),
        ("utf-8", (0, 5), 2),
        ("utf-32", (0, 2), 2),
        ("utf-16", (1, 0), 5),
        ("utf-16", (2, 2), 12),
        ("utf-8", (2, 2), 12),
        ("utf-16", (3, 0), 14),
    ],
)
def test_places_and_offsets(encoding: str, place: tuple[int, int], offset: int) -> None:
    lines = Lines(TEXT, encoding)
    assert lines.offset(*place) == offset
    assert lines.place(offset) == place


def test_what_is_beyond_a_line_or_the_text_is_its_end() -> None:
    lines = Lines(TEXT)
    assert lines.offset(0, 99) == 3
    assert lines.offset(99, 0) == len(TEXT)
    assert lines.place(999) == (3, 0)


def test_half_a_character_is_the_one_before() -> None:
    assert Lines(TEXT).offset(0, 2) == 1


@given(st.text(alphabet="a😀é\n\r ", max_size=30), st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_every_place_leads_back(text: str, encoding: str) -> None:
    lines = Lines(text, encoding)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n":  # nobody can stand inside a line end
            assert lines.offset(*lines.place(offset)) == offset


def test_places_move_with_the_text_around_them() -> None:
    shift = Shift("one two three", "one 2 and two three")
    assert shift.to_new(Span(0, 3)) == Span(0, 3)
    assert shift.to_new(Span(8, 13)) == Span(14, 19)
    assert shift.to_old(14) == 8
    assert shift.to_old(6) is None


def test_what_was_changed_has_no_place() -> None:
    shift = Shift("a b c", "a BB c")
    assert shift.to_new(Span(2, 3)) is None
    assert shift.to_new(Span(0, 5)) is None


@given(st.text("ab", max_size=8), st.text("ab", max_size=8), st.text("ab", max_size=8))
def test_moved_places_show_the_same_text(start: str, middle: str, end: str) -> None:
    old, new = start + end, start + middle + end
    shift = Shift(old, new)
    for at in range(len(old)):
        moved = shift.to_new(Span(at, at + 1))
        assert moved is None or new[moved.start : moved.end] == old[at]
