"""Elements that are the same byte for byte, but for their texts and the values of attributes.

The first of them is the pattern. `<` stands only where a tag begins, so if all have as many of
them, and between the texts of each are the bytes that the pattern has there, then all are like it,
and their texts are known without looking at anything else.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from clinker.formats.common.json_numbers import Places
from clinker.formats.common.texts import contains_any
from clinker.formats.xml.dialect import XmlDialect
from clinker.formats.xml.pattern import Pattern, find_pattern
from clinker.formats.xml.texts import BLANKS, clean_texts, clean_values, copy_texts
from clinker.frozen import frozen

_LT, _QUOTE = b'<"'


@frozen(eq=False)
class Uniform:
    """Elements of a text that are like the first of them."""

    text: bytes
    end: int
    pattern: Pattern
    tags: Places
    """Where tags begin, a row for each element."""
    attributes: list[pa.StringArray]
    """The values as they are written, in the order of the pattern."""

    def __len__(self) -> int:
        return len(self.tags)

    @property
    def keys(self) -> list[str]:
        """The fields that each of them has."""
        return self.pattern.keys

    def texts(self, key: str) -> pa.StringArray:
        """What the elements have in one of the fields of the pattern."""
        child = self.pattern.children.get(key)
        if child is None:
            return clean_values(self.attributes[self.pattern.attributes.index(key)])
        if child.behind is None:
            return pa.repeat(pa.scalar(""), len(self))
        starts = self.tags[:, child.tag] + child.behind
        texts = copy_texts(self.text, starts, self.tags[:, child.tag + 1])
        return clean_texts(texts, trims=contains_any(texts, BLANKS.encode()))


def find_uniform(text: bytes, start: int, dialect: XmlDialect) -> Uniform | None:
    """The elements from one on to the last whole one; None if not all are alike."""
    pattern = find_pattern(text, start, dialect)
    if pattern is None:
        return None
    end = text.rfind(pattern.closing, start) + len(pattern.closing)
    codes = np.frombuffer(text, np.uint8)[:end]
    places = np.flatnonzero(codes == _LT)
    if len(places) % pattern.tags:
        return None
    tags = places.reshape(-1, pattern.tags)
    if not _are_like(pattern, text, tags, end):
        return None
    attributes = _find_attributes(pattern, text, tags)
    return None if attributes is None else Uniform(text, end, pattern, tags, attributes)


def _are_like(pattern: Pattern, text: bytes, tags: Places, end: int) -> bool:
    """Whether all is as in the pattern but for texts and what is behind the first quote."""
    *literals, last = pattern.literals
    places = [1, *(child.tag + 1 for child in pattern.texts)]
    tails = tags[:, places.pop()]
    return (
        all(
            _stands_at(text, tags[:, at], literal)
            for at, literal in zip(places, literals, strict=True)
        )
        and _stands_at(text, tails[:-1], last + pattern.gap + pattern.pieces[0])
        and text[int(tails[-1]) : end] == last
    )


def _find_attributes(pattern: Pattern, text: bytes, tags: Places) -> list[pa.StringArray] | None:
    """The values of attributes; None if there are others than in the pattern."""
    if not pattern.attributes:
        return []
    lists = copy_texts(text, tags[:, 0] + len(pattern.pieces[0]), tags[:, 1])
    _, bounds, data = lists.buffers()
    offsets = np.frombuffer(bounds, np.int32, len(tags) + 1)
    codes = np.frombuffer(data, np.uint8, int(offsets[-1]))
    places = np.flatnonzero(codes == _QUOTE)
    per_list = 2 * len(pattern.attributes) - 1
    if len(places) != per_list * len(tags):
        return None
    quotes = places.reshape(-1, per_list)
    begins, ends = offsets[:-1], offsets[1:]
    is_inside = (quotes[:, 0] >= begins) & (quotes[:, -1] + len(pattern.pieces[-1]) == ends)
    closings = quotes[:, ::2].T
    if not is_inside.all() or not all(
        _stands_at(codes.data, closing, piece)
        for closing, piece in zip(closings, pattern.pieces[1:], strict=True)
    ):
        return None
    openings = [begins, *(quotes[:, 1::2].T + 1)]
    return [
        copy_texts(codes.data, starts, stops)
        for starts, stops in zip(openings, closings, strict=True)
    ]


def _stands_at(text: bytes | memoryview, places: Places, literal: bytes) -> bool:
    """Whether some bytes stand at all of some places, which are in order."""
    if not len(places):
        return True
    size, room = len(literal), len(text) - len(literal) + 1
    if int(places[-1]) >= room:
        return False
    every = np.ndarray(room, f"V{size}", text, 0, (1,))
    return every[places].tobytes() == literal * len(places)
