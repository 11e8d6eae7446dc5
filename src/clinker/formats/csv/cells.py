"""Bytes of CSV files as columns of text.

Arrow splits blocks of whole records into cells. Its rules are ours: quotes count only at the start
of a cell, a doubled quote is a quote, text after a closing quote belongs to the cell, blank lines
are nothing, and rows with too few or too many cells are handed over, to be rejected one by one.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from clinker.formats.common.encodings import is_one_byte, is_utf8, read_blocks
from clinker.formats.common.read_spec import FormatError
from clinker.formats.csv.dialect import CsvDialect
from clinker.formats.csv.splits import RecordScanner
from clinker.frozen import frozen

_CHUNK_BYTES = 16 << 20
# Arrow separates cells by ASCII characters; these stand for others while cells are read.
_DELIMITER_STAND_IN, _QUOTE_STAND_IN = "\x1f", "\x1e"


@frozen
class RaggedRow:
    """A row with too few or too many cells, and its place among the rows read with it."""

    at: int
    cells: int
    text: str


@frozen
class Rows:
    """Rows split into the columns asked for; those of ragged rows are null."""

    count: int
    columns: tuple[pa.Array, ...]
    ragged: tuple[RaggedRow, ...]


class CellReader:
    """Splits files of one dialect into records and cells."""

    def __init__(self, dialect: CsvDialect) -> None:
        self._encoding = dialect.encoding
        self._stand_ins = {
            stand_in: character
            for stand_in, character in (
                (_DELIMITER_STAND_IN, dialect.delimiter),
                (_QUOTE_STAND_IN, dialect.quote_char),
            )
            if not character.isascii()
        }
        instead = {character: stand_in for stand_in, character in self._stand_ins.items()}
        self._delimiter = instead.get(dialect.delimiter, dialect.delimiter)
        self._quote = instead.get(dialect.quote_char, dialect.quote_char)
        self._is_utf8 = is_utf8(dialect.encoding)
        self.keeps_positions = not self._stand_ins and (
            self._is_utf8 or is_one_byte(dialect.encoding)
        )
        """Whether records can be found in the bytes of a file, without decoding them."""

    def scanner(self) -> RecordScanner:
        return RecordScanner(ord(self._delimiter), ord(self._quote))

    def blocks(self, stream: BinaryIO, start: int, end: int, path: str) -> Iterator[bytes]:
        """What the scanner looks at: the bytes of the file, or else its text."""
        # A block of UTF-8 may end within a character, and that one may be a separator.
        decoder = codecs.getincrementaldecoder("utf-8")()
        for block in read_blocks(stream, start, end, path, self._encoding):
            if self.keeps_positions:
                yield block.raw
            else:
                yield self._with_stand_ins(decoder.decode(block.text), path)

    def _with_stand_ins(self, text: str, path: str) -> bytes:
        for stand_in, character in self._stand_ins.items():
            if stand_in in text:
                message = f"the file has the control character U+{ord(stand_in):04X}"
                help = f"it cannot be read with '{character}' as delimiter or quote character"
                raise FormatError(message, path, help)
            text = text.replace(character, stand_in)
        return text.encode()

    def chunks(
        self, stream: BinaryIO, start: int, end: int, path: str, *, skip_first: bool
    ) -> Iterator[bytes]:
        """The text from `start` to `end` in pieces of whole records, the first one left out."""
        if self.keeps_positions and not skip_first and end - start <= _CHUNK_BYTES:
            stream.seek(start)
            yield self._text(stream.read(end - start))
            return
        scanner = self.scanner()
        pending: list[bytes] = []
        size = 0
        for block in self.blocks(stream, start, end, path):
            ends = scanner.record_ends(block)
            if skip_first:
                if not len(ends):
                    continue
                block, ends = block[ends[0] + 1 :], ends[1:] - (ends[0] + 1)
                skip_first = False
            if len(ends) and size + len(block) >= _CHUNK_BYTES:
                cut = int(ends[-1]) + 1
                yield self._text(b"".join([*pending, block[:cut]]))
                pending, size = [], 0
                block = block[cut:]
            pending.append(block)
            size += len(block)
        yield self._text(b"".join(pending))

    def _text(self, data: bytes) -> bytes:
        """UTF-8 of what the scanner has looked at."""
        if self._is_utf8 or not self.keeps_positions:
            return data
        return data.decode(self._encoding).encode()

    def first_row(self, data: bytes) -> tuple[str, ...]:
        """The cells of the first record, in bytes as the scanner saw them."""
        text = self._text(data).decode().strip("\r\n")
        return self.cells(text) if text else ()

    def rows(self, text: bytes, width: int, wanted: Sequence[int]) -> Rows:
        """Split text of whole records into cells; `wanted` are the columns to keep."""
        if not text:
            return Rows(0, tuple(pa.array([], pa.string()) for _ in wanted), ())
        ragged: list[RaggedRow] = []

        def on_ragged(row: Any) -> str:
            ragged.append(RaggedRow(row.number - 1, row.actual_columns, row.text))
            return "skip"

        names = [str(at) for at in range(width)]
        if text.startswith(codecs.BOM_UTF8):
            # Arrow takes a mark away at the start of whatever it is given; this one is data.
            text = codecs.BOM_UTF8 + text
        table = csv.read_csv(
            pa.BufferReader(text),
            read_options=csv.ReadOptions(
                column_names=names, use_threads=False, block_size=len(text) + 1
            ),
            parse_options=self._parsing(on_ragged),
            convert_options=csv.ConvertOptions(
                column_types={name: pa.string() for name in names},
                include_columns=[names[at] for at in wanted or (0,)],
                strings_can_be_null=False,
            ),
        )
        columns = [self._restored(_combine(table[names[at]])) for at in wanted]
        count = table.num_rows + len(ragged)
        if ragged:
            places = _find_places(count, ragged)
            columns = [column.take(places) for column in columns]
        return Rows(count, tuple(columns), tuple(ragged))

    def cells(self, row: str) -> tuple[str, ...]:
        """The cells of a single row."""
        texts = []
        start = 0
        while start <= len(row):
            quoted, start = self._quoted_part(row, start)
            end = row.find(self._delimiter, start)
            if end < 0:
                end = len(row)
            texts.append(self._restored_text(quoted + row[start:end]))
            start = end + 1
        return tuple(texts)

    def _quoted_part(self, row: str, start: int) -> tuple[str, int]:
        """The text in quotes with which a cell begins, and where it ends."""
        quote = self._quote
        parts = []
        while row.startswith(quote, start):
            end = row.find(quote, start + 1)
            if end < 0:
                end = len(row)
            parts.append(row[start + 1 : end])
            start = end + 1
        # Between two of the parts there was a doubled quote.
        return quote.join(parts), min(start, len(row))

    def _restored_text(self, text: str) -> str:
        for stand_in, character in self._stand_ins.items():
            text = text.replace(stand_in, character)
        return text

    def _restored(self, column: pa.Array) -> pa.Array:
        for stand_in, character in self._stand_ins.items():
            column = pc.replace_substring(column, stand_in, character)
        return column

    def _parsing(self, on_ragged: Callable[[Any], str]) -> csv.ParseOptions:
        return csv.ParseOptions(
            delimiter=self._delimiter,
            quote_char=self._quote,
            newlines_in_values=True,
            invalid_row_handler=on_ragged,
        )


def _combine(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _find_places(count: int, ragged: Sequence[RaggedRow]) -> pa.Array:
    """For each row its place among the regular ones, null if it is not one of them."""
    regular = np.ones(count, np.bool_)
    regular[[row.at for row in ragged]] = False
    return pa.array(np.cumsum(regular) - 1, mask=~regular)
