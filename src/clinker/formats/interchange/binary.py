"""Segments that end with data of any kind, whose delimiters are none."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clinker.cxl.failure import shown
from clinker.formats.common.read_spec import FormatError
from clinker.formats.interchange.header import Delimiters
from clinker.formats.interchange.segments import BLANKS
from clinker.frozen import frozen

_LONGEST_NUMBER = 15


@frozen
class Binary:
    """What a text holds of such data."""

    parts: tuple[slice, ...] = ()
    end: int | None = None
    """Where a segment begins whose data the text does not hold to its end."""
    needed: int = 0
    """How long the text must be to hold it."""


class BinarySearch:
    """Looks for such segments; `tags` tell which element has the length of the data."""

    def __init__(self, delimiters: Delimiters, tags: Mapping[bytes, int], path: str) -> None:
        self._path = path
        self._terminator = delimiters.terminator.encode()
        element = delimiters.element.encode()
        either = element + self._terminator
        others = b"[^" + re.escape(either) + b"]*"
        blanks = re.escape(bytes(set(BLANKS) - set(either)))
        names = b"|".join(map(re.escape, tags))
        self._tag = re.compile(
            b"(?:^|%b)[%b]*(%b)%b"
            % (re.escape(self._terminator), blanks, names, re.escape(element))
        )
        before = b"%b%b" % (others, re.escape(element))
        self._length = {
            tag: re.compile(
                b"(?:%b){%d}(%b)([%b])" % (before, number - 1, others, re.escape(either))
            )
            for tag, number in tags.items()
        }

    def find(self, text: bytes, segment: int) -> Binary:
        """What a text holds that begins with a segment, and with which one; FormatError if the
        length of that one is none."""
        parts: list[slice] = []
        at = 0
        while found := self._tag.search(text, at):
            begin = found.start(1)
            length = self._length[found[1]].match(text, found.end())
            if not length:
                return Binary(tuple(parts), begin, len(text) + 1)
            if length[2] == self._terminator:  # there is no data
                at = length.end() - 1
                continue
            try:
                start, at = length.end(), self._find_end(text, segment, found[1], length)
            except FormatError:
                # What stands before may be the end of an interchange, and this another one.
                if found.start():
                    return Binary(tuple(parts), begin)
                raise
            if at >= len(text):
                return Binary(tuple(parts), begin, at + 1)
            parts.append(slice(start, at))
        return Binary(tuple(parts))

    def _find_end(self, text: bytes, segment: int, tag: bytes, length: re.Match[bytes]) -> int:
        """Where the data ends that the length tells."""
        size = self._number(segment, tag, length[1])
        end = length.end() + size
        if end < len(text) and text[end : end + 1] != self._terminator:
            raise FormatError(
                f"segment {segment}: {tag.decode()} declares {size} bytes of data, "
                "but does not end behind them",
                self._path,
            )
        return end

    def _number(self, segment: int, tag: bytes, digits: bytes) -> int:
        digits = digits.strip(BLANKS)
        if not digits.isdigit() or len(digits) > _LONGEST_NUMBER:
            raise FormatError(
                f"segment {segment}: {tag.decode()} declares "
                f"'{shown(digits.decode('utf-8', 'replace'))}' bytes of data, which is no number",
                self._path,
            )
        return int(digits)
