"""Checking calls: methods, aggregates, window functions and members of modules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clinker.cxl import ast, typed
from clinker.cxl.builtins import AGGREGATES, METHODS, WINDOW_FUNCTIONS
from clinker.cxl.builtins.declare import Builtin, ClosureParam, LiteralProblem, Method, Param
from clinker.cxl.builtins.windows import Shape, WindowFunction
from clinker.cxl.failure import FailureKind
from clinker.cxl.modules import Module
from clinker.cxl.resolve import ProgramKind, Scope
from clinker.cxl.types import ANY, BOOL, STRING, Kind, Type
from clinker.diagnostics import Label, Span
from clinker.diagnostics.suggest import did_you_mean

if TYPE_CHECKING:
    from clinker.cxl.typecheck import Checker

MAX_INLINED_CALLS = 10_000

_INSTANTS = Kind.DATE | Kind.DATETIME
_PATTERN_FAILURES = frozenset({FailureKind.INVALID_PATTERN, FailureKind.INVALID_FORMAT})


def method_names(receiver: Type) -> list[str]:
    """The methods a value of this type may have."""
    return [
        name
        for name, overloads in METHODS.items()
        if any(_accepted(m.receiver, m.iso_text) & receiver.kinds for m in overloads)
    ]


def _accepted(wanted: Type, iso_text: bool) -> Kind:
    """The kinds of value taken where `wanted` is declared; Ints pass for Floats."""
    kinds = wanted.kinds
    if kinds & Kind.FLOAT:
        kinds |= Kind.INT
    return kinds | Kind.STRING if iso_text else kinds


# Methods


def method_call(checker: Checker, node: ast.MethodCall) -> typed.Expr:
    receiver = checker.expr(node.receiver)
    method = _find_method(checker, node, receiver.type)
    if not method or not _arity_fits(checker, node, method, node.method_span):
        _check_stray_args(checker, node.args)
        return checker.broken(node)
    accepted = _accepted(method.receiver, method.iso_text)
    if receiver.type.kinds & ~Kind.NULL and not receiver.type.maybe(accepted):
        checker.error(
            "typecheck",
            f"'{method.name}' expects {method.receiver}, got {receiver.type}",
            node.method_span,
            _conversion_help(method.receiver, receiver.type),
        )
        _check_stray_args(checker, node.args)
        return checker.broken(node)
    narrowed = _narrowed(receiver.type, method)
    args = [
        _argument(checker, arg, method, method.param(i), narrowed)
        for i, arg in enumerate(node.args)
    ]
    return _built_call(checker, node, method, receiver, narrowed, args)


def _check_stray_args(checker: Checker, args: Sequence[ast.Expr]) -> None:
    """Report what is wrong inside the arguments of a call that is itself wrong."""
    for arg in args:
        if not isinstance(arg, ast.Closure | ast.Star):
            checker.expr(arg)


def _find_method(checker: Checker, node: ast.MethodCall, receiver: Type) -> Method | None:
    overloads = METHODS.get(node.method)
    if not overloads:
        checker.error(
            "resolve",
            f"unknown method '{node.method}'",
            node.method_span,
            did_you_mean(node.method, METHODS),
        )
        return None
    with_closure = any(isinstance(arg, ast.Closure) for arg in node.args)
    by_shape = [m for m in overloads if m.takes_closure == with_closure]
    fitting = [m for m in by_shape or overloads if receiver.maybe(m.receiver.kinds)]
    return (fitting or by_shape or overloads)[0]


def _arity_fits(checker: Checker, node: ast.Expr, function: Builtin, span: Span) -> bool:
    args: tuple[ast.Expr, ...] = getattr(node, "args")  # noqa: B009
    low, high = function.min_args, function.max_args
    if low <= len(args) and (high is None or len(args) <= high):
        return True
    wanted = f"at least {low}"
    if high is not None:
        wanted = str(low) if low == high else f"{low} to {high}"
    plural = "" if wanted == "1" else "s"
    checker.error(
        "resolve",
        f"'{function.name}' takes {wanted} argument{plural}, got {len(args)}",
        span,
        f"its signature is {function.signature}",
    )
    return False


def _narrowed(receiver: Type, method: Method) -> Type:
    """The receiver without null, restricted to what the method takes."""
    kinds = receiver.kinds & _accepted(method.receiver, method.iso_text)
    if method.iso_text and kinds & Kind.STRING:
        kinds = kinds & ~Kind.STRING | _INSTANTS
    if not method.takes_null:
        kinds &= ~Kind.NULL
    return Type(kinds or method.receiver.kinds, receiver.element)


def _argument(
    checker: Checker, node: ast.Expr, function: Builtin, param: Param, receiver: Type
) -> typed.Expr:
    if isinstance(param, ClosureParam):
        return _closure(checker, node, function, param, receiver)
    arg = checker.expr(node)
    accepted = _accepted(param.type, param.iso_text)
    if arg.type.kinds & ~Kind.NULL and not arg.type.maybe(accepted):
        checker.error(
            "typecheck",
            f"'{function.name}' expects {param.type} for '{param.name}', got {arg.type}",
            node.span,
            _conversion_help(param.type, arg.type) or f"its signature is {function.signature}",
        )
    if param.check and isinstance(arg, typed.Literal) and isinstance(arg.value, str):
        try:
            param.check(arg.value, receiver)
        except LiteralProblem as problem:
            checker.error("typecheck", f"invalid {param.name}: {problem}", node.span)
    return arg


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
        body = checker.expr(node.body)
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
    fails |= _entry_failures(receiver.type, method.receiver, method.iso_text)
    nullable = receiver.type.may_be_null and not method.takes_null
    for position, arg in enumerate(args):
        param = method.param(position)
        if isinstance(param, ClosureParam):
            continue
        fails |= _entry_failures(arg.type, param.type, param.iso_text)
        if arg.type.may_be_null and not (param.takes_null or param.optional):
            nullable = True
    if _checked_literally(method, args) and len(narrowed.kinds) == 1:
        fails -= _PATTERN_FAILURES
    type_ = method.result_type(narrowed, tuple(arg.type for arg in args))
    return typed.Call(
        method=method,
        receiver=receiver,
        args=tuple(args),
        type=type_.nullable() if nullable else type_,
        location=checker.source.at(node.span),
        own_fails=frozenset(fails),
    )


def _entry_failures(given: Type, wanted: Type, iso_text: bool) -> set[FailureKind]:
    """What can go wrong when a value of type `given` is handed in where `wanted` is declared."""
    fails: set[FailureKind] = set()
    if not given.only(_accepted(wanted, iso_text)):
        fails.add(FailureKind.TYPE_MISMATCH)
    if iso_text and given.maybe(Kind.STRING):
        fails.add(FailureKind.CONVERSION_FAILED)
    return fails


def _checked_literally(method: Method, args: list[typed.Expr]) -> bool:
    """Whether every argument with a compile-time check was a literal."""
    return all(
        isinstance(arg, typed.Literal)
        for position, arg in enumerate(args)
        if method.param(position).check
    )


def _conversion_help(wanted: Type, given: Type) -> str | None:
    if wanted == STRING:
        return "convert it with .to_string()"
    if given.only(Kind.STRING):
        if wanted.only(Kind.INT):
            return "convert it with .to_int()"
        if wanted.only(Kind.INT | Kind.FLOAT):
            return "convert it with .to_int() or .to_float()"
        if wanted.only(_INSTANTS):
            return "convert it with .to_date() or .to_datetime()"
    return None


# Aggregates


def function_call(checker: Checker, node: ast.FunctionCall) -> typed.Expr:
    if checker.module and node.name in checker.module.functions:
        return _inlined(checker, checker.module, node.name, node.args, node, node.name_span)
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
            "filter on the result in a transform after the aggregate",
        )
        return checker.broken(node)
    return _aggregate(checker, node)


def _unknown_function(checker: Checker, node: ast.FunctionCall) -> typed.Expr:
    if node.name in METHODS:
        help: str | None = f"{node.name} is a method: write value.{node.name}(…)"
    else:
        help = did_you_mean(node.name, [*AGGREGATES, *METHODS])
    checker.error("resolve", f"unknown function '{node.name}'", node.name_span, help)
    _check_stray_args(checker, node.args)
    return checker.broken(node)


def _aggregate(checker: Checker, node: ast.FunctionCall) -> typed.Expr:
    function = AGGREGATES[node.name]
    counts_rows = function.counts_rows and (
        not node.args or (len(node.args) == 1 and isinstance(node.args[0], ast.Star))
    )
    if not counts_rows and not _arity_fits(checker, node, function, node.name_span):
        return checker.broken(node)
    args: list[typed.Expr] = []
    if not counts_rows:
        with checker.within(in_aggregate=True, at_group=False):
            args = [
                _argument(checker, arg, function, function.param(i), ANY)
                for i, arg in enumerate(node.args)
            ]
    types = tuple(arg.type for arg in args)
    return typed.Aggregate(
        function=function,
        args=tuple(args),
        type=function.result_type(ANY, types),
        location=checker.source.at(node.span),
        own_fails=_group_failures(function, types),
    )


def _group_failures(function: Builtin, args: tuple[Type, ...]) -> frozenset[FailureKind]:
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


# Window functions


def window_call(checker: Checker, node: ast.WindowCall) -> typed.Expr:
    """A window function that is not followed by `.field`."""
    function = _window_function(checker, node)
    if not function:
        return checker.broken(node)
    if function.shape is Shape.POSITION or function.shape is Shape.OFFSET:
        return _positional(checker, node, function)
    if not _arity_fits(checker, node, function, node.function_span):
        return checker.broken(node)
    argument = None
    if node.args:
        with _on_window_records(checker):
            argument = _argument(checker, node.args[0], function, function.params[0], ANY)
        _reject_nested(checker, argument, node)
    return _built_window(checker, node, function, argument, None)


def window_field(checker: Checker, node: ast.WindowCall, member: ast.Member) -> typed.Expr:
    """`$window.lag(1).field`"""
    function = _window_function(checker, node)
    if not function:
        return checker.broken(member)
    if function.shape not in (Shape.POSITION, Shape.OFFSET):
        return checker.walk(window_call(checker, node), member)
    offset = _offset(checker, node, function, node.args)
    with _on_window_records(checker):
        name = ast.Name(member.name_span, member.name)
        argument = checker.field(name, (member.name,))
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


@contextmanager
def _on_window_records(checker: Checker) -> Iterator[None]:
    """Names stand for values of any record in the window, so bindings of this one are hidden."""
    window = checker.context.window
    assert window
    visible = Scope()
    if not window.row:
        for name in reversed(list(checker.scope.names())):
            symbol = checker.scope.get(name)
            if symbol and symbol.role in (typed.Role.LET, typed.Role.EMIT):
                visible.bind(symbol)
    with checker.within(scope=visible, row=window.row or checker.context.row):
        yield


def _reject_nested(checker: Checker, argument: typed.Expr, node: ast.WindowCall) -> None:
    if _reads_window(argument):
        checker.error(
            "typecheck",
            "window functions cannot be nested",
            node.span,
            "compute the inner one in a transform upstream",
        )


def _reads_window(expression: typed.Expr) -> bool:
    return any(
        isinstance(part, typed.Window)
        or (
            isinstance(part, typed.Local)
            and part.symbol.definition is not None
            and _reads_window(part.symbol.definition)
        )
        for part in expression.walk()
    )


def _positional(checker: Checker, node: ast.WindowCall, function: WindowFunction) -> typed.Expr:
    """`$window.lag(field, 1)`, or bare `$window.lag(1)`, which means the current field."""
    args = node.args
    explicit = len(args) == len(function.params) + 1 and not _is_int_literal(args[0])
    if explicit:
        with _on_window_records(checker):
            argument = checker.expr(args[0])
        _reject_nested(checker, argument, node)
        args = args[1:]
    else:
        found = _current_field(checker, node, function)
        if not found:
            return checker.broken(node)
        argument = found
    return _built_window(checker, node, function, argument, _offset(checker, node, function, args))


def _is_int_literal(node: ast.Expr) -> bool:
    return isinstance(node, ast.Literal) and isinstance(node.value, int)


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
    checker.error(
        "typecheck",
        f"'$window.{function.name}' takes a literal number of records"
        if function.shape is Shape.OFFSET
        else f"'$window.{function.name}' takes no arguments besides a field",
        node.span,
        _positional_forms(function),
    )
    return 1


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
                return checker.field(ast.Name(node.span, name), (name,))
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
        own_fails=_group_failures(function, types),
    )


# Modules


def use(checker: Checker, node: ast.Use) -> None:
    """Bring a module into the program under its alias."""
    path = ".".join(node.path)
    library = checker.context.modules
    module = library.load(node.path) if library else None
    if node.bound_name in checker.aliases:
        message = f"'{node.bound_name}' names two modules"
        checker.error("resolve", message, node.span, "give one of them another name with `as`")
    if not module:
        looked = f"no file {library.file(node.path)}" if library else "no rules path is set"
        known = did_you_mean(path, library.available()) if library else None
        checker.error("resolve", f"unknown module '{path}': {looked}", node.span, known)
        checker.unusable_aliases.add(node.bound_name)
        return
    if any(d.is_error for d in module.diagnostics):
        for found in module.diagnostics:
            if found not in checker.diagnostics:
                checker.diagnostics.append(found)
        checker.unusable_aliases.add(node.bound_name)
        return
    checker.aliases[node.bound_name] = module


def module_member(checker: Checker, node: ast.ModuleRef) -> typed.Expr:
    module = checker.aliases.get(node.alias)
    if not module or checker.module:
        if node.alias not in checker.unusable_aliases:
            checker.error(
                "resolve",
                f"unknown module '{node.alias}'",
                node.span,
                did_you_mean(node.alias, checker.aliases)
                or f"import it with `use … as {node.alias}`",
            )
        _check_stray_args(checker, node.args or ())
        return checker.broken(node)
    if node.args is not None and node.member in module.functions:
        return _inlined(checker, module, node.member, node.args, node, node.member_span)
    if node.args is None and node.member in module.constants:
        return constant(checker, module, node.member, node)
    _check_stray_args(checker, node.args or ())
    if node.member in module.functions:
        help: str | None = f"it is a function: write {node.alias}::{node.member}(…)"
    elif node.member in module.constants:
        help = f"it is a constant: write {node.alias}::{node.member} without parentheses"
    else:
        help = did_you_mean(node.member, module.members())
    message = f"module '{node.alias}' has no {'constant' if node.args is None else 'function'}"
    checker.error("resolve", f"{message} '{node.member}'", node.member_span, help)
    return checker.broken(node)


def constant(checker: Checker, module: Module, name: str, node: ast.Expr) -> typed.Expr:
    """A module constant, inlined."""
    with _inside(checker, module, Scope(), Label(checker.source.at(node.span), "used here")):
        return checker.expr(module.constants[name].value)


def _inlined(
    checker: Checker,
    module: Module,
    name: str,
    args: Sequence[ast.Expr],
    node: ast.Expr,
    span: Span,
) -> typed.Expr:
    """A call of a module function, checked with the types of these arguments."""
    function = module.functions[name]
    values = [checker.expr(arg) for arg in args]
    if len(values) != len(function.params):
        wanted = len(function.params)
        checker.error(
            "resolve",
            f"'{name}' takes {wanted} argument{'' if wanted == 1 else 's'}, got {len(values)}",
            span,
            f"its signature is {name}({', '.join(function.params)})",
            (Label(module.source.at(function.name_span), "declared here"),),
        )
        return checker.broken(node)
    checker.inlined += 1
    if checker.inlined > MAX_INLINED_CALLS:
        message = f"the program expands to more than {MAX_INLINED_CALLS} function calls"
        checker.error("resolve", message, span, "name intermediate results with `let`")
        return checker.broken(node)
    scope = Scope()
    bindings = []
    for param, value in zip(function.params, values, strict=True):
        symbol = typed.Symbol(param, value.type, typed.Role.PARAMETER, value)
        scope.bind(symbol)
        bindings.append((symbol, value))
    with _inside(checker, module, scope, Label(checker.source.at(node.span), "called here")):
        body = checker.expr(function.body)
    return typed.Inline(
        function=name,
        bindings=tuple(bindings),
        body=body,
        type=body.type,
        location=checker.source.at(node.span),
    )


@contextmanager
def _inside(checker: Checker, module: Module, scope: Scope, caller: Label) -> Iterator[None]:
    with checker.within(
        module=module,
        source=module.source,
        scope=scope,
        at_group=False,
        called_from=[*checker.called_from, caller],
    ):
        yield


def check_members(checker: Checker, module: Module) -> None:
    """Check every member of a module without a caller."""
    for function in module.functions.values():
        scope = Scope()
        for param in function.params:
            scope.bind(typed.Symbol(param, ANY, typed.Role.PARAMETER))
        with checker.within(module=module, scope=scope):
            checker.expr(function.body)
    for member in module.constants.values():
        with checker.within(module=module, scope=Scope()):
            checker.expr(member.value)
