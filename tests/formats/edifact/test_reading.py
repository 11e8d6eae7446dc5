"""EDIFACT files: their segments as records, and what is said about those that are not sound."""

from __future__ import annotations

from pathlib import Path

import pytest

from clinker.formats.interchange.header import Header
from tests.formats.interchange.interchanges import failure, interchange_spec, rows
from tests.formats.reading import read

SPEC = interchange_spec("edifact")
ORDER = b"UNB+UNOA:1+S+R+240101:1200+REF1'UNH+M1+ORDERS:D:96A:UN'BGM+220+PO1'UNT+3+M1'UNZ+1+REF1'"
ROWS = ["UNH|M1|ORDERS:D:96A:UN|M1|ORDERS:D:96A:UN", "BGM|M1|ORDERS:D:96A:UN|220|PO1"]


def message(*segments: str) -> bytes:
    body = "".join(f"{segment}'" for segment in segments)
    return (
        f"UNB+UNOA:1+S+R+240101:1200+REF1'UNH+M1+ORDERS'{body}UNT+{len(segments) + 2}+M1'"
        "UNZ+1+REF1'"
    ).encode()


@pytest.mark.parametrize(
    "content",
    [
        ORDER,
        ORDER.replace(b"'", b"'\r\n"),
        ORDER.replace(b"'", b"' \t\n\n"),
        ORDER.replace(b"'", b"''").removesuffix(b"'"),
        ORDER.removesuffix(b"'"),
        b"UNA:+.? '" + ORDER,
        b"UNA:+.? '\r\n" + ORDER,
        b"UNA:*,! ~" + ORDER.replace(b"+", b"*").replace(b"'", b"~"),
        b"UNA:+.  '" + ORDER,
        b"UNA:+.? \n" + ORDER.replace(b"'", b"\n"),
        b"\xef\xbb\xbf" + ORDER + b"\n\n",
        ORDER.replace(b"+REF1'UNH", b"++REF1'UNH"),
        ORDER.replace(b"UNT+3", b"UNT+0003"),
    ],
)
def test_an_interchange_in_many_clothes(tmp_path: Path, content: bytes) -> None:
    for split_bytes in (1 << 30, 1, 40):
        assert rows(read(tmp_path, SPEC, content, split_bytes=split_bytes)) == ROWS


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("O?'BRIEN", "O'BRIEN"),
        ("a?+b", "a+b"),
        ("??", "?"),
        ("???'", "?'"),
        ("a?:b:c", "a:b:c"),
        ("a?b", "ab"),
        ("a\r\nb", "a\r\nb"),
        ("a*b*c", "a*b*c"),
        ("ü?'é", "ü'é"),
    ],
)
def test_released_characters_are_data(tmp_path: Path, written: str, meant: str) -> None:
    content = message(f"FTX+{written}+x", "FTX++y")
    for split_bytes in (1 << 30, 1):
        records = read(tmp_path, SPEC, content, split_bytes=split_bytes)
        assert [(record["e01"], record["e02"]) for record in records[1:]] == [
            (meant, "x"),
            (None, "y"),
        ]


def test_a_release_character_that_is_none_is_data(tmp_path: Path) -> None:
    records = read(tmp_path, SPEC, b"UNA:+.  '" + message("FTX+what??"))
    assert records[1]["e01"] == "what??"


def test_the_header_is_a_section(tmp_path: Path) -> None:
    spec = interchange_spec(
        "edifact", fields={"e05": "string", "e09": "int"},
        document=("interchange", "interchange.e05", "interchange.e09"),
    )  # fmt: skip
    record = read(tmp_path, spec, b"UNA:+.? '" + ORDER)[1]
    assert record["$doc.interchange.e05"] == "REF1"
    assert record["$doc.interchange.e09"] is None
    header = Header.from_text(record["$doc.interchange"])
    assert header.elements == ("UNOA:1", "S", "R", "240101:1200", "REF1")
    assert header.delimiters.release == "?"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("UNT+3", "UNT+4", "segment 4: UNT01 declares '4' segments, the message has 3"),
        ("UNT+3+M1", "UNT+3+M2", "segment 4: UNT02 is 'M2', but the message was opened as 'M1'"),
        ("UNZ+1", "UNZ+2", "segment 5: UNZ01 declares '2' messages, the interchange has 1"),
        (
            "UNZ+1+REF1",
            "UNZ+1+REF2",
            "segment 5: UNZ02 is 'REF2', but the interchange was opened as 'REF1'",
        ),
        ("UNH+", "UNG+x'UNH+", "segment 2: UNG: functional groups are not supported"),
        (
            "UNZ+1+REF1'",
            "",
            "the file ends without UNZ: the interchange that segment 1 opened is not closed",
        ),
        (
            "UNZ+1+REF1'",
            "UNZ+1+REF1'UNB+",
            "segment 6: 'UNB+' stands behind UNZ, where nothing may follow",
        ),
        (
            "UNH+M1",
            "UNB+x'UNH+M1",
            "segment 2: UNB stands where UNZ is expected: the interchange that segment 1 opened "
            "is not closed",
        ),
        (
            "UNB+",
            "UNB*",
            "UNB is not followed by '+', and there is no UNA segment before it that names other "
            "delimiters",
        ),
        (
            "UNB+",
            "UNA:+.?  UNB+",
            "the UNA segment makes ' ' the segment terminator, which cannot be: it has too few "
            "elements, or is cut off",
        ),
        (
            "UNB+",
            "UNA:+.+ 'UNB+",
            "the UNA segment makes '+' both element separator and release character",
        ),
    ],
)
def test_what_is_not_sound_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    content = ORDER.decode()
    assert old in content
    assert failure(tmp_path, SPEC, content.replace(old, new).encode()).message == said


def test_what_is_released_at_the_end_is_no_end(tmp_path: Path) -> None:
    problem = failure(tmp_path, SPEC, ORDER.removesuffix(b"'") + b"?'")
    assert problem.message.startswith("segment 5: UNZ02 is 'REF1'',")
