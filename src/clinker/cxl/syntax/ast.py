"""The syntax tree of CXL: what the user wrote, nothing decided yet.

Nodes compare by structure, not by place, so that a reformatted program equals the original.
"""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Iterator
from dataclasses import field

from clinker.diagnostics import Span
from clinker.frozen import frozen


@frozen
class Node:
    span: Span = field(compare=False, repr=False)


# Expressions


@frozen
class Expr(Node):
    pass


@frozen(eq=False)
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


@frozen
class Name(Expr):
    """A bare identifier: a field, a variable or a binding."""

    name: str


@frozen
class It(Expr):
    """The parameter of a closure."""


@frozen
class This(Expr):
    """The current input record."""


@frozen
class Now(Expr):
    pass


@frozen
class SystemRef(Expr):
    """`$namespace.name`"""

    namespace: str
    name: str


@frozen
class Member(Expr):
    """`object.name`, without parentheses."""

    object: Expr
    name: str
    name_span: Span = field(compare=False, repr=False)


@frozen
class Index(Expr):
    """`object[index]`"""

    object: Expr
    index: Expr


@frozen
class MethodCall(Expr):
    receiver: Expr
    method: str
    args: tuple[Expr, ...]
    method_span: Span = field(compare=False, repr=False)


@frozen
class FunctionCall(Expr):
    """`name(args)`: an aggregate, or inside a module one of its functions."""

    name: str
    args: tuple[Expr, ...]
    name_span: Span = field(compare=False, repr=False)


@frozen
class ModuleRef(Expr):
    """`alias::member`, a call when there are `args`."""

    alias: str
    member: str
    args: tuple[Expr, ...] | None
    member_span: Span = field(compare=False, repr=False)


@frozen
class WindowCall(Expr):
    """`$window.function(args)`"""

    function: str
    args: tuple[Expr, ...]
    function_span: Span = field(compare=False, repr=False)


@frozen
class Star(Expr):
    """The `*` of `count(*)`."""


@frozen
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


@frozen
class Unary(Expr):
    op: UnaryOp
    operand: Expr


@frozen
class Binary(Expr):
    op: BinaryOp
    left: Expr
    right: Expr
    op_span: Span = field(compare=False, repr=False)


@frozen
class Logic(Expr):
    """`a and b and c`: one node for the whole chain, however long."""

    op: LogicOp
    operands: tuple[Expr, ...]


@frozen
class If(Expr):
    condition: Expr
    then: Expr
    otherwise: Expr | None


@frozen
class Arm(Node):
    """`pattern => value`; the wildcard `_` has no pattern."""

    pattern: Expr | None
    value: Expr


@frozen
class Match(Expr):
    subject: Expr | None
    arms: tuple[Arm, ...]


@frozen
class ArrayLiteral(Expr):
    items: tuple[Expr, ...]


@frozen
class MapEntry(Node):
    key: str
    value: Expr


@frozen
class MapLiteral(Expr):
    entries: tuple[MapEntry, ...]


# Statements


@frozen
class Statement(Node):
    pass


@frozen
class Let(Statement):
    name: str
    value: Expr
    name_span: Span = field(compare=False, repr=False)


@frozen
class Emit(Statement):
    name: str
    value: Expr
    name_span: Span = field(compare=False, repr=False)


@frozen
class EmitMeta(Statement):
    name: str
    value: Expr
    name_span: Span = field(compare=False, repr=False)


@frozen
class EmitEach(Statement):
    binding: str
    source: Expr
    outer: bool
    body: tuple[Statement, ...]
    binding_span: Span = field(compare=False, repr=False)


@frozen
class Filter(Statement):
    condition: Expr


@frozen
class Distinct(Statement):
    """`by` is the key, a field or a path into one; without it, the emitted fields are the key."""

    by: Expr | None


class TraceLevel(enum.StrEnum):
    TRACE = "trace"
    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


@frozen
class Trace(Statement):
    level: TraceLevel
    guard: Expr | None
    message: Expr


@frozen
class Use(Statement):
    path: tuple[str, ...]
    alias: str | None

    @property
    def bound_name(self) -> str:
        return self.alias or self.path[-1]


@frozen
class Function(Statement):
    """`fn name(params) = body`, in a module."""

    name: str
    params: tuple[str, ...]
    body: Expr
    name_span: Span = field(compare=False, repr=False)


@frozen
class Program(Node):
    statements: tuple[Statement, ...]


def children(node: object) -> Iterator[Node]:
    """The nodes directly below a node."""
    if isinstance(node, Node):
        for part in vars(node).values():
            yield from _nodes(part)


def _nodes(part: object) -> Iterator[Node]:
    if isinstance(part, Node):
        yield part
    elif isinstance(part, tuple):
        for item in part:
            yield from _nodes(item)
