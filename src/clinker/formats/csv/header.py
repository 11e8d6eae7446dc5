"""The columns of CSV files: named by a header, or by the schema where there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from clinker.formats.common.read_spec import Column
from clinker.formats.common.undeclared import list_names
from clinker.frozen import frozen


@frozen
class Header:
    """The names of a file's columns, no two of them alike."""

    names: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    """Names that stand in the header a second time, and the names their columns have instead."""
    nameless: tuple[str, ...] = ()
    """The names that columns have of which the header gives none."""

    def warnings(self) -> Iterator[str]:
        if self.renamed:
            repeated = list_names(dict.fromkeys(name for name, _ in self.renamed))
            instead = list_names(name for _, name in self.renamed)
            what = "column is" if len(self.renamed) == 1 else "columns are"
            yield f"the header names {repeated} more than once; the later {what} called {instead}"
        if self.nameless:
            what = "column" if len(self.nameless) == 1 else "columns"
            count = "a" if len(self.nameless) == 1 else str(len(self.nameless))
            called = list_names(self.nameless)
            yield f"the header has {count} {what} without a name, called {called}"


def read_header(cells: Sequence[str]) -> Header:
    """The columns of a file that begins with their names.

    Of columns with the same name the first one has it, and the others are called `a_2`, `a_3`;
    a column without a name is called `col_N` by its place, counted from 0. What stands in the
    header comes first: a name that is made up is none of those.
    """
    known = _Names(cells)
    names: list[str] = []
    renamed: list[tuple[str, str]] = []
    nameless: list[str] = []
    for at, cell in enumerate(cells):
        if not cell:
            name = known.free(name_by_position(at))
            nameless.append(name)
        elif known.is_first(cell):
            name = cell
        else:
            name = known.another(cell)
            renamed.append((cell, name))
        names.append(name)
    return Header(tuple(names), tuple(renamed), tuple(nameless))


def derive_header(columns: Sequence[Column], width: int) -> Header:
    """The columns of a file without a header: the schema names them by position, and further ones
    are called `col_N` by their place."""
    declared = [column.name for column in columns]
    names = _Names(declared)
    rest = [names.free(name_by_position(at)) for at in range(len(declared), width)]
    return Header((*declared, *rest))


def name_by_position(at: int) -> str:
    """The name of a column that has no other, by its place counted from 0."""
    return f"col_{at}"


class _Names:
    """Names that are taken, and others that are not."""

    def __init__(self, names: Sequence[str]) -> None:
        self._taken = set(names)
        self._met: set[str] = set()
        self._uses: Counter[str] = Counter()

    def is_first(self, name: str) -> bool:
        """Whether a names name is met for the first time."""
        is_new = name not in self._met
        self._met.add(name)
        return is_new

    def free(self, name: str) -> str:
        """This name, or another one if it is taken."""
        if name in self._taken:
            return self.another(name)
        self._taken.add(name)
        return name

    def another(self, name: str) -> str:
        """The next name of the form `name_2` that is not taken."""
        number = max(2, self._uses[name])
        while f"{name}_{number}" in self._taken:
            number += 1
        self._uses[name] = number + 1
        self._taken.add(f"{name}_{number}")
        return f"{name}_{number}"
