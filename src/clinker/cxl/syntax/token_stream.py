"""The tokens of a program as a parser reads them, and the errors that it reports on the way."""

from __future__ import annotations

from bisect import bisect_left

from clinker.cxl.syntax.lexer import (
    MAX_FINDINGS,
    STATEMENT_KEYWORDS,
    Token,
    TokenKind,
    tokenize,
)
from clinker.diagnostics import Diagnostic, Label, Source, Span


class SyntaxProblem(Exception):
    """Unwinds to the statement being parsed; the diagnostic is already recorded."""


class TokenStream:
    """The tokens of a source, with a place among them."""

    def __init__(self, source: Source, max_bytes: int) -> None:
        lexed = tokenize(source, max_bytes)
        self.source = source
        self.tokens = lexed.tokens
        self.comments = lexed.comments
        self.diagnostics = lexed.diagnostics
        self.lexical = [d.primary.location.span.start for d in lexed.diagnostics if d.primary]
        self.reported: set[Span] = set()
        self.at = 0

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

    def at_statement(self) -> bool:
        return self.token.kind is TokenKind.KEYWORD and self.token.text in STATEMENT_KEYWORDS

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

    def error(self, message: str, span: Span, help: str | None = None) -> SyntaxProblem:
        self.report(message, span, help)
        return SyntaxProblem()
