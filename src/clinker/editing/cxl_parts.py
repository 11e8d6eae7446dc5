"""The parts of programs: statements, expressions, and the names that they end with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clinker.cxl.check import typed
from clinker.cxl.syntax import ast
from clinker.diagnostics import Location, Span

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def end_of(location: Location, name: str) -> Location | None:
    """The name that an expression ends with, as `amount` in `orders.amount`."""
    text = location.source.text[location.span.start : location.span.end]
    if not text.endswith(name) or (_WORD.match(text[: -len(name)][-1:] or " ")):
        return None
    return Location(location.source, Span(location.span.end - len(name), location.span.end))


def emits_of(syntax: ast.Node | None) -> Iterator[ast.Emit]:
    """The emits of a program, those in `emit each` bodies included."""
    for statement in statements_of(syntax):
        if isinstance(statement, ast.Emit):
            yield statement


def statements_of(syntax: ast.Node | None) -> Iterator[ast.Statement]:
    if isinstance(syntax, ast.Program | ast.EmitEach):
        body = syntax.statements if isinstance(syntax, ast.Program) else syntax.body
        for statement in body:
            yield statement
            yield from statements_of(statement)


def expressions_of(sketch: typed.Program | typed.Expr | None) -> Iterator[typed.Expr]:
    if isinstance(sketch, typed.Program):
        for statement in sketch.every_statement():
            for part in vars(statement).values():
                for expression in _flat(part):
                    # Without a key of its own, `distinct` names nothing.
                    is_own = getattr(expression, "location", None) != statement.location
                    if isinstance(expression, typed.Expr) and is_own:
                        yield expression
    elif sketch is not None:
        yield sketch


def _flat(part: object) -> Iterator[object]:
    if isinstance(part, tuple):
        for item in part:
            yield from _flat(item)
    else:
        yield part


def walk(expression: typed.Expr, in_window: bool = False) -> Iterator[tuple[typed.Expr, bool]]:
    """All parts of an expression, and whether each is read of the records of a window."""
    yield expression, in_window
    inner = in_window or isinstance(expression, typed.Window)
    for child in expression.children():
        yield from walk(child, inner)
