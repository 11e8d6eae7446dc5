"""Columns of files that no schema declares."""

from __future__ import annotations

from collections.abc import Iterable, Set

from clinker.cxl.failure import shown
from clinker.formats.common.read_spec import FormatError, InputFile

_MOST_LISTED = 10


def refuse_undeclared(file: InputFile, names: Iterable[str], declared: Set[str]) -> None:
    """FormatError if a file has columns that the schema does not declare."""
    undeclared = [name for name in names if name not in declared]
    if undeclared:
        what = "column" if len(undeclared) == 1 else "columns"
        raise FormatError(
            f"the schema does not declare {what} {list_names(undeclared)}",
            file.path,
            "declare them, or set 'on_unmapped: {mode: drop}' or 'auto_widen'",
        )


def list_names(names: Iterable[str]) -> str:
    """Names from a file in a message, not too many of them."""
    every = list(names)
    more = f" and {len(every) - _MOST_LISTED} more" if len(every) > _MOST_LISTED else ""
    return ", ".join(f"'{shown(name)}'" for name in every[:_MOST_LISTED]) + more
