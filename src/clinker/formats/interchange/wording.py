"""What EDIFACT and X12 differ in when they are written."""

from __future__ import annotations

from typing import Protocol

from clinker.formats.interchange.columns import TAG
from clinker.formats.interchange.grammar import Grammar
from clinker.formats.interchange.header import Header
from clinker.formats.interchange.syntax import Syntax
from clinker.frozen import frozen


@frozen(eq=False, kw_only=True)
class Wording:
    """How messages are written, beyond what the grammar says."""

    format: str
    grammar: Grammar
    keeps_further: bool
    """Whether the segment that opens a message keeps what it has behind reference and type."""
    type_option: str
    """The option that says what type messages have whose records do not."""
    counted: str
    """The reference of a message that has none, made of its number."""

    @property
    def message(self) -> str:
        """What the format calls a message."""
        return self.grammar.levels[-1].name

    @property
    def columns(self) -> tuple[str, str, str]:
        """What records have besides elements."""
        return TAG, self.grammar.reference_column, self.grammar.type_column

    @property
    def opening(self) -> str:
        """The segment that opens a message."""
        return self.grammar.levels[-1].opening

    @property
    def trailer(self) -> str:
        return self.grammar.levels[-1].closing

    @property
    def services(self) -> frozenset[str]:
        """The segments that writers make themselves."""
        levels = self.grammar.levels
        return frozenset(tag for level in levels for tag in (level.opening, level.closing))


class Envelope(Protocol):
    """What stands around all messages of an interchange."""

    def open(self, header: Header, syntax: Syntax) -> bytes: ...

    def close(self, header: Header, syntax: Syntax, messages: int) -> bytes: ...

    def write_empty(self, header: Header, syntax: Syntax) -> bytes:
        """An interchange without messages."""
        ...
