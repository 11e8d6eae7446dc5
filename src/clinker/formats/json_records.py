"""JSON files as records: where they are, and how arrays inside them are unfolded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any, Protocol, TypeAlias

import orjson
import pyarrow as pa

from clinker.formats.encodings import opened
from clinker.formats.json_members import taken_apart, values_of_maps
from clinker.formats.read_spec import ArrayPath, FormatError, JsonDialect, JsonForm, MemberTypes

Record: TypeAlias = dict[str, Any]
_BLOCK_BYTES = 1 << 15
_KINDS = {list: "an array", str: "a text", bool: "a boolean", type(None): "null"}


class Records(Protocol):
    """Some records in a row, and what they hold for columns."""

    def __len__(self) -> int: ...

    def values(self, column: str) -> Sequence[Any]: ...

    def taken_apart(self, column: str, types: MemberTypes) -> pa.ListArray:
        """The arrays in a column, of their elements just these members; or `Unlike`."""
        ...

    def whole(self, at: int) -> Record: ...


class WholeRecords:
    """Records that have been read with all their fields."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    def values(self, column: str) -> Sequence[Any]:
        steps = column.split(".")
        if len(steps) == 1:
            return values_of_maps(self._records, column)
        return [find(record, steps) for record in self._records]

    def taken_apart(self, column: str, types: MemberTypes) -> pa.ListArray:
        return taken_apart(self.values(column), types, values_of_maps)

    def whole(self, at: int) -> Record:
        return self._records[at]


def steps_of(path: str) -> tuple[str, ...]:
    """The keys that `$.a.b`, `a.b` or `/a/b` lead through."""
    steps = path.split("/") if path.startswith("/") else path.removeprefix("$").split(".")
    return tuple(filter(None, steps))


# Finding records


def detect_form(dialect: JsonDialect, head: bytes, path: str) -> JsonForm | None:
    """How the records of a file are written; `head` is its first line that is not blank."""
    head = head.strip()
    if not head:
        return None
    if dialect.record_path:
        return "ndjson" if dialect.form == "ndjson" and _is_json(head) else "object"
    if dialect.form:
        return dialect.form
    if head.startswith(b"["):
        return "array"
    if head.startswith(b"{"):
        # A line that is a value of its own makes the file NDJSON, one object per line.
        return "ndjson" if _is_json(head) else "object"
    found = head[:1].decode(errors="replace")
    raise FormatError(f"JSON records begin with {{ or [, found '{found}'", path)


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def line_records(data: bytes, start: int, path: str) -> Iterator[Record]:
    """The records of whole lines that stand at `start` in their file."""
    return chain.from_iterable(
        _block_records(block, start + offset, path)
        for offset, block in line_blocks(data, _BLOCK_BYTES)
    )


def line_blocks(data: bytes, block_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Whole lines, hardly more of them than asked for, and where they begin."""
    begin = 0
    while begin < len(data):
        end = data.find(b"\n", begin + block_bytes) + 1 or len(data)
        yield begin, data[begin:end]
        begin = end


def _block_records(block: bytes, start: int, path: str) -> Iterable[Record]:
    lines = block.split(b"\n")
    try:
        records = list(map(orjson.loads, filter(bytes.strip, lines)))
    except orjson.JSONDecodeError:
        return _checked_records(lines, start, path)
    if set(map(type, records)) <= {dict}:
        return records
    return _checked_records(lines, start, path)


def _checked_records(lines: Sequence[bytes], start: int, path: str) -> Iterator[Record]:
    """The records up to the first line that is none, and what is wrong with that."""
    offset = start
    for line in lines:
        if line.strip():
            try:
                record = orjson.loads(line)
            except orjson.JSONDecodeError as problem:
                number = _line_number(path, offset)
                raise _malformed(problem, line, path, number, _line_help(line)) from None
            if type(record) is not dict:
                where = f"line {_line_number(path, offset)}"
                raise _no_object(where, record, path, _line_help(line))
            yield record
        offset += len(line) + 1


def _malformed(
    problem: orjson.JSONDecodeError,
    text: bytes,
    path: str,
    line: int = 1,
    help: str | None = None,
) -> FormatError:
    """What is wrong with JSON text that begins on the given line."""
    try:
        text.decode()
    except UnicodeDecodeError as undecodable:
        line += text.count(b"\n", 0, undecodable.start)
        found = text[undecodable.start]
        return FormatError(f"line {line}: byte 0x{found:02X} is not UTF-8", path)
    where = f"line {line + problem.lineno - 1}, column {problem.colno}"
    return FormatError(f"{where}: {problem.msg}", path, help)


def _line_help(line: bytes) -> str | None:
    if line.lstrip().startswith(b"["):
        return "if the file is one array, set 'format: array' in the source's options"
    return "NDJSON has one object per line" if line.strip() in (b"{", b"}") else None


def _line_number(path: str, offset: int) -> int:
    with opened(path) as stream:
        return stream.read(offset).count(b"\n") + 1


def document_records(
    data: bytes, form: JsonForm, record_path: str | None, path: str
) -> Iterator[Record]:
    """The records of a file that is a single JSON value."""
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise _malformed(problem, data, path) from None
    if record_path:
        yield from _records_at(document, record_path, path)
        return
    if form == "array" and not isinstance(document, list):
        help = "leave out 'format', or set it to 'object' or 'ndjson'"
        raise FormatError(f"expected an array of records, found {_kind(document)}", path, help)
    if form == "object" and not isinstance(document, dict):
        raise _no_records(document, path)
    yield from _records_in(document, path)


def _records_at(document: Any, record_path: str, path: str) -> Iterator[Record]:
    found = _followed(document, record_path, path)
    return _records_in(found, path, f" at '{record_path}'")


def _records_in(found: Any, path: str, place: str = "") -> Iterator[Record]:
    """The records of an array, or the one that an object is."""
    if isinstance(found, dict):
        yield found
        return
    if not isinstance(found, list):
        raise _no_records(found, path, place)
    for number, record in enumerate(found, 1):
        if type(record) is not dict:
            raise _no_object(f"element {number} of the array{place}", record, path)
        yield record


def _no_records(found: Any, path: str, place: str = "") -> FormatError:
    help = "set 'record_path' to where the records are, or leave out 'format'"
    return FormatError(f"expected records{place}, found {_kind(found)}", path, help)


def _followed(document: Any, record_path: str, path: str) -> Any:
    found = document
    for step in steps_of(record_path):
        if not isinstance(found, dict) or step not in found:
            keys = ", ".join(f"'{key}'" for key in found) if isinstance(found, dict) else ""
            help = f"there are {keys}" if keys else "check 'record_path' in the source's options"
            raise FormatError(f"'{record_path}' leads nowhere: there is no '{step}'", path, help)
        found = found[step]
    return found


def _no_object(where: str, found: Any, path: str, help: str | None = None) -> FormatError:
    return FormatError(f"{where} is no object but {_kind(found)}", path, help)


def _kind(value: Any) -> str:
    return "an object" if isinstance(value, dict) else _KINDS.get(type(value), "a number")


# Unfolding arrays


Unfolding: TypeAlias = Callable[[Record], Iterable[Record]]
"""What turns a record into the records inside of it."""


def unfolding(
    paths: Sequence[ArrayPath], record_path: str | None = None, file: str = ""
) -> Unfolding | None:
    """For records at a path, then for those that arrays stand for; None if nothing is unfolded."""
    steps: list[Unfolding] = []
    if record_path:
        steps.append(partial(_records_at, record_path=record_path, path=file))
    steps += (_explode(p) if p.mode == "explode" else _join(p) for p in paths)
    if not steps:
        return None

    def unfold(record: Record) -> Iterable[Record]:
        records: Iterable[Record] = (record,)
        for step in steps:
            records = chain.from_iterable(map(step, records))
        return records

    return unfold


def _explode(path: ArrayPath) -> Unfolding:
    steps = steps_of(path.path)

    def explode(record: Record) -> Sequence[Record]:
        elements = find(record, steps)
        if not isinstance(elements, list):
            return (record,)
        without = _replaced(record, steps, ())
        return [
            without | element if isinstance(element, dict) else _replaced(record, steps, (element,))
            for element in elements
        ]

    return explode


def _join(path: ArrayPath) -> Unfolding:
    steps = steps_of(path.path)

    def join(record: Record) -> Sequence[Record]:
        elements = find(record, steps)
        if not isinstance(elements, list):
            return (record,)
        text = path.separator.join(
            element if isinstance(element, str) else orjson.dumps(element).decode()
            for element in elements
        )
        return (_replaced(record, steps, (text,)),)

    return join


def find(record: Record, steps: Sequence[str]) -> Any:
    """The value at a path, null if there is none; a key with dots in it counts before that."""
    whole = ".".join(steps)
    if whole in record:
        return record[whole]
    found: Any = record
    for step in steps:
        if not isinstance(found, dict):
            return None
        found = found.get(step)
    return found


def _replaced(record: Record, steps: Sequence[str], value: tuple[Any, ...]) -> Record:
    """A record with another value at a path, or without it if there is none."""
    whole = ".".join(steps)
    first, rest = (whole, ()) if whole in record else (steps[0], steps[1:])
    changed = dict(record)
    if rest:
        changed[first] = _replaced(record[first], rest, value)
    elif value:
        changed[first] = value[0]
    else:
        del changed[first]
    return changed
