"""JSON documents looked through block by block: where their records are, and where to cut them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, BinaryIO

from clinker.formats.common.json_numbers import MALFORMED, loads
from clinker.formats.common.read_spec import FormatError, InputFile, Split
from clinker.formats.common.record_sizes import RecordSizes
from clinker.formats.common.unfolding import Unfolding, split_path
from clinker.formats.json.dialect import JsonDialect
from clinker.formats.json.records import (
    element_records,
    malformed_document,
    parse,
    place_of,
)
from clinker.formats.json.scan import Elements, ElementSearch, RepeatedPath
from clinker.formats.json.sections import Document

_BLOCK_BYTES = 1 << 17
_BLANKS = b" \t\r\n"


class ArraySurvey:
    """Cuts the array in a document that holds its records."""

    def __init__(
        self,
        dialect: JsonDialect,
        file: InputFile,
        unfold: Unfolding | None,
        look: Callable[[bytes], None],
        kept: Collection[int] = (),
    ) -> None:
        self._dialect = dialect
        self._file = file
        self._unfold = unfold
        self._look = look
        self._kept = kept
        self._kept_elements: dict[str, Any] = {}
        self._steps = split_path(dialect.record_path or "")
        self._row = 1
        self._seen = 0
        self.is_there = False
        """Whether there is such an array, once the document has been cut."""
        self.document = Document()
        """What stands around the array, and those of its elements that are to be kept."""
        self.sizes = RecordSizes()

    def cut(self, stream: BinaryIO, start: int, split_bytes: int) -> Iterator[Split]:
        """Ranges of whole elements, each with the number of its first record."""
        search = ElementSearch(self._steps, start)
        begin: int | None = None
        first_row, target = 1, start + split_bytes
        rest: list[bytes] = []
        for elements in self._elements(stream, start, search):
            begin = search.begin if begin is None else begin
            if begin is None or not len(elements.separators):
                rest.append(elements.text)
                continue
            last = int(elements.separators[-1])
            end = elements.start + last
            self._count(b"".join([*rest, elements.text[:last]]), end, len(elements.separators))
            rest = [elements.text[last + 1 :]]
            if end >= target:
                yield Split(self._file, begin, end, first_row, self._row - first_row)
                begin, first_row = end + 1, self._row
                target += (end - target) // split_bytes * split_bytes + split_bytes
        if begin is None:
            return
        self.is_there = True
        end = self._checked_end(search)
        text = b"".join(rest)
        if text.strip(_BLANKS) or self._seen:
            self._count(text, end, 1)
            yield Split(self._file, begin, end, first_row, self._row - first_row)

    def _elements(self, stream: BinaryIO, start: int, search: ElementSearch) -> Iterator[Elements]:
        stream.seek(start)
        try:
            while block := stream.read(_BLOCK_BYTES):
                yield search.look(block)
        except RepeatedPath:
            message = f"there is more than one array{place_of(self._dialect)}"
            raise FormatError(message, self._file.path) from None

    def _count(self, text: bytes, end: int, elements: int) -> None:
        """Look at so many whole elements, which end at this place."""
        self._look(text)
        self.sizes.add(len(text), elements)
        if any(self._seen <= index < self._seen + elements for index in self._kept):
            self._keep(text, end)
        if self._unfold:
            there = Split(self._file, end - len(text), end, 1 + self._seen)
            blocks = element_records(text, place_of(self._dialect), there, self._unfold)
            self._row += sum(len(block.records) for block in blocks)
        else:
            self._row += elements
        self._seen += elements

    def _keep(self, text: bytes, end: int) -> None:
        values = parse(b"[" + text + b"]", self._file.path, end - len(text), wrapping=1)
        for index, value in enumerate(values, self._seen):
            if index in self._kept:
                self._kept_elements[str(index)] = value

    def _checked_end(self, search: ElementSearch) -> int:
        """Where the elements end; FormatError if what stands around them is no JSON."""
        outside = bytes(search.outside)
        assert search.begin is not None
        end = self._file.size if search.end is None else search.end
        try:
            around = loads(outside)
        except MALFORMED as problem:
            path = self._file.path
            raise malformed_document(outside, problem, path, search.begin, end) from None
        self.document = Document(around, self._steps, self._kept_elements)
        return end
