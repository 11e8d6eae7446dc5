"""Colours for CXL, alone and inside YAML, from the tokens of the language itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar, TypeAlias

from pygments.lexer import Lexer
from pygments.lexers import LEXERS
from pygments.lexers.data import YamlLexer
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, String, Text

from clinker.cxl.syntax.lexer import TokenKind, tokenize
from clinker.diagnostics import Source

__all__ = ["CxlLexer", "PipelineLexer"]  # which Pygments loads

Piece: TypeAlias = tuple[int, Any, str]
"""Where it begins, what it is, its text."""

_KINDS = {
    TokenKind.KEYWORD: Keyword,
    TokenKind.NAME: Name,
    TokenKind.SYSTEM: Name.Variable,
    TokenKind.INT: Number.Integer,
    TokenKind.FLOAT: Number.Float,
    TokenKind.STRING: String,
    TokenKind.DATE: Literal.Date,
    TokenKind.SYMBOL: Operator,
}
_PROGRAM = re.compile(r"^(?P<indent> *)(?:- )?cxl: \|\n(?P<text>(?:(?P=indent) +\S.*\n|\n)+)", re.M)


class CxlLexer(Lexer):
    name = "CXL"
    aliases: ClassVar = ["cxl"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[Piece]:
        lexed = tokenize(Source("", text))
        known = [(token.span, _KINDS.get(token.kind, Text)) for token in lexed.tokens]
        known += [(comment.span, Comment) for comment in lexed.comments]
        end = 0
        for span, kind in sorted(known, key=lambda each: each[0].start):
            yield end, Text, text[end : span.start]
            yield span.start, kind, text[span.start : span.end]
            end = span.end
        yield end, Text, text[end:]


class PipelineLexer(Lexer):
    name = "Pipeline"
    aliases: ClassVar = ["pipeline"]

    def get_tokens_unprocessed(self, text: str) -> Iterator[Piece]:
        programs = list(_PROGRAM.finditer(text))
        yaml = YamlLexer().get_tokens_unprocessed(text)  # type: ignore[no-untyped-call]
        for start, kind, value in yaml:
            if not any(p.start("text") <= start < p.end("text") for p in programs):
                yield start, kind, value
        for program in programs:
            for start, kind, value in CxlLexer().get_tokens_unprocessed(program["text"]):
                yield program.start("text") + start, kind, value

    def get_tokens(self, text: str, unfiltered: bool = False) -> Iterator[tuple[Any, str]]:
        for _, kind, value in sorted(self.get_tokens_unprocessed(text), key=lambda each: each[0]):
            yield kind, value


def register() -> None:
    for lexer in (CxlLexer, PipelineLexer):
        LEXERS[lexer.__name__] = (__name__, lexer.name, tuple(lexer.aliases), (), ())
