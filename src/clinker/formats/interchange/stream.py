"""Files as runs of whole segments, each in the delimiters of its interchange."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from clinker.cxl.failure import shown
from clinker.formats.common.encodings import is_utf8, read_blocks
from clinker.formats.common.read_spec import FormatError
from clinker.formats.interchange.binary import Binary, BinarySearch
from clinker.formats.interchange.grammar import Grammar
from clinker.formats.interchange.header import Delimiters
from clinker.formats.interchange.segments import BLANKS, Segments, cut, keeps_positions

MOST_BYTES = 64 << 20
"""How long a segment may be whose length is not declared."""
MOST_BINARY_BYTES = 1 << 30
"""How long one may be that declares it."""
_FIRST_LOOK = 1 << 12
"""How much of an interchange is cut at first; the next one may have other delimiters."""
_SHOWN_BYTES = 20
_LONGEST_CHARACTER = 4


def text_encoding(encoding: str) -> str:
    """The encoding of what is cut into segments: that of the file, unless that hides delimiters."""
    return encoding if keeps_positions(encoding) and not is_utf8(encoding) else "utf-8"


def text_blocks(
    stream: BinaryIO, start: int, end: int, path: str, encoding: str
) -> Iterator[bytes]:
    """A part of a file in blocks, as they are cut into segments; FormatError if it is no text."""
    is_kept = keeps_positions(encoding)
    for block in read_blocks(stream, start, end, path, encoding):
        yield block.raw if is_kept else block.text


def most_text(size: int, encoding: str) -> int:
    """How many bytes of text so many bytes of a file can be."""
    return size if keeps_positions(encoding) else size * _LONGEST_CHARACTER


def raw_blocks(stream: BinaryIO, start: int, end: int, size: int) -> Iterator[bytes]:
    """A part of a file that is known to be text, in blocks."""
    stream.seek(start)
    while start < end and (block := stream.read(min(size, end - start))):
        start += len(block)
        yield block


class SegmentStream:
    """Cuts blocks of text into runs of segments.

    A stream begins with an interchange, or within one whose delimiters are given. Its text is not
    longer than `size`.
    """

    def __init__(
        self,
        grammar: Grammar,
        blocks: Iterator[bytes],
        path: str,
        encoding: str,
        *,
        offset: int,
        size: int,
        run_bytes: int,
        delimiters: Delimiters | None = None,
    ) -> None:
        self._grammar = grammar
        self._binary_tags = [tag.decode() for tag in grammar.binary]
        self._path = path
        self._encoding = text_encoding(encoding)
        self._text = _Buffer(blocks, offset)
        self._end = offset + size
        self._run_bytes = run_bytes
        self._given = 0
        """How many segments have been handed out."""
        self._delimiters: Delimiters | None
        self._last_terminator = b""
        self._use(delimiters)

    def __iter__(self) -> Iterator[Segments]:
        while self._text.peek(1):
            if self._delimiters is None:
                self._begin()
            else:
                segments = self._next_run(self._delimiters)
                self._given += len(segments)
                if len(segments):
                    yield segments
        if not self._given:
            raise FormatError("the file is empty", self._path)

    # The beginnings of interchanges

    def _begin(self) -> None:
        """Find the delimiters of the next interchange, if there is another.

        Empty segments may stand before it, as between any others.
        """
        self._text.drop_blanks(self._last_terminator)
        beginnings = self._grammar.begins_with
        text = self._text.peek(max(map(len, beginnings)))
        if not text:
            return
        if not text.startswith(beginnings) or (self._given and not self._grammar.repeats):
            raise self._no_beginning()
        while (opening := self._grammar.find_opening(text, self._path)) is None:
            longer = self._text.peek(2 * len(text))
            if len(longer) == len(text):
                raise FormatError(f"the file ends within '{shown_text(text)}'", self._path)
            text = longer
        self._use(opening.delimiters)
        self._text.drop(opening.skipped)

    def _use(self, delimiters: Delimiters | None) -> None:
        self._delimiters = delimiters
        if delimiters:
            self._last_terminator = delimiters.terminator.encode()
        self._binary: BinarySearch | None = None
        if delimiters and self._grammar.binary:
            self._binary = BinarySearch(delimiters, self._grammar.binary, self._path)
        self._look = min(_FIRST_LOOK, self._run_bytes)

    def _no_beginning(self) -> FormatError:
        found = shown_text(self._text.peek(_SHOWN_BYTES))
        expected = " or ".join(tag.decode() for tag in self._grammar.begins_with)
        if not self._given:
            return FormatError(f"the file begins with '{found}', not with {expected}", self._path)
        closing = self._grammar.levels[0].closing
        rule = f"only {expected} may follow" if self._grammar.repeats else "nothing may follow"
        return FormatError(
            f"segment {self._given + 1}: '{found}' stands behind {closing}, where {rule}",
            self._path,
        )

    # Runs

    def _next_run(self, delimiters: Delimiters) -> Segments:
        look = self._look
        while True:
            text = self._text.peek(look)
            segments, needed = self._cut(text, delimiters)
            if segments.end:
                break
            self._check_length(text, needed)
            look = max(2 * len(text), needed)
        self._look = min(2 * self._look, self._run_bytes)
        segments = self._until_other_delimiters(segments)
        self._text.drop(segments.end)
        return segments

    def _check_length(self, text: bytes, needed: int) -> None:
        """Refuse to read on if a segment would be too long, before it is held."""
        number = self._given + 1
        if not needed and len(text) > MOST_BYTES:
            raise FormatError(
                f"segment {number} is longer than {MOST_BYTES >> 20} MB",
                self._path,
                "is it the terminator that is missing? The header of the file names it",
            )
        if needed > self._end - self._text.offset + 1:  # the last terminator may be missing
            raise self._ends_within_data(text)
        if needed > MOST_BINARY_BYTES:
            raise FormatError(
                f"segment {number}: the data of '{shown_text(text)}' is longer than "
                f"{MOST_BINARY_BYTES >> 30} GB",
                self._path,
            )

    def _ends_within_data(self, text: bytes) -> FormatError:
        return FormatError(
            f"segment {self._given + 1}: the file ends within the data of '{shown_text(text)}'",
            self._path,
            "the file is cut off, or the length that the segment declares is wrong",
        )

    def _cut(self, text: bytes, delimiters: Delimiters) -> tuple[Segments, int]:
        """The whole segments of a text, or else how much text is needed, if that is known."""
        is_last = self._text.is_all(text)
        terminator = delimiters.terminator.encode()
        if is_last:
            text += terminator
        segments = cut(text, self._text.offset, delimiters, self._encoding)
        binary = Binary()
        if self._binary and (not segments.end or segments.find_tags(self._binary_tags)):
            binary = self._binary.find(text, self._given + 1)
            segments = cut(
                text[: binary.end], self._text.offset, delimiters, self._encoding, binary.parts
            )
        if not is_last:
            return segments, binary.needed
        if binary.end is not None and not segments.end:
            raise self._ends_within_data(text)
        if binary.end is None and segments.end < len(text):  # what was put there is released
            text += terminator
            segments = cut(text, self._text.offset, delimiters, self._encoding, binary.parts)
        return segments, binary.needed

    def _until_other_delimiters(self, segments: Segments) -> Segments:
        """The segments before an interchange that is written in another way."""
        outermost = self._grammar.levels[0].closing
        for at, _ in segments.find_tags([outermost]):
            if at + 1 == len(segments) or not self._goes_on(segments, at + 1):
                self._use(None)
                return segments.head(at + 1)
        return segments

    def _goes_on(self, segments: Segments, at: int) -> bool:
        """Whether an interchange begins at a segment that has the delimiters of the one before."""
        text = segments.text[int(segments.starts[at]) :]
        if not self._grammar.repeats or not text.startswith(self._grammar.begins_with):
            return False
        try:
            opening = self._grammar.find_opening(text, self._path)
        except FormatError:  # it is said when its turn comes
            return False
        return opening is not None and opening.delimiters == segments.delimiters


def shown_text(text: bytes) -> str:
    """The beginning of a text, for messages."""
    return shown(text[:_SHOWN_BYTES].decode("utf-8", "replace"))


class _Buffer:
    """Text of which only the part is held that is looked at."""

    def __init__(self, blocks: Iterator[bytes], offset: int) -> None:
        self._blocks = blocks
        self._text = b""
        self._at = 0
        self._begin = offset
        self._is_complete = False

    @property
    def offset(self) -> int:
        """Where in the file it begins."""
        return self._begin + self._at

    def peek(self, size: int) -> bytes:
        """So much of what is next, or all there is."""
        held = len(self._text) - self._at
        if held < size and not self._is_complete:
            pieces = [self._text[self._at :]]
            while held < size and not self._is_complete:
                block = next(self._blocks, None)
                if block is None:
                    self._is_complete = True
                else:
                    pieces.append(block)
                    held += len(block)
            self._begin += self._at
            self._text, self._at = b"".join(pieces), 0
        return self._text[self._at : self._at + size]

    def is_all(self, text: bytes) -> bool:
        """Whether a text that was looked at is all that is left."""
        if len(text) < len(self._text) - self._at:
            return False
        return len(self.peek(len(text) + 1)) == len(text)

    def drop(self, size: int) -> None:
        self._at = min(self._at + size, len(self._text))

    def drop_blanks(self, others: bytes) -> None:
        """Go on behind blanks, and what counts as such."""
        while text := self.peek(_FIRST_LOOK):
            rest = text.lstrip(BLANKS + others)
            self.drop(len(text) - len(rest))
            if rest:
                return
