"""What is wanted of the records of a node, by those who read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import field

from clinker.cxl.check import typed
from clinker.frozen import frozen


@frozen
class Wanted:
    """What the consumers of a node need of its records."""

    columns: Set[str] = frozenset()
    undeclared: bool = False
    """Whether they need columns that no schema names."""
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Of columns that are needed, those of whose elements only these members are."""

    def plus(self, other: Wanted) -> Wanted:
        """What two consumers need together."""
        members = {
            name: tuple(dict.fromkeys((*self.members.get(name, ()), *other.members.get(name, ()))))
            for name in (*self.members, *other.members)
            if self._takes_apart(name) and other._takes_apart(name)
        }
        return Wanted(self.columns | other.columns, self.undeclared or other.undeclared, members)

    def plus_read_by(self, expressions: Iterable[typed.Expr]) -> Wanted:
        """The same of records that pass unchanged, and what is evaluated on them besides."""
        read = {name for expression in expressions for _, name in expression.fields_read}
        return Wanted(self.columns | read, self.undeclared)

    def _takes_apart(self, name: str) -> bool:
        return name in self.members or name not in self.columns
