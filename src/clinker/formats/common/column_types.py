"""How columns hold the values of each CXL type: the one table of their Arrow and SQL types.

A value of one known kind is native; an array whose elements have a form of their own is an array
of those; everything else is a tagged text (see `cxl.run.tagged`). Spark's own types follow from
those of Arrow.
"""

from __future__ import annotations

import pyarrow as pa

from clinker.cxl.types import Kind, Type
from clinker.frozen import frozen


@frozen
class Native:
    """The types of a column that holds values of one kind."""

    ddl: str
    """As SQL names it."""
    arrow: pa.DataType


NATIVE = {
    Kind.BOOL: Native("BOOLEAN", pa.bool_()),
    Kind.INT: Native("BIGINT", pa.int64()),
    Kind.FLOAT: Native("DOUBLE", pa.float64()),
    Kind.STRING: Native("STRING", pa.string()),
    Kind.DATE: Native("DATE", pa.date32()),
    Kind.DATETIME: Native("TIMESTAMP_NTZ", pa.timestamp("us")),
}
_TEXT = NATIVE[Kind.STRING]


@frozen
class Representation:
    """A native kind, an array of another form, or, where there is neither, a tagged text."""

    kind: Kind | None = None
    element: Representation | None = None

    @property
    def ddl(self) -> str:
        """The type of a column of this form, as SQL names it."""
        if self.element:
            return f"ARRAY<{self.element.ddl}>"
        return NATIVE[self.kind].ddl if self.kind else _TEXT.ddl

    @property
    def arrow_type(self) -> pa.DataType:
        """The type of a column of this form in Arrow."""
        if self.element:
            return pa.list_(self.element.arrow_type)
        return NATIVE[self.kind].arrow if self.kind else _TEXT.arrow

    @property
    def is_tagged(self) -> bool:
        return self.kind is None and self.element is None


TAGGED = Representation()


def representation(type_: Type) -> Representation:
    """The form in which columns hold values of a type."""
    kinds = type_.kinds & ~Kind.NULL
    if kinds == Kind.ARRAY:
        return Representation(element=representation(type_.element_type))
    return Representation(kinds) if kinds in NATIVE else TAGGED


def arrow_type(type_: Type) -> pa.DataType:
    """The Arrow type of a column that holds values of a type."""
    return representation(type_).arrow_type


def is_tagged(type_: Type) -> bool:
    """Whether columns hold values of a type as tagged texts: they are not of one known kind."""
    return representation(type_).is_tagged
