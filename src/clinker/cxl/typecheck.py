"""The checker: binds names, infers types and reports everything wrong in one run.

Its result is a typed program (see `typed`), complete only when no error was found. After an error
the checker goes on with an expression of unknown type, so that one mistake is reported once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from clinker.cxl import ast, calls, operators, typed
from clinker.cxl.failure import FailureKind
from clinker.cxl.modules import Module
from clinker.cxl.parser import Parsed, ParsedExpression
from clinker.cxl.resolve import Context, ProgramKind, Row, Scope
from clinker.cxl.types import (
    ANY,
    ARRAY,
    BOOL,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    MAP,
    NO_KIND,
    NULL,
    STRING,
    Kind,
    Type,
    array_of,
    unify,
    unify_all,
)
from clinker.diagnostics import Diagnostic, Label, Severity, Source, Span, in_reading_order
from clinker.diagnostics.suggest import did_you_mean

CONVERT_HELP = "convert one operand — use .to_int() or .to_string()"


@dataclass(frozen=True)
class Checked:
    """A program with all findings about it; `program` is None if any of them is an error."""

    program: typed.Program | None
    diagnostics: list[Diagnostic]


@dataclass(frozen=True)
class CheckedExpression:
    expression: typed.Expr | None
    diagnostics: list[Diagnostic]


def check(parsed: Parsed, context: Context) -> Checked:
    """Check a parsed program against everything it may refer to."""
    checker = Checker(parsed.source, context)
    statements = checker.program(parsed.program)
    diagnostics = in_reading_order([*parsed.diagnostics, *checker.diagnostics])
    if any(d.is_error for d in diagnostics):
        return Checked(None, diagnostics)
    return Checked(typed.Program(statements, tuple(diagnostics)), diagnostics)


def check_expression(
    parsed: ParsedExpression, context: Context, expected: Type | None = None, what: str = ""
) -> CheckedExpression:
    """Check a single expression; `what` names it where it must be of type `expected`."""
    if parsed.expression is None:
        return CheckedExpression(None, in_reading_order(parsed.diagnostics))
    checker = Checker(parsed.source, context)
    expression = checker.expr(parsed.expression)
    if expected:
        checker.require(expression, expected, what)
    diagnostics = in_reading_order([*parsed.diagnostics, *checker.diagnostics])
    failed = any(d.is_error for d in diagnostics)
    return CheckedExpression(None if failed else expression, diagnostics)


def check_module(module: Module) -> list[Diagnostic]:
    """Check a module on its own, its parameters being of unknown type."""
    checker = Checker(module.source, Context())
    if not any(d.is_error for d in module.diagnostics):
        calls.check_members(checker, module)
    return in_reading_order([*module.diagnostics, *checker.diagnostics])


class Checker:
    def __init__(self, source: Source, context: Context) -> None:
        self.source = source
        self.context = context
        self.row: Row = context.row
        self.scope = Scope()
        self.emitted = Scope()
        """The fields emitted so far by an aggregate program, visible to its later emits only."""
        self.at_group = False
        """Whether the expression at hand sees a whole group instead of one record."""
        self.meta: dict[str, Type] = {}
        self.aliases: dict[str, Module] = {}
        self.unusable_aliases: set[str] = set()
        self.module: Module | None = None
        self.called_from: list[Label] = []
        self.in_aggregate = False
        self.inlined = 0
        self.target: str | None = None
        self.target_value: ast.Expr | None = None
        self.defined_later: dict[str, Span] = {}
        self.later_lets: set[str] = set()
        self.fanned_out = False
        self.diagnostics: list[Diagnostic] = []

    # Findings

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        help: str | None = None,
        secondary: tuple[Label, ...] = (),
        severity: Severity = Severity.ERROR,
    ) -> None:
        label = Label(self.source.at(span))
        where = (*secondary, *reversed(self.called_from))
        found = Diagnostic(code, message, label, where, help, severity)
        if found not in self.diagnostics:
            self.diagnostics.append(found)

    def warn(self, message: str, span: Span, help: str) -> None:
        self.error("typecheck", message, span, help, severity=Severity.WARNING)

    def broken(self, node: ast.Node) -> typed.Expr:
        """Stands for an expression that was reported, so that nothing more is said about it."""
        return typed.Literal(value=None, type=ANY, location=self.source.at(node.span))

    def require(self, expression: typed.Expr, expected: Type, what: str) -> None:
        """Report unless some value of the expression is of the expected type."""
        if not expression.type.maybe(expected.kinds | Kind.NULL):
            shown = expression.location
            found = Diagnostic(
                "typecheck",
                f"{what} must be {expected}, got {expression.type}",
                Label(shown),
                tuple(reversed(self.called_from)),
                help="compare it with something" if expected == BOOL else None,
            )
            self.diagnostics.append(found)

    @contextmanager
    def within(self, **changes: object) -> Iterator[None]:
        """The checker with some of its attributes changed for a while."""
        before = {name: getattr(self, name) for name in changes}
        for name, value in changes.items():
            setattr(self, name, value)
        try:
            yield
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    # Statements

    def program(self, program: ast.Program) -> tuple[typed.Statement, ...]:
        self.defined_later = {
            s.name: s.name_span
            for s in reversed(program.statements)
            if isinstance(s, ast.Let | ast.Emit)
        }
        self.later_lets = {s.name for s in program.statements if isinstance(s, ast.Let)}
        return self.statements(program.statements)

    def statements(self, statements: Sequence[ast.Statement]) -> tuple[typed.Statement, ...]:
        checked: list[typed.Statement] = []
        for statement in statements:
            result = self.statement(statement, first=not checked)
            if result:
                checked.append(result)
        return tuple(checked)

    def statement(self, node: ast.Statement, first: bool) -> typed.Statement | None:
        match node:
            case ast.Let():
                return self.let(node)
            case ast.Emit():
                return self.emit(node)
            case ast.EmitMeta():
                return self.emit_meta(node)
            case ast.EmitEach():
                return self.emit_each(node)
            case ast.Filter():
                return self.filter(node)
            case ast.Distinct():
                return self.distinct(node)
            case ast.Trace():
                return self.trace(node)
            case ast.Use():
                if not first:
                    self.error("resolve", "'use' must come before all other statements", node.span)
                calls.use(self, node)
            case ast.Function():
                self.error(
                    "resolve",
                    "functions are declared in modules, not in programs",
                    node.span,
                    "move it to a module file and import it with `use`",
                )
        return None

    def value(self, name: str, node: ast.Expr) -> typed.Expr:
        """The expression assigned to `name`."""
        with self.within(target=name, target_value=node):
            return self.expr(node)

    def let(self, node: ast.Let) -> typed.Statement:
        value = self.value(node.name, node.value)
        symbol = typed.Symbol(node.name, value.type, typed.Role.LET, value)
        self.scope.bind(symbol)
        return typed.Let(self.source.at(node.span), symbol, value)

    def emit(self, node: ast.Emit) -> typed.Statement:
        if self.fanned_out:
            self.warn(
                f"'{node.name}' reaches no record: they were emitted by the emit each above",
                node.name_span,
                "move it before the emit each, or into its body",
            )
        with self.within(at_group=self.context.kind is ProgramKind.AGGREGATE):
            value = self.value(node.name, node.value)
        symbol = typed.Symbol(node.name, value.type, typed.Role.EMIT, value)
        if self.context.kind is ProgramKind.AGGREGATE:
            self.emitted.bind(symbol)
        else:
            self.scope.bind(symbol)
        return typed.Emit(self.source.at(node.span), symbol, value)

    def emit_meta(self, node: ast.EmitMeta) -> typed.Statement:
        if self.context.kind is ProgramKind.AGGREGATE:
            self.error(
                "resolve",
                "an aggregate does not carry metadata",
                node.span,
                "emit it as a field, or set it in a transform after the aggregate",
            )
        value = self.value(node.name, node.value)
        self.meta[node.name] = value.type
        return typed.EmitMeta(self.source.at(node.span), node.name, value)

    def emit_each(self, node: ast.EmitEach) -> typed.Statement:
        self.reject_in_aggregate(node, "emit each", "a transform before the aggregate")
        source = self.expr(node.source)
        accepted = Kind.ARRAY | (Kind.NULL if node.outer else NO_KIND)
        if not source.type.maybe(accepted):
            self.error(
                "typecheck",
                f"emit each needs an Array, got {source.type}",
                node.source.span,
            )
        if not source.type.only(Kind.ARRAY):
            source = self.failing_with(source, FailureKind.TYPE_MISMATCH)
        element_type = source.type.element_type
        if node.outer:
            element_type = element_type.nullable()
        element = typed.Symbol(node.binding, element_type, typed.Role.ELEMENT)
        inner = Scope(self.scope)
        inner.bind(element)
        with self.within(scope=inner, fanned_out=False):
            for statement in node.body:
                self.reject_in_body(statement)
            body = self.statements(node.body)
        self.fanned_out = True
        return typed.EmitEach(self.source.at(node.span), element, source, node.outer, body)

    def failing_with(self, expression: typed.Expr, kind: FailureKind) -> typed.Expr:
        return replace(expression, own_fails=expression.own_fails | {kind})

    def reject_in_body(self, node: ast.Statement) -> None:
        if isinstance(node, ast.Filter | ast.Distinct | ast.Use | ast.Function):
            keyword = self.source.text[node.span.start :].split(maxsplit=1)[0]
            self.error(
                "resolve",
                f"'{keyword}' is not allowed in an emit each body",
                node.span,
                "filter the array first with .filter(it => …), or use a transform downstream",
            )

    def reject_in_aggregate(self, node: ast.Statement, what: str, instead: str) -> None:
        if self.context.kind is ProgramKind.AGGREGATE:
            message = f"{what} is not allowed in an aggregate"
            self.error("resolve", message, node.span, f"use {instead}")

    def filter(self, node: ast.Filter) -> typed.Statement:
        condition = self.expr(node.condition)
        self.require(condition, BOOL, "the filter condition")
        return typed.Filter(self.source.at(node.span), condition)

    def distinct(self, node: ast.Distinct) -> typed.Statement:
        self.reject_in_aggregate(node, "distinct", "a transform before the aggregate")
        if self.fanned_out:
            self.error(
                "resolve",
                "distinct cannot follow emit each",
                node.span,
                "put it into a transform downstream",
            )
        keys: tuple[typed.Expr, ...] | None
        if node.by:
            keys = (self.expr(node.by),)
        else:
            emitted = [s for s in self.scope.symbols.values() if s.role is typed.Role.EMIT]
            keys = tuple(self.local(symbol, node) for symbol in emitted) or None
        return typed.Distinct(self.source.at(node.span), keys)

    def trace(self, node: ast.Trace) -> typed.Statement:
        guard = None
        if node.guard:
            guard = self.expr(node.guard)
            self.require(guard, BOOL, "the trace condition")
        return typed.Trace(self.source.at(node.span), node.level, guard, self.expr(node.message))

    # Expressions

    def expr(self, node: ast.Expr) -> typed.Expr:
        match node:
            case ast.Literal():
                return self.literal(node)
            case ast.Name():
                return self.name(node)
            case ast.It():
                return self.it(node)
            case ast.This():
                return self.this(node)
            case ast.Now():
                return self.now(node)
            case ast.SystemRef():
                return self.system(node)
            case ast.Member():
                return self.member(node)
            case ast.Index():
                return self.index(node)
            case ast.MethodCall():
                return calls.method_call(self, node)
            case ast.FunctionCall():
                return calls.function_call(self, node)
            case ast.ModuleRef():
                return calls.module_member(self, node)
            case ast.WindowCall():
                return calls.window_call(self, node)
            case ast.Star():
                return self.star(node)
            case ast.Closure():
                return self.closure(node)
            case ast.Unary():
                return self.unary(node)
            case ast.Binary():
                return self.binary(node)
            case ast.Logic():
                return self.logic(node)
            case ast.If():
                return self.conditional(node)
            case ast.Match():
                return self.match(node)
            case ast.ArrayLiteral():
                return self.array(node)
            case ast.MapLiteral():
                return self.map(node)
        raise AssertionError(f"no rule for {type(node).__name__}")

    def literal(self, node: ast.Literal) -> typed.Expr:
        types: dict[type, Type] = {bool: BOOL, int: INT, float: FLOAT, str: STRING}
        value = node.value
        type_ = NULL if value is None else types.get(type(value), DATE)
        return typed.Literal(value=value, type=type_, location=self.source.at(node.span))

    def now(self, node: ast.Now) -> typed.Expr:
        return typed.Now(type=DATETIME, location=self.source.at(node.span))

    def it(self, node: ast.It) -> typed.Expr:
        symbol = self.scope.get("it")
        if symbol:
            return self.local(symbol, node)
        self.error("resolve", "'it' is only defined inside a closure", node.span)
        return self.broken(node)

    def this(self, node: ast.This) -> typed.Expr:
        self.error(
            "resolve",
            "'this' stands for the record and is always followed by a field",
            node.span,
            'write this.field or this["field"]',
        )
        return self.broken(node)

    def star(self, node: ast.Star) -> typed.Expr:
        self.error("resolve", "'*' is only valid in count(*)", node.span)
        return self.broken(node)

    def closure(self, node: ast.Closure) -> typed.Expr:
        self.error(
            "resolve",
            "a closure is only valid as the argument of filter, map, find, any or flat_map",
            node.span,
            "repeat the closure at each call; it cannot be stored",
        )
        return self.broken(node)

    def local(self, symbol: typed.Symbol, node: ast.Node) -> typed.Expr:
        return typed.Local(symbol=symbol, type=symbol.type, location=self.source.at(node.span))

    def name(self, node: ast.Name) -> typed.Expr:
        symbol = self.symbol(node.name)
        if symbol:
            return self.checked_symbol(symbol, node)
        if self.module and node.name in self.module.constants:
            return calls.constant(self, self.module, node.name, node)
        return self.field(node, (node.name,))

    def symbol(self, name: str) -> typed.Symbol | None:
        if self.at_group and (symbol := self.emitted.get(name)):
            return symbol
        return self.scope.get(name)

    def checked_symbol(self, symbol: typed.Symbol, node: ast.Name) -> typed.Expr:
        if self.at_group and symbol.role is typed.Role.LET and symbol.definition:
            for _, name in sorted(symbol.definition.fields_read, key=lambda f: f[1]):
                if name not in self.context.group_by:
                    self.not_grouped(name, node)
                    break
        return self.local(symbol, node)

    def not_grouped(self, name: str, node: ast.Node) -> None:
        self.error(
            "typecheck",
            f"field '{name}' must appear in group_by or be used inside an aggregate function",
            node.span,
            f"write for example first({name}), or add it to group_by",
        )

    def member(self, node: ast.Member) -> typed.Expr:
        """`a.b.c`: a qualified or dotted column as far as one is declared, then a walk in maps."""
        path = _path(node)
        if path:
            root, parts = path
            if isinstance(root, ast.This):
                return self.field(node, parts)
            if isinstance(root, ast.SystemRef):
                return self.system_path(node, root, parts)
            if not self.symbol(root.name) and not self.is_constant(root.name):
                return self.field(node, (root.name, *parts))
        if isinstance(node.object, ast.WindowCall):
            return calls.window_field(self, node.object, node)
        return self.walk(self.expr(node.object), node)

    def is_constant(self, name: str) -> bool:
        return bool(self.module and name in self.module.constants)

    def walk(self, container: typed.Expr, node: ast.Member) -> typed.Expr:
        """`container.name`, a look-up in a map."""
        if not container.type.maybe(Kind.MAP | Kind.NULL):
            method = calls.method_names(container.type)
            self.error(
                "typecheck",
                f"{container.type} has no field '{node.name}'",
                node.name_span,
                f"write .{node.name}() to call the method" if node.name in method else None,
            )
            return self.broken(node)
        if container.type.only(Kind.MAP) and node.name in calls.method_names(MAP):
            self.warn(
                f"'{node.name}' is read as a key of the map",
                node.name_span,
                f"write .{node.name}() to call the method",
            )
        key = typed.Literal(value=node.name, type=STRING, location=self.source.at(node.name_span))
        return typed.Index(
            object=container, index=key, type=ANY, location=self.source.at(node.span)
        )

    def field(self, node: ast.Expr, parts: tuple[str, ...]) -> typed.Expr:
        """The input column a path starts with, and the map look-ups the rest of it means."""
        found = self.column(parts)
        if not found:
            self.unknown_field(node, parts)
            return self.broken(node)
        qualifier, name, used, type_ = found
        self.check_grouping(name, node)
        members = _members(node, len(parts) - used)
        inner = members[0].object if members else node
        column: typed.Expr = typed.Field(
            name=name, qualifier=qualifier, type=type_, location=self.source.at(inner.span)
        )
        for member in members:
            column = self.walk(column, member)
        return column

    def check_grouping(self, name: str, node: ast.Expr) -> None:
        if self.at_group and name not in self.context.group_by:
            self.not_grouped(name, node)

    def column(self, parts: tuple[str, ...]) -> tuple[str | None, str, int, Type] | None:
        """The column meant: its qualifier, its name, how many parts name it, and its type."""
        qualified = self.context.qualifiers.get(parts[0]) if not self.in_foreign_window else None
        if qualified is not None and len(parts) > 1:
            found = _longest(qualified, parts[1:])
            return found and (parts[0], found[0], found[1] + 1, found[2])
        if self.module:
            return None
        found = _longest(self.row, parts)
        if found is None and self.row.is_open and not self.is_defined_later(parts[0]):
            found = (parts[0], 1, ANY)
        return found and (None, *found)

    @property
    def in_foreign_window(self) -> bool:
        return self.row is not self.context.row

    def is_defined_later(self, name: str) -> bool:
        return name in self.later_lets

    def unknown_field(self, node: ast.Expr, parts: tuple[str, ...]) -> None:
        name = ".".join(parts)
        if self.module:
            self.unknown_in_module(node, parts[0])
            return
        qualified = self.context.qualifiers.get(parts[0])
        if qualified is not None and len(parts) > 1:
            options = [f"{parts[0]}.{column}" for column in qualified.columns]
            self.error("resolve", f"unknown field '{name}'", node.span, _near(name, options))
            return
        if self.context.qualifiers and not self.row.columns:
            self.unqualified(node, parts)
            return
        if parts[0] in self.defined_later:
            label = Label(self.source.at(self.defined_later[parts[0]]), "defined here")
            self.error(
                "resolve",
                f"'{parts[0]}' is not defined yet",
                node.span,
                "statements run from top to bottom; move the definition up",
                (label,),
            )
            return
        shown = name if self.row.starts(parts[0]) else parts[0]
        known = [*self.scope.names(), *self.emitted.names(), *self.row.columns]
        self.error("resolve", f"unknown field '{shown}'", node.span, _near(shown, known))

    def unqualified(self, node: ast.Expr, parts: tuple[str, ...]) -> None:
        owners = [q for q, row in self.context.qualifiers.items() if parts[0] in row.columns]
        if len(owners) > 1:
            choices = " or ".join(f"{q}.{parts[0]}" for q in owners)
            message = f"field '{parts[0]}' is ambiguous: it is in several inputs"
            self.error("resolve", message, node.span, f"write {choices}")
        elif owners:
            message = f"field '{parts[0]}' must be qualified with its input"
            self.error("resolve", message, node.span, f"write {owners[0]}.{parts[0]}")
        else:
            options = [
                f"{q}.{column}"
                for q, row in self.context.qualifiers.items()
                for column in row.columns
            ]
            message = f"unknown field '{'.'.join(parts)}'"
            self.error("resolve", message, node.span, _near(".".join(parts), options))

    def unknown_in_module(self, node: ast.Expr, name: str) -> None:
        assert self.module
        self.error(
            "resolve",
            f"unknown name '{name}'",
            node.span,
            _near(name, [*self.scope.names(), *self.module.constants])
            or "a function sees its parameters and its module, not the record's fields",
        )

    def system(self, node: ast.SystemRef) -> typed.Expr:
        return self.system_path(node, node, ())

    def system_path(
        self, node: ast.Expr, root: ast.SystemRef, parts: tuple[str, ...]
    ) -> typed.Expr:
        used = 0
        path: tuple[str, ...] = (root.name,)
        if root.namespace == "doc":
            if not parts:
                message = f"$doc.{root.name} names a section; a field of it is missing"
                self.error("resolve", message, node.span, f"write $doc.{root.name}.field")
                return self.broken(node)
            used, path = 1, (root.name, parts[0])
            type_ = self.document_field(node, path)
        elif root.namespace == "source" and parts and root.name in self.context.source_inputs:
            used, path = 1, (root.name, parts[0])
            type_ = self.context.source_inputs[root.name].get(parts[0])
            if type_ is None:
                known = self.context.source_inputs[root.name]
                self.unknown_member(node, "source", f"{root.name}.{parts[0]}", list(known))
        else:
            type_ = self.system_member(node, root)
        if type_ is None:
            return self.broken(node)
        if self.at_group and (root.namespace, root.name) != ("source", "count"):
            self.reject_per_record(node, root)
        members = _members(node, len(parts) - used)
        inner = members[0].object if members else node
        value: typed.Expr = typed.System(
            namespace=root.namespace, path=path, type=type_, location=self.source.at(inner.span)
        )
        for member in members:
            value = self.walk(value, member)
        return value

    def reject_per_record(self, node: ast.Expr, root: ast.SystemRef) -> None:
        if root.namespace in ("source", "record", "meta", "doc"):
            shown = f"${root.namespace}.{root.name}"
            self.error(
                "typecheck",
                f"{shown} differs from record to record and a group has many",
                node.span,
                f"write for example first({shown})",
            )

    def document_field(self, node: ast.Expr, path: tuple[str, str]) -> Type | None:
        if self.context.doc is None:
            return ANY
        found = self.context.doc.get(".".join(path))
        if found is None:
            self.unknown_member(node, "doc", ".".join(path), list(self.context.doc))
        return found

    def system_member(self, node: ast.Expr, root: ast.SystemRef) -> Type | None:
        if root.namespace == "meta" and root.name in self.meta:
            return self.meta[root.name]
        members = self.context.members(root.namespace)
        if members is None:
            return ANY
        if root.name not in members:
            self.unknown_member(node, root.namespace, root.name, list(members))
        return members.get(root.name)

    def unknown_member(self, node: ast.Expr, namespace: str, name: str, known: list[str]) -> None:
        close = did_you_mean(name, known)
        declare = {
            "vars": "declare it under pipeline.vars",
            "pipeline": "declare it under pipeline.vars.pipeline",
            "source": "declare it under pipeline.vars.source",
            "record": "declare it under pipeline.vars.record",
            "config": "declare it in the composition's config_schema",
        }
        help = close.replace("'", f"'${namespace}.", 1) if close else declare.get(namespace)
        self.error("resolve", f"unknown variable '${namespace}.{name}'", node.span, help)

    def unary(self, node: ast.Unary) -> typed.Expr:
        operand = self.expr(node.operand)
        ruling = operators.unary(node.op, operand.type)
        if not ruling:
            help = None
            if node.op is ast.UnaryOp.NOT:
                help = "`not` binds tighter than comparisons: write not (a == b)"
            message = f"cannot apply '{node.op}' to {operand.type}"
            self.error("typecheck", message, node.span, help)
            return self.broken(node)
        fails = ruling.fails
        if isinstance(operand, typed.Literal):  # the negation of a literal always fits
            fails -= {FailureKind.INTEGER_OVERFLOW}
        return typed.Unary(
            op=node.op,
            operand=operand,
            type=ruling.type,
            location=self.source.at(node.span),
            own_fails=fails,
        )

    def binary(self, node: ast.Binary) -> typed.Expr:
        left, right = self.expr(node.left), self.expr(node.right)
        ruling = operators.binary(node.op, left.type, right.type)
        if not ruling:
            self.error(
                "typecheck",
                f"cannot apply '{node.op}' to {left.type} and {right.type}",
                node.span,
                _operator_help(node.op, left.type, right.type),
            )
            return self.broken(node)
        self.remark(node, left, right)
        if node.op is ast.BinaryOp.COALESCE:
            left, right = self.promoted(left, ruling.type), self.promoted(right, ruling.type)
        return typed.Binary(
            op=node.op,
            left=left,
            right=right,
            type=ruling.type,
            location=self.source.at(node.span),
            own_fails=_without_impossible(ruling.fails, node.op, right),
        )

    def remark(self, node: ast.Binary, left: typed.Expr, right: typed.Expr) -> None:
        if node.op is ast.BinaryOp.DIVIDE and all(
            e.type.without_null() == INT for e in (left, right)
        ):
            self.warn(
                "dividing two Ints drops the fraction",
                node.span,
                "use .to_float() on one of them to keep it",
            )
        if node.op in ast.COMPARISON_OPS and (left.type.is_null or right.type.is_null):
            self.warn(f"'{node.op}' with null always gives null", node.span, "test with .is_null()")

    def promoted(self, expression: typed.Expr, target: Type) -> typed.Expr:
        """The expression, converted where `target` is the wider of two unified types."""
        kinds = expression.type.kinds & ~Kind.NULL
        wanted = target.kinds & ~Kind.NULL
        if (kinds, wanted) in ((Kind.INT, Kind.FLOAT), (Kind.DATE, Kind.DATETIME)):
            null = expression.type.kinds & Kind.NULL
            return typed.Promote(
                operand=expression, type=Type(wanted | null), location=expression.location
            )
        return expression

    def logic(self, node: ast.Logic) -> typed.Expr:
        operands = tuple(self.expr(operand) for operand in node.operands)
        for operand in operands:
            if not operators.logic(operand.type):
                self.diagnostics.append(
                    Diagnostic(
                        "typecheck",
                        f"cannot apply '{node.op}' to {operand.type}",
                        Label(operand.location),
                        tuple(reversed(self.called_from)),
                        help="compare it with something",
                    )
                )
        ruling = operators.logic(*(operand.type for operand in operands))
        if not ruling:
            return self.broken(node)
        return typed.Logic(
            op=node.op,
            operands=operands,
            type=ruling.type,
            location=self.source.at(node.span),
            own_fails=ruling.fails,
        )

    def conditional(self, node: ast.If) -> typed.Expr:
        condition = self.expr(node.condition)
        self.require(condition, BOOL, "the condition")
        then = self.expr(node.then)
        otherwise = self.expr(node.otherwise) if node.otherwise else None
        type_ = unify(then.type, otherwise.type if otherwise else NULL)
        return typed.If(
            condition=condition,
            then=self.promoted(then, type_),
            otherwise=self.promoted(otherwise, type_) if otherwise else None,
            type=type_,
            location=self.source.at(node.span),
        )

    def match(self, node: ast.Match) -> typed.Expr:
        subject = self.expr(node.subject) if node.subject else None
        arms: list[tuple[typed.Expr | None, typed.Expr]] = []
        for arm in node.arms:
            if arms and arms[-1][0] is None:
                self.warn("this arm is never reached", arm.span, "move the `_` arm to the end")
            pattern = self.pattern(arm.pattern, subject) if arm.pattern else None
            arms.append((pattern, self.expr(arm.value)))
        complete = any(pattern is None for pattern, _ in arms)
        type_ = unify_all(value.type for _, value in arms)
        if not complete:
            type_ = type_.nullable()
        return typed.Match(
            subject=subject,
            arms=tuple((pattern, self.promoted(value, type_)) for pattern, value in arms),
            type=type_,
            location=self.source.at(node.span),
        )

    def pattern(self, node: ast.Expr, subject: typed.Expr | None) -> typed.Expr:
        pattern = self.expr(node)
        if subject is None:
            self.require(pattern, BOOL, "a match condition")
        elif not operators.binary(ast.BinaryOp.EQUAL, subject.type, pattern.type):
            self.error(
                "typecheck",
                f"a {pattern.type} pattern can never match a {subject.type}",
                node.span,
                CONVERT_HELP,
            )
        return pattern

    def index(self, node: ast.Index) -> typed.Expr:
        if isinstance(node.object, ast.This):
            return self.this_field(node)
        container, index = self.expr(node.object), self.expr(node.index)
        pairs = ((Kind.ARRAY, Kind.INT), (Kind.MAP, Kind.STRING))
        if not any(
            container.type.maybe(holder | Kind.NULL) and index.type.maybe(key | Kind.NULL)
            for holder, key in pairs
        ):
            message = f"cannot index {container.type} with {index.type}"
            help = "an Array is indexed by an Int, a Map by a String"
            self.error("typecheck", message, node.span, help)
            return self.broken(node)
        type_ = container.type.element_type.nullable() if container.type.only(Kind.ARRAY) else ANY
        return typed.Index(
            object=container, index=index, type=type_, location=self.source.at(node.span)
        )

    def this_field(self, node: ast.Index) -> typed.Expr:
        if isinstance(node.index, ast.Literal) and isinstance(node.index.value, str):
            return self.field(node, (node.index.value,))
        self.error("resolve", "this[…] needs the name of a field as a text", node.index.span)
        return self.broken(node)

    def array(self, node: ast.ArrayLiteral) -> typed.Expr:
        items = tuple(self.expr(item) for item in node.items)
        element = unify_all(item.type for item in items)
        return typed.ArrayLiteral(
            items=tuple(self.promoted(item, element) for item in items),
            type=array_of(element) if items else ARRAY,
            location=self.source.at(node.span),
        )

    def map(self, node: ast.MapLiteral) -> typed.Expr:
        seen: set[str] = set()
        for entry in node.entries:
            if entry.key in seen:
                self.error("resolve", f"the key '{entry.key}' is given twice", entry.span)
            seen.add(entry.key)
        return typed.MapLiteral(
            entries=tuple((entry.key, self.expr(entry.value)) for entry in node.entries),
            type=MAP,
            location=self.source.at(node.span),
        )


def _near(name: str, known: Sequence[str]) -> str | None:
    close = did_you_mean(name, known)
    if close or not known:
        return close
    shown = ", ".join(known[:8]) + (", …" if len(known) > 8 else "")
    return f"known here: {shown}"


def _path(
    node: ast.Member,
) -> tuple[ast.Name | ast.This | ast.SystemRef, tuple[str, ...]] | None:
    """`a.b.c` as its root and the names after it; None when the root is another expression."""
    parts = [node.name]
    root = node.object
    while isinstance(root, ast.Member):
        parts.append(root.name)
        root = root.object
    if isinstance(root, ast.Name | ast.This | ast.SystemRef):
        return root, tuple(reversed(parts))
    return None


def _members(node: ast.Expr, count: int) -> list[ast.Member]:
    """The last `count` member accesses of a path, outermost last."""
    found: list[ast.Member] = []
    while len(found) < count and isinstance(node, ast.Member):
        found.append(node)
        node = node.object
    return found[::-1]


def _longest(row: Row, parts: tuple[str, ...]) -> tuple[str, int, Type] | None:
    """The column with the longest dotted name that starts the path."""
    for used in range(len(parts), 0, -1):
        name = ".".join(parts[:used])
        if name in row.columns:
            return name, used, row.columns[name]
    return None


def _without_impossible(
    fails: frozenset[FailureKind], op: ast.BinaryOp, right: typed.Expr
) -> frozenset[FailureKind]:
    """A literal divisor rules out division by zero, and overflow unless it is -1."""
    if op in (ast.BinaryOp.DIVIDE, ast.BinaryOp.MODULO) and isinstance(right, typed.Literal):
        if right.value != 0:
            fails -= {FailureKind.DIVISION_BY_ZERO}
        if right.value != -1:
            fails -= {FailureKind.INTEGER_OVERFLOW}
    return fails


def _operator_help(op: ast.BinaryOp, left: Type, right: Type) -> str:
    dates = DATE | DATETIME
    either = left | right
    if op in ast.COMPARISON_OPS:
        if either.maybe(dates.kinds) and either.maybe(Kind.STRING):
            return "write a date literal such as #2024-12-31#, or convert with .to_date()"
        if op in ast.ORDERING_OPS and left.kinds == right.kinds:
            return "only numbers, texts and dates have an order"
        return CONVERT_HELP
    if either.maybe(dates.kinds):
        return "use .add_days(n) to move a date, .diff_days(d) for the time between two"
    if op is not ast.BinaryOp.ADD and either.maybe(Kind.STRING):
        return f"'{op}' needs numbers — use .to_int() or .to_float()"
    return CONVERT_HELP
