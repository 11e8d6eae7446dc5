"""How messages name a record: by its row, its file and its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clinker.cxl.failure import shown
from clinker.formats.common.read_spec import FILE_SHIFT, ROW_MASK


def record_name(
    files: Mapping[str, Sequence[str]], source: int, position: int, *, is_group: bool
) -> str:
    """The record, or the group whose first record it is; `files` are those of every source."""
    name = list(files)[source]
    file = shown(files[name][position >> FILE_SHIFT])
    row = f"row {position & ROW_MASK} of {file}, source '{name}'"
    return f"the group of {row}" if is_group else row
