"""The names that a file may get where it must not replace another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import PurePath

from clinker.file_names import split_name
from clinker.formats.common.writing import IfExists
from clinker.frozen import frozen


@frozen(kw_only=True)
class Naming:
    """What happens if a file has the name already."""

    if_exists: IfExists = "error"
    unique_suffix_width: int = 0
    numbered: Callable[[int], str] | None = None
    """The names to try, if it was said where in them the number goes."""

    def candidates(self, name: str) -> Iterator[str]:
        """The names that it may get: `out.txt`, `out-1.txt`, `out-2.txt`, …"""
        yield name
        if self.if_exists == "unique_suffix":
            stem, extension = split_name(PurePath(name))

            def at_the_end(number: int) -> str:
                return f"{stem}-{number:0{self.unique_suffix_width}}{extension}"

            yield from map(self.numbered or at_the_end, count(1))
