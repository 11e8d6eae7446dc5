"""Something that can be written at a place."""

from __future__ import annotations

import enum

from clinker.frozen import frozen


class Kind(enum.Enum):
    KEY = enum.auto()
    WORD = enum.auto()
    NODE = enum.auto()
    FIELD = enum.auto()
    LOCAL = enum.auto()
    METHOD = enum.auto()
    FUNCTION = enum.auto()
    MODULE = enum.auto()
    KEYWORD = enum.auto()


@frozen
class Suggestion:
    label: str
    kind: Kind
    detail: str = ""
    documentation: str = ""
    insert: str | None = None
    """What is inserted, if it is more than the label."""
    rank: int = 0
    """Suggestions of a lower rank come first."""
