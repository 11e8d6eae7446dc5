"""Checking programs: statements, in whose expressions names are bound and types inferred.

The result is a typed program (see `typed`), complete only when no error was found.
"""

from __future__ import annotations

from collections.abc import Sequence

from clinker.cxl.check import inlining, typed
from clinker.cxl.check.checker import Checker
from clinker.cxl.check.modules import Module
from clinker.cxl.check.resolve import Context, ProgramKind, Scope
from clinker.cxl.syntax import ast
from clinker.cxl.syntax.parser import Parsed, ParsedExpression
from clinker.cxl.types import (
    BOOL,
    Kind,
    Type,
)
from clinker.diagnostics import Diagnostic, in_reading_order
from clinker.frozen import frozen


@frozen
class Checked:
    """A program with all findings about it; `program` is None if any of them is an error."""

    program: typed.Program | None
    diagnostics: list[Diagnostic]
    sketch: typed.Program
    """What is known of it in spite of errors, for editors; parts may be broken."""


@frozen
class CheckedExpression:
    expression: typed.Expr | None
    diagnostics: list[Diagnostic]
    sketch: typed.Expr | None = None
    """What is known of it in spite of errors, for editors; parts may be broken."""


def check(parsed: Parsed, context: Context) -> Checked:
    """Check a parsed program against everything it may refer to."""
    checker = StatementChecker(parsed.source, context)
    checker.broken_names = parsed.broken_names
    statements = checker.check_program(parsed.program)
    diagnostics = in_reading_order([*parsed.diagnostics, *checker.diagnostics])
    program = typed.Program(statements)
    failed = any(d.is_error for d in diagnostics)
    return Checked(None if failed else program, diagnostics, program)


def check_expression(
    parsed: ParsedExpression, context: Context, expected: Type | None = None, what: str = ""
) -> CheckedExpression:
    """Check a single expression; `what` names it where it must be of type `expected`."""
    if parsed.expression is None:
        return CheckedExpression(None, in_reading_order(parsed.diagnostics))
    checker = Checker(parsed.source, context)
    expression = checker.check(parsed.expression)
    if expected:
        checker.require(expression, expected, what)
    diagnostics = in_reading_order([*parsed.diagnostics, *checker.diagnostics])
    failed = any(d.is_error for d in diagnostics)
    return CheckedExpression(None if failed else expression, diagnostics, expression)


def check_module(module: Module) -> list[Diagnostic]:
    """Check a module on its own, its parameters being of unknown type."""
    checker = Checker(module.source, Context())
    if not any(d.is_error for d in module.diagnostics):
        inlining.check_members(checker, module)
    return in_reading_order([*module.diagnostics, *checker.diagnostics])


class StatementChecker(Checker):
    """Checks statements; a method for each kind."""

    def check_program(self, program: ast.Program) -> tuple[typed.Statement, ...]:
        self.definitions = {
            s.name: s.name_span
            for s in reversed(program.statements)
            if isinstance(s, ast.Let | ast.Emit)
        }
        self.lets = {s.name for s in program.statements if isinstance(s, ast.Let)}
        return self.check_statements(program.statements)

    def check_statements(self, statements: Sequence[ast.Statement]) -> tuple[typed.Statement, ...]:
        checked: list[typed.Statement] = []
        for statement in statements:
            result = self.check_statement(statement, first=not checked)
            if result:
                checked.append(result)
        return tuple(checked)

    def check_statement(self, node: ast.Statement, first: bool) -> typed.Statement | None:
        match node:
            case ast.Let():
                return self.check_let(node)
            case ast.Emit():
                return self.check_emit(node)
            case ast.EmitMeta():
                return self.check_emit_meta(node)
            case ast.EmitEach():
                return self.check_emit_each(node)
            case ast.Filter():
                return self.check_filter(node)
            case ast.Distinct():
                return self.check_distinct(node)
            case ast.Trace():
                return self.check_trace(node)
            case ast.Use():
                if not first:
                    self.error("resolve", "'use' must come before all other statements", node.span)
                inlining.check_use(self, node)
            case ast.Function():
                self.error(
                    "resolve",
                    "functions are declared in modules, not in programs",
                    node.span,
                    "move it to a module file and import it with `use`",
                )
        return None

    def check_value(self, name: str, node: ast.Expr) -> typed.Expr:
        """The expression assigned to `name`."""
        with self.within(target=name, target_value=node):
            return self.check(node)

    def check_let(self, node: ast.Let) -> typed.Statement:
        value = self.check_value(node.name, node.value)
        symbol = typed.Symbol(node.name, value.type, typed.Role.LET, value)
        self.scope.bind(symbol)
        return typed.Let(self.source.at(node.span), symbol, value)

    def check_emit(self, node: ast.Emit) -> typed.Statement:
        if self.fanned_out:
            self.warn(
                f"'{node.name}' reaches no record: they were emitted by the emit each above",
                node.name_span,
                "move it before the emit each, or into its body",
            )
        with self.within(at_group=self.context.kind is ProgramKind.AGGREGATE):
            value = self.check_value(node.name, node.value)
        symbol = typed.Symbol(node.name, value.type, typed.Role.EMIT, value)
        self.emitted.bind(symbol)
        if self.context.kind is not ProgramKind.AGGREGATE:
            self.scope.bind(symbol)
        return typed.Emit(self.source.at(node.span), symbol, value)

    def check_emit_meta(self, node: ast.EmitMeta) -> typed.Statement:
        if self.context.kind is ProgramKind.AGGREGATE:
            self.error(
                "resolve",
                "an aggregate does not carry metadata",
                node.span,
                "emit it as a field, or set it in a transform after the aggregate",
            )
        value = self.check_value(node.name, node.value)
        self.meta[node.name] = value.type
        return typed.EmitMeta(self.source.at(node.span), node.name, value)

    def check_emit_each(self, node: ast.EmitEach) -> typed.Statement:
        self.reject_outside_transforms(node, "emit each")
        source = self.check(node.source)
        if not source.type.maybe(Kind.ARRAY) and not (source.type.is_null and node.outer):
            self.error(
                "typecheck",
                f"emit each needs an Array, got {source.type.noun}",
                node.source.span,
            )
        element_type = source.type.element_type
        if node.outer:
            element_type = element_type.nullable()
        element = typed.Symbol(node.binding, element_type, typed.Role.ELEMENT)
        inner = Scope(self.scope)
        inner.bind(element)
        with self.within(scope=inner, fanned_out=False, meta=dict(self.meta)):
            for statement in node.body:
                self.reject_in_body(statement)
            body = self.check_statements(node.body)
        self.fanned_out = self.in_transform
        return typed.EmitEach(self.source.at(node.span), element, source, node.outer, body)

    def reject_in_body(self, node: ast.Statement) -> None:
        if isinstance(node, ast.Filter | ast.Distinct | ast.Use | ast.Function):
            keyword = self.source.text[node.span.start :].split(maxsplit=1)[0]
            filters = isinstance(node, ast.Filter | ast.Distinct)
            self.error(
                "resolve",
                f"'{keyword}' is not allowed in an emit each body",
                node.span,
                "filter the array first with .filter(it => …), or use a transform downstream"
                if filters
                else "put it at the top of the program",
            )

    @property
    def in_transform(self) -> bool:
        return self.context.kind is not ProgramKind.AGGREGATE and not self.context.qualifiers

    def reject_outside_transforms(self, node: ast.Statement, what: str) -> None:
        if self.in_transform:
            return
        where, instead = "an aggregate", "before the aggregate"
        if self.context.qualifiers:
            where, instead = "a combine", "after the combine"
        message = f"{what} is not allowed in {where}"
        self.error("resolve", message, node.span, f"use a transform {instead}")

    def reject_after_fan_out(self, node: ast.Statement, what: str, instead: str) -> None:
        if self.fanned_out:
            self.error("resolve", f"{what} cannot follow emit each", node.span, instead)

    def check_filter(self, node: ast.Filter) -> typed.Statement:
        self.reject_after_fan_out(node, "filter", "move it up, or into a transform downstream")
        condition = self.check(node.condition)
        self.require(condition, BOOL, "the filter condition")
        return typed.Filter(self.source.at(node.span), condition)

    def check_distinct(self, node: ast.Distinct) -> typed.Statement:
        self.reject_outside_transforms(node, "distinct")
        self.reject_after_fan_out(node, "distinct", "put it into a transform downstream")
        keys: tuple[typed.Expr, ...] | None
        if node.by:
            keys = (self.check(node.by),)
        else:
            emitted = self.emitted.symbols.values()
            keys = tuple(self.refer_to(symbol, node) for symbol in emitted) or None
        return typed.Distinct(self.source.at(node.span), keys)

    def check_trace(self, node: ast.Trace) -> typed.Statement:
        guard = None
        if node.guard:
            guard = self.check(node.guard)
            self.require(guard, BOOL, "the trace condition")
        return typed.Trace(self.source.at(node.span), node.level, guard, self.check(node.message))
