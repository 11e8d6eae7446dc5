"""CSV files looked through before they are read: their headers, where records end, where to cut."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from clinker.formats.common.encodings import find_text_start
from clinker.formats.common.missing import describe_missing_in, name_several
from clinker.formats.common.read_spec import (
    WIDENED,
    FormatError,
    InputFile,
    Inventory,
    ReadSpec,
    Split,
    delivered_schema,
)
from clinker.formats.common.record_sizes import RecordSizes
from clinker.formats.common.undeclared import refuse_undeclared
from clinker.formats.csv.cells import CellReader
from clinker.formats.csv.dialect import CsvDialect
from clinker.formats.csv.header import (
    Header,
    derive_header,
    name_by_position,
    read_header,
)
from clinker.formats.files.local import open_file
from clinker.frozen import frozen


def take_inventory(
    spec: ReadSpec, dialect: CsvDialect, files: Sequence[InputFile], split_bytes: int
) -> Inventory:
    """Read the headers, check that all is text, and find where records begin."""
    surveys = [_survey(file, spec, dialect, split_bytes) for file in files]
    declared = {column.name for column in spec.columns}
    if spec.undeclared == "reject":
        for file, survey in zip(files, surveys, strict=True):
            refuse_undeclared(file, survey.header.names, declared)
    names = dict.fromkeys(name for survey in surveys for name in survey.header.names)
    undeclared = tuple(name for name in names if name not in declared)
    return Inventory(
        schema=delivered_schema(spec, [f"{WIDENED}.{name}" for name in undeclared]),
        undeclared=undeclared,
        layouts=tuple(survey.header.names for survey in surveys),
        splits=tuple(split for survey in surveys for split in survey.splits),
        task_bytes=split_bytes,
        record_bytes=max((survey.record_bytes for survey in surveys), default=0),
        warnings=tuple(_warnings(spec, dialect, files, [survey.header for survey in surveys])),
    )


@frozen
class _Survey:
    """The columns of a file and its splits."""

    header: Header
    splits: tuple[Split, ...] = ()
    record_bytes: int = 0


def _survey(file: InputFile, spec: ReadSpec, dialect: CsvDialect, split_bytes: int) -> _Survey:
    reader = CellReader(dialect)
    surveyor = _Surveyor(reader, dialect.has_header, split_bytes)
    with open_file(file.path) as stream:
        begin = find_text_start(stream, file.path, dialect.encoding)
        surveyor.look_through(reader.blocks(stream, begin, file.size, file.path), begin)
    if surveyor.is_in_quotes:
        raise _unclosed(file, dialect, surveyor.ended)
    first = reader.first_row(surveyor.head)
    if dialect.has_header and not first:
        help = "a CSV file begins with its header; without one, set 'has_header: false'"
        raise FormatError("the file is empty", file.path, help)
    header = read_header(first) if dialect.has_header else derive_header(spec.columns, len(first))
    if not first:
        return _Survey(header)
    start = surveyor.start
    if start is None:
        start = file.size if dialect.has_header else begin
    if not reader.keeps_positions:
        start = begin
    splits = _splits(file, start, surveyor.cuts, surveyor.total, dialect.has_header)
    return _Survey(header, tuple(splits), surveyor.sizes.largest or file.size)


class _Surveyor:
    """Looks through a file for its first record, and for places between records to cut it."""

    def __init__(self, reader: CellReader, has_header: bool, split_bytes: int) -> None:
        self._scanner = reader.scanner()
        self._has_header = has_header
        self._split_bytes = split_bytes if reader.keeps_positions else None
        self._target: int | None = None
        """Where a cut is due."""
        self._offset = 0
        self.head = b""
        self.start: int | None = None
        """Where the records begin, behind the header if there is one."""
        self.cuts: list[tuple[int, int]] = []
        """Places, and how many records end before each, the header included."""
        self.ended = 0
        self.sizes = RecordSizes()

    @property
    def is_in_quotes(self) -> bool:
        return self._scanner.in_quotes

    @property
    def total(self) -> int:
        return self.ended + self._scanner.in_record

    def look_through(self, blocks: Iterable[bytes], begin: int) -> None:
        self._offset = begin
        for block in blocks:
            records = self._skimmed(block)
            if records is None:
                records = self._scanned(block, begin)
            self.sizes.add(len(block), records)
            self.ended += records
            self._offset += len(block)

    def _skimmed(self, block: bytes) -> int | None:
        """How many records end in a block; None if one has to know where."""
        is_due = self._target is not None and self._target <= self._offset + len(block)
        return None if self.start is None or is_due else self._scanner.skim(block)

    def _scanned(self, block: bytes, begin: int) -> int:
        ends = self._scanner.record_ends(block)
        if self.start is None:
            self.head += block[: ends[0] + 1] if len(ends) else block
            if len(ends):
                self._begin_records(self._offset + int(ends[0]) + 1 if self._has_header else begin)
        while self._target is not None:
            at = int(np.searchsorted(ends, self._target - self._offset - 1))
            if at == len(ends):
                break
            self._cut(self._offset + int(ends[at]) + 1, self.ended + at + 1)
        return len(ends)

    def _begin_records(self, start: int) -> None:
        self.start = start
        if self._split_bytes is not None:
            self._target = start + self._split_bytes

    def _cut(self, place: int, records: int) -> None:
        assert self._split_bytes is not None
        self.cuts.append((place, records))
        self._target = place + self._split_bytes


def _splits(
    file: InputFile, start: int, cuts: Sequence[tuple[int, int]], total: int, has_header: bool
) -> Iterator[Split]:
    """The ranges between cuts, each of which tells how many records, header included, end there."""
    header = int(has_header)
    bounds = [(start, header), *cuts]
    if bounds[-1][1] < total:
        bounds.append((file.size, total))
    for (begin, before), (end, ended) in pairwise(bounds):
        yield Split(file, begin, end, before - header + 1, ended - before)


def _unclosed(file: InputFile, dialect: CsvDialect, ended: int) -> FormatError:
    row = ended + 1 - dialect.has_header
    where = f"in row {row}" if row else "in the header"
    quote = dialect.quote_char
    return FormatError(
        f"the file ends inside quotes: a cell {where} opens with {quote} that is never closed",
        file.path,
        "close the quote, or set another 'quote_char' in the source's options",
    )


def _warnings(
    spec: ReadSpec, dialect: CsvDialect, files: Sequence[InputFile], headers: Sequence[Header]
) -> Iterator[str]:
    if dialect.has_header:
        yield from describe_missing_in(spec, files, [header.names for header in headers])
    else:
        yield from _out_of_place(spec)
    by_warning: dict[str, list[InputFile]] = {}
    for file, header in zip(files, headers, strict=True):
        for warning in header.warnings():
            by_warning.setdefault(warning, []).append(file)
    yield from (f"{name_several(about)}: {warning}" for warning, about in by_warning.items())


def _out_of_place(spec: ReadSpec) -> Iterator[str]:
    """Columns whose names speak of another place than the one the schema gives them."""
    for at, column in enumerate(spec.columns):
        place = name_by_position(at)
        if re.fullmatch("col_[0-9]+", column.name) and column.name != place:
            yield (
                f"source '{spec.source_name}' declares '{column.name}' in the place of "
                f"'{place}': where files have no header, the schema names their columns "
                "by position, from the first one on"
            )
