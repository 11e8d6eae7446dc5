"""XML files, whole and broken: refused or read, as another parser says, wherever they are cut."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from clinker.cxl.types import STRING
from clinker.formats import FORMATS
from clinker.formats.reading import (
    Column,
    FormatError,
    ReadSpec,
    input_file,
    read_split,
    take_inventory,
)
from clinker.formats.xml.dialect import XmlDialect
from fuzz.findings import Kind, Tally, Wrong, play_files, smallest

AREA = "xml"
_NAMES = ("a", "b", "row", "ä", "p:a", "row.x")
_TEXTS = ("", "x", "ä", "𝄞", "<", "&", ">", '"', "'", " ", "\n", "]]", "1")
_PATHS = ("//row", "/r/row", "r/a/row", "//a/row", None)
_NOISE = (*b"<>/&;!?-=\"'[] \n", 0x00, 0xFF, 0xC3)
_CUTS = (1, 40, 1 << 20)


@dataclass(frozen=True)
class Case:
    """A file and where its records are."""

    content: bytes
    path: str | None
    keeps: bool

    def __str__(self) -> str:
        return f"{self.content!r}\n    records at {self.path}, keeps={self.keeps}"


def play(seed: int, rounds: range, tally: Tally) -> None:
    play_files(AREA, made, check, _smaller, seed, rounds, tally)


def _smaller(case: Case, wrong: Callable[[Case], Wrong | None], kind: Kind) -> Case:
    def with_bytes(content: Sequence[int]) -> Case:
        return replace(case, content=bytes(content))

    return with_bytes(smallest(case.content, kind, lambda part: wrong(with_bytes(part))))


# Making files


def made(chance: random.Random) -> Case:
    inner = "".join(_element(chance, 4) for _ in range(chance.randint(0, 6)))
    content = f"<r xmlns:p='u'>{inner}</r>".encode()
    if chance.random() < 0.5:
        content = _broken(chance, content)
    return Case(content, chance.choice(_PATHS), chance.random() < 0.5)


def _element(chance: random.Random, depth: int) -> str:
    if chance.random() < 0.1:
        return chance.choice(["<!-- <row> -->", "<?p <row> ?>", "<![CDATA[<row>]]>", "\n "])
    name = chance.choice(_NAMES)
    names = chance.sample(["k", "p:k", "l"], chance.randint(0, 2))
    attributes = "".join(f" {each}={quoteattr(_text(chance))}" for each in names)
    parts = [escape(_text(chance))]
    if depth:
        for _ in range(chance.randint(0, 3)):
            parts += [_element(chance, depth - 1), escape(_text(chance))]
    content = "".join(parts)
    return f"<{name}{attributes}>{content}</{name}>" if content else f"<{name}{attributes}/>"


def _text(chance: random.Random) -> str:
    return "".join(chance.choices(_TEXTS, k=chance.randint(0, 3)))


def _broken(chance: random.Random, content: bytes) -> bytes:
    data = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        at = chance.randint(0, len(data))
        match chance.randint(0, 2):
            case 0:
                del data[at : at + chance.randint(1, 4)]
            case 1:
                data[at:at] = data[: chance.randint(0, 9)]
            case _:
                data[at : at + chance.randint(0, 1)] = bytes([chance.choice(_NOISE)])
    return bytes(data)


# Reading, and comparing


def check(case: Case, folder: Path) -> None:
    answers = [_read(case, folder, size) for size in _CUTS]
    if any(answer != answers[0] for answer in answers):
        raise Wrong(Kind.DIFFERENT, f"it depends on where the file is cut: {answers}")
    is_refused = isinstance(answers[0], str)
    if is_refused and _is_well_formed(case.content):
        raise Wrong(Kind.LOST, f"refused: {answers[0]}")
    if not is_refused and not _is_well_formed(case.content):
        raise Wrong(Kind.DIFFERENT, "not well-formed, and nobody says so")


def _is_well_formed(content: bytes) -> bool:
    parser = expat.ParserCreate()
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        return False
    return True


def _read(case: Case, folder: Path, split_bytes: int) -> list[dict[str, Any]] | str:
    path = folder / "in.xml"
    path.write_bytes(case.content)
    columns = tuple(Column(name, STRING) for name in ("a", "@k", "b.a", "row.x", "a.@k"))
    spec = ReadSpec(
        source=0,
        source_name="rows",
        format=FORMATS["xml"],
        dialect=XmlDialect(record_path=case.path),
        columns=columns,
        needed=tuple(column.name for column in columns),
        undeclared="keep" if case.keeps else "drop",
    )
    try:
        inventory = take_inventory(spec, [input_file(0, str(path))], split_bytes)
        batches = [b for split in inventory.splits for b in read_split(spec, inventory, split)]
    except FormatError as problem:
        return problem.message
    for batch in batches:
        batch.validate(full=True)
    return [record for batch in batches for record in batch.to_pylist()]
