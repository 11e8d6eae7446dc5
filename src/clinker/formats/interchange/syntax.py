"""How segments are written: texts between delimiters, released where they look like some."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from clinker.formats.interchange.header import Delimiters
from clinker.frozen import frozen

_LINE_BREAKS = "\r\n"


@frozen
class Syntax:
    """The delimiters of an interchange, and whether every segment is on a line of its own."""

    delimiters: Delimiters
    newline: bool

    @cached_property
    def end(self) -> str:
        """What stands behind the elements of a segment."""
        return self.delimiters.terminator + self.end_of_line

    @property
    def end_of_line(self) -> str:
        """What stands behind a terminator, unless that ends the line itself."""
        return "\n" if self.newline and self.delimiters.terminator not in _LINE_BREAKS else ""

    @cached_property
    def special(self) -> str:
        """The characters that cannot stand in an element as they are; those that release others
        come first."""
        marks = self.delimiters
        return marks.release + marks.element + marks.terminator

    @property
    def can_release(self) -> bool:
        return bool(self.delimiters.release)

    def find_special(self, text: str) -> str | None:
        """A delimiter in a text that is to be an element, if nothing can release it."""
        if self.can_release:
            return None
        return next((character for character in self.special if character in text), None)

    def write(self, tag: str, elements: Sequence[str]) -> bytes:
        """A segment with all these elements."""
        texts = map(self._release, elements)
        return (self.delimiters.element.join((tag, *texts)) + self.end).encode()

    def write_trimmed(self, tag: str, elements: Sequence[str]) -> bytes:
        """A segment without its last elements, as far as they are empty."""
        filled = len(elements)
        while filled and not elements[filled - 1]:
            filled -= 1
        return self.write(tag, elements[:filled])

    def _release(self, text: str) -> str:
        if self.can_release:
            for character in self.special:
                text = text.replace(character, self.delimiters.release + character)
        return text
