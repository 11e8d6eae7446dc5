"""CSV files in pieces of any size, against a reader that goes character by character."""

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
from clinker.formats.common import encodings
from clinker.formats.csv import cells as csv_cells
from clinker.formats.csv.dialect import CsvDialect
from clinker.formats.reading import (
    Column,
    FormatError,
    ReadSpec,
    input_file,
    read_split,
    take_inventory,
)
from fuzz.findings import Kind, Tally, Wrong, play_files, smallest

AREA = "csv"
MARK = "\ufeff"
_ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252")
_SEPARATORS = ((",", '"'), (",", '"'), (";", "'"), ("\t", '"'), ("|", "`"), ("§", "«"))
_PLAIN = "ab1 -"
_ODD = (*"$\\`'\".:;{}\x01\x0b\x0c\x1c\x85", "ä", "𝄞", "\u2028", MARK, MARK)
_ENDS = ("\n", "\n", "\r\n", "\r", "\n\n", "\r\n\r\n", "\n\r")


@dataclass(frozen=True)
class Case:
    """A file and how it is to be read."""

    text: str
    dialect: CsvDialect
    declared: dict[str, str]
    needed: tuple[str, ...]
    keeps: bool
    split_bytes: int
    block_bytes: int

    @property
    def content(self) -> bytes:
        return self.text.encode(self.dialect.encoding)

    def __str__(self) -> str:
        how = (
            f"{self.dialect}, declared {self.declared}, needed {self.needed}, "
            f"keeps={self.keeps}, splits of {self.split_bytes}, blocks of {self.block_bytes}"
        )
        return f"{self.content!r}\n    {how}"


def play(seed: int, rounds: range, tally: Tally) -> None:
    play_files(AREA, made, check, _smaller, seed, rounds, tally)


def _smaller(case: Case, wrong: Callable[[Case], Wrong | None], kind: Kind) -> Case:
    def with_text(characters: Sequence[str]) -> Case:
        return replace(case, text="".join(characters))

    return with_text(smallest(case.text, kind, lambda part: wrong(with_text(part))))


# Making files


def made(chance: random.Random) -> Case:
    delimiter, quote = chance.choice(_SEPARATORS)
    encoding = chance.choice(_ENCODINGS)
    if delimiter == "§" and encoding == "cp1252":
        encoding = "utf-8"
    dialect = CsvDialect(
        delimiter=delimiter,
        quote_char=quote,
        has_header=chance.random() < 0.7,
        encoding=encoding,
    )
    make = _regular if chance.random() < 0.7 else _anything
    text = "".join(c for c in make(chance, delimiter, quote) if _has(encoding, c))
    if chance.random() < 0.2 and _has(encoding, MARK):
        text = MARK + text
    names = chance.sample(["a", "b", "a_2", "col_1", "ä", "$x", "`", MARK], chance.randint(0, 3))
    declared = {name: chance.choice(["string", "string", "int", "any"]) for name in names}
    return Case(
        text,
        dialect,
        declared,
        tuple(name for name in names if chance.random() < 0.8),
        keeps=chance.random() < 0.7,
        split_bytes=chance.choice([1, 3, 10, 40, 1 << 20]),
        block_bytes=chance.choice([1, 2, 7, 64, 1 << 17]),
    )


def _has(encoding: str, character: str) -> bool:
    return bool(character.encode(encoding.removesuffix("-sig"), "ignore"))


def _regular(chance: random.Random, delimiter: str, quote: str) -> str:
    """Records as programs write them, now and then with a cell too many or too few."""
    width = chance.randint(1, 4)
    lines = []
    for row in range(chance.randint(0, 12)):
        cells = width if chance.random() < 0.9 else chance.randint(1, 6)
        cell = _name if row == 0 else _cell
        line = delimiter.join(cell(chance, delimiter, quote) for _ in range(cells))
        lines.append(line + chance.choice(_ENDS))
    text = "".join(lines)
    return text.rstrip("\r\n") if chance.random() < 0.3 else text


def _name(chance: random.Random, delimiter: str, quote: str) -> str:
    known = ("a", "a", "b", "a_2", "", "col_1", "ä", "$x", "`")
    return chance.choice(known) if chance.random() < 0.8 else _cell(chance, delimiter, quote)


def _cell(chance: random.Random, delimiter: str, quote: str) -> str:
    if chance.random() < 0.3:
        return str(chance.randint(-999, 10**18))
    characters = [*_PLAIN, chance.choice(_ODD), chance.choice(_ODD)]
    if chance.random() < 0.5:
        plain = [c for c in characters if c not in (delimiter, quote)]
        return "".join(chance.choices(plain, k=chance.randint(0, 4)))
    inside = chance.choices([*characters, delimiter, quote, "\n", "\r"], k=chance.randint(0, 6))
    return quote + "".join(inside).replace(quote, quote * 2) + quote


def _anything(chance: random.Random, delimiter: str, quote: str) -> str:
    characters = [*_PLAIN, *_ODD, *[delimiter, quote, "\n", "\r"] * 6]
    return "".join(chance.choices(characters, k=chance.randint(0, 60)))


# What is to be read


def rows_of(text: str, delimiter: str, quote: str) -> tuple[list[list[str]], bool]:
    """The cells of all records, and whether the last one ends inside quotes."""
    rows: list[list[str]] = []
    at = 0
    while at < len(text):
        if text[at] in "\r\n":
            at += 1
            continue
        row: list[str] = []
        ended = False
        while not ended:
            cell, at, is_open = _cell_at(text, at, delimiter, quote)
            row.append(cell)
            if is_open:
                return [*rows, row], True
            ended = at == len(text) or text[at] != delimiter
            at += 1
        rows.append(row)
    return rows, False


def _cell_at(text: str, at: int, delimiter: str, quote: str) -> tuple[str, int, bool]:
    """The cell that begins at a place, where it ends, and whether its quotes stay open."""
    cell = ""
    if text.startswith(quote, at):
        at += 1
        while True:
            end = text.find(quote, at)
            if end < 0:
                return cell + text[at:], len(text), True
            cell += text[at:end]
            at = end + 1
            if not text.startswith(quote, at):
                break
            cell += quote
            at += 1
    end = at
    while end < len(text) and text[end] not in (delimiter, "\r", "\n"):
        end += 1
    return cell + text[at:end], end, False


def names_of(cells: Sequence[str]) -> list[str]:
    """What the columns are called that a header names."""
    taken = {cell for cell in cells if cell}
    names: list[str] = []
    for place, cell in enumerate(cells):
        wanted = cell or f"col_{place}"
        is_given = bool(cell) and cell not in names
        name, number = wanted, 2
        while not is_given and name in taken:
            name, number = f"{wanted}_{number}", number + 1
        taken.add(name)
        names.append(name)
    return names


# Reading, and comparing


@contextmanager
def _blocks_of(size: int) -> Iterator[None]:
    before = encodings.BLOCK_BYTES, csv_cells._CHUNK_BYTES
    encodings.BLOCK_BYTES = csv_cells._CHUNK_BYTES = size
    try:
        yield
    finally:
        encodings.BLOCK_BYTES, csv_cells._CHUNK_BYTES = before


def check(case: Case, folder: Path) -> None:
    adds_mark = bool("".encode(case.dialect.encoding))
    text = case.text if adds_mark else case.text.removeprefix(MARK)
    rows, is_open = rows_of(text, case.dialect.delimiter, case.dialect.quote_char)
    try:
        records = _read(case, folder)
    except FormatError as problem:
        expected = is_open or (case.dialect.has_header and not rows)
        if not expected:
            raise Wrong(Kind.LOST, f"refused: {problem.message}") from None
        return
    if is_open:
        raise Wrong(Kind.DIFFERENT, "a quote stays open, and nobody says so")
    header = names_of(rows[0]) if case.dialect.has_header else _by_position(case, rows)
    body = rows[1:] if case.dialect.has_header else rows
    if len(records) != len(body):
        raise Wrong(Kind.LOST, f"{len(records)} records, expected {len(body)}")
    for row, (record, cells) in enumerate(zip(records, body, strict=True), 1):
        _compare(case, header, row, record, cells)


def _by_position(case: Case, rows: Sequence[Sequence[str]]) -> list[str]:
    width = len(rows[0]) if rows else 0
    names = list(case.declared)
    for place in range(len(names), width):
        wanted = name = f"col_{place}"
        number = 2
        while name in names:
            name, number = f"{wanted}_{number}", number + 1
        names.append(name)
    return names


def _read(case: Case, folder: Path) -> list[dict[str, Any]]:
    path = folder / "in.csv"
    content = case.text.encode(case.dialect.encoding)
    path.write_bytes(content)
    spec = ReadSpec(
        source=0,
        source_name="rows",
        format=FORMATS["csv"],
        dialect=case.dialect,
        columns=tuple(Column(name, SCHEMA_TYPES[type_]) for name, type_ in case.declared.items()),
        needed=case.needed,
        checked=tuple(case.declared),
        undeclared="keep" if case.keeps else "drop",
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


def _compare(
    case: Case, header: Sequence[str], row: int, record: dict[str, Any], cells: Sequence[str]
) -> None:
    if record["$pos"] != row:
        raise Wrong(Kind.DIFFERENT, f"record {row} has position {record['$pos']}")
    reject = record["$reject"]
    named = dict(zip(header, cells, strict=False))
    if len(cells) != len(header):
        _compare_origin(row, reject, named)
        return
    numbers = {name: named.get(name) for name, type_ in case.declared.items() if type_ == "int"}
    if reject or any(cell and re.search("[ab]", cell) for cell in numbers.values()):
        _compare_origin(row, reject, named)
        if all(re.fullmatch("-?[0-9]{1,18}|", cell or "") for cell in numbers.values()):
            raise Wrong(Kind.LOST, f"record {row} is rejected: {decode(reject['inputs'])}")
        return
    for name in case.needed:
        expected = _value(named.get(name), case.declared[name])
        if expected is not ... and record[name] != expected:
            raise Wrong(Kind.DIFFERENT, f"record {row}: {name!r} is {record[name]!r}")
    if case.keeps:
        for name in header:
            if name not in case.declared and record[f"$widened.{name}"] != named[name]:
                raise Wrong(Kind.DIFFERENT, f"record {row}: {name!r} is not {named[name]!r}")


def _compare_origin(row: int, reject: Any, named: dict[str, str]) -> None:
    if reject is None:
        raise Wrong(Kind.DIFFERENT, f"record {row} is not rejected")
    if decode(reject["origin"]) != named:
        raise Wrong(Kind.LOST, f"record {row} is rejected with {decode(reject['origin'])}")


def _value(cell: str | None, type_: str) -> Any:
    """The value of a cell, `...` if this oracle does not know."""
    if type_ == "string" or cell is None:
        return cell
    if not cell:
        return None
    if type_ == "any":
        return '"' + cell
    return int(cell) if re.fullmatch("-?[0-9]{1,18}", cell) else ...
