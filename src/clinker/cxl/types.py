"""The types of CXL.

A type is the set of kinds of value an expression may have at run time: `Int` is {int}, `Numeric`
{int, float}, `Nullable(T)` adds null to T, `Any` is every kind. So "may this be null", "can this
operator ever work" and "must this be checked at run time" are questions about sets.
"""

from __future__ import annotations

import enum
import re
from functools import reduce

from clinker.frozen import frozen


class Kind(enum.Flag):
    """The nine kinds of value."""

    NULL = enum.auto()
    BOOL = enum.auto()
    INT = enum.auto()
    FLOAT = enum.auto()
    STRING = enum.auto()
    DATE = enum.auto()
    DATETIME = enum.auto()
    ARRAY = enum.auto()
    MAP = enum.auto()


KIND_NAMES = {
    Kind.NULL: "Null",
    Kind.BOOL: "Bool",
    Kind.INT: "Int",
    Kind.FLOAT: "Float",
    Kind.STRING: "String",
    Kind.DATE: "Date",
    Kind.DATETIME: "DateTime",
    Kind.ARRAY: "Array",
    Kind.MAP: "Map",
}
NO_KIND = Kind(0)
_EVERY_KIND = reduce(lambda a, b: a | b, Kind)


@frozen
class Type:
    """A set of kinds; `element` is the element type of its arrays, None when unknown."""

    kinds: Kind
    element: Type | None = None

    @property
    def may_be_null(self) -> bool:
        return bool(self.kinds & Kind.NULL)

    @property
    def is_null(self) -> bool:
        return self.kinds == Kind.NULL

    @property
    def is_any(self) -> bool:
        return self.kinds == _EVERY_KIND

    @property
    def element_type(self) -> Type:
        return self.element or ANY

    def nullable(self) -> Type:
        return Type(self.kinds | Kind.NULL, self.element)

    def without_null(self) -> Type:
        """The type of the value once it is known not to be null; Null itself stays Null."""
        rest = self.kinds & ~Kind.NULL
        return Type(rest, self.element) if rest else self

    def only(self, kinds: Kind) -> bool:
        """Whether every non-null value of this type is of one of `kinds`."""
        return not self.kinds & ~kinds & ~Kind.NULL

    def maybe(self, kinds: Kind) -> bool:
        """Whether some value of this type is of one of `kinds`."""
        return bool(self.kinds & kinds)

    @property
    def noun(self) -> str:
        """The type as messages name it: whether it may be null is not the point there."""
        return str(self.without_null())

    def __or__(self, other: Type) -> Type:
        return Type(self.kinds | other.kinds, _join_elements(self, other))

    def __str__(self) -> str:
        if self.is_any:
            return "Any"
        if self.is_null:
            return "Null"
        if self.may_be_null:
            return f"Nullable({self.without_null()})"
        if self.kinds == NUMERIC.kinds:
            return "Numeric"
        if self.kinds == Kind.ARRAY and self.element and not self.element.is_any:
            return f"Array({self.element})"
        return " or ".join(KIND_NAMES[kind] for kind in self.kinds)


def _join_elements(a: Type, b: Type) -> Type | None:
    if not a.maybe(Kind.ARRAY):
        return b.element
    if not b.maybe(Kind.ARRAY):
        return a.element
    return a.element | b.element if a.element and b.element else None


NULL = Type(Kind.NULL)
BOOL = Type(Kind.BOOL)
INT = Type(Kind.INT)
FLOAT = Type(Kind.FLOAT)
STRING = Type(Kind.STRING)
DATE = Type(Kind.DATE)
DATETIME = Type(Kind.DATETIME)
ARRAY = Type(Kind.ARRAY)
MAP = Type(Kind.MAP)
NUMERIC = INT | FLOAT
ANY = Type(_EVERY_KIND)


def array_of(element: Type) -> Type:
    return Type(Kind.ARRAY, element)


def unify(*types: Type) -> Type:
    """The type of a value that is of one of these types.

    Int and Float meet as Float, and so do Date and DateTime as DateTime: such values are promoted.
    Where no common type exists the result is the union, which is checked at run time.
    """
    union = reduce(lambda a, b: a | b, types, NULL if not types else types[0])
    kinds, null = union.kinds & ~Kind.NULL, union.kinds & Kind.NULL
    if not any(len(t.kinds & ~Kind.NULL) > 1 for t in types):
        if kinds == Kind.INT | Kind.FLOAT:
            return Type(Kind.FLOAT | null)
        if kinds == Kind.DATE | Kind.DATETIME:
            return Type(Kind.DATETIME | null)
    return union


SCHEMA_TYPES = {
    "string": STRING,
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "date": DATE,
    "date_time": DATETIME,
    "datetime": DATETIME,
    "array": ARRAY,
    "map": MAP,
    "numeric": NUMERIC,
    "any": ANY,
}
_NULLABLE = re.compile(r"nullable\(\s*(.+?)\s*\)")


def parse_type(text: str) -> Type | None:
    """The type a schema writes as `text`, such as `int` or `nullable(date)`."""
    if wrapped := _NULLABLE.fullmatch(text.strip()):
        inner = parse_type(wrapped[1])
        return inner.nullable() if inner else None
    return SCHEMA_TYPES.get(text.strip())
