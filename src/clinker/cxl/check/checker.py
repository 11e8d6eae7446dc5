"""The checker of expressions: binds their names, infers their types, reports what is wrong.

After an error it goes on with an expression of unknown type, so that one mistake is reported once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from clinker.cxl.check import calls, inlining, names, operators, typed, window_calls
from clinker.cxl.check.modules import Module
from clinker.cxl.check.resolve import Context, Row, Scope
from clinker.cxl.failure import FailureKind
from clinker.cxl.syntax import ast
from clinker.cxl.syntax.expressions import MAX_NESTING
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
from clinker.diagnostics import Diagnostic, Label, Severity, Source, Span

MAX_DEPTH = 2 * MAX_NESTING
"""How deep an expression may be once the functions it calls are expanded in it."""

_NOT_HELP = "`not` binds tighter than comparisons: write not (a == b)"
CONVERT_HELP = "convert one operand — use .to_int() or .to_string()"


class Checker:
    """What is known where the checker is, and what it found wrong; a method for each construct."""

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
                self.check(node)

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

    # Expressions

    def check(self, node: ast.Expr) -> typed.Expr:
        if self.depth >= MAX_DEPTH:
            message = f"with all functions expanded this nests more than {MAX_DEPTH} levels"
            self.error("resolve", message, node.span, "name intermediate results with `let`")
            return self.broken(node)
        self.depth += 1
        checked = self._check_construct(node)
        self.depth -= 1
        return checked

    def _check_construct(self, node: ast.Expr) -> typed.Expr:
        match node:
            case ast.Literal():
                return self.check_literal(node)
            case ast.Name():
                return names.check_name(self, node)
            case ast.It():
                return names.check_it(self, node)
            case ast.This():
                return names.check_this(self, node)
            case ast.Now():
                return self.check_now(node)
            case ast.SystemRef():
                return names.check_system(self, node, node)
            case ast.Member():
                return self.check_member(node)
            case ast.Index():
                return self.check_index(node)
            case ast.MethodCall():
                return calls.check_method_call(self, node)
            case ast.FunctionCall():
                return calls.check_function_call(self, node)
            case ast.ModuleRef():
                return inlining.check_module_member(self, node)
            case ast.WindowCall():
                return window_calls.check_window_call(self, node)
            case ast.Star():
                return self.check_star(node)
            case ast.Closure():
                return self.check_closure(node)
            case ast.Unary():
                return self.check_unary(node)
            case ast.Binary():
                return self.check_binary(node)
            case ast.Logic():
                return self.check_logic(node)
            case ast.If():
                return self.check_conditional(node)
            case ast.Match():
                return self.check_match(node)
            case ast.ArrayLiteral():
                return self.check_array(node)
            case ast.MapLiteral():
                return self.check_map(node)
        raise AssertionError(f"no rule for {type(node).__name__}")

    def check_literal(self, node: ast.Literal) -> typed.Expr:
        types: dict[type, Type] = {bool: BOOL, int: INT, float: FLOAT, str: STRING}
        value = node.value
        type_ = NULL if value is None else types.get(type(value), DATE)
        return typed.Literal(value=value, type=type_, location=self.source.at(node.span))

    def check_now(self, node: ast.Now) -> typed.Expr:
        return typed.Now(type=DATETIME, location=self.source.at(node.span))

    def check_member(self, node: ast.Member) -> typed.Expr:
        if isinstance(node.object, ast.WindowCall):
            return window_calls.check_window_field(self, node.object, node)
        return names.check_member(self, node)

    def check_star(self, node: ast.Star) -> typed.Expr:
        self.error("resolve", "'*' is only valid in count(*)", node.span)
        return self.broken(node)

    def check_closure(self, node: ast.Closure) -> typed.Expr:
        self.error(
            "resolve",
            "a closure is only valid as the argument of filter, map, find, any or flat_map",
            node.span,
            "repeat the closure at each call; it cannot be stored",
        )
        return self.broken(node)

    def refer_to(self, symbol: typed.Symbol, node: ast.Node) -> typed.Expr:
        return typed.Local(symbol=symbol, type=symbol.type, location=self.source.at(node.span))

    def check_unary(self, node: ast.Unary) -> typed.Expr:
        operand = self.check(node.operand)
        ruling = operators.rule_on_unary(node.op, operand.type)
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

    def check_binary(self, node: ast.Binary) -> typed.Expr:
        left, right = self.check(node.left), self.check(node.right)
        if node.op is ast.BinaryOp.COALESCE:
            return self.check_coalesce(node, left, right)
        ruling = operators.rule_on_binary(node.op, left.type, right.type)
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

    def check_coalesce(self, node: ast.Expr, left: typed.Expr, right: typed.Expr) -> typed.Expr:
        """`left ?? right`, which is also what the method `catch` means."""
        type_ = right.type if left.type.is_null else unify(left.type.without_null(), right.type)
        return typed.Binary(
            op=ast.BinaryOp.COALESCE,
            left=self.promote(left, type_),
            right=self.promote(right, type_),
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

    def promote(self, expression: typed.Expr, target: Type) -> typed.Expr:
        """The expression, converted where `target` is the wider of two unified types."""
        kinds = expression.type.kinds & ~Kind.NULL
        wanted = target.kinds & ~Kind.NULL
        if (kinds, wanted) in ((Kind.INT, Kind.FLOAT), (Kind.DATE, Kind.DATETIME)):
            null = expression.type.kinds & Kind.NULL
            return typed.Promote(
                operand=expression, type=Type(wanted | null), location=expression.location
            )
        return expression

    def check_logic(self, node: ast.Logic) -> typed.Expr:
        operands = tuple(self.check(operand) for operand in node.operands)
        for operand in operands:
            if not operators.rule_on_logic(operand.type):
                message = f"cannot apply '{node.op}' to {operand.type.noun}"
                self.mistyped(operand, message, "compare it with something")
        ruling = operators.rule_on_logic(*(operand.type for operand in operands))
        if not ruling:
            return self.broken(node)
        return typed.Logic(
            op=node.op,
            operands=operands,
            type=ruling.type,
            location=self.source.at(node.span),
            own_fails=ruling.fails,
        )

    def check_conditional(self, node: ast.If) -> typed.Expr:
        condition = self.check(node.condition)
        self.require(condition, BOOL, "the condition")
        then = self.check(node.then)
        otherwise = self.check(node.otherwise) if node.otherwise else None
        type_ = unify(then.type, otherwise.type if otherwise else NULL)
        return typed.If(
            condition=condition,
            then=self.promote(then, type_),
            otherwise=self.promote(otherwise, type_) if otherwise else None,
            type=type_,
            location=self.source.at(node.span),
        )

    def check_match(self, node: ast.Match) -> typed.Expr:
        subject = self.check(node.subject) if node.subject else None
        arms: list[tuple[typed.Expr | None, typed.Expr]] = []
        for arm in node.arms:
            if arms and arms[-1][0] is None:
                self.warn("this arm is never reached", arm.span, "move the `_` arm to the end")
            pattern = self.check_pattern(arm.pattern, subject) if arm.pattern else None
            arms.append((pattern, self.check(arm.value)))
        complete = any(pattern is None for pattern, _ in arms)
        type_ = unify(*(value.type for _, value in arms))
        if not complete:
            type_ = type_.nullable()
        return typed.Match(
            subject=subject,
            arms=tuple((pattern, self.promote(value, type_)) for pattern, value in arms),
            type=type_,
            location=self.source.at(node.span),
        )

    def check_pattern(self, node: ast.Expr, subject: typed.Expr | None) -> typed.Expr:
        pattern = self.check(node)
        if subject is None:
            self.require(pattern, BOOL, "a match condition")
        elif not operators.rule_on_binary(ast.BinaryOp.EQUAL, subject.type, pattern.type):
            self.error(
                "typecheck",
                f"this pattern is {pattern.type.noun} and never matches {subject.type.noun}",
                node.span,
                "leave out the subject to match conditions"
                if pattern.type.only(Kind.BOOL)
                else CONVERT_HELP,
            )
        return pattern

    def check_index(self, node: ast.Index) -> typed.Expr:
        if isinstance(node.object, ast.This):
            return names.check_this_index(self, node)
        container, index = self.check(node.object), self.check(node.index)
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

    def check_array(self, node: ast.ArrayLiteral) -> typed.Expr:
        items = tuple(self.check(item) for item in node.items)
        element = unify(*(item.type for item in items))
        return typed.ArrayLiteral(
            items=tuple(self.promote(item, element) for item in items),
            type=array_of(element) if items else ARRAY,
            location=self.source.at(node.span),
        )

    def check_map(self, node: ast.MapLiteral) -> typed.Expr:
        seen: set[str] = set()
        for entry in node.entries:
            if entry.key in seen:
                self.error("resolve", f"the key '{entry.key}' is given twice", entry.span)
            seen.add(entry.key)
        return typed.MapLiteral(
            entries=tuple((entry.key, self.check(entry.value)) for entry in node.entries),
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
