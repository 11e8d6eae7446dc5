"""Text to tokens. Newlines are plain whitespace; comments are kept aside for the formatter."""

from __future__ import annotations

import datetime as dt
import enum
import math
import re
from collections.abc import Callable

from clinker.cxl.values import MAX_INT
from clinker.diagnostics import Diagnostic, Label, Source, Span
from clinker.frozen import frozen

MAX_SOURCE_BYTES = 64 * 1024
MAX_FINDINGS = 200
"""How many syntax errors are reported; a text with more is not a program with mistakes."""


class TokenKind(enum.Enum):
    INT = enum.auto()
    FLOAT = enum.auto()
    STRING = enum.auto()
    DATE = enum.auto()
    NAME = enum.auto()
    KEYWORD = enum.auto()
    SYSTEM = enum.auto()
    SYMBOL = enum.auto()
    END = enum.auto()


KEYWORDS = frozenset(
    "let emit if then else and or not match use as fn trace null true false now it "
    "filter distinct by".split()
)
STATEMENT_KEYWORDS = frozenset("let emit filter distinct trace use fn".split())


@frozen
class Token:
    kind: TokenKind
    text: str
    span: Span
    value: int | float | str | dt.date | None = None

    def is_symbol(self, *texts: str) -> bool:
        return self.kind is TokenKind.SYMBOL and self.text in texts

    def is_keyword(self, *texts: str) -> bool:
        return self.kind is TokenKind.KEYWORD and self.text in texts

    def __str__(self) -> str:
        return "end of input" if self.kind is TokenKind.END else f"'{self.text}'"


@frozen
class Comment:
    text: str
    span: Span


@frozen
class Lexed:
    tokens: list[Token]
    comments: list[Comment]
    diagnostics: list[Diagnostic]


_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\r\n\f\u00a0\ufeff]+)
  | (?P<comment>\#(?![0-9])[^\n]*|--(?=[ \t\r\n]|\Z)[^\n]*)
  | (?P<date>\#[0-9][^\#\n]*\#)
  | (?P<bad_date>\#[0-9][^\n]*)
  | (?P<bad_number>[0-9]+(?:\.[0-9]+)?[A-Za-z_][A-Za-z0-9_]*)
  | (?P<float>[0-9]+\.[0-9]+)
  | (?P<int>[0-9]+)
  | (?P<string>"(?:[^"\\\n]|\\[^\n])*"|'(?:[^'\\\n]|\\[^\n])*')
  | (?P<bad_string>["'][^\n]*)
  | (?P<system>\$[A-Za-z_][A-Za-z0-9_]*)
  | (?P<bad_name>[A-Za-z0-9_]*[^\W0-9A-Za-z_]\w*)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<foreign_comment>//[^\n]*|/\*.*?\*/)
  | (?P<foreign>&&|\|\||<>|===|=<|[!&|;?@](?![=?]))
  | (?P<quotes>[\u2018\u2019\u201c\u201d][^\u2018\u2019\u201c\u201d\n]*[\u2018\u2019\u201c\u201d]?)
  | (?P<symbol>==|!=|<=|>=|=>|::|\?\?|[-+*/%<>=()\[\]{},.:])
  | (?P<unknown>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "t": "\t", "r": "\r"}
_DATE = re.compile(r"\#([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})\#")
_SURROGATE = re.compile("[\ud800-\udfff]")

# What users of other languages type, the token they meant, and what to tell them.
_FOREIGN = {
    "&&": ("and", TokenKind.KEYWORD, "write `and`"),
    "||": ("or", TokenKind.KEYWORD, "write `or`"),
    "!": ("not", TokenKind.KEYWORD, "write `not`"),
    "<>": ("!=", TokenKind.SYMBOL, "write `!=`"),
    "===": ("==", TokenKind.SYMBOL, "write `==`"),
    "=<": ("<=", TokenKind.SYMBOL, "write `<=`"),
    "&": ("and", TokenKind.KEYWORD, "write `and`"),
    "|": ("or", TokenKind.KEYWORD, "write `or`"),
    ";": (None, None, "statements need no separator; start the next one on a new line"),
    "?": (None, None, "write `if condition then a else b`, or `a ?? b` for a null fallback"),
    "@": (
        None,
        None,
        "names have no '@'; for attributes of XML, set 'attribute_prefix' of the source to letters",
    ),
}


def tokenize(source: Source, max_bytes: int = MAX_SOURCE_BYTES) -> Lexed:
    """All tokens of `source`, ending in an END token, whatever the text holds."""
    problem = _unusable(source, max_bytes)
    if problem:
        return Lexed([_end(source)], [], [problem])
    return _Lexer(source).run()


def _end(source: Source) -> Token:
    return Token(TokenKind.END, "", Span(len(source.text), len(source.text)))


def _unusable(source: Source, max_bytes: int) -> Diagnostic | None:
    start = Span(0, 0)
    if surrogate := _SURROGATE.search(source.text):
        label = Label(source.at(Span(*surrogate.span())))
        return Diagnostic("parse", "the program is not valid UTF-8 text", label)
    size = len(source.text.encode())
    if size > max_bytes:
        return Diagnostic(
            "parse",
            f"the program has {size} bytes, more than the {max_bytes} allowed",
            Label(source.at(start)),
            help="split it over several transforms or move shared code into a module",
        )
    return None


class _Lexer:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens: list[Token] = []
        self.comments: list[Comment] = []
        self.diagnostics: list[Diagnostic] = []

    def run(self) -> Lexed:
        for match in _TOKEN.finditer(self.source.text):
            assert match.lastgroup
            if match.lastgroup == "blank":
                continue
            handler: Callable[[str, Span], None] = getattr(self, f"_{match.lastgroup}")
            handler(match[0], Span(*match.span()))
        self.tokens.append(_end(self.source))
        return Lexed(self.tokens, self.comments, self.diagnostics)

    def _add(
        self, kind: TokenKind, text: str, span: Span, value: int | float | str | dt.date | None
    ) -> None:
        self.tokens.append(Token(kind, text, span, value))

    def _error(self, message: str, span: Span, help: str | None = None) -> None:
        if len(self.diagnostics) >= MAX_FINDINGS:
            return
        self.diagnostics.append(
            Diagnostic("parse", message, Label(self.source.at(span)), help=help)
        )

    def _comment(self, text: str, span: Span) -> None:
        text = text.rstrip()
        self.comments.append(Comment(text, Span(span.start, span.start + len(text))))

    def _date(self, text: str, span: Span) -> None:
        value = None
        if parts := _DATE.fullmatch(text):
            try:
                value = dt.date(int(parts[1]), int(parts[2]), int(parts[3]))
            except ValueError:
                value = None
        if value is None:
            self._error(f"{text} is not a date", span, "a date literal is #YYYY-MM-DD#")
        self._add(TokenKind.DATE, text, span, value or dt.date.min)

    def _bad_date(self, text: str, span: Span) -> None:
        self._error(
            "a date literal is not closed on its line",
            span,
            "end it with `#`; a comment that starts with a digit needs a blank after its `#`",
        )

    def _bad_number(self, text: str, span: Span) -> None:
        self._error(
            f"'{text}' is neither a number nor a name",
            span,
            "numbers have no exponent or suffix, and names start with a letter",
        )
        self._add(TokenKind.INT, text, span, 0)

    def _float(self, text: str, span: Span) -> None:
        value = float(text)
        if math.isinf(value):
            self._error("this number is too large for a Float", span)
        self._add(TokenKind.FLOAT, text, span, value)

    def _int(self, text: str, span: Span) -> None:
        # One above the largest Int is let through: the parser accepts it behind a minus sign.
        value = int(text) if len(text.lstrip("0")) < 20 else MAX_INT + 2
        if value > MAX_INT + 1:
            self._error(
                "this number is too large for an Int",
                span,
                f"the largest Int is {MAX_INT}; write a Float with a decimal point",
            )
            value = 0
        self._add(TokenKind.INT, text, span, value)

    def _string(self, text: str, span: Span) -> None:
        value = _ESCAPE.sub(lambda m: _ESCAPES.get(m[1], m[0]), text[1:-1])
        self._add(TokenKind.STRING, text, span, value)

    def _bad_string(self, text: str, span: Span) -> None:
        self._error(
            "this text is not closed on its line",
            span,
            f"end it with {text[0]}; write a line break inside text as \\n",
        )
        self._add(TokenKind.STRING, text, span, text[1:])

    def _system(self, text: str, span: Span) -> None:
        self._add(TokenKind.SYSTEM, text, span, text[1:])

    def _name(self, text: str, span: Span) -> None:
        kind = TokenKind.KEYWORD if text in KEYWORDS else TokenKind.NAME
        self._add(kind, text, span, text)

    def _bad_name(self, text: str, span: Span) -> None:
        self._error(
            f"'{text}' is not a name: names are made of A-Z, a-z, 0-9 and _",
            span,
            f'read a field of that name with this["{text}"]',
        )
        self._add(TokenKind.NAME, text, span, text)

    def _quotes(self, text: str, span: Span) -> None:
        self._error("these are not quotation marks", span, 'write text in straight quotes: "…"')
        self._add(TokenKind.STRING, text, span, text[1:-1])

    def _foreign_comment(self, text: str, span: Span) -> None:
        self._error(f"'{text[:2]}' does not start a comment", span, "comments start with `#`")

    def _foreign(self, text: str, span: Span) -> None:
        meant, kind, help = _FOREIGN[text]
        self._error(f"'{text}' is not part of CXL", span, help)
        if meant and kind:
            self._add(kind, meant, span, meant)

    def _symbol(self, text: str, span: Span) -> None:
        self._add(TokenKind.SYMBOL, text, span, text)

    def _unknown(self, text: str, span: Span) -> None:
        shown = f"'{text}'" if text.isprintable() else f"U+{ord(text):04X}"
        self._error(f"unexpected character {shown}", span)
