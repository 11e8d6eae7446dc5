"""X12 and EDIFACT files with something changed, against a reader that goes segment by segment."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clinker.cxl.types import STRING
from clinker.formats import FORMATS
from clinker.formats.common import encodings
from clinker.formats.interchange import reader, survey
from clinker.formats.interchange.dialect import InterchangeDialect
from clinker.formats.reading import (
    Column,
    FormatError,
    ReadSpec,
    input_file,
    read_origins,
    read_split,
    take_inventory,
)
from fuzz.findings import Kind, Tally, Wrong, play_files, smallest

AREA = "interchange"
_BLANKS = " \t\n\v\f\r"
_WIDTH = 40
_NAMES = [f"e{number:02}" for number in range(1, _WIDTH + 1)]
_ODD = [*"*~+'?:!|\n\r\t \0\x1d\x1c", "ä", "𝄞", "\ufeff", "SE", "ST", "IEA", "UNT", "UNZ", "BIN"]
_CLOSING = {"x12": "IEA", "edifact": "UNZ"}
_SILENT = {"x12": {"ISA", "GS", "GE", "SE", "IEA"}, "edifact": {"UNB", "UNT", "UNZ"}}


@dataclass(frozen=True)
class Case:
    """A file and how it is to be read."""

    format: str
    text: str
    split_bytes: int
    run_bytes: int

    def __str__(self) -> str:
        how = f"{self.format}, splits of {self.split_bytes}, runs of {self.run_bytes}"
        return f"{self.text.encode()!r}\n    {how}"


def play(seed: int, rounds: range, tally: Tally) -> None:
    play_files(AREA, made, check, _smaller, seed, rounds, tally)


def _smaller(case: Case, wrong: Callable[[Case], Wrong | None], kind: Kind) -> Case:
    def with_text(characters: Sequence[str]) -> Case:
        return replace(case, text="".join(characters))

    return with_text(smallest(case.text, kind, lambda part: wrong(with_text(part))))


# Making files


def made(chance: random.Random) -> Case:
    format = chance.choice(["x12", "edifact"])
    text = _x12(chance) if format == "x12" else _edifact(chance)
    for _ in range(chance.choice([0, 0, 1, 1, 2, 5])):
        text = _changed(chance, text)
    return Case(format, text, chance.choice([1, 20, 100]), chance.choice([1, 2, 30, 1 << 17]))


def _changed(chance: random.Random, text: str) -> str:
    at = chance.randrange(len(text) + 1)
    end = min(len(text), at + chance.choice([0, 1, 1, 5]))
    instead = chance.choice(_ODD) if chance.random() < 0.7 else text[at - 5 : at]
    return text[:at] + instead + text[end:]


def _body(chance: random.Random, element: str, taken: str) -> list[str]:
    characters = [c for c in "ab1 :?!\r\nä+*" if c not in taken]
    segments = []
    for _ in range(chance.randint(0, 4)):
        elements = ["".join(chance.choices(characters, k=chance.randint(0, 4))) for _ in range(3)]
        tag = chance.choice(["N1", "STC", "UNS", "A"])
        segments.append(element.join((tag, *elements[: chance.randint(0, 3)])))
    return segments


def _x12(chance: random.Random) -> str:
    text = ""
    for number in range(chance.choice([1, 1, 2, 3])):
        element, terminator = chance.choice([("*", "~"), ("|", "!"), ("*", "\n"), ("\x1d", "\x1c")])
        isa = ["ISA", "00", "", "00", "", "ZZ", "S", "ZZ", "R", "1", "2", "U", "4", str(number)]
        segments = [element.join((*isa, "0", "P", ":"))]
        groups = chance.randint(0, 2)
        for group in range(groups):
            sets = chance.randint(0, 2)
            segments.append(element.join(("GS", "PO", "S", "R", "1", "2", str(group), "X", "4")))
            for at in range(sets):
                body = _body(chance, element, element + terminator)
                if chance.random() < 0.3:
                    data = f"a{element}b{terminator}c"
                    body.append(element.join(("BIN", str(len(data)), data)))
                segments += (element.join(("ST", "850", str(at))), *body)
                segments.append(element.join(("SE", str(len(body) + 2), str(at))))
            segments.append(element.join(("GE", str(sets), str(group))))
        segments.append(element.join(("IEA", str(groups), str(number))))
        after = terminator + chance.choice(["", "\n", "\r\n"])
        text += after.join((*segments, ""))
    return text


def _edifact(chance: random.Random) -> str:
    element, terminator, advice = chance.choice(
        [
            ("+", "'", ""),
            ("+", "'", "UNA:+.? '\n"),
            ("*", "~", "UNA:*.? ~"),
            ("+", "'", "UNA:+.  '"),
        ]
    )
    segments = [element.join(("UNB", "UNOA:1", "S", "R", "D", "REF"))]
    messages = chance.randint(0, 3)
    for at in range(messages):
        body = _body(chance, element, element + terminator)
        count = str(len(body) + 2)
        segments += (element.join(("UNH", str(at), "ORDERS")), *body)
        segments.append(element.join(("UNT", count, str(at))))
    segments.append(element.join(("UNZ", str(messages), "REF")))
    after = terminator + chance.choice(["", "\n", "\r\n"])
    return advice + after.join((*segments, ""))


# What is to be read


def segments_of(format: str, text: str) -> list[list[str]]:
    """All segments of a file that is sound, each with its tag and its elements."""
    found: list[list[str]] = []
    text = text.removeprefix("\ufeff").lstrip(_BLANKS)
    while text:
        release = ""
        if format == "x12":
            element = text[3]
            last = [at for at, c in enumerate(text) if c == element][15]
            terminator = text[last + 2]
        elif text.startswith("UNA"):
            element, release, terminator = text[4], text[6].strip(" "), text[8]
            text = text[9:]
        else:
            element, release, terminator = "+?'"
        blanks = "".join(c for c in _BLANKS if c not in (element, terminator))
        while text:
            segment, text = _first(text.lstrip(blanks), element, terminator, release)
            if segment != [""]:
                found.append(segment)
            if segment[0] == _CLOSING[format]:
                break
        text = text.lstrip(_BLANKS + terminator)
    return found


def _first(text: str, element: str, terminator: str, release: str) -> tuple[list[str], str]:
    """The first segment of a text, and what follows it."""
    for tag, number in (("BIN", 1), ("BDS", 2)):
        parts = text.split(element, number + 1)
        if text.startswith(tag + element) and terminator not in "".join(parts[: number + 1]):
            raw = parts[-1].encode()
            length = int(parts[number])
            return [*parts[:-1], raw[:length].decode()], raw[length + 1 :].decode()
    elements = [""]
    at = 0
    while at < len(text):
        if release and text[at] == release and at + 1 < len(text):
            elements[-1] += text[at + 1]
            at += 2
            continue
        if text[at] == terminator:
            return elements, text[at + 1 :]
        if text[at] == element:
            elements.append("")
        else:
            elements[-1] += text[at]
        at += 1
    return elements, ""


# Reading, and comparing


@contextmanager
def _runs_of(size: int) -> Iterator[None]:
    before = encodings.BLOCK_BYTES, survey._RUN_BYTES, reader._RUN_BYTES
    encodings.BLOCK_BYTES = survey._RUN_BYTES = reader._RUN_BYTES = size
    try:
        yield
    finally:
        encodings.BLOCK_BYTES, survey._RUN_BYTES, reader._RUN_BYTES = before


def check(case: Case, folder: Path) -> None:
    whole = _answer(case, folder, 1 << 20)
    with _runs_of(case.run_bytes):
        cut = _answer(case, folder, case.split_bytes)
    if isinstance(whole, str) or isinstance(cut, str):
        if isinstance(whole, str) != isinstance(cut, str):
            raise Wrong(Kind.DIFFERENT, f"depends on how it is cut: {whole!r} and {cut!r}")
        return
    if whole != cut:
        raise Wrong(Kind.DIFFERENT, f"other records if cut: {whole} and {cut}")
    expected = [
        [segment[0], *(element or None for element in segment[1:])]
        for segment in segments_of(case.format, case.text)
        if segment[0] not in _SILENT[case.format]
    ]
    if len(expected) != len(whole):
        raise Wrong(Kind.LOST, f"{len(whole)} records, expected {len(expected)}")
    for row, (record, texts) in enumerate(zip(whole, expected, strict=True), 1):
        if record[: len(texts)] != texts or any(record[len(texts) :]):
            raise Wrong(Kind.DIFFERENT, f"record {row} is {record}, expected {texts}")


def _answer(case: Case, folder: Path, split_bytes: int) -> list[list[Any]] | str:
    """The tags and elements of all records, or what is said about the file."""
    path = folder / "in.edi"
    path.write_bytes(case.text.encode())
    columns = ("seg_id", *_NAMES)
    spec = ReadSpec(
        source=0,
        source_name="segments",
        format=FORMATS[case.format],
        dialect=InterchangeDialect(max_elements=_WIDTH),
        columns=tuple(Column(name, STRING) for name in columns),
        needed=columns,
        undeclared="drop",
    )
    try:
        inventory = take_inventory(spec, [input_file(0, str(path))], split_bytes)
    except FormatError as problem:
        return problem.message
    records: list[list[Any]] = []
    for split in inventory.splits:
        for batch in read_split(spec, inventory, split):
            batch.validate(full=True)
            records += ([record[name] for name in columns] for record in batch.to_pylist())
        rows = range(split.first_row, split.first_row + (split.records or 0))
        if len(read_origins(spec, inventory, split, rows)) != len(rows):
            raise Wrong(Kind.LOST, "what records were is not known of all")
    return records
