"""What the interchanges of a format are made of: messages of EDIFACT, transaction sets of X12."""

from __future__ import annotations

from typing import Protocol

from clinker.formats.interchange.header import Header
from clinker.formats.interchange.syntax import Syntax
from clinker.frozen import frozen


@frozen(kw_only=True)
class Grammar:
    """The words of a format: the tags of its service segments and the names of its columns."""

    format: str
    message: str
    """What it calls a message."""
    opening: str
    """The segment that opens a message."""
    trailer: str
    services: frozenset[str]
    """All segments that writers make themselves."""
    reference: str
    """The column with the reference of the message that a record is in."""
    type: str
    """The column with the type of that message."""
    opened_with: tuple[str, str]
    """The columns that the first two elements of the opening are."""
    keeps_further: bool
    """Whether the opening keeps its other elements."""
    type_option: str
    """The option that says what type messages have whose records do not."""
    counted: str
    """The reference of a message that has none, made of its number."""

    def element_of(self, column: str) -> int:
        """Which element of the opening is the same as a column."""
        return self.opened_with.index(column) + 1


class Envelope(Protocol):
    """What stands around all messages of an interchange."""

    def open(self, header: Header, syntax: Syntax) -> bytes: ...

    def close(self, header: Header, syntax: Syntax, messages: int) -> bytes: ...

    def write_empty(self, header: Header, syntax: Syntax) -> bytes:
        """An interchange without messages."""
        ...
