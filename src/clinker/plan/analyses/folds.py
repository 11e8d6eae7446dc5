"""Folds: values of state nodes that depend on those of the records before.

A fold whose step is a sum, an extreme, a first or a last value of records is computed by window
functions over all of them at once. Any other is for the interpreter, one record after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias, assert_never

from clinker.config.nodes import StateNode
from clinker.cxl.check import typed
from clinker.cxl.syntax.ast import BinaryOp
from clinker.cxl.types import Kind
from clinker.frozen import frozen
from clinker.plan.graph.graph import Graph, Unit
from clinker.plan.nodes.shape import Shape

if TYPE_CHECKING:
    from clinker.plan.nodes import Planned, PlannedState

_ORDERED = Kind.INT | Kind.FLOAT | Kind.STRING | Kind.DATE | Kind.DATETIME
_LARGER = {BinaryOp.GREATER, BinaryOp.GREATER_EQUAL}
_SMALLER = {BinaryOp.LESS, BinaryOp.LESS_EQUAL}
_STRICT = {BinaryOp.GREATER, BinaryOp.LESS}
_MIRRORED = {
    BinaryOp.GREATER: BinaryOp.LESS,
    BinaryOp.LESS: BinaryOp.GREATER,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS_EQUAL,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER_EQUAL,
}


# Ways


class Passed(Enum):
    """Which records of a node have met a writer of a variable on their way."""

    NONE = "none"
    SOME = "some"
    ALL = "all"


def passed_writers(
    graph: Graph, nodes: Mapping[str, Planned], unit: Unit, variable: tuple[str, str]
) -> Passed:
    """Whether the records that reach a node have met a writer of the variable before."""
    found: dict[str, Passed] = {}
    for name in [*graph.ancestors(unit.name), unit.name]:
        before = {found[edge.upstream] for edge in graph.units[name].passed_on}
        came = Passed.SOME if len(before) > 1 else next(iter(before), Passed.NONE)
        if name == unit.name:
            return came
        found[name] = _behind(nodes[name], came, variable)
    raise AssertionError(unit.name)


def _behind(planned: Planned, came: Passed, variable: tuple[str, str]) -> Passed:
    match planned.shape:
        case Shape.READS | Shape.GROUPS:
            return Passed.NONE
        case Shape.PASSES | Shape.MERGES | Shape.JOINS | Shape.WRITES:
            return Passed.ALL if writes(planned.node, variable) else came
        case other:
            assert_never(other)


def writes(node: object, variable: tuple[str, str]) -> bool:
    """Whether a node assigns to the variable."""
    if not isinstance(node, StateNode) or node.config.scope != variable[0]:
        return False
    return any(assignment.var == variable[1] for assignment in node.config.set)


# Steps


class FoldKind(Enum):
    """What a fold makes of the value before and that of a record."""

    SUM = "sum"
    DIFFERENCE = "difference"
    LARGEST = "largest"
    """The larger one; a null of the record leaves the value before."""
    SMALLEST = "smallest"
    LARGER = "larger"
    """The larger one; with a null it is null from then on, as with sums."""
    SMALLER = "smaller"
    FIRST = "first"
    LAST = "last"


_NULL_SPREADS = {FoldKind.SUM, FoldKind.DIFFERENCE, FoldKind.LARGER, FoldKind.SMALLER}


@frozen(eq=False)
class Fold:
    """A step of a fold: the value of a record, and for which records there is one."""

    kind: FoldKind
    element: typed.Expr
    instead_of_null: typed.Literal | None = None
    """What stands for a null at the beginning."""
    guards: tuple[tuple[typed.Expr, bool], ...] = ()
    """Conditions that must be true, or must not be, for the record to count."""

    @property
    def null_spreads(self) -> bool:
        """Whether a null of one record makes null of all that follow."""
        return self.kind in _NULL_SPREADS and self.element.type.may_be_null


@frozen(eq=False)
class Plain:
    """An assignment that does not depend on records before."""

    name: str
    value: typed.Expr
    is_late: bool
    """Whether it takes what is folded, by an assignment before it or an aggregate in it."""


@frozen(eq=False)
class Running:
    """An assignment that goes on from the value before."""

    name: str
    value: typed.Expr
    fold: Fold


Step: TypeAlias = Plain | Running


def has_windows(step: Step) -> bool:
    """Whether a value is made of those of several records."""
    return isinstance(step, Running) or step.is_late


def fold_steps(
    graph: Graph, nodes: Mapping[str, Planned], planned: PlannedState
) -> tuple[Step, ...] | None:
    """The assignments of a state node, in order; None if only the interpreter can fold them."""
    scope = planned.node.config.scope
    steps = _Steps(scope)
    for name in planned.assignments:
        came = passed_writers(graph, nodes, planned.unit, (scope, name))
        if scope != "record" and came is not Passed.ALL:
            steps.waiting[name] = came
    found: list[Step] = []
    for name, value in planned.assignments.items():
        step = steps.take(name, value)
        if step is None:
            return None
        found.append(step)
    return tuple(found)


@dataclass
class _Steps:
    scope: str
    waiting: dict[str, Passed] = field(default_factory=dict)
    """Variables that are not assigned yet: who reads them asks for the value before."""
    late: set[str] = field(default_factory=set)
    """Variables that are assigned, but known only when all records are folded."""

    def take(self, name: str, value: typed.Expr) -> Step | None:
        before = self._read(value, self.waiting)
        step: Step | None = None
        if not before:
            step = Plain(name, value, self._is_late(value))
        elif before == {name} and self.waiting[name] is Passed.NONE:
            fold = _recognised(value, (self.scope, name))
            if fold and not any(self._depends(part) for part in _parts(fold)):
                step = Running(name, value, fold)
        self.waiting.pop(name, None)
        is_early = isinstance(step, Plain) and not step.is_late
        (self.late.discard if is_early else self.late.add)(name)
        return step

    def _read(self, value: typed.Expr, names: Iterable[str]) -> set[str]:
        """Those of the variables that an expression reads."""
        read = {
            part.path[0]
            for part in value.walk()
            if isinstance(part, typed.System)
            and part.namespace == self.scope
            and len(part.path) == 1
        }
        return read.intersection(names)

    def _is_late(self, value: typed.Expr) -> bool:
        has_aggregates = any(isinstance(part, typed.Aggregate) for part in value.walk())
        return has_aggregates or bool(self._read(value, self.late))

    def _depends(self, value: typed.Expr) -> bool:
        return self._is_late(value) or bool(self._read(value, self.waiting))


def _parts(fold: Fold) -> list[typed.Expr]:
    return [fold.element, *(guard for guard, _ in fold.guards)]


# Recognition


def _recognised(value: typed.Expr, own: tuple[str, str]) -> Fold | None:
    """The fold that an expression of the variable `own` is the step of."""
    match value:
        case typed.Binary(op=BinaryOp.ADD, left=left, right=right):
            return _sum(FoldKind.SUM, left, right, own) or _sum(FoldKind.SUM, right, left, own)
        case typed.Binary(op=BinaryOp.SUBTRACT, left=left, right=right):
            return _sum(FoldKind.DIFFERENCE, left, right, own)
        case typed.Binary(op=BinaryOp.COALESCE, left=left, right=right):
            # What comes after a value that is there is not evaluated, and does not fail.
            if _is_own(left, own) and not right.fails:
                return Fold(FoldKind.FIRST, right)
            return Fold(FoldKind.LAST, left) if _is_own(right, own) else None
        case typed.Call(method=method, receiver=receiver, args=(other,)):
            kinds = {"max": FoldKind.LARGER, "min": FoldKind.SMALLER}
            if method.name in kinds and _is_own(receiver, own) and _are(Kind.INT, receiver, other):
                return Fold(kinds[method.name], other)
        case typed.If(condition=condition, then=then, otherwise=otherwise):
            if otherwise and _is_own(otherwise, own):
                return _extreme(condition, then, own) or _guarded(then, own, condition, True)
            if otherwise and _is_own(then, own):
                return _guarded(otherwise, own, condition, False)
    return None


def _sum(
    kind: FoldKind, before: typed.Expr, element: typed.Expr, own: tuple[str, str]
) -> Fold | None:
    instead: typed.Literal | None = None
    match before:
        case typed.Binary(op=BinaryOp.COALESCE, left=left, right=typed.Literal() as constant):
            if element.type.may_be_null:
                return None  # it would begin again after every null
            before, instead = left, constant
    if not _is_own(before, own):
        return None
    values = (before, element, *([instead] if instead else []))
    if _are(Kind.INT, *values) or _are(Kind.FLOAT, *values):
        return Fold(kind, element, instead)
    return None


def _extreme(condition: typed.Expr, then: typed.Expr, own: tuple[str, str]) -> Fold | None:
    """`if e > before then e else before`, and its like."""
    match condition:
        case typed.Binary(op=op, left=left, right=right) if op in _MIRRORED:
            if _is_own(left, own):
                left, right, op = right, left, _MIRRORED[op]
        case _:
            return None
    if not (_is_own(right, own) and _same(left, then)) or _reads(left, own):
        return None
    kinds = left.type.without_null().kinds
    if kinds not in _ORDERED or len(kinds) != 1 or kinds != right.type.without_null().kinds:
        return None
    if kinds == Kind.FLOAT and op not in _STRICT:
        return None  # of two zeros the later one would be kept
    return Fold(FoldKind.LARGEST if op in _LARGER else FoldKind.SMALLEST, left)


def _guarded(
    value: typed.Expr, own: tuple[str, str], condition: typed.Expr, wanted: bool
) -> Fold | None:
    inner = _recognised(value, own)
    if inner is None or _reads(condition, own):
        return None
    guards = ((condition, wanted), *inner.guards)
    return Fold(inner.kind, inner.element, inner.instead_of_null, guards)


def _is_own(expr: typed.Expr, own: tuple[str, str]) -> bool:
    return isinstance(expr, typed.System) and (expr.namespace, *expr.path) == own


def _reads(expr: typed.Expr, own: tuple[str, str]) -> bool:
    return any(_is_own(part, own) for part in expr.walk())


def _are(kind: Kind, *values: typed.Expr) -> bool:
    return all(value.type.only(kind) and not value.type.is_null for value in values)


def _same(one: object, other: object) -> bool:
    """Whether two expressions are the same, wherever they stand."""
    if isinstance(one, typed.Expr) and type(one) is type(other):
        names = (each.name for each in fields(one) if each.name != "location")
        return all(_same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return all(map(_same, one, other))
    return one == other
