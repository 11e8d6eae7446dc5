"""What can be written at a place in CXL."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from clinker.cxl.builtins import AGGREGATES, METHODS, WINDOW_FUNCTIONS
from clinker.cxl.builtins.catalogue import heading
from clinker.cxl.builtins.declare import Builtin
from clinker.cxl.check import typed
from clinker.cxl.check.modules import Module
from clinker.cxl.check.resolve import Context, ProgramKind
from clinker.cxl.check.typecheck import check
from clinker.cxl.syntax import ast
from clinker.cxl.syntax.lexer import (
    KEYWORDS,
    STATEMENT_KEYWORDS,
    Comment,
    Token,
    TokenKind,
    tokenize,
)
from clinker.cxl.syntax.parser import parse
from clinker.cxl.types import ANY, Type
from clinker.diagnostics import Source
from clinker.editing.cxl_parts import statements_of
from clinker.editing.documentation import document, fenced
from clinker.editing.suggestion import Kind, Suggestion

_WORD = re.compile(r"[A-Za-z_0-9]*\Z")
_NAMESPACE = re.compile(r"\$([a-z]+)\.\Z")
_OPENING = {")": "(", "]": "[", "}": "{"}
_NAMESPACES = ("pipeline", "source", "record", "vars", "meta", "doc", "config")


def complete_cxl(before: str, context: Context) -> Iterator[Suggestion]:
    """What can follow the beginning of a program."""
    head = before[: len(before) - len(_WORD.findall(before)[0])]
    lexed = tokenize(Source("", head))
    if _ends_inside(head, lexed.comments):
        return
    tokens = lexed.tokens[:-1]
    if namespace := _NAMESPACE.search(head):
        yield from _members(namespace[1], context)
    elif head.endswith("$"):
        yield from _namespaces(context)
    elif head.endswith("::"):
        yield from _module_members(head, tokens, context)
    elif head.endswith(".") and not head[:-1].endswith("."):
        yield from _behind_a_dot(head, tokens, context)
    else:
        yield from _names(head, tokens, context)


def _ends_inside(head: str, comments: Sequence[Comment]) -> bool:
    """Whether the text ends in a comment or in a string that is not closed."""
    if comments and "\n" not in head[comments[-1].span.start :]:
        return True
    line = head[head.rfind("\n") + 1 :]
    bare = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'', "", line)
    return '"' in bare or "'" in bare


# Names


def _names(head: str, tokens: Sequence[Token], context: Context) -> Iterator[Suggestion]:
    starts = not tokens or tokens[-1].text not in _CONTINUED
    for name, type_ in _locals(_statements_before(head, tokens), context).items():
        yield Suggestion(name, Kind.LOCAL, str(type_), rank=0)
    for name, type_ in context.row.columns.items():
        yield Suggestion(name, Kind.FIELD, str(type_), rank=1)
    for qualifier, row in context.qualifiers.items():
        yield Suggestion(qualifier, Kind.MODULE, "input", insert=f"{qualifier}.", rank=0)
        for name, type_ in row.columns.items():
            yield Suggestion(name, Kind.FIELD, f"{type_}, of {qualifier}", rank=1)
    if context.kind is not ProgramKind.ROW:
        for aggregate in AGGREGATES.values():
            yield _builtin(aggregate, Kind.FUNCTION, rank=2)
    for statement in statements_of(parse(Source("", head)).program):
        if isinstance(statement, ast.Use):
            alias = statement.bound_name
            yield Suggestion(alias, Kind.MODULE, "module", insert=f"{alias}::", rank=2)
    for keyword in sorted(KEYWORDS):
        if starts or keyword not in STATEMENT_KEYWORDS:
            yield Suggestion(keyword, Kind.KEYWORD, rank=3)


_CONTINUED = STATEMENT_KEYWORDS | frozenset(
    "= ( , + * / % < > <= >= == != => ?? [ { : if then else and or not".split()
)
"""Behind these an expression goes on, so that no statement can begin."""


def _locals(statements: str, context: Context) -> dict[str, Type]:
    """What statements have defined, and its type."""
    names: dict[str, Type] = {}
    for statement in check(parse(Source("", statements)), context).sketch.every_statement():
        match statement:
            case typed.Let(symbol=symbol) | typed.Emit(symbol=symbol):
                names[symbol.name] = symbol.type
            case typed.EmitEach(element=element):
                names[element.name] = element.type
    return names


def _statements_before(head: str, tokens: Sequence[Token]) -> str:
    """The statements before the one that is being written."""
    for token in reversed(tokens):
        if token.kind is TokenKind.KEYWORD and token.text in STATEMENT_KEYWORDS:
            return head[: token.span.start]
    return ""


# Behind a dot


def _behind_a_dot(head: str, tokens: Sequence[Token], context: Context) -> Iterator[Suggestion]:
    start = _receiver_start(tokens[:-1])
    if start is None:
        return
    receiver = head[start:-1]
    row = context.qualifiers.get(receiver)
    if row is not None:
        for name, type_ in row.columns.items():
            yield Suggestion(name, Kind.FIELD, str(type_))
        return
    yield from _deeper_columns(receiver, context)
    type_ = _type_of(receiver, _statements_before(head, tokens), context)
    for overloads in METHODS.values():
        fitting = [m for m in overloads if m.receiver.maybe(type_.without_null().kinds)]
        if fitting:
            yield _builtin(fitting[0], Kind.METHOD)


def _deeper_columns(receiver: str, context: Context) -> Iterator[Suggestion]:
    """Columns whose dotted names begin with what is written."""
    for name, type_ in context.row.columns.items():
        if name.startswith(receiver + "."):
            yield Suggestion(name[len(receiver) + 1 :], Kind.FIELD, str(type_))


def _receiver_start(tokens: Sequence[Token]) -> int | None:
    """Where the expression begins that the tokens end with."""
    at = len(tokens) - 1
    while at >= 0:
        if tokens[at].text in _OPENING:
            at = _opening(tokens, at)
            # What is called, or indexed, belongs to it.
            if at > 0 and (tokens[at - 1].kind in _CALLABLE or tokens[at - 1].text in _OPENING):
                at -= 1
                if tokens[at].text in _OPENING:
                    continue
        if at >= 2 and tokens[at - 1].is_symbol(".", "::"):
            at -= 2
            continue
        return tokens[at].span.start if at >= 0 else None
    return None


_CALLABLE = (TokenKind.NAME, TokenKind.SYSTEM)


def _opening(tokens: Sequence[Token], at: int) -> int:
    """The bracket that the one at `at` closes."""
    depth = 0
    while at > 0:
        if tokens[at].text in _OPENING:
            depth += 1
        elif tokens[at].text in _OPENING.values():
            depth -= 1
            if not depth:
                return at
        at -= 1
    return at


def _type_of(receiver: str, statements: str, context: Context) -> Type:
    keyword = "emit" if context.kind is ProgramKind.AGGREGATE else "let"
    program = parse(Source("", f"{statements}\n{keyword} it_is = ({receiver})"))
    checked = check(program, context).sketch.statements
    last = checked[-1] if checked else None
    if isinstance(last, typed.Let | typed.Emit) and not isinstance(last.value, typed.Broken):
        return last.value.type
    return ANY


# Namespaces and modules


def _namespaces(context: Context) -> Iterator[Suggestion]:
    known = [*_NAMESPACES, *(["window"] if context.window else [])]
    for name in known:
        yield Suggestion(name, Kind.MODULE, insert=f"{name}.")


def _members(namespace: str, context: Context) -> Iterator[Suggestion]:
    if namespace == "window":
        for function in WINDOW_FUNCTIONS.values():
            yield _builtin(function, Kind.FUNCTION)
    elif namespace in _NAMESPACES:
        members: Mapping[str, Type] = context.members(namespace) or {}
        for name, type_ in members.items():
            yield Suggestion(name, Kind.FIELD, str(type_))


def _module_members(head: str, tokens: Sequence[Token], context: Context) -> Iterator[Suggestion]:
    alias = tokens[-2].text if len(tokens) > 1 else ""
    module = _module(alias, statements_of(parse(Source("", head)).program), context)
    if module is None:
        return
    for name, function in module.functions.items():
        text = module.source.text[function.span.start : function.span.end]
        params = f"({', '.join(function.params)})"
        yield Suggestion(name, Kind.FUNCTION, params, fenced(text), f"{name}(")
    for name, constant in module.constants.items():
        text = module.source.text[constant.span.start : constant.span.end]
        yield Suggestion(name, Kind.FIELD, "constant", fenced(text))


def _module(alias: str, statements: Iterable[ast.Statement], context: Context) -> Module | None:
    for statement in statements:
        if isinstance(statement, ast.Use) and statement.bound_name == alias and context.modules:
            return context.modules.load(statement.path)
    return None


def _builtin(builtin: Builtin, kind: Kind, rank: int = 0) -> Suggestion:
    insert = f"{builtin.name}(" if builtin.params else f"{builtin.name}()"
    shown = heading(builtin)
    return Suggestion(builtin.name, kind, shown, document(builtin), insert, rank)
