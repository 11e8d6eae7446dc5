"""The window of a transform, and the calls of window functions in its program."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.cxl.check import typed
from clinker.cxl.run.window_spec import WindowSpec
from clinker.frozen import frozen


@frozen
class Window:
    """The window of a transform."""

    spec: WindowSpec
    root: str
    """The node whose records it covers."""
    lookup: tuple[str, ...] | None
    """When it covers another source: the fields of the current record that `group_by` must equal.

    None when it covers the transform's own input.
    """
    reads: tuple[str, ...]
    """The fields it needs of the records it covers."""
    buffered: bool
    """Whether it is computed again when records are taken back."""
    already_sorted: bool
    """Whether the records arrive in the order of the window."""


def window_calls(program: typed.Program) -> Iterator[typed.Window]:
    for expression in program.expressions():
        for part in expression.walk():
            if isinstance(part, typed.Window):
                yield part
