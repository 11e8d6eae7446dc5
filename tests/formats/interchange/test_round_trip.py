"""What is written is read again: every element of every record, whatever the delimiters are."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from clinker.cxl.types import STRING
from clinker.formats import FORMATS
from clinker.formats.common.read_spec import Column, ReadSpec, Section
from clinker.formats.interchange.columns import element_name
from clinker.formats.interchange.dialect import InterchangeDialect
from clinker.formats.interchange.header import Delimiters, Header
from clinker.formats.reading import input_file, read_split, take_inventory
from tests.formats.interchange.writing import COMMON, ISA, UNB, Segment, edifact, write, x12

WIDTH = 4
TAGS = {"x12": "ISA", "edifact": "UNB"}


def read(format: str, text: str) -> tuple[list[Segment], list[str]]:
    """The records of a file, and the headers they carry."""
    names = [*COMMON[format], *map(element_name, range(1, WIDTH + 1))]
    spec = ReadSpec(
        source=0,
        source_name="source",
        format=FORMATS[format],
        dialect=InterchangeDialect(),
        columns=tuple(Column(name, STRING.nullable()) for name in names),
        needed=tuple(names),
        undeclared="drop",
        sections=(Section("interchange", TAGS[format], ()),),
        document=("interchange",),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "in.edi")
        path.write_bytes(text.encode())
        inventory = take_inventory(spec, [input_file(0, str(path))], 1 << 30)
        rows = [
            row
            for split in inventory.splits
            for batch in read_split(spec, inventory, split)
            for row in batch.to_pylist()
        ]
    records = [tuple(row[name] for name in names) for row in rows]
    return records, [row["$doc.interchange"] for row in rows]


def messages(characters: str) -> st.SearchStrategy[list[Segment]]:
    """Messages one after the other, each with its opening."""
    text = st.text(characters, min_size=1, max_size=4)
    element = st.none() | text

    def segments(
        drawn: list[tuple[str, str, list[tuple[str, list[str | None]]]]],
    ) -> list[Segment]:
        return [
            (tag, reference, type_, *elements)
            for reference, type_, body in drawn
            for tag, elements in [("open", []), *body]
        ]

    body = st.tuples(st.sampled_from(["BGM", "N1"]), st.lists(element, max_size=WIDTH))
    word = st.text("ab1", min_size=1, max_size=3)
    return st.lists(st.tuples(word, word, st.lists(body, max_size=4)), min_size=1, max_size=4).map(
        segments
    )


def expected(segments: list[Segment], opening: str, reference_first: bool) -> list[Segment]:
    """What a reader gives of these records."""
    rows = []
    for tag, reference, type_, *elements in segments:
        if tag == "open":
            elements = [reference, type_] if reference_first else [type_, reference]
        row = (opening if tag == "open" else tag, reference, type_, *elements)
        rows.append((*row, *[None] * (3 + WIDTH - len(row))))
    return rows


EDIFACT_MARKS = st.sampled_from(
    [
        UNB.delimiters,
        Delimiters(element="*", component="^", terminator="~", release="\\", decimal=","),
        Delimiters(
            element="|", component=">", terminator="\n", release="!", decimal=".", repetition="*"
        ),
    ]
)
X12_MARKS = st.sampled_from(
    [
        ISA.delimiters,
        Delimiters(element="|", component=">", terminator="\n"),
        Delimiters(element="^", component="<", terminator="\r"),
    ]
)


@given(messages("a:+'?*~\\|!>é東 "), EDIFACT_MARKS, st.booleans())
def test_edifact(segments: list[Segment], marks: Delimiters, newline: bool) -> None:
    segments = [("UNH" if s[0] == "open" else s[0], *s[1:]) for s in segments]
    header = Header(marks, ("UNOC" + marks.component + "3", "S+*|", "R", "240101", "", "REF"))
    text = write(edifact(header=header, segment_newline=newline), segments)
    records, headers = read("edifact", text)
    opened = [("open" if s[0] == "UNH" else s[0], *s[1:]) for s in segments]
    assert records == expected(opened, "UNH", reference_first=True)
    again = write(edifact(header=None, segment_newline=newline), records, headers=headers, pieces=3)
    assert again == text


@given(messages("a:>+'?é東 "), X12_MARKS, st.booleans())
def test_x12(segments: list[Segment], marks: Delimiters, newline: bool) -> None:
    segments = [("ST" if s[0] == "open" else s[0], *s[1:]) for s in segments]
    header = replace(ISA, delimiters=marks, elements=(*ISA.elements[:15], marks.component))
    text = write(x12(header=header, segment_newline=newline), segments)
    records, headers = read("x12", text)
    opened = [("open" if s[0] == "ST" else s[0], *s[1:]) for s in segments]
    assert records == expected(opened, "ST", reference_first=False)
    again = write(x12(header=None, segment_newline=newline), records, headers=headers, pieces=3)
    assert again == text


def test_files_without_messages_are_read() -> None:
    assert read("edifact", write(edifact(), [])) == ([], [])
    assert read("x12", write(x12(), [])) == ([], [])
