"""The syntax tree of CXL: what the user wrote, nothing decided yet.

Nodes compare by structure, not by place, so that a reformatted program equals the original.
"""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from clinker.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Node:
    span: Span = field(compare=False, repr=False)


# Expressions


@dataclass(frozen=True, slots=True)
class Expr(Node):
    pass


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Expr):
    value: bool | int | float | str | dt.date | None

    # 1, 1.0 and true are equal in Python but are three different literals.
    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Literal)
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class Name(Expr):
    """A bare identifier: a field, a variable or a binding."""

    name: str


@dataclass(frozen=True, slots=True)
class It(Expr):
    """The parameter of a closure."""


@dataclass(frozen=True, slots=True)
class This(Expr):
    """The current input record."""


@dataclass(frozen=True, slots=True)
class Now(Expr):
    pass


@dataclass(frozen=True, slots=True)
class SystemRef(Expr):
    """`$namespace.name`"""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Member(Expr):
    """`object.name`, without parentheses."""

    object: Expr
    name: str
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Index(Expr):
    """`object[index]`"""

    object: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class MethodCall(Expr):
    receiver: Expr
    method: str
    args: tuple[Expr, ...]
    method_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionCall(Expr):
    """`name(args)`: an aggregate, or inside a module one of its functions."""

    name: str
    args: tuple[Expr, ...]
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ModuleRef(Expr):
    """`alias::member`, a call when `args` is given."""

    alias: str
    member: str
    args: tuple[Expr, ...] | None
    member_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class WindowCall(Expr):
    """`$window.function(args)`"""

    function: str
    args: tuple[Expr, ...]
    function_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Star(Expr):
    """The `*` of `count(*)`."""


@dataclass(frozen=True, slots=True)
class Closure(Expr):
    """`it => body`"""

    body: Expr


class UnaryOp(enum.StrEnum):
    NEGATE = "-"
    NOT = "not"


class BinaryOp(enum.StrEnum):
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    MODULO = "%"
    EQUAL = "=="
    NOT_EQUAL = "!="
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    COALESCE = "??"


class LogicOp(enum.StrEnum):
    AND = "and"
    OR = "or"


EQUALITY_OPS = frozenset({BinaryOp.EQUAL, BinaryOp.NOT_EQUAL})
ORDERING_OPS = frozenset(
    {BinaryOp.LESS, BinaryOp.LESS_EQUAL, BinaryOp.GREATER, BinaryOp.GREATER_EQUAL}
)
COMPARISON_OPS = EQUALITY_OPS | ORDERING_OPS


@dataclass(frozen=True, slots=True)
class Unary(Expr):
    op: UnaryOp
    operand: Expr


@dataclass(frozen=True, slots=True)
class Binary(Expr):
    op: BinaryOp
    left: Expr
    right: Expr
    op_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Logic(Expr):
    """`a and b and c`: one node for the whole chain, however long."""

    op: LogicOp
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class If(Expr):
    condition: Expr
    then: Expr
    otherwise: Expr | None


@dataclass(frozen=True, slots=True)
class Arm(Node):
    """`pattern => value`; the wildcard `_` has no pattern."""

    pattern: Expr | None
    value: Expr


@dataclass(frozen=True, slots=True)
class Match(Expr):
    subject: Expr | None
    arms: tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class ArrayLiteral(Expr):
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class MapEntry(Node):
    key: str
    value: Expr


@dataclass(frozen=True, slots=True)
class MapLiteral(Expr):
    entries: tuple[MapEntry, ...]


# Statements


@dataclass(frozen=True, slots=True)
class Statement(Node):
    pass


@dataclass(frozen=True, slots=True)
class Let(Statement):
    name: str
    value: Expr
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Emit(Statement):
    name: str
    value: Expr
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EmitMeta(Statement):
    name: str
    value: Expr
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class EmitEach(Statement):
    binding: str
    source: Expr
    outer: bool
    body: tuple[Statement, ...]
    binding_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Filter(Statement):
    condition: Expr


@dataclass(frozen=True, slots=True)
class Distinct(Statement):
    """`by` is the key field; without one, the emitted fields are the key."""

    by: Name | None


class TraceLevel(enum.StrEnum):
    TRACE = "trace"
    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Trace(Statement):
    level: TraceLevel
    guard: Expr | None
    message: Expr


@dataclass(frozen=True, slots=True)
class Use(Statement):
    path: tuple[str, ...]
    alias: str | None

    @property
    def bound_name(self) -> str:
        return self.alias or self.path[-1]


@dataclass(frozen=True, slots=True)
class Function(Statement):
    """`fn name(params) = body`, in a module."""

    name: str
    params: tuple[str, ...]
    body: Expr
    name_span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Program(Node):
    statements: tuple[Statement, ...]


def children(node: object) -> Iterator[Node]:
    """The nodes directly below a node."""
    if isinstance(node, Node):
        for part in fields(node):
            yield from _nodes(getattr(node, part.name))


def _nodes(part: object) -> Iterator[Node]:
    if isinstance(part, Node):
        yield part
    elif isinstance(part, tuple):
        for item in part:
            yield from _nodes(item)
