"""Whether records may become much larger, or many more, than those of the sources."""

from __future__ import annotations

from collections.abc import Iterable

from clinker.cxl.check import typed
from clinker.plan.nodes import Planned, Shape

_GROWING_METHODS = frozenset("repeat pad_left pad_right replace join map flat_map".split())
_ALL, _COLLECTING = "all", "collect"


def may_outgrow_sources(nodes: Iterable[Planned]) -> bool:
    """Whether a record may hold more than what a few records of the sources have together."""
    return any(_collects(node) or _grows(node) for node in nodes)


def may_outnumber_sources(nodes: Iterable[Planned]) -> bool:
    """Whether many records may be made of one."""
    return any(_fans_out(node) or _finds_all(node) for node in nodes)


def _fans_out(node: Planned) -> bool:
    statements = node.body.statements if node.body else ()
    return any(isinstance(statement, typed.EmitEach) for statement in statements)


def _finds_all(node: Planned) -> bool:
    return node.shape is Shape.JOINS and node.node.config.match == _ALL


def _collects(node: Planned) -> bool:
    return node.shape is Shape.JOINS and node.node.config.match == _COLLECTING


def _grows(node: Planned) -> bool:
    expressions = node.body.expressions() if node.body else ()
    return any(_is_growing(part) for expression in expressions for part in expression.walk())


def _is_growing(expression: typed.Expr) -> bool:
    match expression:
        case typed.Call(method=method):
            return method.name in _GROWING_METHODS
        case typed.Aggregate(function=function) | typed.Window(function=function):
            return function.name == _COLLECTING
        case _:
            return False
