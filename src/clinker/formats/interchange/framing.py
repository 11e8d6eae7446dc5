"""Putting segments into messages and messages into an interchange, with all that is counted.

Records are rendered in pieces, on any machine, and no piece knows of the others. What a piece tells
of its messages (see `starts`) is enough to find where they begin; the segments themselves are
copied as they are.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np

from clinker.formats.common.writing import Piece, Sink, Warn, WriteError
from clinker.formats.interchange.columns import element_name
from clinker.formats.interchange.header import Header
from clinker.formats.interchange.joining import refuse_delimiter
from clinker.formats.interchange.starts import Start
from clinker.formats.interchange.syntax import Syntax
from clinker.formats.interchange.wording import Envelope, Wording
from clinker.frozen import frozen

_COPIED_AT_ONCE = 1 << 20
_STARTED_AT_ONCE = 1 << 16

Insertion: TypeAlias = tuple[int, bytes]
"""Something between the records of a piece, and how many of its bytes come before."""


@frozen(kw_only=True)
class InterchangeFraming:
    """Writes interchanges of one kind."""

    wording: Wording
    envelope: Envelope
    header: Header | None
    """The header, unless it is that of the first record's document."""
    message_type: str | None
    """The type of messages whose records do not tell it."""
    newline: bool

    def write_document(self, sink: Sink, pieces: Iterable[Piece], warn: Warn) -> int:
        interchange = _Interchange(self, warn)
        for piece in pieces:
            _copy_between(piece, interchange.add(piece), sink)
        sink.write(interchange.finish())
        return interchange.records


def differing_delimiters(record: int) -> WriteError:
    """The refusal of a record whose composites the other delimiters would not tell apart."""
    return WriteError(
        "the record comes from an interchange with other delimiters than that of the first record",
        record=record,
        code="E064",
        help="write a file for each of them: use {source_file} in 'path', or route them apart",
    )


class _Interchange:
    """An interchange that is being written."""

    def __init__(self, framing: InterchangeFraming, warn: Warn) -> None:
        self.records = 0
        self._framing = framing
        self._warn = warn
        self._header: Header | None = None
        self._header_text: str | None = None
        self._syntax: Syntax
        if framing.header:
            self._take_header(framing.header)
        self._has_others = False
        self._messages = 0
        self._reference = ""
        self._groups: set[str] = set()
        """What records have that belong to the message."""
        self._segments = 0

    def add(self, piece: Piece) -> Iterator[Insertion]:
        """What stands between the records of a piece, or before them."""
        ends = piece.ends()
        segments = np.concatenate(([0], np.cumsum(np.diff(ends, prepend=0) > 0)))
        begin = 0
        for row, start in _list_starts(piece):
            record = self.records + row + 1
            self._look_at(start.header, record)
            if not self._messages or start.is_explicit or start.group not in self._groups:
                self._segments += int(segments[row] - segments[begin])
                yield int(ends[row - 1]) if row else 0, self._turn_to(start, record)
                begin = row
        self._segments += int(segments[-1] - segments[begin])
        self.records += piece.records

    def finish(self) -> bytes:
        """What stands behind the last record.

        Without records nobody knows a header that is taken from documents: there is nothing.
        """
        envelope = self._framing.envelope
        if self._header is None:
            return b""
        if not self._messages:
            return envelope.write_empty(self._header, self._syntax)
        end = envelope.close(self._header, self._syntax, self._messages)
        return self._close_message() + end

    def _take_header(self, header: Header) -> None:
        self._header = header
        self._syntax = Syntax(header.delimiters, self._framing.newline)

    def _look_at(self, text: str | None, record: int) -> None:
        """Take the header that a record was read with, if it is the first."""
        if text is None or text == self._header_text:
            return
        header = Header.from_text(text)
        if self._header is None:
            self._take_header(header)
            self._header_text = text
        elif header.delimiters != self._header.delimiters:
            raise differing_delimiters(record)
        elif not self._has_others:
            self._has_others = True
            self._warn(
                "the records come from several interchanges; "
                "what is written has the header of the first"
            )

    def _turn_to(self, start: Start, record: int) -> bytes:
        if self._messages:
            before = self._close_message()
        else:
            assert self._header
            before = self._framing.envelope.open(self._header, self._syntax)
        return before + self._open_message(start, record)

    def _open_message(self, start: Start, record: int) -> bytes:
        wording, syntax = self._framing.wording, self._syntax
        self._messages += 1
        self._segments = 0
        self._reference = start.reference or wording.counted.format(self._messages)
        self._groups = {start.group}
        if start.is_explicit:
            self._groups.add(self._reference)
        type_ = start.type or self._framing.message_type
        grammar = wording.grammar
        if not type_:
            raise WriteError(
                f"a {wording.message} begins, and nothing tells its type",
                record=record,
                code="E063",
                help=f"fill in '{grammar.type_column}', or set the option '{wording.type_option}'",
            )
        own = {
            grammar.reference_element: (grammar.reference_column, self._reference),
            grammar.type_element: (grammar.type_column, type_),
        }
        further = {element_name(n): text for n, text in enumerate(start.further, start=3)}
        elements = dict(own[number] for number in sorted(own)) | further
        for column, text in elements.items():
            if character := syntax.find_special(text):
                raise refuse_delimiter(text, character, column, record)
        return syntax.write_trimmed(wording.opening, list(elements.values()))

    def _close_message(self) -> bytes:
        # The segments that open and close a message count.
        elements = [str(self._segments + 2), self._reference]
        return self._syntax.write(self._framing.wording.trailer, elements)


def _list_starts(piece: Piece) -> Iterator[tuple[int, Start]]:
    """The records of a piece that tell something of their message."""
    groups = piece.groups()
    if groups is None:
        raise ValueError("the records have been rendered without their messages")
    rows = np.flatnonzero(np.asarray(groups.is_valid()))
    for begin in range(0, len(rows), _STARTED_AT_ONCE):
        chosen = rows[begin : begin + _STARTED_AT_ONCE]
        texts = groups.take(chosen).to_pylist()
        yield from zip(chosen.tolist(), map(Start.from_text, texts), strict=True)


def _copy_between(piece: Piece, insertions: Iterator[Insertion], sink: Sink) -> None:
    """Copy a piece with what stands between its records."""
    place, inserted = next(insertions, (None, b""))
    for begin in range(0, piece.size, _COPIED_AT_ONCE):
        end = min(begin + _COPIED_AT_ONCE, piece.size)
        block = io.BytesIO()
        piece.copy_to(block, begin, end)
        data = block.getbuffer()
        parts: list[bytes | memoryview] = []
        done = begin
        while place is not None and place < end:
            parts += (data[done - begin : place - begin], inserted)
            done = place
            place, inserted = next(insertions, (None, b""))
        parts.append(data[done - begin :])
        sink.write(b"".join(parts))
    while place is not None:
        sink.write(inserted)
        place, inserted = next(insertions, (None, b""))
