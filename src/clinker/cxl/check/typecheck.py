"""The checker: binds names, infers types and reports everything wrong in one run.

Its result is a typed program (see `typed`), complete only when no error was found. After an error
the checker goes on with an expression of unknown type, so that one mistake is reported once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from clinker.cxl.check import calls, inlining, names, operators, typed, window_calls
from clinker.cxl.check.modules import Module
from clinker.cxl.check.resolve import Context, ProgramKind, Row, Scope
from clinker.cxl.failure import FailureKind
from clinker.cxl.syntax import ast
from clinker.cxl.syntax.expressions import MAX_NESTING
from clinker.cxl.syntax.parser import Parsed, ParsedExpression
from clinker.cxl.types import (
    ANY,
    ARRAY,
    BOOL,
    DATE,
    DATETIME,
    FLOAT,
    INT,
    MAP,
    NULL,
    STRING,
    Kind,
    Type,
    array_of,
    unify,
)
from clinker.cxl.values import MIN_INT
from clinker.diagnostics import Diagnostic, Label, Severity, Source, Span, in_reading_order
from clinker.frozen import frozen

MAX_DEPTH = 2 * MAX_NESTING
"""How deep an expression may be once the functions it calls are expanded in it."""

_NOT_HELP = "`not` binds tighter than comparisons: write not (a == b)"
CONVERT_HELP = "convert one operand — use .to_int() or .to_string()"


@frozen
class Checked:
    """A program with all findings about it; `program` is None if any of them is an error."""

    program: typed.Program | None
    diagnostics: list[Diagnostic]


@frozen
class CheckedExpression:
    expression: typed.Expr | None
    diagnostics: list[Diagnostic]


def check(parsed: Parsed, context: Context) -> Checked:
    """Check a parsed program against everything it may refer to."""
    checker = Checker(parsed.source, context)
    checker.broken_names = parsed.broken_names
    statements = checker.program(parsed.program)
    diagnostics = in_reading_order([*parsed.diagnostics, *checker.diagnostics])
    if any(d.is_error for d in diagnostics):
        return Checked(None, diagnostics)
    return Checked(typed.Program(statements), diagnostics)


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
        inlining.check_members(checker, module)
    return in_reading_order([*module.diagnostics, *checker.diagnostics])


class Checker:
    def __init__(self, source: Source, context: Context) -> None:
        self.source = source
        self.context = context
        self.row: Row = context.row
        self.scope = Scope()
        self.emitted = Scope()
        """The fields emitted so far; in an aggregate program only its later emits see them."""
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
        self.definitions: dict[str, Span] = {}
        """Where the program first defines each name, to tell `not defined yet` from unknown."""
        self.lets: set[str] = set()
        self.broken_names: frozenset[str] = frozenset()
        self.hidden: frozenset[str] = frozenset()
        """Names that have no value on the other records of a window or group."""
        self.depth = 0
        self.fanned_out = False
        self.diagnostics: list[Diagnostic] = []
        self.said: set[tuple[object, ...]] = set()

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
        self.add(Diagnostic(code, message, label, where, help, severity))

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep a diagnostic, unless the same was said of the same place, as for another call."""
        place = diagnostic.primary.location if diagnostic.primary else None
        key = (diagnostic.message, place and place.source, place and place.span)
        if key not in self.said:
            self.said.add(key)
            self.diagnostics.append(diagnostic)

    def warn(self, message: str, span: Span, help: str) -> None:
        self.error("typecheck", message, span, help, severity=Severity.WARNING)

    def broken(self, node: ast.Node) -> typed.Expr:
        """Stands for an expression that was reported, so that nothing more is said about it."""
        return typed.Broken(type=ANY, location=self.source.at(node.span))

    def require(self, expression: typed.Expr, expected: Type, what: str) -> None:
        """Report unless some value of the expression is of the expected type."""
        if not expression.type.is_null and not expression.type.maybe(expected.kinds):
            message = f"{what} must be {expected}, got {expression.type.noun}"
            self.mistyped(expression, message, "compare it with something")

    def mistyped(self, expression: typed.Expr, message: str, help: str) -> None:
        """Report an expression that was checked already, perhaps in a module."""
        label = Label(expression.location)
        where = tuple(reversed(self.called_from))
        self.add(Diagnostic("typecheck", message, label, where, help))

    @contextmanager
    def on_other_records(self, row: Row) -> Iterator[None]:
        """Names stand for values of any record in a window or group, not of the one at hand."""
        visible, hidden = Scope(), set()
        foreign = row is not self.context.row
        for name in dict.fromkeys(self.scope.names()):
            symbol = self.scope.get(name)
            if symbol and symbol.definition and symbol.definition.is_per_record and not foreign:
                visible.bind(symbol)
            else:
                hidden.add(name)
        with self.within(scope=visible, row=row, hidden=frozenset(hidden)):
            yield

    @property
    def in_foreign_window(self) -> bool:
        """Whether names stand for the columns of another source's window."""
        return self.row is not self.context.row

    def check_all(self, nodes: Sequence[ast.Expr]) -> None:
        """Report what is wrong inside the parts of something that is itself wrong."""
        for node in nodes:
            if not isinstance(node, ast.Closure | ast.Star):
                self.expr(node)

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
        self.definitions = {
            s.name: s.name_span
            for s in reversed(program.statements)
            if isinstance(s, ast.Let | ast.Emit)
        }
        self.lets = {s.name for s in program.statements if isinstance(s, ast.Let)}
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
                inlining.use(self, node)
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
        self.emitted.bind(symbol)
        if self.context.kind is not ProgramKind.AGGREGATE:
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
        self.reject_outside_transforms(node, "emit each")
        source = self.expr(node.source)
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
            body = self.statements(node.body)
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

    def filter(self, node: ast.Filter) -> typed.Statement:
        self.reject_after_fan_out(node, "filter", "move it up, or into a transform downstream")
        condition = self.expr(node.condition)
        self.require(condition, BOOL, "the filter condition")
        return typed.Filter(self.source.at(node.span), condition)

    def distinct(self, node: ast.Distinct) -> typed.Statement:
        self.reject_outside_transforms(node, "distinct")
        self.reject_after_fan_out(node, "distinct", "put it into a transform downstream")
        keys: tuple[typed.Expr, ...] | None
        if node.by:
            keys = (self.expr(node.by),)
        else:
            emitted = self.emitted.symbols.values()
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
        if self.depth >= MAX_DEPTH:
            message = f"with all functions expanded this nests more than {MAX_DEPTH} levels"
            self.error("resolve", message, node.span, "name intermediate results with `let`")
            return self.broken(node)
        self.depth += 1
        checked = self.expression(node)
        self.depth -= 1
        return checked

    def expression(self, node: ast.Expr) -> typed.Expr:
        match node:
            case ast.Literal():
                return self.literal(node)
            case ast.Name():
                return names.name(self, node)
            case ast.It():
                return names.it(self, node)
            case ast.This():
                return names.this(self, node)
            case ast.Now():
                return self.now(node)
            case ast.SystemRef():
                return names.system(self, node, node)
            case ast.Member():
                return self.member(node)
            case ast.Index():
                return self.index(node)
            case ast.MethodCall():
                return calls.method_call(self, node)
            case ast.FunctionCall():
                return calls.function_call(self, node)
            case ast.ModuleRef():
                return inlining.module_member(self, node)
            case ast.WindowCall():
                return window_calls.window_call(self, node)
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

    def member(self, node: ast.Member) -> typed.Expr:
        if isinstance(node.object, ast.WindowCall):
            return window_calls.window_field(self, node.object, node)
        return names.member(self, node)

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

    def unary(self, node: ast.Unary) -> typed.Expr:
        operand = self.expr(node.operand)
        ruling = operators.unary(node.op, operand.type)
        if not ruling:
            help = None
            if node.op is ast.UnaryOp.NOT:
                help = _NOT_HELP
            message = f"cannot apply '{node.op}' to {operand.type.noun}"
            self.error("typecheck", message, node.span, help)
            return self.broken(node)
        fails = ruling.fails
        if isinstance(operand, typed.Literal) and operand.value != MIN_INT:
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
        if node.op is ast.BinaryOp.COALESCE:
            return self.coalesced(node, left, right)
        ruling = operators.binary(node.op, left.type, right.type)
        if not ruling:
            self.error(
                "typecheck",
                f"cannot apply '{node.op}' to {left.type.noun} and {right.type.noun}",
                node.span,
                _NOT_HELP
                if isinstance(node.left, ast.Unary) and node.left.op is ast.UnaryOp.NOT
                else _operator_help(node.op, left.type, right.type),
            )
            return self.broken(node)
        self.remark(node, left, right)
        return typed.Binary(
            op=node.op,
            left=left,
            right=right,
            type=ruling.type,
            location=self.source.at(node.span),
            own_fails=_without_impossible(ruling.fails, node.op, right),
        )

    def coalesced(self, node: ast.Expr, left: typed.Expr, right: typed.Expr) -> typed.Expr:
        """`left ?? right`, which is also what the method `catch` means."""
        type_ = right.type if left.type.is_null else unify(left.type.without_null(), right.type)
        return typed.Binary(
            op=ast.BinaryOp.COALESCE,
            left=self.promoted(left, type_),
            right=self.promoted(right, type_),
            type=type_,
            location=self.source.at(node.span),
        )

    def remark(self, node: ast.Binary, left: typed.Expr, right: typed.Expr) -> None:
        divides = node.op in (ast.BinaryOp.DIVIDE, ast.BinaryOp.MODULO)
        if divides and isinstance(right, typed.Literal) and right.value == 0:
            self.warn("division by zero always fails", node.span, "check the divisor")
        elif node.op is ast.BinaryOp.DIVIDE and all(
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
                message = f"cannot apply '{node.op}' to {operand.type.noun}"
                self.mistyped(operand, message, "compare it with something")
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
        type_ = unify(*(value.type for _, value in arms))
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
                f"this pattern is {pattern.type.noun} and never matches {subject.type.noun}",
                node.span,
                "leave out the subject to match conditions"
                if pattern.type.only(Kind.BOOL)
                else CONVERT_HELP,
            )
        return pattern

    def index(self, node: ast.Index) -> typed.Expr:
        if isinstance(node.object, ast.This):
            return names.this_index(self, node)
        container, index = self.expr(node.object), self.expr(node.index)
        pairs = ((Kind.ARRAY, Kind.INT), (Kind.MAP, Kind.STRING))
        if not any(
            (container.type.is_null or container.type.maybe(holder))
            and (index.type.is_null or index.type.maybe(key))
            for holder, key in pairs
        ):
            message = f"cannot index {container.type.noun} with {index.type.noun}"
            help = "an Array is indexed by an Int, a Map by a String"
            self.error("typecheck", message, node.span, help)
            return self.broken(node)
        type_ = container.type.element_type.nullable() if container.type.only(Kind.ARRAY) else ANY
        return typed.Index(
            object=container, index=index, type=type_, location=self.source.at(node.span)
        )

    def array(self, node: ast.ArrayLiteral) -> typed.Expr:
        items = tuple(self.expr(item) for item in node.items)
        element = unify(*(item.type for item in items))
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
    if either.maybe(Kind.ARRAY | Kind.MAP):
        return "arrays join with .flat_map(), maps with .merge()"
    return CONVERT_HELP
