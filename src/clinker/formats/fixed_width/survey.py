"""Fixed-width files looked through before they are read: how many lines, and where to cut."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import BinaryIO

import numpy as np

from clinker.formats.common.encodings import find_text_start
from clinker.formats.common.missing import describe_missing
from clinker.formats.common.read_spec import (
    FormatError,
    InputFile,
    Inventory,
    ReadSpec,
    Split,
    delivered_schema,
)
from clinker.formats.common.record_sizes import RecordSizes
from clinker.formats.files.local import open_file
from clinker.formats.fixed_width import lines
from clinker.formats.fixed_width.decoding import Codec
from clinker.formats.fixed_width.dialect import Count, FixedWidthDialect
from clinker.formats.fixed_width.lines import Lines, count_lines, read_lines, read_rows
from clinker.formats.fixed_width.record_types import RecordTypes
from clinker.frozen import frozen

_CHARACTERS = {"lf": "\n", "crlf": "\n", "cr": "\r"}
_BLOCK_BYTES = 1 << 20


@frozen
class FileLines:
    """How the lines of one file are told apart: by the byte that ends them, or by their length."""

    end: int | None
    length: int

    def read(self, stream: BinaryIO, start: int, stop: int) -> Iterator[Lines]:
        if self.end is None:
            return read_rows(stream, start, stop, self.length)
        return read_lines(stream, start, stop, self.end)


def take_inventory(
    spec: ReadSpec, dialect: FixedWidthDialect, files: Sequence[InputFile], split_bytes: int
) -> Inventory:
    """Count the lines, find where to cut, and check how often each type of record occurs."""
    surveys = [_survey(file, dialect, split_bytes) for file in files]
    missing = [column.name for column in spec.columns if not dialect.names(column.name)]
    return Inventory(
        schema=delivered_schema(spec, []),
        undeclared=(),
        layouts=tuple(survey.lines for survey in surveys),
        splits=tuple(split for survey in surveys for split in survey.splits),
        task_bytes=split_bytes,
        record_bytes=max((survey.record_bytes for survey in surveys), default=0),
        warnings=(describe_missing(spec.source_name, missing),) if missing else (),
    )


@frozen
class _Survey:
    lines: FileLines
    splits: tuple[Split, ...]
    record_bytes: int


def _survey(file: InputFile, dialect: FixedWidthDialect, split_bytes: int) -> _Survey:
    codec = Codec(dialect.encoding)
    with open_file(file.path) as stream:
        begin = find_text_start(stream, file.path, dialect.encoding)
        if dialect.separator == "none":
            survey = _cut_rows(file, stream, begin, dialect, split_bytes)
        else:
            ends = codec.line_ends(_CHARACTERS[dialect.separator])
            end = _choose_end(stream, begin, ends)
            _refuse_other_ends(file, stream, begin, end, dialect, codec)
            survey = _cut_lines(file, stream, begin, end, dialect, split_bytes)
        if dialect.counts:
            _check_counts(file, stream, begin, survey, dialect, codec)
    return survey


# Records that nothing separates


def _cut_rows(
    file: InputFile, stream: BinaryIO, begin: int, dialect: FixedWidthDialect, split_bytes: int
) -> _Survey:
    """Where records begin is computed."""
    length = dialect.length
    size = file.size - begin
    count, rest = divmod(size, length)
    if rest:
        stream.seek(file.size - rest)
        codec = Codec(dialect.encoding)
        line_break = codec.encode_one("\r") + codec.line_ends("\n")
        if stream.read(rest).strip(line_break):
            raise FormatError(
                f"the last record is incomplete: {size} bytes are {count} records of {length} "
                f"bytes and {rest} more",
                file.path,
                "complete it; if lines end with a line break, set 'line_separator'",
            )
    at_once = max(1, split_bytes // length)
    splits = tuple(
        Split(
            file,
            begin + row * length,
            begin + min(count, row + at_once) * length,
            row + 1,
            min(at_once, count - row),
        )
        for row in range(0, count, at_once)
    )
    return _Survey(FileLines(None, length), splits, length)


# Lines


def _choose_end(stream: BinaryIO, begin: int, ends: bytes) -> int:
    """The byte that ends the lines of a file: of several that may, the first to be found."""
    stream.seek(begin)
    while len(ends) > 1 and (block := stream.read(_BLOCK_BYTES)):
        found = [(at, end) for end in ends if (at := block.find(end)) >= 0]
        if found:
            return min(found)[1]
    return ends[0]


def _refuse_other_ends(
    file: InputFile,
    stream: BinaryIO,
    begin: int,
    end: int,
    dialect: FixedWidthDialect,
    codec: Codec,
) -> None:
    """FormatError if the file has line breaks, but none of those that were declared.

    All of it would be one line, and all but the beginning of it lost.
    """
    stream.seek(begin)
    head = stream.read(_BLOCK_BYTES)
    is_cr = dialect.separator == "cr"
    other = codec.encode_one("\n" if is_cr else "\r")
    is_followed = is_cr and bytes((end,)) + other in head
    if (bytes((end,)) in head and not is_followed) or other not in head:
        return
    found = "crlf" if is_followed else "lf" if is_cr else "cr"
    raise FormatError(
        f"lines do not end as 'line_separator: {dialect.separator}' says",
        file.path,
        f"set 'line_separator: {found}' in the source's options",
    )


def _cut_lines(
    file: InputFile,
    stream: BinaryIO,
    begin: int,
    end: int,
    dialect: FixedWidthDialect,
    split_bytes: int,
) -> _Survey:
    stream.seek(begin)
    cuts = [(begin, 0)]
    """Places, and how many records end before each."""
    offset, ended, unfinished = begin, 0, 0
    sizes = RecordSizes()
    while offset < file.size and (block := stream.read(min(_BLOCK_BYTES, file.size - offset))):
        ends, unfinished = count_lines(np.frombuffer(block, np.uint8), end, unfinished)
        while True:
            at = int(np.searchsorted(ends, cuts[-1][0] + split_bytes - offset - 1))
            if at == len(ends):
                break
            cuts.append((offset + int(ends[at]) + 1, ended + at + 1))
        sizes.add(len(block), len(ends))
        ended += len(ends)
        offset += len(block)
    total = ended + (unfinished == lines.MORE)
    if cuts[-1][1] < total:
        cuts.append((file.size, total))
    splits = tuple(
        Split(file, start, stop, before + 1, records - before)
        for (start, before), (stop, records) in pairwise(cuts)
    )
    return _Survey(FileLines(end, dialect.length), splits, sizes.largest or file.size)


# How often types of records occur


def _check_counts(
    file: InputFile,
    stream: BinaryIO,
    begin: int,
    survey: _Survey,
    dialect: FixedWidthDialect,
    codec: Codec,
) -> None:
    """FormatError if a type of record does not occur as often as the layout says."""
    types = RecordTypes(dialect, codec)
    found: Counter[str] = Counter()
    stop = survey.splits[-1].end if survey.splits else begin
    for some in survey.lines.read(stream, begin, stop):
        numbers, counts = np.unique(types.find(some), return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            if number >= 0:
                found[dialect.records[number].id] += count
    for count in dialect.counts:
        actual = found[count.id]
        if actual < count.least or (count.most is not None and actual > count.most):
            raise FormatError(
                f"expected {_describe(count)} of type '{count.id}', found {actual}",
                file.path,
                "the file may be incomplete; 'structure' of the layout says how often types occur",
            )


def _describe(count: Count) -> str:
    if count.least == count.most:
        number = f"{count.least} record{'s' if count.least != 1 else ''}"
        return "no record" if count.least == 0 else number
    if count.most is None:
        return f"at least {count.least} record{'s' if count.least != 1 else ''}"
    return f"{count.least} to {count.most} records"
