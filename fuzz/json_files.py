"""JSON files of all forms, whole and broken, against the reader of Python's library."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from clinker.cxl.run.tagged import decode
from clinker.cxl.types import ANY
from clinker.formats import FORMATS
from clinker.formats.json.dialect import JsonDialect
from clinker.formats.reading import (
    Column,
    FormatError,
    ReadSpec,
    input_file,
    read_split,
    take_inventory,
)
from fuzz.findings import Kind, Tally, Wrong, play_files, smallest

AREA = "json"
MARK = "\ufeff"
Form = Literal["array", "ndjson", "object"]
_KEYS = ("a", "b", "ä", "$pos", "$widened", "", "`", "${x}", "x\ny", MARK, "A", "a'b")
_DECLARED = tuple(key for key in _KEYS if not re.match(r"\$[a-z]", key) and "." not in key)
_TEXTS = (
    "",
    "x",
    "ä",
    "𝄞",
    '"',
    "\\",
    "\n",
    "\x00",
    "\x7f",
    "\u2028",
    MARK,
    "null",
    "${x}",
    '"1',
    "@2",
)
_NUMBERS = ("0", "-1", "1.5", "-0.25", "1e3", "12345678901234567", "2E-2", "-0.0", "1.0")
_WILD_NUMBERS = ("-0", "1.10", "123456789012345678901234567890", "1e400", "0.1000000000000000055")
_BLANKS = ("", "", "", " ", "\t", "\r", "  ")
_NOISE = (*b'{}[]",:\\\n\r 0-.eu', 0x00, 0xFF, 0xC3, 0xEF)
_RECORD_PATH = "data.items"


@dataclass(frozen=True)
class Case:
    """A file and how it is to be read."""

    content: bytes
    form: Form
    told: bool
    """Whether the reader is told the form, or has to see it from the content."""
    declared: tuple[str, ...]
    split_bytes: int

    def __str__(self) -> str:
        how = f"{self.form}, told={self.told}, declared {self.declared}"
        return f"{self.content!r}\n    {how}, splits of {self.split_bytes}"


def play(seed: int, rounds: range, tally: Tally) -> None:
    play_files(AREA, made, check, _smaller, seed, rounds, tally)


def _smaller(case: Case, wrong: Callable[[Case], Wrong | None], kind: Kind) -> Case:
    def with_bytes(content: Sequence[int]) -> Case:
        return replace(case, content=bytes(content))

    return with_bytes(smallest(case.content, kind, lambda part: wrong(with_bytes(part))))


# Making files


def made(chance: random.Random) -> Case:
    form: Form = chance.choice(["array", "ndjson", "ndjson", "object"])
    records = [_object(chance, 3) for _ in range(chance.randint(0, 6))]
    content = _file(chance, form, records).encode()
    if chance.random() < 0.3:
        content = _broken(chance, content)
    if chance.random() < 0.2:
        content = MARK.encode() + content
    return Case(
        content,
        form,
        told=form == "object" or not records or chance.random() < 0.6,
        declared=tuple(chance.sample(_DECLARED, chance.randint(0, 3))),
        split_bytes=chance.choice([1, 5, 30, 1 << 20]),
    )


def _file(chance: random.Random, form: Form, records: Sequence[str]) -> str:
    if form == "ndjson":
        ends = [chance.choice(["\n", "\r\n", "\n\n", "\n \n"]) for _ in records]
        text = "".join(record + end for record, end in zip(records, ends, strict=True))
        return text.rstrip() if chance.random() < 0.3 else text
    separator = "," + chance.choice(["", "\n", "\r\n  "])
    array = f"[{_blank(chance)}{separator.join(records)}{_blank(chance)}]"
    if form == "array":
        return array + _blank(chance)
    other = _object(chance, 1)
    return f'{{"more":{other},"data":{{"items":{array},"rest":{other}}}}}'


def _object(chance: random.Random, depth: int) -> str:
    keys = chance.sample(_KEYS, chance.randint(0, 4))
    members = (f"{_text(chance, key)}:{_blank(chance)}{_value(chance, depth)}" for key in keys)
    return "{" + ",".join(_blank(chance) + member for member in members) + "}"


def _value(chance: random.Random, depth: int) -> str:
    kind = chance.randint(0, 8 if depth else 5)
    if kind <= 1:
        return _text(chance, "".join(chance.choices(_TEXTS, k=chance.randint(0, 3))))
    if kind <= 3:
        return chance.choice(_NUMBERS if chance.random() < 0.95 else _WILD_NUMBERS)
    if kind <= 5:
        return chance.choice(["true", "false", "null"])
    if kind <= 6:
        items = [_value(chance, depth - 1) for _ in range(chance.randint(0, 3))]
        return f"[{_blank(chance)}{','.join(items)}]"
    return _object(chance, depth - 1)


def _text(chance: random.Random, text: str) -> str:
    return json.dumps(text, ensure_ascii=chance.random() < 0.5)


def _blank(chance: random.Random) -> str:
    return chance.choice(_BLANKS)


def _broken(chance: random.Random, content: bytes) -> bytes:
    data = bytearray(content)
    for _ in range(chance.randint(1, 3)):
        at = chance.randint(0, len(data))
        match chance.randint(0, 3):
            case 0:
                del data[at : at + chance.randint(1, 4)]
            case 1:
                data[at:at] = data[: chance.randint(0, 5)]
            case 2:
                data[at:at] = MARK.encode()
            case _:
                data[at : at + chance.randint(0, 1)] = bytes([chance.choice(_NOISE)])
    return bytes(data)


# What is to be read


class _Doubtful(Exception):
    """JSON on which readers may differ."""


class _Malformed(Exception):
    """No JSON."""


@dataclass(frozen=True)
class _Line:
    """A record, or a line that holds none."""

    record: dict[str, Any] | None
    is_doubtful: bool = False


def lines_of(case: Case) -> list[_Line]:
    """What the file holds; `_Malformed` if it has to be refused, `_Doubtful` if it may be."""
    content = case.content.removeprefix(MARK.encode())
    if case.form == "ndjson":
        if not case.told and _is_document(content):
            raise _Doubtful
        return [_line(line) for line in content.split(b"\n") if line.strip(b" \t\r")]
    text = _decoded(content)
    if not text.strip(" \t\r\n"):
        raise _Doubtful
    document = _parsed(text)
    if case.form == "object":
        for step in _RECORD_PATH.split("."):
            if not isinstance(document, dict) or step not in document:
                raise _Doubtful
            document = document[step]
    if not isinstance(document, list) or not all(isinstance(item, dict) for item in document):
        raise _Doubtful
    return [_Line(item) for item in document]


def _is_document(content: bytes) -> bool:
    """Whether a line break that got into a record leaves one JSON value on several lines."""
    try:
        json.loads(content)
    except ValueError:
        return False
    return b"\n" in content.strip()


def _decoded(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise _Malformed from None


def _line(content: bytes) -> _Line:
    try:
        record = _parsed(_decoded(content))
    except _Malformed:
        return _Line(None)
    except _Doubtful:
        return _Line(None, is_doubtful=True)
    return _Line(record) if isinstance(record, dict) else _Line(None, is_doubtful=True)


def _parsed(text: str) -> Any:
    def refused(_text: str) -> Any:
        raise _Malformed

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in pairs}) < len(pairs):
            doubts.append(_Doubtful())
        return dict(pairs)

    def number(text: str) -> float:
        if text in _WILD_NUMBERS or len(text) > 17:
            doubts.append(_Doubtful())
        return float(text)

    def whole(text: str) -> int:
        if text == "-0" or len(text) > 18:
            doubts.append(_Doubtful())
        return int(text)

    doubts: list[_Doubtful] = []
    try:
        value = json.loads(
            text,
            parse_constant=refused,
            object_pairs_hook=members,
            parse_float=number,
            parse_int=whole,
        )
    except ValueError:
        raise _Malformed from None
    if doubts or re.search(r"\\u[dD][89a-fA-F]", text) or "\0" in text:
        raise _Doubtful
    return value


# Reading, and comparing


def check(case: Case, folder: Path) -> None:
    try:
        expected: list[_Line] | None = lines_of(case)
        is_malformed = False
    except _Doubtful:
        expected, is_malformed = None, False
    except _Malformed:
        expected, is_malformed = None, True
    try:
        records = _read(case, folder)
    except FormatError as problem:
        if expected is None or any(line.record is None for line in expected):
            return
        raise Wrong(Kind.LOST, f"refused: {problem.message}") from None
    if is_malformed:
        raise Wrong(Kind.DIFFERENT, "no JSON, and nobody says so")
    if expected is not None:
        _compare(case, expected, records)


def _read(case: Case, folder: Path) -> list[dict[str, Any]]:
    path = folder / "in.json"
    path.write_bytes(case.content)
    is_object = case.form == "object"
    spec = ReadSpec(
        source=0,
        source_name="rows",
        format=FORMATS["json"],
        dialect=JsonDialect(
            form=case.form if case.told else None, record_path=_RECORD_PATH if is_object else None
        ),
        columns=tuple(Column(name, ANY) for name in case.declared),
        needed=case.declared,
    )
    inventory = take_inventory(spec, [input_file(0, str(path))], case.split_bytes)
    batches = [batch for split in inventory.splits for batch in read_split(spec, inventory, split)]
    for batch in batches:
        batch.validate(full=True)
    return [record for batch in batches for record in batch.to_pylist()]


def _compare(case: Case, expected: Sequence[_Line], records: Sequence[dict[str, Any]]) -> None:
    if len(records) != len(expected):
        raise Wrong(Kind.LOST, f"{len(records)} records, expected {len(expected)}")
    for row, (line, record) in enumerate(zip(expected, records, strict=True), 1):
        if record["$pos"] != row:
            raise Wrong(Kind.DIFFERENT, f"record {row} has position {record['$pos']}")
        if line.is_doubtful:
            continue
        if (line.record is None) != (record["$reject"] is not None):
            raise Wrong(Kind.LOST, f"record {row}: rejected is {record['$reject']}")
        if line.record is not None:
            found: dict[str, Any] = {name: decode(record[name]) for name in case.declared}
            rest: Any = decode(record["$widened"])
            found |= rest or {}
            missing = {name: None for name in case.declared if name not in line.record}
            wanted = {**line.record, **missing}
            if _sorted(found) != _sorted(wanted):
                raise Wrong(Kind.DIFFERENT, f"record {row} is {found}, expected {wanted}")


def _sorted(record: dict[str, Any]) -> str:
    """A record by its fields; inside of them the order of keys counts, and 1 is not 1.0."""
    return repr(sorted(record.items()))
