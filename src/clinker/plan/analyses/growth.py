"""Whether records may become much larger, or many more, than those of the sources."""

from __future__ import annotations

from collections.abc import Iterable

from clinker.config.nodes import CombineNode
from clinker.cxl.check import typed
from clinker.plan.nodes.planned import Planned, PlannedAggregate, PlannedCombine, PlannedTransform

_GROWING_METHODS = frozenset("repeat pad_left pad_right replace join map flat_map".split())
_ALL, _COLLECTING = "all", "collect"


def may_outgrow_sources(nodes: Iterable[Planned]) -> bool:
    """Whether a record may hold more than what a few records of the sources have together."""
    return any(_collects(node) or _grows(node) for node in nodes)


def may_outnumber_sources(nodes: Iterable[Planned]) -> bool:
    """Whether many records may be made of one."""
    return any(_fans_out(node) or _finds_all(node) for node in nodes)


def _fans_out(node: Planned) -> bool:
    return isinstance(node, PlannedTransform) and any(
        isinstance(statement, typed.EmitEach) for statement in node.program.statements
    )


def _finds_all(node: Planned) -> bool:
    combine = node.unit.node
    return isinstance(combine, CombineNode) and combine.config.match == _ALL


def _collects(node: Planned) -> bool:
    combine = node.unit.node
    return isinstance(combine, CombineNode) and combine.config.match == _COLLECTING


def _grows(node: Planned) -> bool:
    if not isinstance(node, PlannedTransform | PlannedAggregate | PlannedCombine):
        return False
    expressions = node.program.expressions() if node.program else ()
    return any(_is_growing(part) for expression in expressions for part in expression.walk())


def _is_growing(expression: typed.Expr) -> bool:
    match expression:
        case typed.Call(method=method):
            return method.name in _GROWING_METHODS
        case typed.Aggregate(function=function) | typed.Window(function=function):
            return function.name == _COLLECTING
        case _:
            return False
