"""JSON files as records: where they are, and how arrays inside them are unfolded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Protocol

import orjson
import pyarrow as pa

from clinker.formats.common.coercion import Coerced, Coercion
from clinker.formats.common.encodings import find_text_start
from clinker.formats.common.json_numbers import LOADS, MALFORMED, find_spelling, loads
from clinker.formats.common.read_spec import (
    ArrayPath,
    FormatError,
    MemberTypes,
    Split,
)
from clinker.formats.common.unfolding import (
    Record,
    Unfolding,
    find,
    split_path,
    unfold_array,
    unfold_in_turn,
)
from clinker.formats.files.local import open_file
from clinker.formats.json.dialect import JsonDialect, JsonForm
from clinker.formats.json.members import look_up, take_apart
from clinker.formats.json.scan import element_blocks
from clinker.frozen import frozen

_BLOCK_BYTES = 1 << 15
_NDJSON_NAMES = (".ndjson", ".jsonl")
_KINDS = {list: "an array", str: "a text", bool: "a boolean", type(None): "null"}


class Records(Protocol):
    """Some records in a row, and what they hold for columns."""

    @property
    def unreadable(self) -> Mapping[int, Unreadable]:
        """The lines among them that are no records, and hold nothing."""
        ...

    def __len__(self) -> int: ...

    def values(self, column: str) -> Sequence[Any]: ...

    def coerced(self, column: str, coercion: Coercion) -> Coerced:
        """The values of a column as those of its type."""
        ...

    def taken_apart(self, column: str, types: MemberTypes) -> pa.ListArray:
        """The arrays in a column, of their elements just these members; or `Unlike`."""
        ...

    def whole(self, at: int) -> Record: ...


class WholeRecords:
    """Records that have been read with all their fields."""

    def __init__(self, records: Sequence[Record | Unreadable]) -> None:
        self.unreadable = {
            at: record for at, record in enumerate(records) if isinstance(record, Unreadable)
        }
        self._records: Sequence[Record] = [
            {} if isinstance(record, Unreadable) else record for record in records
        ]

    def __len__(self) -> int:
        return len(self._records)

    def values(self, column: str) -> Sequence[Any]:
        steps = column.split(".")
        if len(steps) == 1:
            return look_up(self._records, column)
        return [find(record, steps) for record in self._records]

    def coerced(self, column: str, coercion: Coercion) -> Coerced:
        return coercion.column_from_values(self.values(column))

    def taken_apart(self, column: str, types: MemberTypes) -> pa.ListArray:
        return take_apart(self.values(column), types, look_up)

    def whole(self, at: int) -> Record:
        return self._records[at]


# Finding records


def detect_form(dialect: JsonDialect, lines: Sequence[bytes], path: str) -> JsonForm | None:
    """How the records of a file are written; `lines` are its first ones that are not blank."""
    if not lines:
        return None
    head = lines[0].strip()
    if dialect.record_path:
        is_ndjson = dialect.form == "ndjson" and _ends_on_its_line(lines)
        return "ndjson" if is_ndjson else "object"
    if dialect.form:
        return dialect.form
    if head.startswith(b"["):
        return "array"
    if head.startswith(b"{"):
        # A line that is a value of its own makes the file NDJSON, one object per line.
        is_ndjson = path.endswith(_NDJSON_NAMES) or _ends_on_its_line(lines)
        return "ndjson" if is_ndjson else "object"
    first = head[:1].decode(errors="replace")
    raise FormatError(f"JSON records begin with {{ or [, found '{first}'", path)


def _ends_on_its_line(lines: Sequence[bytes]) -> bool:
    """Whether the first value of a file ends on its line: a damaged one is known by the next."""
    first, *others = lines
    if _is_json(first):
        return True
    goes_on = first.rstrip().endswith((b"{", b"[", b",", b":"))
    return not goes_on and any(line.startswith(b"{") and _is_json(line) for line in others)


def _is_json(text: bytes) -> bool:
    try:
        loads(text)
    except MALFORMED:
        return False
    return True


@frozen
class Unreadable:
    """A line that is no record, and why."""

    problem: str
    line: str | None = None


@frozen(eq=False)
class RecordBlock:
    """Records that stand in a file one after the other, and how many bytes they have there."""

    records: Sequence[Record | Unreadable]
    size: int


def line_records(data: bytes, unfold: Unfolding | None = None) -> Iterator[RecordBlock]:
    """The records of whole lines, some at a time."""
    for block in line_blocks(data, _BLOCK_BYTES):
        yield RecordBlock(block_records(block, unfold), len(block))


def element_records(
    data: bytes, place: str, split: Split, unfold: Unfolding | None = None
) -> Iterator[RecordBlock]:
    """The records of whole elements of the array at a `place`, some at a time."""
    number = split.first_row
    path = split.file.path
    for offset, block in element_blocks(data, _BLOCK_BYTES):
        start = split.start + offset
        records = parse(b"[" + block + b"]", path, start, wrapping=1)
        if not records:
            line, before = _place(path, start)
            where = f"line {line}, column {before + 1}"
            raise FormatError(f"{where}: a comma without an element", path)
        if not set(map(type, records)) <= {dict}:
            at = next(at for at, record in enumerate(records) if type(record) is not dict)
            which = "an element" if unfold else f"element {number + at}"
            raise no_object(f"{which} of the array{place}", records[at], path)
        if unfold:
            records = list(chain.from_iterable(map(unfold, records)))
        yield RecordBlock(records, len(block))
        number += len(records)


def line_blocks(data: bytes, block_bytes: int) -> Iterator[bytes]:
    """Whole lines, hardly more of them than asked for."""
    begin = 0
    while begin < len(data):
        end = data.find(b"\n", begin + block_bytes) + 1 or len(data)
        yield data[begin:end]
        begin = end


def block_records(block: bytes, unfold: Unfolding | None) -> Sequence[Record | Unreadable]:
    """The records of some whole lines."""
    lines = list(filter(bytes.strip, block.split(b"\n")))
    read = LOADS[find_spelling(block)]
    try:
        records = list(map(read, lines))
        if set(map(type, records)) <= {dict}:
            return list(chain.from_iterable(map(unfold, records))) if unfold else records
    except (*MALFORMED, FormatError):
        pass
    return list(chain.from_iterable(_one_line(line, unfold) for line in lines))


def _one_line(line: bytes, unfold: Unfolding | None) -> Sequence[Record | Unreadable]:
    """The records of a line, or what is wrong with it."""
    line = line.rstrip(b"\r")
    try:
        record = loads(line)
    except MALFORMED as problem:
        return (_unreadable(line, f"is not JSON: {_line_problem(line, problem)}"),)
    if type(record) is not dict:
        return (_unreadable(line, f"is no object but {_name_kind(record)}"),)
    try:
        return list(unfold(record)) if unfold else (record,)
    except FormatError as problem:
        return (_unreadable(line, f"holds no records: {problem.message}"),)


def _unreadable(line: bytes, problem: str) -> Unreadable:
    return Unreadable(problem, line.decode(errors="backslashreplace"))


def _line_problem(line: bytes, problem: Exception) -> str:
    try:
        line.decode()
    except UnicodeDecodeError as undecodable:
        at = undecodable.start
        return f"byte 0x{line[at]:02X} at column {at + 1} is not UTF-8"
    message, _, column = _problem_of(line, problem)
    return f"{message} at column {column}" if column else message


def _problem_of(text: bytes, problem: Exception) -> tuple[str, int, int]:
    """What is wrong with a JSON text, and in which line and column of it; 0 where nobody knows."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as known:
        return known.msg, known.lineno, known.colno
    except RecursionError:
        pass
    return "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem), 0, 0


def parse(text: bytes, path: str, start: int, wrapping: int = 0) -> Any:
    """The value of a JSON text that stands at `start` in a file.

    `wrapping` is how many characters were put before it to make it one.
    """
    try:
        return loads(text)
    except MALFORMED as problem:
        raise malformed(text, problem, path, start, wrapping) from None


def malformed(
    text: bytes, problem: Exception, path: str, start: int = 0, wrapping: int = 0
) -> FormatError:
    """What is wrong with a part of a document that begins at `start`."""
    first_line, before = _place(path, start)
    try:
        text.decode()
    except UnicodeDecodeError as undecodable:
        line = first_line + text.count(b"\n", 0, undecodable.start)
        byte = text[undecodable.start]
        return FormatError(f"line {line}: byte 0x{byte:02X} is not UTF-8", path)
    message, line, column = _problem_of(text, problem)
    if not line:
        return FormatError(message, path)
    if line == 1:
        column += before - wrapping
    return FormatError(f"line {first_line + line - 1}, column {column}: {message}", path)


def malformed_document(
    outside: bytes, problem: Exception, path: str, begin: int, end: int
) -> FormatError:
    """What is wrong with a document around the elements that stand from `begin` to `end`."""
    try:
        orjson.loads(outside)
    except orjson.JSONDecodeError as known:
        with open_file(path) as stream:
            place = find_text_start(stream, path, "utf-8")
        place += len(outside.decode(errors="replace")[: known.pos].encode())
        line, before = _place(path, place if place < begin else place - begin + end)
        return FormatError(f"line {line}, column {before + 1}: {known.msg}", path)
    return malformed(outside, problem, path)


def _place(path: str, offset: int) -> tuple[int, int]:
    """The number of the line in which a byte stands, and how many characters are before it."""
    lines, line = 1, b""
    with open_file(path) as stream:
        left = offset - find_text_start(stream, path, "utf-8")
        stream.seek(offset - left)
        while left > 0 and (block := stream.read(min(left, _BLOCK_BYTES))):
            left -= len(block)
            *ended, rest = block.split(b"\n")
            lines += len(ended)
            line = rest if ended else line + rest
    return lines, len(line.decode(errors="replace"))


def document_records(
    data: bytes, record_path: str | None, path: str, start: int
) -> Iterator[Record]:
    """The records of a document that begins at `start`: it is one, or it has them at a path."""
    document = parse(data, path, start)
    if record_path:
        return _records_at(document, record_path, path)
    if not isinstance(document, dict):
        raise _no_records(document, path)
    return iter([document])


def no_array(data: bytes, path: str, start: int) -> FormatError:
    """What is wrong with a document that should be an array and is none."""
    kind = _name_kind(parse(data, path, start))
    help = "leave out 'format', or set it to 'object' or 'ndjson'"
    return FormatError(f"expected an array of records, found {kind}", path, help)


def place_of(dialect: JsonDialect) -> str:
    """Where the array of the records is, as messages say it."""
    return f" at '{dialect.record_path}'" if dialect.record_path else ""


def _records_at(document: Any, record_path: str, path: str) -> Iterator[Record]:
    value = _follow(document, record_path, path)
    return _records_in(value, path, f" at '{record_path}'")


def _records_in(value: Any, path: str, place: str = "") -> Iterator[Record]:
    """The records of an array, or the one that an object is."""
    if isinstance(value, dict):
        yield value
        return
    if not isinstance(value, list):
        raise _no_records(value, path, place)
    for number, record in enumerate(value, 1):
        if type(record) is not dict:
            raise no_object(f"element {number} of the array{place}", record, path)
        yield record


def _no_records(value: Any, path: str, place: str = "") -> FormatError:
    help = "set 'record_path' to where the records are, or leave out 'format'"
    return FormatError(f"expected records{place}, found {_name_kind(value)}", path, help)


def _follow(document: Any, record_path: str, path: str) -> Any:
    value = document
    for step in split_path(record_path):
        if not isinstance(value, dict) or step not in value:
            keys = ", ".join(f"'{key}'" for key in value) if isinstance(value, dict) else ""
            help = f"there are {keys}" if keys else "check 'record_path' in the source's options"
            raise FormatError(f"'{record_path}' leads nowhere: there is no '{step}'", path, help)
        value = value[step]
    return value


def no_object(where: str, value: Any, path: str) -> FormatError:
    return FormatError(f"{where} is no object but {_name_kind(value)}", path)


def _name_kind(value: Any) -> str:
    return "an object" if isinstance(value, dict) else _KINDS.get(type(value), "a number")


def make_unfolding(
    paths: Sequence[ArrayPath], record_path: str | None = None, file: str = ""
) -> Unfolding | None:
    """For records at a path, then for those that arrays stand for; None if nothing is unfolded."""
    steps: list[Unfolding] = []
    if record_path:
        steps.append(partial(_records_at, record_path=record_path, path=file))
    return unfold_in_turn([*steps, *map(unfold_array, paths)])
