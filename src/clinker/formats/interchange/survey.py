"""Interchanges looked through before they are read: all that is declared in them is checked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from clinker.cxl.failure import shown
from clinker.formats.common.encodings import find_text_start
from clinker.formats.common.missing import describe_missing
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
from clinker.formats.files.local import open_file
from clinker.formats.interchange.columns import SegmentColumns, element_name, find_records
from clinker.formats.interchange.dialect import InterchangeDialect
from clinker.formats.interchange.documents import Documents
from clinker.formats.interchange.envelope import Context, Envelope
from clinker.formats.interchange.grammar import Grammar
from clinker.formats.interchange.segments import Places, Segments, keeps_positions
from clinker.formats.interchange.stream import SegmentStream, most_text, text_blocks
from clinker.frozen import frozen

_RUN_BYTES = 1 << 17
"""So little that what is computed of it stays in the cache of the processor."""


@frozen
class _Survey:
    """What there is in a file."""

    contexts: dict[int, Context]
    """Where splits begin, by the places of their beginnings."""
    splits: tuple[Split, ...]
    held: frozenset[int]
    """The undeclared elements that hold something, by their numbers."""
    record_bytes: int


def take_inventory(
    grammar: Grammar,
    spec: ReadSpec,
    dialect: InterchangeDialect,
    files: Sequence[InputFile],
    split_bytes: int,
) -> Inventory:
    """Check the envelopes, find out which elements there are, and cut between records."""
    columns = SegmentColumns(grammar, dialect.max_elements)
    declared = {column.name for column in spec.columns}
    surveys = [_survey(grammar, spec, dialect, file, split_bytes) for file in files]
    if spec.undeclared == "reject":
        for file, survey in zip(files, surveys, strict=True):
            refuse_undeclared(file, map(element_name, sorted(survey.held)), declared)
    held = {number for survey in surveys for number in survey.held}
    undeclared = columns.undeclared(declared, held) if files else ()
    schema = delivered_schema(spec, [f"{WIDENED}.{name}" for name in undeclared])
    return Inventory(
        schema=pa.schema([*schema, *spec.document_schema]),
        undeclared=undeclared,
        layouts=tuple(survey.contexts for survey in surveys),
        splits=tuple(split for survey in surveys for split in survey.splits),
        task_bytes=split_bytes,
        record_bytes=max((survey.record_bytes for survey in surveys), default=0),
        warnings=tuple(_warnings(spec, columns)) if files else (),
    )


def _warnings(spec: ReadSpec, columns: SegmentColumns) -> Iterator[str]:
    there = {*columns.common, *columns.numbers}
    missing = [column.name for column in spec.columns if column.name not in there]
    if missing:
        yield describe_missing(spec.source_name, missing)


def _survey(
    grammar: Grammar,
    spec: ReadSpec,
    dialect: InterchangeDialect,
    file: InputFile,
    split_bytes: int,
) -> _Survey:
    is_cut = keeps_positions(dialect.encoding)
    surveyor = _Surveyor(grammar, spec, dialect, file, split_bytes if is_cut else None)
    with open_file(file.path) as stream:
        begin = find_text_start(stream, file.path, dialect.encoding)
        blocks = text_blocks(stream, begin, file.size, file.path, dialect.encoding)
        runs = SegmentStream(
            grammar,
            blocks,
            file.path,
            dialect.encoding,
            offset=begin,
            size=most_text(file.size - begin, dialect.encoding),
            run_bytes=_RUN_BYTES,
        )
        for segments in runs:
            surveyor.look(segments)
    return surveyor.finish()


class _Surveyor:
    """Looks through the segments of a file."""

    def __init__(
        self,
        grammar: Grammar,
        spec: ReadSpec,
        dialect: InterchangeDialect,
        file: InputFile,
        split_bytes: int | None,
    ) -> None:
        self._grammar = grammar
        self._file = file
        self._split_bytes = split_bytes
        self._target = 0
        """Where a cut is due."""
        self._envelope = Envelope(grammar, file.path)
        self._documents = Documents(spec, grammar, file.path)
        self._described = self._documents.tags
        self._max_elements = dialect.max_elements
        self._unseen = _list_undeclared(spec, dialect)
        self._held: set[int] = set()
        self._cuts: list[tuple[int, int]] = []
        """Places, and how many records stand before each."""
        self._contexts: dict[int, Context] = {}
        self._segments = self._records = 0
        self._sizes = RecordSizes()

    def look(self, segments: Segments) -> None:
        tags = segments.find_tags(self._grammar.tags)
        records = find_records(self._grammar, segments, tags)
        due = self._cut(segments, records)
        self._pass(segments, tags, due)
        self._check_widths(segments, records)
        self._look_for_elements(segments, records)
        self._sizes.add(segments.end, len(records))
        self._segments += len(segments)
        self._records += len(records)

    def finish(self) -> _Survey:
        self._envelope.finish()
        if self._split_bytes is None and self._records:
            self._cuts, self._contexts = [(0, 0)], {0: Context()}
        bounds = [*self._cuts, (self._file.size, self._records)]
        splits = tuple(
            Split(self._file, start, end, before + 1, after - before)
            for (start, before), (end, after) in pairwise(bounds)
        )
        held = frozenset(self._held)
        return _Survey(self._contexts, splits, held, self._sizes.largest or self._file.size)

    def _cut(self, segments: Segments, records: Places) -> list[int]:
        """Cut where it is due; the segments before which that is, in order."""
        due: list[int] = []
        if self._split_bytes is None:
            return due
        starts = segments.starts[records]
        while True:
            at = int(np.searchsorted(starts, self._target - segments.offset))
            if at == len(starts):
                return due
            place = segments.offset + int(starts[at])
            self._cuts.append((place, self._records + at))
            self._target = place + self._split_bytes
            due.append(int(records[at]))

    def _pass(
        self, segments: Segments, tags: Sequence[tuple[int, str]], due: Sequence[int]
    ) -> None:
        """Follow the levels, and keep where the splits begin."""
        envelope = self._envelope
        cuts = iter((*due, len(segments)))
        next_cut = next(cuts)
        begin = 0
        for at, tag in (*tags, (len(segments), "")):
            envelope.pass_segments(segments, begin, at)
            while next_cut <= at and next_cut < len(segments):
                place = segments.offset + int(segments.starts[next_cut])
                self._contexts[place] = envelope.context(segments.delimiters)
                next_cut = next(cuts)
            if tag:
                envelope.pass_tag(segments, at, tag)
                if tag in self._described:
                    self._documents.check(envelope.context(segments.delimiters))
            begin = at + 1
        envelope.pass_run(segments)

    def _check_widths(self, segments: Segments, records: Places) -> None:
        counts = segments.counts[records]
        if not len(counts) or int(counts.max()) <= self._max_elements:
            return
        at = int(records[np.argmax(counts > self._max_elements)])
        count = int(segments.counts[at])
        raise FormatError(
            f"segment {self._segments + at + 1}: {shown(segments.tag(at))} has {count} elements, "
            f"more than the {self._max_elements} that 'max_elements' allows",
            self._file.path,
            f"set 'max_elements: {count}' in the source's options",
        )

    def _look_for_elements(self, segments: Segments, records: Places) -> None:
        widest = int(segments.counts[records].max(initial=0))
        found = {
            number
            for number in self._unseen
            if number <= widest and segments.holds(number, records)
        }
        self._held |= found
        self._unseen -= found


def _list_undeclared(spec: ReadSpec, dialect: InterchangeDialect) -> set[int]:
    """The elements that no schema declares, if anyone asks for such."""
    if spec.undeclared == "drop":
        return set()
    declared = {column.name for column in spec.columns}
    numbers = range(1, dialect.max_elements + 1)
    return {number for number in numbers if element_name(number) not in declared}
