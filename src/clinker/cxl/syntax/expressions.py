"""Tokens to expressions: a Pratt parser."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from clinker.cxl.syntax import ast
from clinker.cxl.syntax.lexer import Token, TokenKind
from clinker.cxl.syntax.token_stream import SyntaxProblem, TokenStream
from clinker.cxl.values import MAX_INT
from clinker.diagnostics import Source, Span
from clinker.diagnostics.suggest import did_you_mean

MAX_NESTING = 256

NAMESPACES = ("pipeline", "source", "record", "vars", "meta", "doc", "window", "config")

# What people write who know other languages, and what to tell them.
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


class ExpressionParser(TokenStream):
    """Parses expressions; a method for each construct."""

    def __init__(self, source: Source, max_bytes: int) -> None:
        super().__init__(source, max_bytes)
        self.nesting = 0
        self.in_pattern = False
        self.heights: dict[int, int] = {}
        self.parenthesized: set[int] = set()

    def parse_expression(self, binding: int = 0) -> ast.Expr:
        """An expression whose infix operators all bind tighter than `binding`."""
        if self.nesting >= MAX_NESTING:
            raise self.too_deep(self.token.span)
        self.nesting += 1
        start = self.token.span
        expression = self.parse_infix(self.parse_prefix(), start, binding)
        self.nesting -= 1
        return expression

    def too_deep(self, span: Span) -> SyntaxProblem:
        return self.error(
            f"nesting too deep: expressions nest at most {MAX_NESTING} levels",
            span,
            "name parts of it with `let`",
        )

    def limit_height(self, node: _E, *children: ast.Expr | None) -> _E:
        """`node`, unless it is higher than expressions may be."""
        height = 1 + max((self.heights.get(id(c), 1) for c in children if c), default=0)
        if height > MAX_NESTING:
            raise self.too_deep(node.span)
        self.heights[id(node)] = height
        return node

    def parse_infix(self, left: ast.Expr, start: Span, binding: int) -> ast.Expr:
        while True:
            token = self.token
            power = _BINDING.get(token.text, 0)
            if token.kind not in (TokenKind.SYMBOL, TokenKind.KEYWORD) or power <= binding:
                return left
            if power in (_AND, _OR):
                left = self.parse_logic(left, start, power)
                continue
            self.advance()
            right = self.parse_expression(power - 1 if power == _COALESCE else power)
            op = ast.BinaryOp(token.text)
            node = ast.Binary(self.since(start), op, left, right, token.span)
            if power == _COMPARE:
                self.reject_chain(left, token)
            left = self.limit_height(node, left, right)

    def parse_logic(self, first: ast.Expr, start: Span, power: int) -> ast.Expr:
        keyword = self.token.text
        operands = [first]
        while self.token.is_keyword(keyword):
            self.advance()
            operands.append(self.parse_expression(power))
        node = ast.Logic(self.since(start), ast.LogicOp(keyword), tuple(operands))
        return self.limit_height(node, *operands)

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

    def parse_prefix(self) -> ast.Expr:
        token = self.token
        if token.is_symbol("-") or token.is_keyword("not"):
            return self.parse_unary()
        return self.parse_postfix(self.parse_atom(), token.span)

    def parse_unary(self) -> ast.Expr:
        token = self.advance()
        if token.text == "-" and self.at_smallest_int():
            self.advance()
            return ast.Literal(self.since(token.span), -MAX_INT - 1)
        operand = self.parse_expression(_UNARY)
        op = ast.UnaryOp(token.text)
        return self.limit_height(ast.Unary(self.since(token.span), op, operand), operand)

    def at_smallest_int(self) -> bool:
        """Whether the number behind a minus sign only exists as a negative one."""
        is_bare = not self.peek().is_symbol(".", "[")
        return self.token.kind is TokenKind.INT and self.token.value == MAX_INT + 1 and is_bare

    def parse_postfix(self, expression: ast.Expr, start: Span) -> ast.Expr:
        while True:
            if self.accept_symbol("."):
                expression = self.parse_member(expression, start)
            elif self.token.is_symbol("["):
                self.advance()
                index = self.outside_pattern(self.parse_expression)
                self.expect_symbol("]")
                node = ast.Index(self.since(start), expression, index)
                expression = self.limit_height(node, expression, index)
            else:
                return expression

    def parse_member(self, receiver: ast.Expr, start: Span) -> ast.Expr:
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
            args = self.parse_arguments()
            call = ast.MethodCall(self.since(start), receiver, name.text, args, name.span)
            return self.limit_height(call, receiver, *args)
        node = ast.Member(self.since(start), receiver, name.text, name.span)
        return self.limit_height(node, receiver)

    def parse_arguments(self) -> tuple[ast.Expr, ...]:
        return self.parse_list(")", self.parse_argument)

    def parse_argument(self) -> ast.Expr:
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
        return self.parse_expression()

    def parse_list(self, closing: str, item: Callable[[], _T]) -> tuple[_T, ...]:
        """Items up to `closing`, which is consumed; a trailing comma is fine."""

        def items() -> tuple[_T, ...]:
            items: list[_T] = []
            while not self.token.is_symbol(closing):
                items.append(item())
                if not self.accept_symbol(","):
                    break
            self.expect_symbol(closing)
            return tuple(items)

        return self.outside_pattern(items)

    def outside_pattern(self, parse: Callable[[], _T]) -> _T:
        """Inside brackets a closure is a closure again, even in a match pattern."""
        before, self.in_pattern = self.in_pattern, False
        result = parse()
        self.in_pattern = before
        return result

    def parse_atom(self) -> ast.Expr:
        token = self.token
        match token.kind:
            case TokenKind.INT:
                return self.parse_integer()
            case TokenKind.FLOAT | TokenKind.STRING | TokenKind.DATE:
                self.advance()
                return ast.Literal(token.span, token.value)
            case TokenKind.NAME:
                return self.parse_name()
            case TokenKind.SYSTEM:
                return self.parse_system()
            case TokenKind.KEYWORD:
                return self.parse_keyword()
            case TokenKind.SYMBOL if token.text == "(":
                return self.parse_parentheses()
            case TokenKind.SYMBOL if token.text == "[":
                self.advance()
                items = self.parse_list("]", self.parse_expression)
                return self.limit_height(ast.ArrayLiteral(self.since(token.span), items), *items)
            case TokenKind.SYMBOL if token.text == "{":
                return self.parse_map_literal()
            case _:
                raise self.expected_expression()

    def expected_expression(self) -> SyntaxProblem:
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

    def unexpected(self) -> SyntaxProblem:
        """What follows a complete expression and does not belong there."""
        return self.error(f"unexpected {self.token}", self.token.span, self.help_after_expression())

    def help_after_expression(self) -> str | None:
        if self.token.kind is TokenKind.NAME and self.token.text.lower() in ("and", "or", "not"):
            return f"keywords are lower case: `{self.token.text.lower()}`"
        return _FAMILIAR_OPERATORS.get(self.token.text.lower())

    def parse_integer(self) -> ast.Expr:
        token = self.advance()
        if token.value == MAX_INT + 1:
            self.report(
                "this number is too large for an Int", token.span, f"the largest Int is {MAX_INT}"
            )
        return ast.Literal(token.span, token.value)

    def parse_name(self) -> ast.Expr:
        token = self.advance()
        if self.token.is_symbol("(") and token.text != "_":
            self.advance()
            args = self.parse_arguments()
            call = ast.FunctionCall(self.since(token.span), token.text, args, token.span)
            return self.limit_height(call, *args)
        if self.accept_symbol("::"):
            return self.parse_module_member(token)
        if token.text == "this" and self.token.is_symbol(".", "["):
            return ast.This(token.span)
        if token.text == "_":
            raise self.error("'_' is only valid as the last pattern of a match", token.span, None)
        return ast.Name(token.span, token.text)

    def parse_module_member(self, alias: Token) -> ast.Expr:
        member = self.expect_name("a module member")
        args = self.parse_arguments() if self.accept_symbol("(") else None
        node = ast.ModuleRef(self.since(alias.span), alias.text, member.text, args, member.span)
        return self.limit_height(node, *(args or ()))

    def parse_system(self) -> ast.Expr:
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
            args = self.parse_arguments()
            call = ast.WindowCall(self.since(token.span), name.text, args, name.span)
            return self.limit_height(call, *args)
        return ast.SystemRef(self.since(token.span), namespace, name.text)

    def unknown_namespace(self, token: Token) -> SyntaxProblem:
        known = [f"${namespace}" for namespace in NAMESPACES]
        return self.error(
            f"unknown namespace '{token.text}'",
            token.span,
            did_you_mean(token.text, known) or f"the namespaces are {', '.join(known)}",
        )

    def parse_keyword(self) -> ast.Expr:
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
                return self.parse_it()
            case "if":
                return self.parse_conditional()
            case "match":
                return self.parse_match()
            case _:
                raise self.expected_expression()

    def parse_it(self) -> ast.Expr:
        token = self.advance()
        if self.token.is_symbol("=>") and not self.in_pattern:
            self.advance()
            body = self.parse_expression()
            return self.limit_height(ast.Closure(self.since(token.span), body), body)
        return ast.It(token.span)

    def parse_parentheses(self) -> ast.Expr:
        self.advance()
        expression = self.outside_pattern(self.parse_expression)
        if not self.token.is_symbol(")"):
            raise self.error(
                f"expected ')', found {self.token}",
                self.here(),
                self.help_after_expression() or "check for a missing ')' or operator",
            )
        self.advance()
        self.parenthesized.add(id(expression))
        return expression

    def parse_conditional(self) -> ast.If:
        start = self.advance().span
        condition = self.outside_pattern(self.parse_expression)
        self.expect_keyword("then", self.help_after_expression() or "write if … then … else …")
        then = self.parse_expression()
        otherwise = None
        if self.token.is_keyword("else"):
            self.advance()
            otherwise = self.parse_expression()
        node = ast.If(self.since(start), condition, then, otherwise)
        return self.limit_height(node, condition, then, otherwise)

    def parse_match(self) -> ast.Match:
        start = self.advance().span
        subject = None if self.token.is_symbol("{") else self.outside_pattern(self.parse_expression)
        opening = self.expect_symbol("{")
        arms: list[ast.Arm] = []
        while not self.accept_symbol("}"):
            if self.token.kind is TokenKind.END:
                raise self.error("this match is never closed", opening.span, "add a '}'")
            arms.append(self.parse_arm())
            self.accept_symbol(",")
        if not arms:
            raise self.error("a match needs at least one arm", self.since(start))
        node = ast.Match(self.since(start), subject, tuple(arms))
        return self.limit_height(
            node, subject, *(arm.pattern for arm in arms), *(arm.value for arm in arms)
        )

    def parse_arm(self) -> ast.Arm:
        start = self.token.span
        pattern = None
        if self.token.text == "_" and self.peek().is_symbol("=>"):
            self.advance()
        else:
            before, self.in_pattern = self.in_pattern, True
            pattern = self.parse_expression()
            self.in_pattern = before
        self.expect_symbol("=>", "a match arm is `pattern => value`")
        value = self.outside_pattern(self.parse_expression)
        return ast.Arm(self.since(start), pattern, value)

    def parse_map_literal(self) -> ast.Expr:
        start = self.advance().span
        entries = self.parse_list("}", self.parse_map_entry)
        node = ast.MapLiteral(self.since(start), entries)
        return self.limit_height(node, *(entry.value for entry in entries))

    def parse_map_entry(self) -> ast.MapEntry:
        key = self.token
        if key.kind is not TokenKind.STRING:
            raise self.error(
                f"expected a text as map key, found {key}",
                key.span,
                f'write "{key.text}": value' if key.kind is TokenKind.NAME else None,
            )
        self.advance()
        self.expect_symbol(":")
        value = self.parse_expression()
        return ast.MapEntry(self.since(key.span), str(key.value), value)
