"""Checking calls of methods and aggregate functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from clinker.cxl.builtins import AGGREGATES, METHODS, WINDOW_FUNCTIONS
from clinker.cxl.builtins.declare import (
    Builtin,
    ClosureParam,
    LiteralProblem,
    Method,
    Param,
    accepted_kinds,
)
from clinker.cxl.check import inlining, typed
from clinker.cxl.check.resolve import ProgramKind, Scope
from clinker.cxl.failure import FailureKind
from clinker.cxl.syntax import ast
from clinker.cxl.types import ANY, BOOL, STRING, Kind, Type
from clinker.diagnostics import Span
from clinker.diagnostics.suggest import did_you_mean

if TYPE_CHECKING:
    from clinker.cxl.check.checker import Checker

_INSTANTS = Kind.DATE | Kind.DATETIME
_PATTERN_FAILURES = frozenset(
    {FailureKind.INVALID_PATTERN, FailureKind.SLOW_PATTERN, FailureKind.INVALID_FORMAT}
)


def check_method_call(checker: Checker, node: ast.MethodCall) -> typed.Expr:
    if node.method not in METHODS:
        return _unknown_method(checker, node)
    receiver = checker.check(node.receiver)
    method = _find_method(node, receiver.type)
    if isinstance(receiver, typed.Broken) or not check_arity(
        checker, len(node.args), method, node.method_span
    ):
        checker.check_all(node.args)
        return checker.broken(node)
    accepted = accepted_kinds(method.receiver, method.iso_text)
    if receiver.type.kinds & ~Kind.NULL and not receiver.type.maybe(accepted):
        checker.error(
            "typecheck",
            f"'{method.name}' expects {method.receiver}, got {receiver.type.noun}",
            node.method_span,
            _conversion_help(method.receiver, receiver.type),
        )
        checker.check_all(node.args)
        return checker.broken(node)
    narrowed = _narrowed(receiver.type, method)
    args = [
        check_argument(checker, arg, method, method.param(i), narrowed)
        for i, arg in enumerate(node.args)
    ]
    if method.name == "catch":
        return checker.check_coalesce(node, receiver, args[0])
    return _built_call(checker, node, method, receiver, narrowed, args)


def _unknown_method(checker: Checker, node: ast.MethodCall) -> typed.Expr:
    is_module = isinstance(node.receiver, ast.Name) and node.receiver.name in checker.aliases
    if node.method in AGGREGATES:
        help: str | None = f"{node.method} is a function: write {node.method}(…)"
    else:
        help = _FAMILIAR.get(node.method.lower()) or did_you_mean(node.method, METHODS)
    if not is_module:
        message = f"unknown method '{node.method}'"
        checker.error("resolve", message, node.method_span, help)
    with checker.within(at_group=False):
        checker.check_all((node.receiver, *node.args))
    return checker.broken(node)


# What built-ins of other languages are called here.
_FAMILIAR = {
    "coalesce": "write a ?? b",
    "ifnull": "write a ?? b",
    "nvl": "write a ?? b",
    "len": "use .length()",
    "size": "use .length()",
    "substr": "use .substring()",
    "strip": "use .trim()",
    "int": "use .to_int()",
    "float": "use .to_float()",
    "str": "use .to_string()",
    "cast": "use .to_int(), .to_float(), .to_date() and the like",
    "iif": "write if condition then a else b",
    "mean": "use avg(…)",
    "average": "use avg(…)",
}


def _find_method(node: ast.MethodCall, receiver: Type) -> Method:
    overloads = METHODS[node.method]
    with_closure = any(isinstance(arg, ast.Closure) for arg in node.args)
    by_shape = [m for m in overloads if m.takes_closure == with_closure]
    fitting = [m for m in by_shape or overloads if receiver.maybe(m.receiver.kinds)]
    return (fitting or by_shape or overloads)[0]


def check_arity(checker: Checker, count: int, function: Builtin, span: Span) -> bool:
    """Report unless the function takes this number of arguments."""
    low, high = function.min_args, function.max_args
    if low <= count and (high is None or count <= high):
        return True
    wanted = f"at least {low}"
    if high is not None:
        wanted = str(low) if low == high else f"{low} to {high}"
    plural = "" if wanted == "1" else "s"
    checker.error(
        "resolve",
        f"'{function.name}' takes {wanted} argument{plural}, got {count}",
        span,
        f"its signature is {function.signature}",
    )
    return False


def _narrowed(receiver: Type, method: Method) -> Type:
    """The receiver without null, restricted to what the method takes."""
    kinds = receiver.kinds & accepted_kinds(method.receiver, method.iso_text)
    if method.iso_text and kinds & Kind.STRING:
        kinds = kinds & ~Kind.STRING | _INSTANTS
    if not method.takes_null:
        kinds &= ~Kind.NULL
    return Type(kinds or method.receiver.kinds, receiver.element)


def check_argument(
    checker: Checker, node: ast.Expr, function: Builtin, param: Param, receiver: Type
) -> typed.Expr:
    if isinstance(param, ClosureParam):
        return _closure(checker, node, function, param, receiver)
    arg = checker.check(node)
    accepted = accepted_kinds(param.type, param.iso_text)
    if arg.type.kinds & ~Kind.NULL and not arg.type.maybe(accepted):
        checker.error(
            "typecheck",
            f"'{function.name}' expects {param.type} for '{param.name}', got {arg.type.noun}",
            node.span,
            _conversion_help(param.type, arg.type) or f"its signature is {function.signature}",
        )
    if param.check and isinstance(arg, typed.Literal) and isinstance(arg.value, str):
        try:
            param.check(arg.value, receiver)
        except LiteralProblem as problem:
            span = _inside_literal(checker, node.span, problem.offset)
            checker.error("typecheck", f"invalid {param.name}: {problem}", span)
    return arg


def _inside_literal(checker: Checker, span: Span, offset: int) -> Span:
    """The place in a text literal, where escapes do not shift it; else the whole literal."""
    at = span.start + 1 + offset
    if "\\" in checker.source.text[span.start : span.end] or at >= span.end - 1:
        return span
    return Span(at, at + 1)


def _closure(
    checker: Checker, node: ast.Expr, function: Builtin, param: ClosureParam, receiver: Type
) -> typed.Expr:
    if not isinstance(node, ast.Closure):
        checker.error(
            "resolve",
            f"'{function.name}' expects a closure",
            node.span,
            f"write .{function.name}(it => …)",
        )
        return checker.broken(node)
    it = typed.Symbol("it", receiver.element_type, typed.Role.CLOSURE)
    inner = Scope(checker.scope)
    inner.bind(it)
    with checker.within(scope=inner):
        body = checker.check(node.body)
    if param.type == BOOL:
        checker.require(body, BOOL, f"the closure of '{function.name}'")
    return typed.Closure(it=it, body=body, type=body.type, location=checker.source.at(node.span))


def _built_call(
    checker: Checker,
    node: ast.MethodCall,
    method: Method,
    receiver: typed.Expr,
    narrowed: Type,
    args: list[typed.Expr],
) -> typed.Expr:
    fails = set(method.fails)
    if receiver.type.only(method.safe_for):
        fails.clear()
    nullable = receiver.type.may_be_null and not method.takes_null
    if not method.is_null_elsewhere:
        fails |= _entry_failures(receiver.type, method.receiver, method.iso_text)
    elif not receiver.type.only(method.receiver.kinds):
        nullable = True
    for position, arg in enumerate(args):
        param = method.param(position)
        if isinstance(param, ClosureParam):
            continue
        fails |= _entry_failures(arg.type, param.type, param.iso_text)
        if arg.type.may_be_null and not (param.takes_null or param.optional):
            nullable = True
    if _checked_literally(method, args) and len(narrowed.kinds) == 1:
        fails -= _PATTERN_FAILURES
        fails.update(_literal_failures(method, args))
    type_ = method.result_type(narrowed, tuple(arg.type for arg in args))
    return typed.Call(
        method=method,
        receiver=receiver,
        args=tuple(args),
        names=checker.context.date_names,
        type=type_.nullable() if nullable else type_,
        location=checker.source.at(node.span),
        own_fails=frozenset(fails),
    )


def _entry_failures(actual: Type, wanted: Type, iso_text: bool) -> set[FailureKind]:
    """What can go wrong when a value of type `actual` is handed in where `wanted` is declared."""
    fails: set[FailureKind] = set()
    if not actual.only(accepted_kinds(wanted, iso_text)):
        fails.add(FailureKind.TYPE_MISMATCH)
    if iso_text and actual.maybe(Kind.STRING):
        fails.add(FailureKind.CONVERSION_FAILED)
    return fails


def _checked_literally(method: Method, args: list[typed.Expr]) -> bool:
    """Whether every argument with a compile-time check was a literal."""
    return all(
        isinstance(arg, typed.Literal)
        for position, arg in enumerate(args)
        if method.param(position).check
    )


def _literal_failures(method: Method, args: list[typed.Expr]) -> Iterator[FailureKind]:
    for position, arg in enumerate(args):
        fails = method.param(position).fails_even_for
        if fails and isinstance(arg, typed.Literal) and isinstance(arg.value, str):
            yield from fails(arg.value)


def _conversion_help(wanted: Type, actual: Type) -> str | None:
    if wanted == STRING:
        return "convert it with .to_string()"
    if actual.only(Kind.STRING):
        if wanted.only(Kind.INT):
            return "convert it with .to_int()"
        if wanted.only(Kind.INT | Kind.FLOAT):
            return "convert it with .to_int() or .to_float()"
        if wanted.only(_INSTANTS):
            return "convert it with .to_date() or .to_datetime()"
    return None


# Aggregates


def check_function_call(checker: Checker, node: ast.FunctionCall) -> typed.Expr:
    if checker.module and node.name in checker.module.functions:
        return inlining.inline_call(
            checker, checker.module, node.name, node.args, node, node.name_span
        )
    if node.name not in AGGREGATES:
        return _unknown_function(checker, node)
    if checker.context.kind is ProgramKind.ROW or checker.module:
        checker.error(
            "typecheck",
            f"'{node.name}' is an aggregate function and needs a group of records",
            node.name_span,
            f"use an aggregate node, or $window.{node.name} in a transform with a window"
            if node.name in WINDOW_FUNCTIONS
            else "use an aggregate node",
        )
        return checker.broken(node)
    if checker.in_aggregate:
        message = f"'{node.name}' cannot be nested in another aggregate function"
        checker.error("typecheck", message, node.name_span)
        return checker.broken(node)
    if checker.context.kind is ProgramKind.AGGREGATE and not checker.at_group:
        checker.error(
            "typecheck",
            f"'{node.name}' is only allowed in emit: let and filter see single records",
            node.name_span,
            "emit it; later emits can use it, and a transform after the aggregate can filter on it",
        )
        return checker.broken(node)
    return _aggregate(checker, node)


def _unknown_function(checker: Checker, node: ast.FunctionCall) -> typed.Expr:
    if node.name in METHODS:
        help: str | None = f"{node.name} is a method: write value.{node.name}(…)"
    else:
        help = _FAMILIAR.get(node.name.lower()) or did_you_mean(node.name, AGGREGATES)
    checker.error("resolve", f"unknown function '{node.name}'", node.name_span, help)
    with checker.within(at_group=False):
        checker.check_all(node.args)
    return checker.broken(node)


def _aggregate(checker: Checker, node: ast.FunctionCall) -> typed.Expr:
    function = AGGREGATES[node.name]
    counts_rows = function.counts_rows and (
        not node.args or (len(node.args) == 1 and isinstance(node.args[0], ast.Star))
    )
    if not counts_rows and not check_arity(checker, len(node.args), function, node.name_span):
        return checker.broken(node)
    args: list[typed.Expr] = []
    if not counts_rows:
        with (
            checker.within(in_aggregate=True, at_group=False),
            checker.on_other_records(checker.context.row),
        ):
            args = [
                check_argument(checker, arg, function, function.param(i), ANY)
                for i, arg in enumerate(node.args)
            ]
    types = tuple(arg.type for arg in args)
    return typed.Aggregate(
        function=function,
        args=tuple(args),
        type=function.result_type(ANY, types),
        location=checker.source.at(node.span),
        own_fails=group_failures(function, types),
    )


def group_failures(function: Builtin, args: tuple[Type, ...]) -> frozenset[FailureKind]:
    """How an aggregate or window function can fail on arguments of these types."""
    fails = set(function.fails)
    if all(len(arg.without_null().kinds) == 1 for arg in args):
        fails.discard(FailureKind.AGGREGATE_TYPE)
    if not all(arg.maybe(Kind.INT) for arg in args):
        fails.discard(FailureKind.INTEGER_OVERFLOW)
    pairs = zip(args, function.params, strict=False)
    if not all(arg.only(param.type.kinds) for arg, param in pairs):
        fails.add(FailureKind.AGGREGATE_TYPE)
    return frozenset(fails)
