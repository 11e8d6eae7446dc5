"""Joins: what the condition of a combine means for each of its inputs.

The condition is cut at its top-level `and`. A part that compares one input with another is an
equality or a range and lets records be looked up; every other part is a residual, checked on the
combinations that were found. Starting from the driver, one input after the other is joined to those
before it, and each part is used at the first step that has all it reads.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field

from clinker.config.nodes import CombineNode
from clinker.cxl.check import typed
from clinker.cxl.syntax.ast import ORDERING_OPS, BinaryOp, LogicOp
from clinker.cxl.types import DATETIME, FLOAT, Kind, Type
from clinker.diagnostics import Diagnostic, Label, Location, Severity
from clinker.frozen import frozen
from clinker.plan.graph.graph import Unit
from clinker.plan.nodes import Planned, PlannedCombine, Shape

_NUMBERS = Kind.INT | Kind.FLOAT
_INSTANTS = Kind.DATE | Kind.DATETIME
_PER_RECORD = ("source", "record", "meta", "doc")
_MIRRORED = {
    BinaryOp.EQUAL: BinaryOp.EQUAL,
    BinaryOp.LESS: BinaryOp.GREATER,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER_EQUAL,
    BinaryOp.GREATER: BinaryOp.LESS,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS_EQUAL,
}
_MANY_INPUTS = 3


class Strategy(enum.StrEnum):
    """How a step finds the records that match."""

    HASH_BUILD_PROBE = "hash_build_probe"
    GRACE_HASH = "grace_hash"
    HASH_PARTITION_IEJOIN = "hash_partition_iejoin"
    IEJOIN = "iejoin"
    SORT_MERGE = "sort_merge"

    @property
    def on_spark(self) -> str:
        """What the engine makes of it."""
        return _ON_SPARK[self]


_ON_SPARK = {
    Strategy.HASH_BUILD_PROBE: "equi-join, the build input broadcast when it is small",
    Strategy.GRACE_HASH: "equi-join, both inputs partitioned by key and spilled to disk",
    Strategy.HASH_PARTITION_IEJOIN: "equi-join, the ranges checked inside each key",
    Strategy.IEJOIN: "every pair compared, the build input broadcast when it is small",
    Strategy.SORT_MERGE: "every pair compared; both inputs are declared in order",
}


@frozen(eq=False)
class Comparison:
    """A part of the condition that compares the records joined so far with a new input."""

    probe_input: str
    """The input, joined before, that the probe side reads."""
    probe: typed.Expr
    op: BinaryOp
    """Between probe and build, in this order."""
    build: typed.Expr
    common: Type
    """The type in which both sides are compared; they are promoted to it where they differ."""
    is_exact: bool
    """Whether equal keys imply equality; if not, `written` has to be checked as well."""
    written: typed.Expr
    """The part as the user wrote it."""


@frozen(eq=False)
class Step:
    """One input joined to those before it."""

    build: str
    equalities: tuple[Comparison, ...]
    ranges: tuple[Comparison, ...]
    residuals: tuple[typed.Expr, ...]
    strategy: Strategy

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        return (*self.equalities, *self.ranges)


@frozen(eq=False)
class Join:
    """How a combine is carried out."""

    driver: str
    steps: tuple[Step, ...]


@frozen
class Joins:
    """The joins of all combines that have one, and what there is to say about them."""

    by_node: Mapping[str, Join]
    diagnostics: list[Diagnostic] = field(default_factory=list)


def plan_joins(nodes: Mapping[str, Planned]) -> Joins:
    by_node: dict[str, Join] = {}
    diagnostics: list[Diagnostic] = []
    for planned in nodes.values():
        if planned.shape is Shape.JOINS:
            diagnostics += _driver_problems(planned.unit, planned.node)
            if planned.has_errors:
                continue
            join, problems = plan_join(planned, nodes)
            diagnostics += problems
            if join:
                by_node[planned.name] = join
    return Joins(by_node, diagnostics)


def plan_join(
    combine: PlannedCombine, nodes: Mapping[str, Planned]
) -> tuple[Join | None, list[Diagnostic]]:
    """The steps of one combine, or None if some input is not compared with any other."""
    node = combine.node
    parts = [_part(expr, combine) for expr in conjuncts(combine.where)]
    order = _order(list(combine.inputs), combine.driver, parts)
    if len(order) < len(combine.inputs):
        return None, list(_not_joined(combine, node, order, parts))
    steps = tuple(_steps(combine, order, parts, nodes))
    problems = [_range_only(combine.unit, node, step) for step in steps if not step.equalities]
    return Join(combine.driver, steps), problems


def conjuncts(condition: typed.Expr) -> Iterator[typed.Expr]:
    """The parts of a condition that must all hold."""
    if isinstance(condition, typed.Logic) and condition.op is LogicOp.AND:
        for operand in condition.operands:
            yield from conjuncts(operand)
    else:
        yield condition


@frozen(eq=False)
class _Part:
    """One conjunct. `sides` are the two inputs it compares, the left one first."""

    expr: typed.Expr
    inputs: frozenset[str]
    sides: tuple[str, str] | None

    def connects(self, name: str, joined: Sequence[str]) -> bool:
        return self.sides is not None and (
            (self.sides[0] == name and self.sides[1] in joined)
            or (self.sides[1] == name and self.sides[0] in joined)
        )


def _part(expr: typed.Expr, combine: PlannedCombine) -> _Part:
    sides: tuple[str, str] | None = None
    if isinstance(expr, typed.Binary) and expr.op in _MIRRORED:
        left, right = _inputs_of(expr.left, combine), _inputs_of(expr.right, combine)
        if len(left) == len(right) == 1 and left != right:
            sides = next(iter(left)), next(iter(right))
    return _Part(expr, _inputs_of(expr, combine), sides)


def _inputs_of(expr: typed.Expr, combine: PlannedCombine) -> frozenset[str]:
    """The inputs whose records an expression depends on."""
    inputs = {qualifier for qualifier, _ in expr.fields_read if qualifier}
    for part in expr.walk():
        if isinstance(part, typed.System) and part.namespace in _PER_RECORD:
            # What a record carries besides its fields is the driver's, unless it names an input.
            named = part.namespace == "source" and part.path[0] in combine.inputs
            inputs.add(part.path[0] if named else combine.driver)
    return frozenset(inputs)


def _order(declared: Sequence[str], driver: str, parts: Sequence[_Part]) -> list[str]:
    """The inputs in the order they are joined; those that nothing connects are left out."""
    joined = [driver]
    waiting = [name for name in declared if name != driver]
    while ready := [n for n in waiting if any(part.connects(n, joined) for part in parts)]:
        joined.append(ready[0])
        waiting.remove(ready[0])
    return joined


def _steps(
    combine: PlannedCombine,
    order: Sequence[str],
    parts: Sequence[_Part],
    nodes: Mapping[str, Planned],
) -> Iterator[Step]:
    waiting = list(parts)
    for position, build in enumerate(order[1:], 1):
        joined = order[: position + 1]
        usable = [part for part in waiting if part.inputs <= set(joined)]
        waiting = [part for part in waiting if part not in usable]
        # A part that compares two inputs becomes usable exactly when the later of them is joined.
        compared = [_comparison(part, build) for part in usable if part.sides]
        equalities = tuple(c for c in compared if c.op is BinaryOp.EQUAL)
        ranges = tuple(c for c in compared if c.op in ORDERING_OPS)
        yield Step(
            build,
            equalities,
            ranges,
            tuple(part.expr for part in usable if not part.sides),
            _strategy(combine, build, equalities, ranges, nodes),
        )


def _comparison(part: _Part, build: str) -> Comparison:
    assert isinstance(part.expr, typed.Binary) and part.sides
    left, right, op = part.expr.left, part.expr.right, part.expr.op
    other = part.sides[0]
    if part.sides[0] == build:
        left, right, op = right, left, _MIRRORED[op]
        other = part.sides[1]
    common = _common(left.type, right.type)
    return Comparison(
        other,
        _promoted(left, common),
        op,
        _promoted(right, common),
        common,
        _is_exact(left.type, right.type, common),
        part.expr,
    )


def _common(left: Type, right: Type) -> Type:
    """Int and Float are compared as Float, Date and DateTime as DateTime, others as they are."""
    kinds = (left.kinds | right.kinds) & ~Kind.NULL
    if kinds == _NUMBERS:
        return FLOAT
    if kinds == _INSTANTS:
        return DATETIME
    return (left | right).without_null()


def _promoted(expr: typed.Expr, common: Type) -> typed.Expr:
    if common not in (FLOAT, DATETIME) or expr.type.only(common.kinds):
        return expr
    null = expr.type.kinds & Kind.NULL
    return typed.Promote(operand=expr, type=Type(common.kinds | null), location=expr.location)


def _is_exact(left: Type, right: Type, common: Type) -> bool:
    """Two Ints differ although they are the same Float, where both sides may hold either."""
    return common != FLOAT or not (left.maybe(Kind.INT) and right.maybe(Kind.INT))


def _strategy(
    combine: PlannedCombine,
    build: str,
    equalities: Sequence[Comparison],
    ranges: Sequence[Comparison],
    nodes: Mapping[str, Planned],
) -> Strategy:
    if equalities and ranges:
        return Strategy.HASH_PARTITION_IEJOIN
    if equalities:
        hinted = combine.node.config.strategy == "grace_hash"
        return Strategy.GRACE_HASH if hinted else Strategy.HASH_BUILD_PROBE
    if len(ranges) == 1 and _both_in_order(combine.unit, build, ranges[0], nodes):
        return Strategy.SORT_MERGE
    return Strategy.IEJOIN


def _both_in_order(
    unit: Unit, build: str, range_: Comparison, nodes: Mapping[str, Planned]
) -> bool:
    sides = ((range_.probe_input, range_.probe), (build, range_.build))
    return all(_in_order(unit, name, value, nodes) for name, value in sides)


def _in_order(unit: Unit, name: str, value: typed.Expr, nodes: Mapping[str, Planned]) -> bool:
    """Whether the input is a source that declares to be sorted by just this field."""
    edge = next(edge for edge in unit.inputs if edge.label == name)
    upstream = nodes.get(edge.upstream)
    if upstream is None or upstream.shape is not Shape.READS:
        return False
    first = next(iter(upstream.node.config.sort_order), None)
    sorted_by = first.field if first and first.order == "asc" else None
    return isinstance(value, typed.Field) and value.name == sorted_by


# Findings


def _driver_problems(unit: Unit, node: CombineNode) -> Iterator[Diagnostic]:
    if len(node.input) >= _MANY_INPUTS and node.config.drive is None:
        first = next(iter(node.input))
        yield unit.scope.problem(
            "W306",
            f"{len(node.input)} inputs and no 'drive': '{first}' drives because it comes first",
            node.key_at("input", first),
            help=f"add 'drive: {first}', or the input whose records should be kept",
            severity=Severity.WARNING,
        )


def _not_joined(
    combine: PlannedCombine, node: CombineNode, order: Sequence[str], parts: Sequence[_Part]
) -> Iterator[Diagnostic]:
    """One finding for each group of inputs that hang together but not with the driver."""
    waiting = [name for name in combine.inputs if name not in order]
    while waiting:
        group = _order(waiting, waiting[0], parts)
        waiting = [name for name in waiting if name not in group]
        yield _not_compared(combine, node, group, order, parts)


def _not_compared(
    combine: PlannedCombine,
    node: CombineNode,
    group: Sequence[str],
    joined: Sequence[str],
    parts: Sequence[_Part],
) -> Diagnostic:
    inputs = tuple(Label(node.key_at("input", name), "this input") for name in group)
    shown, others = _listed(group), _listed(joined)
    example = f"{joined[0]}.<field> == {group[0]}.<field>"
    related = next(
        (p for p in parts if p.inputs & set(group) and p.inputs - set(group)),
        None,
    )
    if related:
        return combine.unit.problem(
            "E305",
            f"this relates {shown} to {others}, but not by an equality or a range",
            related.expr.location,
            also=inputs,
            help="compare a value of one input with a value of another by ==, <, <=, > or >=, "
            f"joined with 'and': {example} and …",
        )
    return combine.unit.problem(
        "E305",
        f"the condition never compares {shown} with {others}",
        combine.where.location,
        also=inputs,
        help=f"add a comparison: {example}",
    )


def _range_only(unit: Unit, node: CombineNode, step: Step) -> Diagnostic:
    probes = _listed(dict.fromkeys(c.probe_input for c in step.ranges))
    return unit.scope.problem(
        "W305",
        f"'{step.build}' and {probes} are joined by ranges alone, so every pair is compared",
        _span_of([c.written.location for c in step.ranges]),
        help="add an equality if the inputs share a key",
        also=(Label(node.key_at("input", step.build), "this input"),),
        severity=Severity.WARNING,
    )


def _span_of(places: Sequence[Location]) -> Location:
    """The place of all parts together."""
    first = min(places, key=lambda place: place.span.start)
    last = max(places, key=lambda place: place.span.end)
    return Location(first.source, first.span.to(last.span))


def _listed(names: Sequence[str] | Mapping[str, None]) -> str:
    quoted = [f"'{name}'" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
