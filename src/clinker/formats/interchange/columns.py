"""The columns that segments have."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from clinker.formats.interchange.grammar import Grammar
from clinker.formats.interchange.segments import Places, Segments
from clinker.frozen import frozen

TAG = "seg_id"


def element_name(number: int) -> str:
    """The name of the column for an element."""
    return f"e{number:02}"


@frozen(eq=False)
class SegmentColumns:
    """What may be read of segments: the tag, what the message or set is, and elements."""

    grammar: Grammar
    max_elements: int

    @property
    def common(self) -> tuple[str, ...]:
        """The columns that every record has, whatever its segment is."""
        return (TAG, self.grammar.reference_column, self.grammar.type_column)

    @property
    def numbers(self) -> dict[str, int]:
        """The elements by the names of their columns."""
        return {element_name(number): number for number in range(1, self.max_elements + 1)}

    def undeclared(self, declared: Set[str], held: Set[int]) -> tuple[str, ...]:
        """The columns that no schema declares, of elements only those that hold something."""
        elements = (element_name(number) for number in sorted(held))
        return tuple(name for name in (*self.common, *elements) if name not in declared)


def find_records(grammar: Grammar, segments: Segments, tags: Sequence[tuple[int, str]]) -> Places:
    """The segments that are records: all but those with tags of envelopes, except the innermost."""
    is_record = np.ones(len(segments), np.bool_)
    innermost = grammar.levels[-1].opening
    is_record[[at for at, tag in tags if tag != innermost]] = False
    return np.flatnonzero(is_record)
