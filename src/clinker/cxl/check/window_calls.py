"""Checking window functions: `$window.f(…)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from clinker.cxl.builtins import WINDOW_FUNCTIONS
from clinker.cxl.builtins.windows import Shape, WindowFunction
from clinker.cxl.check import calls, names, typed
from clinker.cxl.syntax import ast
from clinker.cxl.types import ANY
from clinker.diagnostics.suggest import did_you_mean

if TYPE_CHECKING:
    from clinker.cxl.check.checker import Checker


def check_window_call(checker: Checker, node: ast.WindowCall) -> typed.Expr:
    """A window function that is not followed by `.field`."""
    function = _window_function(checker, node)
    if not function:
        return checker.broken(node)
    if function.shape is Shape.POSITION or function.shape is Shape.OFFSET:
        return _positional(checker, node, function)
    if not calls.check_arity(checker, len(node.args), function, node.function_span):
        return checker.broken(node)
    argument = None
    if node.args:
        with _on_window_records(checker):
            argument = calls.check_argument(
                checker, node.args[0], function, function.params[0], ANY
            )
        _reject_nested(checker, argument, node)
    return _built_window(checker, node, function, argument, None)


def check_window_field(checker: Checker, node: ast.WindowCall, member: ast.Member) -> typed.Expr:
    """`$window.lag(1).field`"""
    function = _window_function(checker, node)
    if not function:
        return checker.broken(member)
    if function.shape not in (Shape.POSITION, Shape.OFFSET):
        return names.check_walk(checker, check_window_call(checker, node), member)
    offset = _offset(checker, node, function, node.args)
    with _on_window_records(checker):
        argument = names.check_name(checker, ast.Name(member.name_span, member.name))
    _reject_nested(checker, argument, node)
    return _built_window(checker, member, function, argument, offset)


def _window_function(checker: Checker, node: ast.WindowCall) -> WindowFunction | None:
    function = WINDOW_FUNCTIONS.get(node.function)
    if not function:
        checker.error(
            "resolve",
            f"unknown window function '$window.{node.function}'",
            node.function_span,
            did_you_mean(node.function, WINDOW_FUNCTIONS),
        )
        return None
    if checker.context.window is None or checker.module:
        checker.error(
            "resolve",
            f"'$window.{node.function}' needs an analytic window",
            node.span,
            "declare `analytic_window:` on the transform",
        )
        return None
    return function


def _on_window_records(checker: Checker) -> AbstractContextManager[None]:
    window = checker.context.window
    assert window
    return checker.on_other_records(window.row or checker.context.row)


def _reject_nested(checker: Checker, argument: typed.Expr, node: ast.WindowCall) -> None:
    if argument.reads_window:
        checker.error(
            "typecheck",
            "window functions cannot be nested",
            node.span,
            "compute the inner one in a transform upstream",
        )


def _positional(checker: Checker, node: ast.WindowCall, function: WindowFunction) -> typed.Expr:
    """`$window.lag(field, 1)`, or bare `$window.lag(1)`, which means the current field."""
    args = node.args
    explicit = len(args) == len(function.params) + 1 and not _is_number(args[0])
    if explicit:
        with _on_window_records(checker):
            argument = checker.check(args[0])
        _reject_nested(checker, argument, node)
        args = args[1:]
    else:
        field = _current_field(checker, node, function)
        if not field:
            return checker.broken(node)
        argument = field
        _reject_nested(checker, argument, node)
    return _built_window(checker, node, function, argument, _offset(checker, node, function, args))


def _is_number(node: ast.Expr) -> bool:
    return isinstance(node, ast.Literal) and isinstance(node.value, int | float)


def _offset(
    checker: Checker, node: ast.WindowCall, function: WindowFunction, args: Sequence[ast.Expr]
) -> int | None:
    if function.shape is Shape.POSITION and not args:
        return None
    if function.shape is Shape.OFFSET and not args:
        return 1
    if len(args) == 1 and isinstance(args[0], ast.Literal) and function.shape is Shape.OFFSET:
        value = args[0].value
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    if len(args) == 1 and isinstance(args[0], ast.Unary) and function.name in _OPPOSITE:
        opposite = _OPPOSITE[function.name]
        message = f"'$window.{function.name}' does not count backwards"
        checker.error("typecheck", message, args[0].span, f"use $window.{opposite}")
        return 1
    checker.error(
        "typecheck",
        f"'$window.{function.name}' takes a literal number of records"
        if function.shape is Shape.OFFSET
        else f"'$window.{function.name}' takes no arguments besides a field",
        node.span,
        _positional_forms(function),
    )
    return 1


_OPPOSITE = {"lag": "lead", "lead": "lag"}


def _positional_forms(function: WindowFunction) -> str:
    if function.shape is Shape.OFFSET:
        return f"write $window.{function.name}(1).field or $window.{function.name}(field, 1)"
    return f"write $window.{function.name}().field or $window.{function.name}(field)"


def _current_field(
    checker: Checker, node: ast.WindowCall, function: WindowFunction
) -> typed.Expr | None:
    """The field a bare positional function reads: the one its target is named after."""
    window = checker.context.window
    assert window
    row = window.row or checker.context.row
    for name in _candidates(checker):
        if name in row.columns:
            with _on_window_records(checker):
                return names.check_name(checker, ast.Name(node.span, name))
    checker.error(
        "resolve",
        f"it is not clear which field '$window.{function.name}' reads",
        node.span,
        _positional_forms(function),
    )
    return None


def _candidates(checker: Checker) -> Iterator[str]:
    target = checker.target or ""
    yield target
    while "_" in target:
        target = target.split("_", 1)[1]
        yield target
    mentioned = set(_names(checker.target_value))
    if len(mentioned) == 1:
        yield mentioned.pop()


def _names(node: object) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.name
    for child in ast.children(node):
        yield from _names(child)


def _built_window(
    checker: Checker,
    node: ast.Expr,
    function: WindowFunction,
    argument: typed.Expr | None,
    offset: int | None,
) -> typed.Expr:
    types = (argument.type,) if argument else ()
    return typed.Window(
        function=function,
        argument=argument,
        offset=offset,
        type=function.result_type(ANY, types),
        location=checker.source.at(node.span),
        own_fails=calls.group_failures(function, types),
    )
