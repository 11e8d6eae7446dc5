"""What records tell of the messages they stand in, as it travels with their bytes."""

from __future__ import annotations

from typing import NamedTuple

import orjson


class Start(NamedTuple):
    """What a record says that begins a message, or goes on with one that others have begun."""

    is_explicit: bool
    """Whether the record is the segment that opens a message."""
    group: str
    """What the records of the message have in common."""
    reference: str
    """What the message is called."""
    type: str
    further: tuple[str, ...] = ()
    """What the segment has behind reference and type."""
    header: str | None = None
    """The header of the document that the record was read from, if it is to be written again and
    another one than before."""

    def to_text(self) -> str:
        return orjson.dumps(tuple(self)).decode()

    @staticmethod
    def from_text(text: str) -> Start:
        is_explicit, group, reference, type_, further, header = orjson.loads(text)
        return Start(is_explicit, group, reference, type_, tuple(further), header)
