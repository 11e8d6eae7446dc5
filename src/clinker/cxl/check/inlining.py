"""Checking module members: `use`, `alias::member`, and their inlining where they are used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from clinker.cxl.check import typed
from clinker.cxl.check.modules import Module
from clinker.cxl.check.resolve import Scope
from clinker.cxl.syntax import ast
from clinker.cxl.types import ANY
from clinker.diagnostics import Label, Span
from clinker.diagnostics.suggest import did_you_mean

if TYPE_CHECKING:
    from clinker.cxl.check.checker import Checker

MAX_INLINED = 2_000
"""How many functions and constants one program may expand to."""


def check_use(checker: Checker, node: ast.Use) -> None:
    """Bring a module into the program under its alias."""
    path = ".".join(node.path)
    library = checker.context.modules
    module = library.load(node.path) if library else None
    if node.bound_name in checker.aliases:
        message = f"'{node.bound_name}' names two modules"
        checker.error("resolve", message, node.span, "give one of them another name with `as`")
    if library and library.leads_out(node.path):
        message = f"module '{path}' leads out of the base directory through a symbolic link"
        help = "copy the file, or allow it with --allow-absolute-paths"
        checker.error("E-SEC-001", message, node.span, help)
        checker.unusable_aliases.add(node.bound_name)
        return
    if not module:
        looked = f"no file {library.file(node.path)}" if library else "no rules path is set"
        known = did_you_mean(path, library.available()) if library else None
        checker.error("resolve", f"unknown module '{path}': {looked}", node.span, known)
        checker.unusable_aliases.add(node.bound_name)
        return
    if any(d.is_error for d in module.diagnostics):
        for diagnostic in module.diagnostics:
            checker.add(diagnostic)
        checker.unusable_aliases.add(node.bound_name)
        return
    checker.aliases[node.bound_name] = module


def check_module_member(checker: Checker, node: ast.ModuleRef) -> typed.Expr:
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
        checker.check_all(node.args or ())
        return checker.broken(node)
    if node.args is not None and node.member in module.functions:
        return inline_call(checker, module, node.member, node.args, node, node.member_span)
    if node.args is None and node.member in module.constants:
        return inline_constant(checker, module, node.member, node)
    checker.check_all(node.args or ())
    if node.member in module.functions:
        help: str | None = f"it is a function: write {node.alias}::{node.member}(…)"
    elif node.member in module.constants:
        help = f"it is a constant: write {node.alias}::{node.member} without parentheses"
    else:
        help = did_you_mean(node.member, module.members())
    message = f"module '{node.alias}' has no {'constant' if node.args is None else 'function'}"
    checker.error("resolve", f"{message} '{node.member}'", node.member_span, help)
    return checker.broken(node)


def inline_constant(checker: Checker, module: Module, name: str, node: ast.Expr) -> typed.Expr:
    """A module constant, inlined."""
    if not _room_for_one_more(checker, node.span):
        return checker.broken(node)
    with _inside(checker, module, Scope(), Label(checker.source.at(node.span), "used here")):
        return checker.check(module.constants[name].value)


def _room_for_one_more(checker: Checker, span: Span) -> bool:
    """Functions that call each other twice over would expand without end."""
    checker.inlined += 1
    if checker.inlined <= MAX_INLINED:
        return True
    message = f"the program expands to more than {MAX_INLINED} calls of module members"
    if checker.inlined == MAX_INLINED + 1:
        checker.error("resolve", message, span, "name intermediate results with `let`")
    return False


def inline_call(
    checker: Checker,
    module: Module,
    name: str,
    args: Sequence[ast.Expr],
    node: ast.Expr,
    span: Span,
) -> typed.Expr:
    """A call of a module function, checked with the types of these arguments."""
    function = module.functions[name]
    values = [checker.check(arg) for arg in args]
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
    if not _room_for_one_more(checker, span):
        return checker.broken(node)
    scope = Scope()
    bindings = []
    for param, value in zip(function.params, values, strict=True):
        symbol = typed.Symbol(param, value.type, typed.Role.PARAMETER, value)
        scope.bind(symbol)
        bindings.append((symbol, value))
    with _inside(checker, module, scope, Label(checker.source.at(node.span), "called here")):
        body = checker.check(function.body)
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
            checker.check(function.body)
    for member in module.constants.values():
        with checker.within(module=module, scope=Scope()):
            checker.check(member.value)
