"""What X12 and EDIFACT differ in: the levels of their envelopes and how delimiters are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from clinker.formats.interchange.header import Delimiters
from clinker.frozen import frozen

Elements: TypeAlias = tuple[str, ...]
"""The elements of a segment, without its tag."""


@frozen(eq=False, kw_only=True)
class Level:
    """A part of an interchange that one segment opens and another one closes.

    The closing segment tells how much there was in between, and repeats the reference.
    """

    name: str
    opening: str
    closing: str
    counted: str
    """What the closing segment counts."""
    find_reference: Callable[[Elements], str]
    """What the opening segment says that the closing one repeats."""
    section: str | None = None
    """The name under which records always see the opening segment as `$doc`."""
    elements: int | None = None
    """How many elements the opening segment has, if all have the same."""


@frozen
class Opening:
    """How an interchange begins."""

    delimiters: Delimiters
    skipped: int = 0
    """How many bytes tell the delimiters and nothing else."""


@frozen(eq=False, kw_only=True)
class Grammar:
    """How the interchanges of a format are built."""

    levels: tuple[Level, ...]
    """The outermost first; segments are the records of the innermost one."""
    find_opening: Callable[[bytes, str], Opening | None]
    """The delimiters of the interchange that a text begins with, None if the text is too short to
    tell; FormatError about a path if they cannot be what they are."""
    begins_with: tuple[bytes, ...]
    """The tags that an interchange may begin with."""
    repeats: bool
    """Whether another interchange may follow."""
    reference_column: str
    type_column: str
    reference_element: int
    type_element: int
    """Where the opening segment of the innermost level has what these columns hold."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Tags of segments that are not supported, and what to say about them."""
    binary: Mapping[bytes, int] = field(default_factory=dict)
    """Tags of segments that end with data of any kind, and the element that tells its length."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of all segments that are more than records."""
        levels = (tag for level in self.levels for tag in (level.opening, level.closing))
        return (*levels, *self.refused)

    def reference_and_type(self, elements: Sequence[str]) -> tuple[str | None, str | None]:
        """What records of a message or set tell about it, by its opening segment."""
        places = (self.reference_element, self.type_element)
        reference, type_ = (element_at(elements, place) or None for place in places)
        return reference, type_


def element_at(elements: Sequence[str], number: int) -> str:
    """An element by its number, from 1 on; empty if there is none."""
    return elements[number - 1] if number <= len(elements) else ""
