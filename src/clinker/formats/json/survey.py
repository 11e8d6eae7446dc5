"""JSON files looked through before they are read: how their records are written, where to cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, BinaryIO, Protocol

import numpy as np
import orjson

from clinker.formats.common.encodings import find_text_start
from clinker.formats.common.json_numbers import LOADS, MALFORMED, find_spelling, loads
from clinker.formats.common.missing import describe_missing
from clinker.formats.common.read_spec import (
    WIDENED,
    InputFile,
    Inventory,
    MemberTypes,
    ReadSpec,
    Split,
    delivered_schema,
)
from clinker.formats.common.record_sizes import RecordSizes
from clinker.formats.common.unfolding import Unfolding, split_path
from clinker.formats.files.local import open_file
from clinker.formats.json.dialect import JsonDialect, JsonForm
from clinker.formats.json.documents import ArraySurvey
from clinker.formats.json.members import MemberGuess
from clinker.formats.json.records import (
    WholeRecords,
    detect_form,
    line_records,
    make_unfolding,
    no_array,
    parse,
)
from clinker.formats.json.scan import Structure
from clinker.formats.json.sections import Document, list_elements, read_document
from clinker.frozen import frozen

_BLOCK_BYTES = 1 << 17
_FIRST_LINES, _LONG_LINE = 2, 1 << 20
"""How many lines tell what kind of file it is, and how long a line is read for that."""
_GUESSED_LINES = 6
"""Of every block so many tell what kinds of values there are."""
_PLAIN = re.compile(r"[\w. -]*", re.ASCII)
"""Names that are written as they are."""
_BLANK = 0x20
_LF = 10
_ONLY_UTF8 = "JSON files are UTF-8; convert it"


def take_inventory(
    spec: ReadSpec, dialect: JsonDialect, files: Sequence[InputFile], split_bytes: int
) -> Inventory:
    """Find out how the records are written, and cut large files between lines."""
    keys = _KeySearch(spec)
    guesses = _Guesses(spec)
    surveys = [_survey(spec, dialect, file, split_bytes, (keys, guesses)) for file in files]
    members = guesses.types()
    return Inventory(
        schema=delivered_schema(spec, [WIDENED], members),
        undeclared=(),
        layouts=tuple(survey.form for survey in surveys),
        splits=tuple(split for survey in surveys for split in survey.splits),
        task_bytes=split_bytes,
        record_bytes=_find_largest(surveys),
        members=members,
        document_schema=spec.document_schema,
        documents=tuple(survey.document for survey in surveys),
        warnings=(*keys.warnings(), *_warn_of_lines(spec, surveys)),
    )


@frozen
class _Survey:
    """How the records of a file are written, and its splits."""

    form: JsonForm | None
    splits: tuple[Split, ...]
    record_bytes: int | None = None
    """None if it is not NDJSON."""
    document: Mapping[str, Any] = field(default_factory=dict)
    """What is wanted of what stands around the records."""
    has_sections: bool = True
    """Whether there can be any; not where every line is a document of its own."""


def _warn_of_lines(spec: ReadSpec, surveys: Sequence[_Survey]) -> Iterator[str]:
    if spec.sections and not all(survey.has_sections for survey in surveys):
        yield (
            f"source '{spec.source_name}' declares sections, which files with one object per line "
            "do not have: null"
        )


def _find_largest(surveys: Sequence[_Survey]) -> int | None:
    sizes = [survey.record_bytes for survey in surveys if survey.splits]
    return None if None in sizes else max(filter(None, sizes), default=0)


class _Looking(Protocol):
    """Something that looks at parts of files that hold whole lines."""

    def look(self, text: bytes) -> None: ...


class _Guesses:
    """Looks at a few records of every part to guess the types of what is taken apart."""

    def __init__(self, spec: ReadSpec) -> None:
        self._guesses = {name: MemberGuess(keys) for name, keys in spec.members.items()}
        self._lines: list[bytes] = []
        """Lines yet to be read: to look at few of them takes as long as to look at many."""
        self._size = 0

    def look(self, text: bytes) -> None:
        if not self._guesses:
            return
        lines = text.split(b"\n", _GUESSED_LINES)[:_GUESSED_LINES]
        self._lines += lines
        self._size += sum(map(len, lines))
        if self._size >= _BLOCK_BYTES:
            self._read()

    def _read(self) -> None:
        lines, self._lines, self._size = self._lines, [], 0
        loads = LOADS[find_spelling(b"\n".join(lines))]
        for line in lines:
            try:
                record = loads(line)
            except MALFORMED:  # a blank line, or for the reader to complain about
                continue
            if isinstance(record, dict):
                records = WholeRecords([record])
                for name, guess in self._guesses.items():
                    guess.look(records.values(name))

    def types(self) -> dict[str, MemberTypes]:
        self._read()
        return {name: guess.types() for name, guess in self._guesses.items()}


class _KeySearch:
    """Looks for declared columns that no file mentions.

    A key that occurs nowhere, not even in a text, is certainly missing; that takes no parsing.
    """

    def __init__(self, spec: ReadSpec) -> None:
        self._source = spec.source_name
        self._sought = {column.name: _spell_mentions(column.name) for column in spec.columns}
        self._looked = False

    def look(self, text: bytes) -> None:
        self._looked = True
        for name, mentions in list(self._sought.items()):
            if any(mention in text for mention in mentions):
                del self._sought[name]

    def warnings(self) -> Iterator[str]:
        if self._sought and self._looked:
            yield describe_missing(self._source, list(self._sought))


def _spell_mentions(name: str) -> tuple[bytes, ...]:
    """What a text holds if it has a column: the end of its path, or a key of the whole name."""
    keys = tuple(map(orjson.dumps, dict.fromkeys((name.split(".")[-1], name))))
    # Any escape may stand for letters that many writers escape.
    return keys if _PLAIN.fullmatch(name) else (*keys, b"\\")


def _survey(
    spec: ReadSpec,
    dialect: JsonDialect,
    file: InputFile,
    split_bytes: int,
    looking: Sequence[_Looking],
) -> _Survey:
    with open_file(file.path) as stream:
        start = find_text_start(stream, file.path, "utf-8", _ONLY_UTF8)
        form = detect_form(dialect, _read_first_lines(stream, start), file.path)
        if form is None:
            return _Survey(None, ())
        if form == "ndjson":
            lines = _Lines()
            unfold = make_unfolding(spec.array_paths, dialect.record_path, file.path)
            splits = tuple(_cut(stream, file, start, split_bytes, unfold, lines, looking))
            found = _read_line_document(spec, stream, start, file, lines)
            return _Survey(form, splits, lines.sizes.largest, found or {}, found is not None)
        if form == "array" or dialect.record_path:
            kept = set(list_elements(spec, split_path(dialect.record_path or "")))
            array = ArraySurvey(
                dialect, file, make_unfolding(spec.array_paths), _look_at_all(looking), kept
            )
            splits = tuple(array.cut(stream, start, split_bytes))
            if array.is_there:
                found = read_document(spec, array.document, file.path)
                return _Survey("array", splits, array.sizes.largest, found)
        if form == "array":
            stream.seek(start)
            raise no_array(stream.read(), file.path, start)
        for block in _read_lines(stream, start):
            _look_at_all(looking)(block)
        splits = (Split(file, start, file.size, 1),)
        return _Survey("object", splits, None, _read_whole_document(spec, stream, start, file))


def _read_whole_document(
    spec: ReadSpec, stream: BinaryIO, start: int, file: InputFile
) -> Mapping[str, Any]:
    """The sections of a document that is parsed as a whole, be it only to read its record."""
    if not spec.sections:
        return {}
    stream.seek(start)
    return read_document(spec, Document(parse(stream.read(), file.path, start)), file.path)


def _read_line_document(
    spec: ReadSpec, stream: BinaryIO, start: int, file: InputFile, lines: _Lines
) -> Mapping[str, Any] | None:
    """The sections of a file of lines, if it is a document: a single one that is JSON."""
    if not spec.sections or lines.filled != 1:
        return None
    stream.seek(start)
    try:
        value = loads(stream.read())
    except MALFORMED:  # a rejected record
        return None
    return read_document(spec, Document(value), file.path)


def _look_at_all(looking: Sequence[_Looking]) -> Callable[[bytes], None]:
    def look(text: bytes) -> None:
        for each in looking:
            each.look(text)

    return look


def _read_first_lines(stream: BinaryIO, start: int) -> list[bytes]:
    """The first lines that are not blank, as far as they tell what kind of file it is."""
    stream.seek(start)
    lines: list[bytes] = []
    while len(lines) < _FIRST_LINES and (line := stream.readline(_LONG_LINE)):
        if len(line) == _LONG_LINE:
            line = line.lstrip()[:1] + (b"}" if _ends_on_its_line(stream, line) else b"")
        if not line.isspace():
            lines.append(line)
    return lines


def _ends_on_its_line(stream: BinaryIO, line: bytes) -> bool:
    """Whether the value ends that a long line begins with; reads to the end of that line."""
    structure = Structure()
    depth = 0
    while line:
        marks = structure.marks(line)
        depth = int(marks.depths[-1]) if len(marks.depths) else depth
        line = b"" if line.endswith(b"\n") else stream.readline(_LONG_LINE)
    return depth == 0


def _cut(
    stream: BinaryIO,
    file: InputFile,
    start: int,
    split_bytes: int,
    unfold: Unfolding | None,
    lines: _Lines,
    looking: Sequence[_Looking],
) -> Iterator[Split]:
    """Ranges of whole lines, each with the number of its first record."""
    begin = offset = start
    target = start + split_bytes
    first_row = row = 1
    for block in _read_lines(stream, start):
        for each in (lines, *looking):
            each.look(block)
        if unfold:
            row += sum(len(part.records) for part in line_records(block, unfold))
        else:
            row = 1 + lines.filled
        offset += len(block)
        if offset >= target:
            yield Split(file, begin, offset, first_row, row - first_row)
            begin, first_row = offset, row
            target += (offset - target) // split_bytes * split_bytes + split_bytes
    if offset > begin:
        yield Split(file, begin, offset, first_row, row - first_row)


def _read_lines(stream: BinaryIO, start: int) -> Iterator[bytes]:
    stream.seek(start)
    parts: list[bytes] = []
    while block := stream.read(_BLOCK_BYTES):
        end = block.rfind(b"\n") + 1
        if end:
            yield b"".join([*parts, block[:end]])
            parts = []
        parts.append(block[end:])
    if rest := b"".join(parts):
        yield rest


class _Lines:
    """Looks how many lines are not blank, and how long they are."""

    def __init__(self) -> None:
        self.filled = 0
        self.sizes = RecordSizes()

    def look(self, text: bytes) -> None:
        codes = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(codes == _LF)
        starts = np.concatenate([[0], ends + 1])
        starts = starts[starts < len(codes)]
        # Few lines begin with a blank, so each of these may be looked at.
        doubtful = np.flatnonzero(codes[starts] <= _BLANK)
        blank = sum(1 for at in doubtful if not _take_line(text, int(starts[at])).strip())
        self.filled += len(starts) - blank
        self.sizes.add(len(text), len(starts) - blank)


def _take_line(block: bytes, start: int) -> bytes:
    end = block.find(b"\n", start)
    return block[start : end if end >= 0 else len(block)]
