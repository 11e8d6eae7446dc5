"""Fixed-width files in pieces of any size, against a reader that goes line by line."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clinker.cxl.run.tagged import decode
from clinker.cxl.types import SCHEMA_TYPES
from clinker.formats import FORMATS
from clinker.formats.fixed_width import lines, survey
from clinker.formats.fixed_width.dialect import FixedField, FixedWidthDialect, RecordLayout
from clinker.formats.reading import (
    Column,
    FormatError,
    ReadSpec,
    input_file,
    read_split,
    take_inventory,
)
from fuzz.findings import Kind, Tally, Wrong, play_files, smallest

AREA = "fixed_width"
_BREAKS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r", "none": b""}
_BYTES = (*b"ab 012-.", 0, 0x1A, 0x85, 0xC3, 0xA4, 0xFF)
_BLANKS = " \t\r\n\0\xa0\x85"
_FIELDS = (
    FixedField(name="a", start=1, end=4),
    FixedField(name="b", start=4, end=6, type="integer", pad="0"),
    FixedField(name="c", start=8, end=9, trim=False),
)


@dataclass(frozen=True)
class Case:
    """A file and how it is to be read."""

    content: bytes
    separator: str
    encoding: str
    has_types: bool
    split_bytes: int
    block_bytes: int

    @property
    def dialect(self) -> FixedWidthDialect:
        records = tuple(RecordLayout(id=tag, tag=tag, fields=_FIELDS) for tag in ("a", "0"))
        return FixedWidthDialect(
            records=records if self.has_types else records[:1],
            discriminator=(0, 1) if self.has_types else None,
            separator=self.separator,  # type: ignore[arg-type]
            encoding=self.encoding,
        )


def play(seed: int, rounds: range, tally: Tally) -> None:
    play_files(AREA, made, check, _smaller, seed, rounds, tally)


def _smaller(case: Case, wrong: Callable[[Case], Wrong | None], kind: Kind) -> Case:
    def with_bytes(part: Sequence[str]) -> Case:
        return replace(case, content="".join(part).encode("latin-1"))

    text = case.content.decode("latin-1")
    return with_bytes(smallest(text, kind, lambda part: wrong(with_bytes(part))))


def made(chance: random.Random) -> Case:
    separator = chance.choice(list(_BREAKS))
    width = 9 if separator == "none" or chance.random() < 0.4 else None
    content = b""
    for _ in range(chance.randint(0, 12)):
        size = width or chance.randint(0, 12)
        content += bytes(chance.choices(_BYTES, k=size))
        content += _BREAKS[separator] if chance.random() < 0.9 else chance.choice([b"", b"\n"])
    return Case(
        content,
        separator,
        chance.choice(["utf-8", "latin-1"]),
        chance.random() < 0.3,
        chance.choice([1, 5, 30, 1 << 20]),
        chance.choice([1, 2, 7, 64, 1 << 20]),
    )


def lines_of(case: Case) -> list[bytes]:
    """The lines that are records."""
    if case.separator == "none":
        return [case.content[at : at + 9] for at in range(0, len(case.content) // 9 * 9, 9)]
    if case.separator == "cr":
        found = case.content.split(b"\r")
    else:
        found = [line.removesuffix(b"\r") for line in case.content.split(b"\n")]
        last = case.content.rpartition(b"\n")[2]
        if last == b"\r":
            found[-1] = b""
    return [line for line in found if line]


@contextmanager
def _blocks_of(size: int) -> Iterator[None]:
    before = lines.CHUNK_BYTES, survey._BLOCK_BYTES
    lines.CHUNK_BYTES = survey._BLOCK_BYTES = size
    try:
        yield
    finally:
        lines.CHUNK_BYTES, survey._BLOCK_BYTES = before


def check(case: Case, folder: Path) -> None:
    expected = lines_of(case)
    try:
        records = _read(case, folder)
    except FormatError:
        return
    if len(records) != len(expected):
        raise Wrong(Kind.LOST, f"{len(records)} records, expected {len(expected)}")
    for row, (record, line) in enumerate(zip(records, expected, strict=True), 1):
        _compare(case, row, record, line)


def _read(case: Case, folder: Path) -> list[dict[str, Any]]:
    path = folder / "in.dat"
    path.write_bytes(case.content)
    columns = {"a": "string", "b": "int", "c": "string"}
    spec = ReadSpec(
        source=0,
        source_name="rows",
        format=FORMATS["fixed_width"],
        dialect=case.dialect,
        columns=tuple(Column(name, SCHEMA_TYPES[type_]) for name, type_ in columns.items()),
        needed=tuple(columns),
    )
    files = [input_file(0, str(path))]
    with _blocks_of(case.block_bytes):
        inventory = take_inventory(spec, files, case.split_bytes)
        batches = [
            batch for split in inventory.splits for batch in read_split(spec, inventory, split)
        ]
    for batch in batches:
        batch.validate(full=True)
    return [record for batch in batches for record in batch.to_pylist()]


def _compare(case: Case, row: int, record: dict[str, Any], line: bytes) -> None:
    if record["$pos"] != row:
        raise Wrong(Kind.DIFFERENT, f"record {row} has position {record['$pos']}")
    texts = [_text(line[field.start : field.end], case.encoding) for field in _FIELDS]
    number = (texts[1] or "").strip(_BLANKS)
    is_known = not case.has_types or line[:1] in (b"a", b"0")
    is_fine = is_known and len(line) > 0 and None not in texts
    is_fine = is_fine and (not number or re.fullmatch("-?[0-9]+", number) is not None)
    if (record["$reject"] is None) != is_fine:
        why = record["$reject"] and decode(record["$reject"]["inputs"])
        raise Wrong(Kind.DIFFERENT, f"record {row}: {line!r} is rejected: {why}")
    if is_fine:
        expected = (
            (texts[0] or "").strip(_BLANKS) or None,
            int(number) if number else None,
            texts[2] or None,
        )
        if (record["a"], record["b"], record["c"]) != expected:
            raise Wrong(Kind.DIFFERENT, f"record {row}: {record} is not {expected}")


def _text(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None
