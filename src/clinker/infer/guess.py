"""What has been found out about a file: how to read it, before its columns are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from clinker.frozen import frozen


@frozen(kw_only=True)
class FieldPlace:
    """A field of a fixed-width line."""

    name: str
    start: int
    width: int


@frozen(kw_only=True)
class Guess:
    """The format of a file, its options, and the sample as its readers can read it."""

    format: str
    options: Mapping[str, object] = field(default_factory=dict)
    """Those that are not as they are by default, as a pipeline file writes them."""
    content: bytes
    """Whole records, in UTF-8 if that is an option of the format."""
    reading: Mapping[str, object] = field(default_factory=dict)
    """The options with which that is read, if they are others."""
    places: Sequence[FieldPlace] = ()
    facts: Sequence[str] = ()
    """How it is written, in words."""
    doubts: Sequence[str] = ()
    """What might be otherwise, and is for the user to say."""
    has_texts: bool = True
    """Whether values are texts, which say nothing of their types."""
