"""Tokens to syntax tree: a Pratt parser that goes on after an error.

A statement ends where the next statement keyword starts, so after an error the parser skips to the
next one and reports everything it finds in a single run.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import TypeVar

from clinker.cxl.syntax import ast
from clinker.cxl.syntax.lexer import (
    MAX_FINDINGS,
    MAX_SOURCE_BYTES,
    STATEMENT_KEYWORDS,
    Comment,
    Token,
    TokenKind,
    tokenize,
)
from clinker.cxl.values import MAX_INT
from clinker.diagnostics import Diagnostic, Label, Source, Span
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen

MAX_NESTING = 256
MAX_EMIT_EACH_NESTING = 32

NAMESPACES = ("pipeline", "source", "record", "vars", "meta", "doc", "window", "config")

# What people write who know other languages, and what to tell them.
_FAMILIAR_STATEMENTS = {
    "select": "write `emit name = expression` for every output field",
    "where": "write `filter condition`",
    "return": "write `emit name = expression`",
    "set": "write `let name = expression`",
    "var": "write `let name = expression`",
    "import": "write `use module.path`",
}
_FAMILIAR_OPERATORS = {
    "=": "use == to compare",
    "=>": "`=>` belongs to closures and match arms",
    "then": "start the conditional with `if`",
    "else": "start the conditional with `if`",
    "elif": "write `else if`",
    "is": "test for null with .is_null()",
    "in": "write x == a or x == b, or [a, b].any(it => it == x)",
    "like": "use .starts_with(), .contains() or .matches()",
    "between": "write x >= low and x <= high",
    "as": "write `emit name = expression`",
    "when": "write match { condition => value, _ => other }",
    ",": "start every statement with its keyword",
}

_TRACE_LEVELS = frozenset(level.value for level in ast.TraceLevel)

# How tightly infix operators bind; a right-associative one parses its right side at its own level.
_COALESCE, _OR, _AND, _COMPARE, _ADD, _MULTIPLY, _UNARY = 10, 20, 30, 40, 50, 60, 70
_BINDING = {
    "??": _COALESCE,
    "or": _OR,
    "and": _AND,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), _COMPARE),
    **dict.fromkeys(("+", "-"), _ADD),
    **dict.fromkeys(("*", "/", "%"), _MULTIPLY),
}

_T = TypeVar("_T")
_E = TypeVar("_E", bound=ast.Expr)


@frozen
class Parsed:
    """What came out of parsing: complete only when there are no diagnostics."""

    source: Source
    program: ast.Program
    comments: list[Comment]
    diagnostics: list[Diagnostic]
    broken_names: frozenset[str] = frozenset()
    """What statements that do not parse would have defined."""


def parse(source: Source, max_bytes: int = MAX_SOURCE_BYTES) -> Parsed:
    """Parse a program of statements."""
    parser = _Parser(source, max_bytes)
    program = parser.program()
    names = frozenset(parser.broken_names)
    return Parsed(source, program, parser.comments, parser.diagnostics, names)


@frozen
class ParsedExpression:
    source: Source
    expression: ast.Expr | None
    diagnostics: list[Diagnostic]


def parse_expression(source: Source) -> ParsedExpression:
    """Parse a single expression, such as a route condition."""
    parser = _Parser(source, MAX_SOURCE_BYTES)
    expression = parser.lone_expression()
    return ParsedExpression(source, expression, parser.diagnostics)


class _SyntaxError(Exception):
    """Unwinds to the statement being parsed; the diagnostic is already recorded."""


class _Parser:
    def __init__(self, source: Source, max_bytes: int) -> None:
        lexed = tokenize(source, max_bytes)
        self.source = source
        self.tokens = lexed.tokens
        self.comments = lexed.comments
        self.diagnostics = lexed.diagnostics
        self.lexical = [d.primary.location.span.start for d in lexed.diagnostics if d.primary]
        self.reported: set[Span] = set()
        self.broken_names: set[str] = set()
        self.defining: str | None = None
        self.at = 0
        self.nesting = 0
        self.emit_each_nesting = 0
        self.in_pattern = False
        self.heights: dict[int, int] = {}
        self.parenthesized: set[int] = set()

    # Tokens

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def peek(self, ahead: int = 1) -> Token:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def advance(self) -> Token:
        token = self.token
        if token.kind is not TokenKind.END:
            self.at += 1
        return token

    def accept_symbol(self, text: str) -> bool:
        if self.token.is_symbol(text):
            self.advance()
            return True
        return False

    def expect_symbol(self, text: str, help: str | None = None) -> Token:
        if self.token.is_symbol(text):
            return self.advance()
        raise self.error(f"expected '{text}', found {self.token}", self.here(), help)

    def expect_keyword(self, text: str, help: str | None = None) -> Token:
        if self.token.is_keyword(text):
            return self.advance()
        raise self.error(f"expected '{text}', found {self.token}", self.here(), help)

    def expect_name(self, what: str) -> Token:
        if self.token.kind is TokenKind.NAME:
            return self.advance()
        if self.token.kind is TokenKind.KEYWORD and (
            self.token.text not in STATEMENT_KEYWORDS or self.peek().is_symbol("=", ")", ",")
        ):
            reserved = self.advance()
            raise self.error(
                f"'{reserved.text}' is a reserved word and cannot be used as {what}",
                reserved.span,
                "choose another name",
            )
        raise self.error(f"expected {what}, found {self.token}", self.here())

    def here(self) -> Span:
        """Where something is missing: at the token found instead, if that is on the same line."""
        end = self.previous_end()
        if self.at and (self.token.kind is TokenKind.END or self.starts_line()):
            return Span(end, end)
        return self.token.span

    def starts_line(self) -> bool:
        """Whether the token at hand is the first on its line."""
        return "\n" in self.source.text[self.previous_end() : self.token.span.start]

    def previous_end(self) -> int:
        return self.tokens[self.at - 1].span.end if self.at else 0

    def since(self, start: Span) -> Span:
        return Span(start.start, max(start.end, self.previous_end()))

    # Errors

    def report(self, message: str, span: Span, help: str | None = None) -> None:
        # What follows a lexical error is its consequence, and no place is reported twice.
        upto = max(span.end, self.token.span.start)
        nearest = bisect_left(self.lexical, self.previous_end())
        if self.lexical[nearest : nearest + 1] and self.lexical[nearest] <= upto:
            return
        if span in self.reported or len(self.diagnostics) >= MAX_FINDINGS:
            return
        self.reported.add(span)
        label = Label(self.source.at(span))
        self.diagnostics.append(Diagnostic("parse", message, label, help=help))

    def error(self, message: str, span: Span, help: str | None = None) -> _SyntaxError:
        self.report(message, span, help)
        return _SyntaxError()

    def skip_statement(self) -> None:
        """Move to the next statement, or to the brace that closes the block this one is in."""
        while self.token.kind is not TokenKind.END:
            if self.token.is_symbol("}") and self.emit_each_nesting:
                return
            is_method = self.tokens[self.at - 1].is_symbol(".") and not self.starts_line()
            if self.at_statement() and not is_method:
                return
            if self.token.is_symbol("{"):
                self.skip_braces()
            else:
                self.advance()

    def skip_braces(self) -> None:
        """Move behind the matching brace; without one, only behind the opening brace."""
        depth = 0
        for ahead, token in enumerate(self.tokens[self.at :]):
            depth += token.is_symbol("{") - token.is_symbol("}")
            if depth == 0:
                self.at += ahead + 1
                return
        self.advance()

    def at_statement(self) -> bool:
        return self.token.kind is TokenKind.KEYWORD and self.token.text in STATEMENT_KEYWORDS

    # Statements

    def program(self) -> ast.Program:
        statements: list[ast.Statement] = []
        while self.token.kind is not TokenKind.END:
            statement = self.recovering(self.statement)
            if statement:
                statements.append(statement)
        return ast.Program(Span(0, len(self.source.text)), tuple(statements))

    def lone_expression(self) -> ast.Expr | None:
        def whole() -> ast.Expr:
            expression = self.expression()
            if self.token.kind is not TokenKind.END:
                raise self.unexpected()
            return expression

        return self.recovering(whole)

    def recovering(self, parse: Callable[[], _T]) -> _T | None:
        before, nesting, pattern = self.at, self.nesting, self.in_pattern
        each = self.emit_each_nesting
        try:
            return parse()
        except _SyntaxError:
            if self.defining:
                self.broken_names.add(self.defining)
            self.nesting, self.in_pattern, self.emit_each_nesting = nesting, pattern, each
            if self.at == before:
                self.advance()
            self.skip_statement()
            return None

    def statement(self) -> ast.Statement | None:
        self.defining = None
        if not self.at_statement():
            self.error(
                f"expected a statement, found {self.token}",
                self.token.span,
                self.help_for_statement(),
            )
            self.skip_line()
            return None
        statement = self.started_statement()
        in_block = self.emit_each_nesting > 0
        if not (
            self.at_statement()
            or self.token.kind is TokenKind.END
            or (in_block and self.token.is_symbol("}"))
            or self.starts_line()
        ):
            raise self.unexpected()
        return statement

    def skip_line(self) -> None:
        """Move behind what stands on this line, up to a statement or a brace."""
        self.advance()
        while not (
            self.token.kind is TokenKind.END
            or self.at_statement()
            or self.starts_line()
            or self.token.is_symbol("}")
        ):
            self.advance()

    def unexpected(self) -> _SyntaxError:
        """What follows a complete expression and does not belong there."""
        return self.error(f"unexpected {self.token}", self.token.span, self.help_after_expression())

    def started_statement(self) -> ast.Statement:
        match self.token.text:
            case "let":
                return self.let()
            case "emit":
                return self.emit()
            case "filter":
                return self.filter()
            case "distinct":
                return self.distinct()
            case "trace":
                return self.trace()
            case "use":
                return self.use()
            case _:
                return self.function()

    def help_for_statement(self) -> str:
        if self.token.is_symbol("}"):
            return "check for an extra closing brace"
        if self.token.kind is TokenKind.NAME:
            familiar = _FAMILIAR_STATEMENTS.get(self.token.text.lower())
            keyword = familiar or did_you_mean(self.token.text, sorted(STATEMENT_KEYWORDS))
            if keyword:
                return keyword
        return "a statement starts with let, emit, filter, distinct, trace or use"

    def help_after_expression(self) -> str | None:
        if self.token.kind is TokenKind.NAME and self.token.text.lower() in ("and", "or", "not"):
            return f"keywords are lower case: `{self.token.text.lower()}`"
        return _FAMILIAR_OPERATORS.get(self.token.text.lower())

    def let(self) -> ast.Let:
        start = self.advance().span
        name = self.expect_name("a variable name")
        self.defining = name.text
        self.expect_symbol("=")
        value = self.expression()
        return ast.Let(self.since(start), name.text, value, name.span)

    def emit(self) -> ast.Statement:
        start = self.advance().span
        token = self.token
        if token.kind is TokenKind.SYSTEM:
            return self.emit_system(start)
        if token.text == "meta" and self.peek().kind is TokenKind.NAME:
            self.advance()
            return self.emit_meta(start, self.advance())
        if token.text == "each" and not self.peek().is_symbol("="):
            return self.emit_each(start)
        name = self.expect_name("an output field name")
        self.defining = name.text
        self.expect_symbol("=", f"write emit {name.text} = {name.text}")
        value = self.expression()
        return ast.Emit(self.since(start), name.text, value, name.span)

    def emit_system(self, start: Span) -> ast.EmitMeta:
        namespace = self.advance()
        if namespace.text == "$meta":
            self.expect_symbol(".")
            return self.emit_meta(start, self.expect_name("a metadata name"))
        if namespace.text in ("$pipeline", "$source", "$record"):
            raise self.error(
                f"{namespace.text} variables cannot be written here",
                namespace.span,
                f"write them from a state node with `scope: {namespace.text[1:]}`",
            )
        if namespace.text[1:] not in (*NAMESPACES, "ck"):
            raise self.unknown_namespace(namespace)
        raise self.error(f"{namespace.text} is read-only", namespace.span)

    def emit_meta(self, start: Span, name: Token) -> ast.EmitMeta:
        self.expect_symbol("=")
        value = self.expression()
        return ast.EmitMeta(self.since(start), name.text, value, name.span)

    def emit_each(self, start: Span) -> ast.EmitEach:
        self.advance()
        binding = self.advance() if self.token.is_keyword("it") else self.expect_name("a binding")
        if self.token.text != "in":
            raise self.error(
                f"expected 'in', found {self.token}",
                self.here(),
                "write `emit each item in items { … }`",
            )
        self.advance()
        source = self.expression()
        outer = self.token.kind is TokenKind.NAME and self.token.text == "outer"
        if outer:
            self.advance()
        opening = self.expect_symbol("{")
        if self.emit_each_nesting >= MAX_EMIT_EACH_NESTING:
            raise self.error(
                f"nesting too deep: emit each blocks nest at most {MAX_EMIT_EACH_NESTING} levels",
                start,
            )
        body = self.block(opening)
        return ast.EmitEach(self.since(start), binding.text, source, outer, body, binding.span)

    def block(self, opening: Token) -> tuple[ast.Statement, ...]:
        self.emit_each_nesting += 1
        body: list[ast.Statement] = []
        while not self.token.is_symbol("}"):
            if self.token.kind is TokenKind.END:
                raise self.error("this block is never closed", opening.span, "add a '}'")
            statement = self.recovering(self.statement)
            if statement:
                body.append(statement)
        self.emit_each_nesting -= 1
        self.advance()
        return tuple(body)

    def filter(self) -> ast.Filter:
        start = self.advance().span
        condition = self.expression()
        return ast.Filter(self.since(start), condition)

    def distinct(self) -> ast.Distinct:
        start = self.advance().span
        if self.token.kind is TokenKind.NAME:
            raise self.error(
                f"expected 'by' before the field name, found {self.token}",
                self.token.span,
                f"write `distinct by {self.token.text}`",
            )
        by = None
        if self.token.is_keyword("by"):
            self.advance()
            by = self.key_field()
        return ast.Distinct(self.since(start), by)

    def key_field(self) -> ast.Expr:
        """A field, or a path into one."""
        name = self.expect_name("a field name")
        is_record = name.text == "this" and self.token.is_symbol(".")
        field: ast.Expr = ast.This(name.span) if is_record else ast.Name(name.span, name.text)
        while self.accept_symbol("."):
            field = self.member(field, name.span)
            if isinstance(field, ast.MethodCall):
                raise self.error(
                    f"expected a field name, found a call of '{field.method}'",
                    field.span,
                    "compute the key before: `let key = …`, then `distinct by key`",
                )
        return field

    def trace(self) -> ast.Trace:
        start = self.advance().span
        level = ast.TraceLevel.TRACE
        if self.token.text in _TRACE_LEVELS and self.starts_expression(self.peek()):
            level = ast.TraceLevel(self.advance().text)
        if self.token.is_keyword("if"):
            guard, message = self.guarded_message()
        else:
            guard, message = None, self.expression()
        return ast.Trace(self.since(start), level, guard, message)

    def guarded_message(self) -> tuple[ast.Expr | None, ast.Expr]:
        """`if c then m` guards the message; with an `else` it is the message itself."""
        start = self.token.span
        conditional = self.conditional()
        if conditional.otherwise:
            return None, self.infix(conditional, start, 0)
        return conditional.condition, conditional.then

    def starts_expression(self, token: Token) -> bool:
        match token.kind:
            case TokenKind.END:
                return False
            case TokenKind.SYMBOL:
                return token.text in "([{-"
            case TokenKind.KEYWORD:
                return token.text in ("if", "not", "match", "null", "true", "false", "now", "it")
            case _:
                return True

    def use(self) -> ast.Use:
        start = self.advance().span
        path = [self.expect_name("a module name").text]
        while self.token.is_symbol(".", "::"):
            if self.token.is_symbol("::"):
                self.report(
                    "module paths use '.', not '::'",
                    self.token.span,
                    "`::` reaches a member after the import",
                )
            self.advance()
            if self.token.is_symbol("*"):
                raise self.error(
                    "wildcard imports are not supported",
                    self.token.span,
                    "import the module itself and write `module::member`",
                )
            path.append(self.expect_name("a module name").text)
        alias = None
        if self.token.is_keyword("as"):
            self.advance()
            alias = self.expect_name("an alias").text
        return ast.Use(self.since(start), tuple(path), alias)

    def function(self) -> ast.Function:
        start = self.advance().span
        name = self.expect_name("a function name")
        self.expect_symbol("(")
        params = self.comma_separated(")", lambda: self.expect_name("a parameter name").text)
        self.expect_symbol("=", "a function body is a single expression: fn f(x) = x + 1")
        body = self.expression()
        return ast.Function(self.since(start), name.text, params, body, name.span)

    # Expressions

    def expression(self, binding: int = 0) -> ast.Expr:
        """An expression whose infix operators all bind tighter than `binding`."""
        if self.nesting >= MAX_NESTING:
            raise self.too_deep(self.token.span)
        self.nesting += 1
        start = self.token.span
        expression = self.infix(self.prefix(), start, binding)
        self.nesting -= 1
        return expression

    def too_deep(self, span: Span) -> _SyntaxError:
        return self.error(
            f"nesting too deep: expressions nest at most {MAX_NESTING} levels",
            span,
            "name parts of it with `let`",
        )

    def built(self, node: _E, *children: ast.Expr | None) -> _E:
        """`node`, once its height is known to be within the limit."""
        height = 1 + max((self.heights.get(id(c), 1) for c in children if c), default=0)
        if height > MAX_NESTING:
            raise self.too_deep(node.span)
        self.heights[id(node)] = height
        return node

    def infix(self, left: ast.Expr, start: Span, binding: int) -> ast.Expr:
        while True:
            token = self.token
            power = _BINDING.get(token.text, 0)
            if token.kind not in (TokenKind.SYMBOL, TokenKind.KEYWORD) or power <= binding:
                return left
            if power in (_AND, _OR):
                left = self.logic(left, start, power)
                continue
            self.advance()
            right = self.expression(power - 1 if power == _COALESCE else power)
            op = ast.BinaryOp(token.text)
            node = ast.Binary(self.since(start), op, left, right, token.span)
            if power == _COMPARE:
                self.reject_chain(left, token)
            left = self.built(node, left, right)

    def logic(self, first: ast.Expr, start: Span, power: int) -> ast.Expr:
        keyword = self.token.text
        operands = [first]
        while self.token.is_keyword(keyword):
            self.advance()
            operands.append(self.expression(power))
        node = ast.Logic(self.since(start), ast.LogicOp(keyword), tuple(operands))
        return self.built(node, *operands)

    def reject_chain(self, left: ast.Expr, token: Token) -> None:
        if (
            isinstance(left, ast.Binary)
            and left.op in ast.COMPARISON_OPS
            and id(left) not in self.parenthesized
        ):
            raise self.error(
                "comparisons cannot be chained",
                token.span,
                "join two comparisons with `and`, or use parentheses",
            )

    def prefix(self) -> ast.Expr:
        token = self.token
        if token.is_symbol("-") or token.is_keyword("not"):
            return self.unary()
        return self.postfix(self.atom(), token.span)

    def unary(self) -> ast.Expr:
        token = self.advance()
        if token.text == "-" and self.at_smallest_int():
            self.advance()
            return ast.Literal(self.since(token.span), -MAX_INT - 1)
        operand = self.expression(_UNARY)
        op = ast.UnaryOp(token.text)
        return self.built(ast.Unary(self.since(token.span), op, operand), operand)

    def at_smallest_int(self) -> bool:
        """Whether the number behind a minus sign only exists as a negative one."""
        is_bare = not self.peek().is_symbol(".", "[")
        return self.token.kind is TokenKind.INT and self.token.value == MAX_INT + 1 and is_bare

    def postfix(self, expression: ast.Expr, start: Span) -> ast.Expr:
        while True:
            if self.accept_symbol("."):
                expression = self.member(expression, start)
            elif self.token.is_symbol("["):
                self.advance()
                index = self.unrestricted(self.expression)
                self.expect_symbol("]")
                node = ast.Index(self.since(start), expression, index)
                expression = self.built(node, expression, index)
            else:
                return expression

    def member(self, receiver: ast.Expr, start: Span) -> ast.Expr:
        name = self.token
        defines = self.peek().kind is TokenKind.NAME and self.peek(2).is_symbol("=")
        is_next_statement = self.at_statement() and self.starts_line() and defines
        if name.kind not in (TokenKind.NAME, TokenKind.KEYWORD) or is_next_statement:
            help = (
                "a Float needs digits on both sides of the point"
                if isinstance(receiver, ast.Literal) and isinstance(receiver.value, int)
                else None
            )
            raise self.error(f"expected a name after '.', found {name}", self.here(), help)
        self.advance()
        if self.accept_symbol("("):
            args = self.arguments()
            call = ast.MethodCall(self.since(start), receiver, name.text, args, name.span)
            return self.built(call, receiver, *args)
        return self.built(ast.Member(self.since(start), receiver, name.text, name.span), receiver)

    def arguments(self) -> tuple[ast.Expr, ...]:
        return self.comma_separated(")", self.argument)

    def argument(self) -> ast.Expr:
        token = self.token
        if token.is_symbol("*") and self.peek().is_symbol(")", ","):
            self.advance()
            return ast.Star(token.span)
        if token.text == "_" and self.peek().is_symbol(")", ","):
            self.advance()
            return ast.Star(token.span)
        if token.kind is TokenKind.NAME and self.peek().is_symbol("=>"):
            raise self.error(
                f"a closure's parameter is always 'it', found {token}",
                token.span,
                f"write `it => …` and use `it` for `{token.text}` in the body",
            )
        return self.expression()

    def comma_separated(self, closing: str, item: Callable[[], _T]) -> tuple[_T, ...]:
        """Items up to `closing`, which is consumed; a trailing comma is fine."""

        def items() -> tuple[_T, ...]:
            items: list[_T] = []
            while not self.token.is_symbol(closing):
                items.append(item())
                if not self.accept_symbol(","):
                    break
            self.expect_symbol(closing)
            return tuple(items)

        return self.unrestricted(items)

    def unrestricted(self, parse: Callable[[], _T]) -> _T:
        """Inside brackets a closure is a closure again, even in a match pattern."""
        before, self.in_pattern = self.in_pattern, False
        result = parse()
        self.in_pattern = before
        return result

    def atom(self) -> ast.Expr:
        token = self.token
        match token.kind:
            case TokenKind.INT:
                return self.integer()
            case TokenKind.FLOAT | TokenKind.STRING | TokenKind.DATE:
                self.advance()
                return ast.Literal(token.span, token.value)
            case TokenKind.NAME:
                return self.name()
            case TokenKind.SYSTEM:
                return self.system()
            case TokenKind.KEYWORD:
                return self.keyword()
            case TokenKind.SYMBOL if token.text == "(":
                return self.parentheses()
            case TokenKind.SYMBOL if token.text == "[":
                self.advance()
                items = self.comma_separated("]", self.expression)
                return self.built(ast.ArrayLiteral(self.since(token.span), items), *items)
            case TokenKind.SYMBOL if token.text == "{":
                return self.map_literal()
            case _:
                raise self.expected_expression()

    def expected_expression(self) -> _SyntaxError:
        if self.token.kind is TokenKind.KEYWORD and self.token.text in ("by", "as"):
            return self.error(
                f"'{self.token.text}' is a reserved word",
                self.token.span,
                f'read a field of that name with this["{self.token.text}"]',
            )
        # What is missing stood before the next statement, not in it.
        before = Span(self.previous_end(), self.previous_end())
        return self.error(
            f"expected expression, found {self.token}",
            before if self.at_statement() else self.here(),
            "check for missing operand or extra closing brace",
        )

    def integer(self) -> ast.Expr:
        token = self.advance()
        if token.value == MAX_INT + 1:
            self.report(
                "this number is too large for an Int", token.span, f"the largest Int is {MAX_INT}"
            )
        return ast.Literal(token.span, token.value)

    def name(self) -> ast.Expr:
        token = self.advance()
        if self.token.is_symbol("(") and token.text != "_":
            self.advance()
            args = self.arguments()
            call = ast.FunctionCall(self.since(token.span), token.text, args, token.span)
            return self.built(call, *args)
        if self.accept_symbol("::"):
            return self.module_member(token)
        if token.text == "this" and self.token.is_symbol(".", "["):
            return ast.This(token.span)
        if token.text == "_":
            raise self.error("'_' is only valid as the last pattern of a match", token.span, None)
        return ast.Name(token.span, token.text)

    def module_member(self, alias: Token) -> ast.Expr:
        member = self.expect_name("a module member")
        args = self.arguments() if self.accept_symbol("(") else None
        node = ast.ModuleRef(self.since(alias.span), alias.text, member.text, args, member.span)
        return self.built(node, *(args or ()))

    def system(self) -> ast.Expr:
        token = self.advance()
        namespace = str(token.value)
        if namespace not in NAMESPACES:
            raise self.unknown_namespace(token)
        self.expect_symbol(".", f"write ${namespace}.name")
        name = self.token
        if name.kind not in (TokenKind.NAME, TokenKind.KEYWORD):
            raise self.error(f"expected a name after '${namespace}.', found {name}", name.span)
        self.advance()
        if namespace == "window":
            self.expect_symbol("(", f"window functions are calls: $window.{name.text}(…)")
            args = self.arguments()
            call = ast.WindowCall(self.since(token.span), name.text, args, name.span)
            return self.built(call, *args)
        return ast.SystemRef(self.since(token.span), namespace, name.text)

    def unknown_namespace(self, token: Token) -> _SyntaxError:
        known = [f"${namespace}" for namespace in NAMESPACES]
        return self.error(
            f"unknown namespace '{token.text}'",
            token.span,
            did_you_mean(token.text, known) or f"the namespaces are {', '.join(known)}",
        )

    def keyword(self) -> ast.Expr:
        token = self.token
        match token.text:
            case "null" | "true" | "false":
                self.advance()
                return ast.Literal(token.span, {"true": True, "false": False}.get(token.text))
            case "now":
                self.advance()
                if self.token.is_symbol("("):
                    raise self.error(
                        "now is a keyword, not a function",
                        token.span.to(self.token.span),
                        "write `now`, without parentheses",
                    )
                return ast.Now(token.span)
            case "it":
                return self.it()
            case "if":
                return self.conditional()
            case "match":
                return self.match()
            case _:
                raise self.expected_expression()

    def it(self) -> ast.Expr:
        token = self.advance()
        if self.token.is_symbol("=>") and not self.in_pattern:
            self.advance()
            body = self.expression()
            return self.built(ast.Closure(self.since(token.span), body), body)
        return ast.It(token.span)

    def parentheses(self) -> ast.Expr:
        self.advance()
        expression = self.unrestricted(self.expression)
        if not self.token.is_symbol(")"):
            raise self.error(
                f"expected ')', found {self.token}",
                self.here(),
                self.help_after_expression() or "check for a missing ')' or operator",
            )
        self.advance()
        self.parenthesized.add(id(expression))
        return expression

    def conditional(self) -> ast.If:
        start = self.advance().span
        condition = self.unrestricted(self.expression)
        self.expect_keyword("then", self.help_after_expression() or "write if … then … else …")
        then = self.expression()
        otherwise = None
        if self.token.is_keyword("else"):
            self.advance()
            otherwise = self.expression()
        node = ast.If(self.since(start), condition, then, otherwise)
        return self.built(node, condition, then, otherwise)

    def match(self) -> ast.Match:
        start = self.advance().span
        subject = None if self.token.is_symbol("{") else self.unrestricted(self.expression)
        opening = self.expect_symbol("{")
        arms: list[ast.Arm] = []
        while not self.accept_symbol("}"):
            if self.token.kind is TokenKind.END:
                raise self.error("this match is never closed", opening.span, "add a '}'")
            arms.append(self.arm())
            self.accept_symbol(",")
        if not arms:
            raise self.error("a match needs at least one arm", self.since(start))
        node = ast.Match(self.since(start), subject, tuple(arms))
        return self.built(
            node, subject, *(arm.pattern for arm in arms), *(arm.value for arm in arms)
        )

    def arm(self) -> ast.Arm:
        start = self.token.span
        pattern = None
        if self.token.text == "_" and self.peek().is_symbol("=>"):
            self.advance()
        else:
            before, self.in_pattern = self.in_pattern, True
            pattern = self.expression()
            self.in_pattern = before
        self.expect_symbol("=>", "a match arm is `pattern => value`")
        value = self.unrestricted(self.expression)
        return ast.Arm(self.since(start), pattern, value)

    def map_literal(self) -> ast.Expr:
        start = self.advance().span
        entries = self.comma_separated("}", self.map_entry)
        node = ast.MapLiteral(self.since(start), entries)
        return self.built(node, *(entry.value for entry in entries))

    def map_entry(self) -> ast.MapEntry:
        key = self.token
        if key.kind is not TokenKind.STRING:
            raise self.error(
                f"expected a text as map key, found {key}",
                key.span,
                f'write "{key.text}": value' if key.kind is TokenKind.NAME else None,
            )
        self.advance()
        self.expect_symbol(":")
        value = self.expression()
        return ast.MapEntry(self.since(key.span), str(key.value), value)
