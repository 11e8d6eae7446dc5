"""EDIFACT files: given these segments, those bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clinker.formats.common.writing import WriteError
from clinker.formats.edifact.grammar import LEVEL_A
from clinker.formats.interchange.header import Header
from tests.formats.interchange.writing import UNB, Segment, edifact, write

HEAD = "UNB+UNOA:1+S+R+240101:1200+REF1'"
TYPE = "ORDERS:D:96A:UN"


def body(text: str) -> str:
    """What stands inside the interchange."""
    assert text.startswith(HEAD) and text.endswith("+REF1'")
    return text.removeprefix(HEAD).removesuffix("+REF1'")


def test_messages_with_their_counts() -> None:
    segments: list[Segment] = [
        ("UNH", "M1", TYPE, "M1", TYPE),
        ("BGM", "M1", None, "220", "O'N"),
        ("UNH", "M2", TYPE, "M2", TYPE),
        ("BGM", "M2", TYPE),
        ("NAD", "M2", TYPE, None, None, "x"),
    ]
    assert write(edifact(), segments) == (
        f"{HEAD}UNH+M1+{TYPE}'BGM+220+O?'N'UNT+3+M1'UNH+M2+{TYPE}'BGM'NAD+++x'UNT+4+M2'UNZ+2+REF1'"
    )


def test_every_segment_may_be_on_a_line_of_its_own() -> None:
    text = write(edifact(segment_newline=True, write_una=True), [("BGM", "1", "X")])
    assert text.splitlines() == ["UNA:+.? '", HEAD, "UNH+1+X'", "BGM'", "UNT+3+1'", "UNZ+1+REF1'"]


def test_a_header_of_a_message_has_two_elements() -> None:
    segments: list[Segment] = [("UNH", "1", TYPE, "1", TYPE, "access", "1:C"), ("BGM", "1", TYPE)]
    assert body(write(edifact(), segments)) == f"UNH+1+{TYPE}'BGM'UNT+3+1'UNZ+1"


def test_messages_without_a_reference_are_numbered() -> None:
    segments: list[Segment] = [("UNH",), ("BGM",), ("UNH",), ("BGM", None)]
    text = body(write(edifact(message_type="X"), segments))
    assert text == "UNH+1+X'BGM'UNT+3+1'UNH+2+X'BGM'UNT+3+2'UNZ+2"


def test_characters_that_look_like_delimiters_are_released() -> None:
    segments: list[Segment] = [("FTX", "a+b", "X'Y", "?", "+'?:", "?+")]
    assert body(write(edifact(), segments)) == (
        "UNH+a?+b+X?'Y'FTX+??+?+?'??:+???+'UNT+3+a?+b'UNZ+1"
    )


def test_an_element_that_ends_with_a_released_delimiter_keeps_it() -> None:
    segments: list[Segment] = [("FTX", "1", "X", "a+", None, None)]
    assert "FTX+a?+'" in write(edifact(), segments)


def test_without_release_character_delimiters_are_refused() -> None:
    header = replace(UNB, delimiters=replace(LEVEL_A, release=""))
    text = write(edifact(header=header), [("FTX", "1", "X", "a?b")])
    assert text.startswith("UNA:+.  'UNB+") and "FTX+a?b'" in text
    with pytest.raises(WriteError, match="'e01' is 'a\\+b', and '\\+' is a delimiter"):
        write(edifact(header=header), [("FTX", "1", "X", "a+b")])


def test_the_header_of_the_first_record_with_its_delimiters() -> None:
    delimiters = replace(LEVEL_A, element="*", component="^", terminator="~", release="\\")
    header = Header(delimiters, ("UNOC^3", "S*", "R", "240101^1200", "", "REF9", "", ""))
    segments: list[Segment] = [("BGM", "1", "X", "a+b*c~\\")]
    text = write(edifact(header=None), segments, headers=[header.to_text()])
    assert text == (
        "UNA^*.\\ ~UNB*UNOC^3*S\\**R*240101^1200**REF9**~"
        "UNH*1*X~BGM*a+b\\*c\\~\\\\~UNT*3*1~UNZ*1*REF9~"
    )


def test_without_records_there_are_no_messages() -> None:
    assert write(edifact(), []) == f"{HEAD}UNZ+0+REF1'"
    assert write(edifact(header=None), [], headers=[]) == ""


def test_a_header_without_reference_has_a_trailer_without() -> None:
    header = replace(UNB, elements=UNB.elements[:4])
    assert write(edifact(header=header), []).endswith("UNZ+0'")


def test_a_message_without_a_type_is_refused() -> None:
    with pytest.raises(WriteError, match="a message begins, and nothing tells its type") as refusal:
        write(edifact(), [("UNH", "1", "X"), ("BGM", "2")])
    assert refusal.value.record == 2
    assert refusal.value.help and "message_type" in refusal.value.help


SEGMENTS = st.lists(
    st.builds(
        lambda tag, reference, elements: (tag, reference, TYPE, *elements),
        st.sampled_from(["UNH", "UNT", "UNB", "BGM", "NAD"]),
        st.sampled_from(["1", "2?", "", None]),
        st.lists(st.none() | st.text("a:+'?\r\n東", max_size=4), max_size=4),
    ),
    max_size=12,
)


@given(SEGMENTS)
def test_it_does_not_matter_where_records_are_cut(segments: list[Segment]) -> None:
    whole = write(edifact(), segments)
    assert [write(edifact(), segments, pieces=pieces) for pieces in (3, 7)] == [whole, whole]


def test_parts_of_tasks_make_the_same_file(tmp_path: Path) -> None:
    segments: list[Segment] = [
        (tag, str(message), TYPE, "+" * message)
        for message in range(9)
        for tag in ("UNH", "BGM", "NAD", "UNT")
    ]
    whole = write(edifact(), segments)
    for pieces in (1, 3, 7):
        assert write(edifact(), segments, pieces=pieces, parts=tmp_path) == whole
