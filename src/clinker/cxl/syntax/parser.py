"""Tokens to syntax tree: a parser of statements that goes on after an error.

A statement ends where the next statement keyword starts, so after an error the parser skips to the
next one and reports everything it finds in a single run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from clinker.cxl.syntax import ast
from clinker.cxl.syntax.expressions import NAMESPACES, ExpressionParser
from clinker.cxl.syntax.lexer import (
    MAX_SOURCE_BYTES,
    STATEMENT_KEYWORDS,
    Comment,
    Token,
    TokenKind,
)
from clinker.cxl.syntax.token_stream import SyntaxProblem
from clinker.diagnostics import Diagnostic, Source, Span
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen

MAX_EMIT_EACH_NESTING = 32

# What people write who know other languages, and what to tell them.
_FAMILIAR_STATEMENTS = {
    "select": "write `emit name = expression` for every output field",
    "where": "write `filter condition`",
    "return": "write `emit name = expression`",
    "set": "write `let name = expression`",
    "var": "write `let name = expression`",
    "import": "write `use module.path`",
}
_TRACE_LEVELS = frozenset(level.value for level in ast.TraceLevel)

_T = TypeVar("_T")


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
    parser = StatementParser(source, max_bytes)
    program = parser.parse_program()
    names = frozenset(parser.broken_names)
    return Parsed(source, program, parser.comments, parser.diagnostics, names)


@frozen
class ParsedExpression:
    source: Source
    expression: ast.Expr | None
    diagnostics: list[Diagnostic]


def parse_expression(source: Source) -> ParsedExpression:
    """Parse a single expression, such as a route condition."""
    parser = StatementParser(source, MAX_SOURCE_BYTES)
    expression = parser.parse_lone_expression()
    return ParsedExpression(source, expression, parser.diagnostics)


class StatementParser(ExpressionParser):
    """Parses statements; a method for each kind."""

    def __init__(self, source: Source, max_bytes: int) -> None:
        super().__init__(source, max_bytes)
        self.broken_names: set[str] = set()
        self.defining: str | None = None
        self.emit_each_nesting = 0

    def parse_program(self) -> ast.Program:
        statements: list[ast.Statement] = []
        while self.token.kind is not TokenKind.END:
            statement = self.recover(self.parse_statement)
            if statement:
                statements.append(statement)
        return ast.Program(Span(0, len(self.source.text)), tuple(statements))

    def parse_lone_expression(self) -> ast.Expr | None:
        def whole() -> ast.Expr:
            expression = self.parse_expression()
            if self.token.kind is not TokenKind.END:
                raise self.unexpected()
            return expression

        return self.recover(whole)

    def recover(self, parse: Callable[[], _T]) -> _T | None:
        before, nesting, pattern = self.at, self.nesting, self.in_pattern
        each = self.emit_each_nesting
        try:
            return parse()
        except SyntaxProblem:
            if self.defining:
                self.broken_names.add(self.defining)
            self.nesting, self.in_pattern, self.emit_each_nesting = nesting, pattern, each
            if self.at == before:
                self.advance()
            self.skip_statement()
            return None

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

    def parse_statement(self) -> ast.Statement | None:
        self.defining = None
        if not self.at_statement():
            self.error(
                f"expected a statement, found {self.token}",
                self.token.span,
                self.help_for_statement(),
            )
            self.skip_line()
            return None
        statement = self.parse_started_statement()
        in_block = self.emit_each_nesting > 0
        if not (
            self.at_statement()
            or self.token.kind is TokenKind.END
            or (in_block and self.token.is_symbol("}"))
            or self.starts_line()
        ):
            raise self.unexpected()
        return statement

    def help_for_statement(self) -> str:
        if self.token.is_symbol("}"):
            return "check for an extra closing brace"
        if self.token.kind is TokenKind.NAME:
            familiar = _FAMILIAR_STATEMENTS.get(self.token.text.lower())
            keyword = familiar or did_you_mean(self.token.text, sorted(STATEMENT_KEYWORDS))
            if keyword:
                return keyword
        return "a statement starts with let, emit, filter, distinct, trace or use"

    def parse_started_statement(self) -> ast.Statement:
        match self.token.text:
            case "let":
                return self.parse_let()
            case "emit":
                return self.parse_emit()
            case "filter":
                return self.parse_filter()
            case "distinct":
                return self.parse_distinct()
            case "trace":
                return self.parse_trace()
            case "use":
                return self.parse_use()
            case _:
                return self.parse_function()

    def parse_let(self) -> ast.Let:
        start = self.advance().span
        name = self.expect_name("a variable name")
        self.defining = name.text
        self.expect_symbol("=")
        value = self.parse_expression()
        return ast.Let(self.since(start), name.text, value, name.span)

    def parse_emit(self) -> ast.Statement:
        start = self.advance().span
        token = self.token
        if token.kind is TokenKind.SYSTEM:
            return self.parse_emit_system(start)
        if token.text == "meta" and self.peek().kind is TokenKind.NAME:
            self.advance()
            return self.parse_emit_meta(start, self.advance())
        if token.text == "each" and not self.peek().is_symbol("="):
            return self.parse_emit_each(start)
        name = self.expect_name("an output field name")
        self.defining = name.text
        self.expect_symbol("=", f"write emit {name.text} = {name.text}")
        value = self.parse_expression()
        return ast.Emit(self.since(start), name.text, value, name.span)

    def parse_emit_system(self, start: Span) -> ast.EmitMeta:
        namespace = self.advance()
        if namespace.text == "$meta":
            self.expect_symbol(".")
            return self.parse_emit_meta(start, self.expect_name("a metadata name"))
        if namespace.text in ("$pipeline", "$source", "$record"):
            raise self.error(
                f"{namespace.text} variables cannot be written here",
                namespace.span,
                f"write them from a state node with `scope: {namespace.text[1:]}`",
            )
        if namespace.text[1:] not in (*NAMESPACES, "ck"):
            raise self.unknown_namespace(namespace)
        raise self.error(f"{namespace.text} is read-only", namespace.span)

    def parse_emit_meta(self, start: Span, name: Token) -> ast.EmitMeta:
        self.expect_symbol("=")
        value = self.parse_expression()
        return ast.EmitMeta(self.since(start), name.text, value, name.span)

    def parse_emit_each(self, start: Span) -> ast.EmitEach:
        self.advance()
        binding = self.advance() if self.token.is_keyword("it") else self.expect_name("a binding")
        if self.token.text != "in":
            raise self.error(
                f"expected 'in', found {self.token}",
                self.here(),
                "write `emit each item in items { … }`",
            )
        self.advance()
        source = self.parse_expression()
        outer = self.token.kind is TokenKind.NAME and self.token.text == "outer"
        if outer:
            self.advance()
        opening = self.expect_symbol("{")
        if self.emit_each_nesting >= MAX_EMIT_EACH_NESTING:
            raise self.error(
                f"nesting too deep: emit each blocks nest at most {MAX_EMIT_EACH_NESTING} levels",
                start,
            )
        body = self.parse_block(opening)
        return ast.EmitEach(self.since(start), binding.text, source, outer, body, binding.span)

    def parse_block(self, opening: Token) -> tuple[ast.Statement, ...]:
        self.emit_each_nesting += 1
        body: list[ast.Statement] = []
        while not self.token.is_symbol("}"):
            if self.token.kind is TokenKind.END:
                raise self.error("this block is never closed", opening.span, "add a '}'")
            statement = self.recover(self.parse_statement)
            if statement:
                body.append(statement)
        self.emit_each_nesting -= 1
        self.advance()
        return tuple(body)

    def parse_filter(self) -> ast.Filter:
        start = self.advance().span
        condition = self.parse_expression()
        return ast.Filter(self.since(start), condition)

    def parse_distinct(self) -> ast.Distinct:
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
            by = self.parse_key_field()
        return ast.Distinct(self.since(start), by)

    def parse_key_field(self) -> ast.Expr:
        """A field, or a path into one."""
        name = self.expect_name("a field name")
        is_record = name.text == "this" and self.token.is_symbol(".")
        field: ast.Expr = ast.This(name.span) if is_record else ast.Name(name.span, name.text)
        while self.accept_symbol("."):
            field = self.parse_member(field, name.span)
            if isinstance(field, ast.MethodCall):
                raise self.error(
                    f"expected a field name, found a call of '{field.method}'",
                    field.span,
                    "compute the key before: `let key = …`, then `distinct by key`",
                )
        return field

    def parse_trace(self) -> ast.Trace:
        start = self.advance().span
        level = ast.TraceLevel.TRACE
        if self.token.text in _TRACE_LEVELS and self.starts_expression(self.peek()):
            level = ast.TraceLevel(self.advance().text)
        if self.token.is_keyword("if"):
            guard, message = self.parse_guarded_message()
        else:
            guard, message = None, self.parse_expression()
        return ast.Trace(self.since(start), level, guard, message)

    def parse_guarded_message(self) -> tuple[ast.Expr | None, ast.Expr]:
        """`if c then m` guards the message; with an `else` it is the message itself."""
        start = self.token.span
        conditional = self.parse_conditional()
        if conditional.otherwise:
            return None, self.parse_infix(conditional, start, 0)
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

    def parse_use(self) -> ast.Use:
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

    def parse_function(self) -> ast.Function:
        start = self.advance().span
        name = self.expect_name("a function name")
        self.expect_symbol("(")
        params = self.parse_list(")", lambda: self.expect_name("a parameter name").text)
        self.expect_symbol("=", "a function body is a single expression: fn f(x) = x + 1")
        body = self.parse_expression()
        return ast.Function(self.since(start), name.text, params, body, name.span)
