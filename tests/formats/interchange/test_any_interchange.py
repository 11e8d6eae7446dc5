"""Interchanges of all kinds, cut anywhere, against a reader that goes character by character."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clinker.formats.interchange import reader, survey
from tests.formats.interchange.interchanges import ELEMENTS, interchange_spec
from tests.formats.reading import read

Segment = tuple[str, tuple[str, ...]]
_BREAKS = ("", "\n", "\r\n", " \n\n\t")


@dataclass(frozen=True)
class Interchange:
    """Messages of segments, and how they are written."""

    element: str
    terminator: str
    release: str
    after: str
    messages: tuple[tuple[Segment, ...], ...]

    def write(self, segments: Sequence[Segment]) -> str:
        return "".join(
            self.element.join((tag, *map(self._released, elements))) + self.terminator + self.after
            for tag, elements in segments
        )

    def _released(self, text: str) -> str:
        if not self.release:
            return text
        special = (self.element, self.terminator, self.release)
        return "".join(self.release + c if c in special else c for c in text)

    def x12(self, number: int) -> str:
        isa = ("00", "", "00", "", "ZZ", "S", "ZZ", "R", "240101", "1200", "U", "00401")
        sets: list[Segment] = []
        for at, segments in enumerate(self.messages):
            opening = ("ST", ("850", f"{at:04}"))
            closing = ("SE", (str(len(segments) + 2), f"{at:04}"))
            sets += (opening, *segments, closing)
        return self.write(
            [
                ("ISA", (*isa, str(number), "0", "P", ":")),
                ("GS", ("PO", "S", "R", "1", "2", "7", "X", "4")),
                *sets,
                ("GE", (str(len(self.messages)), "7")),
                ("IEA", ("1", str(number))),
            ]
        )

    def edifact(self) -> str:
        body: list[Segment] = []
        for at, segments in enumerate(self.messages):
            closing = ("UNT", (str(len(segments) + 2), f"{at:04}"))
            body += (("UNH", (f"{at:04}", "850")), *segments, closing)
        text = self.write(
            [
                ("UNB", ("UNOA:1", "S", "R", "D", "REF")),
                *body,
                ("UNZ", (str(len(self.messages)), "REF")),
            ]
        )
        return f"UNA:{self.element}.{self.release or ' '} {self.terminator}{self.after}{text}"

    def rows(self, opening: str) -> list[dict[str, str | None]]:
        found: list[dict[str, str | None]] = []
        for at, segments in enumerate(self.messages):
            own = ("850", f"{at:04}") if opening == "ST" else (f"{at:04}", "850")
            for tag, elements in ((opening, own), *segments):
                texts = dict(zip(ELEMENTS, elements, strict=False))
                row: dict[str, str | None] = {"tag": tag, "ref": f"{at:04}", "type": "850"}
                found.append(row | {name: texts.get(name) or None for name in ELEMENTS})
        return found


@st.composite
def interchanges(draw: st.DrawFn, *, releases: bool) -> Interchange:
    characters = draw(st.permutations("+*|\x1d!?'~\n\x1c"))
    element, terminator, release = characters[:3]
    if element == "\n":
        element, terminator = terminator, element
    has_release = releases and release != "\n" and draw(st.booleans())
    taken = "" if has_release else element + terminator
    anything = st.text(
        st.one_of(
            st.sampled_from([*characters, *":ab1 \r\tü€𝄞"]),
            st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
        ).filter(lambda c: c not in taken),
        max_size=6,
    )
    tag = st.sampled_from(["A", "BEG", "N1", "PO1", "STC", "SEX", "UNS", "BI", "GSX"])
    segment = st.tuples(tag, st.lists(anything, max_size=4).map(tuple))
    messages = draw(st.lists(st.lists(segment, max_size=5).map(tuple), max_size=3).map(tuple))
    return Interchange(
        element,
        terminator,
        release if has_release else "",
        draw(st.sampled_from(_BREAKS)),
        messages,
    )


def _read(folder: Path, format: str, text: str, split_bytes: int) -> list[dict[str, str | None]]:
    spec = interchange_spec(format)
    records = read(folder, spec, text.encode(), split_bytes=split_bytes)
    assert [record["$pos"] for record in records] == list(range(1, len(records) + 1))
    names = ["seg_id", *[n for n in records[0] if n.endswith("_ref")]] if records else []
    names += [n for n in records[0] if n.endswith("_type")] if records else []
    return [
        dict(zip(("tag", "ref", "type"), (record[name] for name in names), strict=True))
        | {name: record[name] for name in ELEMENTS}
        for record in records
    ]


_SETTINGS = settings(
    deadline=None,
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@_SETTINGS
@given(
    several=st.lists(interchanges(releases=False), min_size=1, max_size=3),
    split_bytes=st.sampled_from([1, 50, 1 << 20]),
    run_bytes=st.sampled_from([1, 64, 1 << 17]),
)
def test_x12(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    several: list[Interchange],
    split_bytes: int,
    run_bytes: int,
) -> None:
    for module in (reader, survey):
        monkeypatch.setattr(module, "_RUN_BYTES", run_bytes)
    text = "".join(each.x12(number) for number, each in enumerate(several))
    expected = [row for each in several for row in each.rows("ST")]
    assert _read(tmp_path, "x12", text, split_bytes) == expected


@_SETTINGS
@given(
    one=interchanges(releases=True),
    split_bytes=st.sampled_from([1, 50, 1 << 20]),
    run_bytes=st.sampled_from([1, 64, 1 << 17]),
)
def test_edifact(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    one: Interchange,
    split_bytes: int,
    run_bytes: int,
) -> None:
    for module in (reader, survey):
        monkeypatch.setattr(module, "_RUN_BYTES", run_bytes)
    assert _read(tmp_path, "edifact", one.edifact(), split_bytes) == one.rows("UNH")
