"""The typed program: what the checker hands to the interpreter, the planner and the compiler.

Names are bound, module functions inlined, promotions explicit; every expression knows its type and
the ways it can fail.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property

from clinker.cxl.builtins.declare import Builtin, Method
from clinker.cxl.failure import FailureKind
from clinker.cxl.run.date_names import ENGLISH, DateNames
from clinker.cxl.syntax.ast import BinaryOp, LogicOp, TraceLevel, UnaryOp
from clinker.cxl.types import Kind, Type
from clinker.cxl.values import Value
from clinker.diagnostics import Location
from clinker.frozen import frozen


class Role(enum.Enum):
    """What introduced a symbol."""

    LET = enum.auto()
    EMIT = enum.auto()
    ELEMENT = enum.auto()
    CLOSURE = enum.auto()
    PARAMETER = enum.auto()


@frozen(eq=False)
class Symbol:
    """One binding of a name. `definition` is the expression of a `let` or an `emit`."""

    name: str
    type: Type
    role: Role
    definition: Expr | None = None

    @property
    def reads_window(self) -> bool:
        return self.definition is not None and self.definition.reads_window


@frozen(eq=False, kw_only=True)
class Expr:
    type: Type
    location: Location = field(repr=False)
    own_fails: frozenset[FailureKind] = frozenset()
    """How this operation itself can fail, apart from its operands."""

    def children(self) -> Iterator[Expr]:
        """The expressions this one is made of."""
        for part in list(vars(self).values()):
            yield from _expressions(part)

    def walk(self) -> Iterator[Expr]:
        """This expression and everything in it; definitions of symbols are not entered."""
        yield self
        for child in self.children():
            yield from child.walk()

    @cached_property
    def fails(self) -> frozenset[FailureKind]:
        """Every way an evaluation of this expression can fail; empty when it cannot."""
        return self.own_fails.union(*(child.fails for child in self.children()))

    @cached_property
    def fails_anew(self) -> frozenset[FailureKind]:
        """How an evaluation on another record fails, where nothing was computed before."""
        kinds = set(self.fails)
        for part in self.walk():
            if isinstance(part, Local) and part.symbol.definition:
                kinds |= part.symbol.definition.fails_anew
        return frozenset(kinds)

    @cached_property
    def is_per_record(self) -> bool:
        """Whether the value follows from a record alone, not from a place inside a program."""
        return not self.free_symbols

    @cached_property
    def free_symbols(self) -> frozenset[Symbol]:
        """The symbols whose values come from around this expression."""
        return frozenset().union(*(child.free_symbols for child in self.children()))

    @cached_property
    def reads_window(self) -> bool:
        """Whether a window function contributes to the value."""
        return any(
            isinstance(part, Window) or (isinstance(part, Local) and part.symbol.reads_window)
            for part in self.walk()
        )

    @cached_property
    def fields_read(self) -> frozenset[tuple[str | None, str]]:
        """The input columns, as (qualifier, name), whose values this expression depends on."""
        columns: set[tuple[str | None, str]] = set()
        for part in self.walk():
            if isinstance(part, Field):
                columns.add((part.qualifier, part.name))
            elif isinstance(part, Local) and part.symbol.definition:
                columns |= part.symbol.definition.fields_read
        return frozenset(columns)


def _expressions(part: object) -> Iterator[Expr]:
    if isinstance(part, Expr):
        yield part
    elif isinstance(part, tuple):
        for item in part:
            yield from _expressions(item)


@frozen(eq=False, kw_only=True)
class Broken(Expr):
    """Stands for an expression that was reported; programs with one are never handed out."""


@frozen(eq=False, kw_only=True)
class Literal(Expr):
    value: Value


@frozen(eq=False, kw_only=True)
class Field(Expr):
    """A column of the input record, or of one input of a combine."""

    name: str
    qualifier: str | None = None


@frozen(eq=False, kw_only=True)
class Local(Expr):
    symbol: Symbol

    @cached_property
    def free_symbols(self) -> frozenset[Symbol]:
        definition = self.symbol.definition
        return definition.free_symbols if definition else frozenset({self.symbol})


@frozen(eq=False, kw_only=True)
class System(Expr):
    """`$namespace.path`"""

    namespace: str
    path: tuple[str, ...]


@frozen(eq=False, kw_only=True)
class Now(Expr):
    pass


@frozen(eq=False, kw_only=True)
class Unary(Expr):
    op: UnaryOp
    operand: Expr


@frozen(eq=False, kw_only=True)
class Binary(Expr):
    op: BinaryOp
    left: Expr
    right: Expr


@frozen(eq=False, kw_only=True)
class Logic(Expr):
    op: LogicOp
    operands: tuple[Expr, ...]


@frozen(eq=False, kw_only=True)
class Promote(Expr):
    """An Int as Float, or a Date as DateTime, as `type` says."""

    operand: Expr


@frozen(eq=False, kw_only=True)
class If(Expr):
    condition: Expr
    then: Expr
    otherwise: Expr | None


@frozen(eq=False, kw_only=True)
class Match(Expr):
    """Arms are (pattern, value); the wildcard has no pattern."""

    subject: Expr | None
    arms: tuple[tuple[Expr | None, Expr], ...]


@frozen(eq=False, kw_only=True)
class Index(Expr):
    """`object[index]`, and `object.name` as an index by a literal key."""

    object: Expr
    index: Expr


@frozen(eq=False, kw_only=True)
class Closure(Expr):
    """`it => body`; its type is the body's."""

    it: Symbol
    body: Expr

    @cached_property
    def free_symbols(self) -> frozenset[Symbol]:
        return self.body.free_symbols - {self.it}


@frozen(eq=False, kw_only=True)
class Call(Expr):
    method: Method
    receiver: Expr
    args: tuple[Expr, ...]
    names: DateNames = ENGLISH
    """The words in which it writes and reads dates."""


@frozen(eq=False, kw_only=True)
class Inline(Expr):
    """A module function at its call: the arguments bound to its parameters, then its body."""

    function: str
    bindings: tuple[tuple[Symbol, Expr], ...]
    body: Expr


@frozen(eq=False, kw_only=True)
class ArrayLiteral(Expr):
    items: tuple[Expr, ...]


@frozen(eq=False, kw_only=True)
class MapLiteral(Expr):
    entries: tuple[tuple[str, Expr], ...]


@frozen(eq=False, kw_only=True)
class Aggregate(Expr):
    """An aggregate over the records of a group; `args` are evaluated on each of them."""

    function: Builtin
    args: tuple[Expr, ...]

    @cached_property
    def fails(self) -> frozenset[FailureKind]:
        return self.own_fails.union(*(arg.fails_anew for arg in self.args))


@frozen(eq=False, kw_only=True)
class Window(Expr):
    """A window function; `argument` is evaluated on records of the window, not on this one."""

    function: Builtin
    argument: Expr | None
    offset: int | None = None

    @cached_property
    def fails(self) -> frozenset[FailureKind]:
        return self.own_fails | (self.argument.fails_anew if self.argument else frozenset())


# Statements


@frozen(eq=False)
class Statement:
    location: Location = field(repr=False)


@frozen(eq=False)
class Let(Statement):
    symbol: Symbol
    value: Expr


@frozen(eq=False)
class Emit(Statement):
    symbol: Symbol
    value: Expr

    @property
    def name(self) -> str:
        return self.symbol.name


@frozen(eq=False)
class EmitMeta(Statement):
    name: str
    value: Expr


@frozen(eq=False)
class EmitEach(Statement):
    element: Symbol
    source: Expr
    outer: bool
    body: tuple[Statement, ...]


@frozen(eq=False)
class Filter(Statement):
    condition: Expr


@frozen(eq=False)
class Distinct(Statement):
    """Records equal in all of `keys` are duplicates; without keys, those equal in every field."""

    keys: tuple[Expr, ...] | None


@frozen(eq=False)
class Trace(Statement):
    level: TraceLevel
    guard: Expr | None
    message: Expr


@frozen(eq=False)
class Program:
    """A checked program and what the rest of the system asks about it."""

    statements: tuple[Statement, ...]

    def every_statement(self) -> Iterator[Statement]:
        """All statements, those in `emit each` bodies included, in source order."""
        return _flatten(self.statements)

    @property
    def closing_block(self) -> EmitEach | None:
        """The only `emit each` of the program, if nothing follows it."""
        blocks = [s for s in self.every_statement() if isinstance(s, EmitEach)]
        return blocks[0] if len(blocks) == 1 and self.statements[-1] is blocks[0] else None

    def expressions(self) -> Iterator[Expr]:
        """Every top-level expression of every statement."""
        for statement in self.every_statement():
            yield from _statement_expressions(statement)

    @cached_property
    def fields_read(self) -> frozenset[tuple[str | None, str]]:
        return frozenset().union(*(e.fields_read for e in self.expressions()))

    @cached_property
    def fields_written(self) -> Mapping[str, Type]:
        """The emitted fields, in the order of their first emit, each with its type."""
        return _written(self.statements, Emit)

    @cached_property
    def meta_written(self) -> Mapping[str, Type]:
        return _written(self.statements, EmitMeta)

    @cached_property
    def system_read(self) -> frozenset[tuple[str, tuple[str, ...]]]:
        """The system variables read, as (namespace, path)."""
        parts = (part for e in self.expressions() for part in e.walk())
        return frozenset((p.namespace, p.path) for p in parts if isinstance(p, System))

    @cached_property
    def fails(self) -> frozenset[FailureKind]:
        """Every way a run of the program on a record can fail."""
        kinds = {kind for e in self.expressions() for kind in e.fails}
        for statement in self.every_statement():
            if isinstance(statement, EmitEach):
                kinds.add(FailureKind.EXPANSION_LIMIT)
                if not statement.source.type.only(Kind.ARRAY):
                    kinds.add(FailureKind.TYPE_MISMATCH)
        return frozenset(kinds)


def _flatten(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    for statement in statements:
        yield statement
        if isinstance(statement, EmitEach):
            yield from _flatten(statement.body)


def _written(
    statements: tuple[Statement, ...], kind: type[Emit] | type[EmitMeta]
) -> Mapping[str, Type]:
    """What a program writes; where some of its records lack it, it may be null."""
    records = list(_emitted_records(statements, kind, {}))
    written: dict[str, Type] = {}
    for record in records:
        for name, type_ in record.items():
            written[name] = written[name] | type_ if name in written else type_
    for name in written:
        if not all(name in record for record in records):
            written[name] = written[name].nullable()
    return written


def _emitted_records(
    statements: tuple[Statement, ...],
    kind: type[Emit] | type[EmitMeta],
    inherited: Mapping[str, Type],
) -> Iterator[Mapping[str, Type]]:
    """What each kind of record holds: there is one, or one per innermost `emit each`."""
    record = dict(inherited)
    fans_out = False
    for statement in statements:
        if isinstance(statement, kind):
            record[statement.name] = statement.value.type
        elif isinstance(statement, EmitEach):
            fans_out = True
            yield from _emitted_records(statement.body, kind, record)
    if not fans_out:
        yield record


def _statement_expressions(statement: Statement) -> Iterator[Expr]:
    for part in vars(statement).values():
        yield from _expressions(part)
