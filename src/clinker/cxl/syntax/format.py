"""The canonical text of a program.

The layout follows from the syntax tree alone; of the original text only comments and blank lines
between statements and match arms survive. Formatting twice therefore changes nothing.
"""

from __future__ import annotations

import datetime as dt
import enum
import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal

from clinker.cxl.syntax import ast
from clinker.cxl.syntax.layout import (
    Doc,
    IfBroken,
    Indent,
    Line,
    Remark,
    group,
    render,
    render_flat,
    starts_with,
)
from clinker.cxl.syntax.lexer import Comment, tokenize
from clinker.cxl.syntax.parser import Parsed, parse
from clinker.diagnostics import Source
from clinker.frozen import frozen

WIDTH = 100
MAX_ARMS_ON_ONE_LINE = 2
CALLS_IN_A_CHAIN = 2


def format_program(parsed: Parsed) -> str:
    """The canonical text of a program that was parsed without diagnostics."""
    source = parsed.source
    writer = _Writer(_place_comments(parsed), _after_blank_line(source.text))
    text = render(writer.program(parsed.program), WIDTH)
    if not text:
        return ""
    # Parentheses and indentation can push a program over the parser's limits on nesting and size.
    # One that is so close to them is better left alone than turned into one that does not parse.
    if parse(Source(source.name, text)).diagnostics:
        text = source.text.rstrip()
    return text + "\n"


def format_expression(expression: ast.Expr) -> str:
    """The canonical text of an expression, in a single line."""
    return render_flat(_Writer({}, frozenset()).expression(expression))


def _after_blank_line(text: str) -> AbstractSet[int]:
    """The offsets of everything that has a blank line right above it."""
    return {match.end() for match in re.finditer(r"\n[ \t\r\f]*\n[ \t\r\f\n]*", text)}


# Comments


class _Place(enum.Enum):
    """Where a comment may stand, relative to a statement or match arm or to the braces around."""

    BEFORE = enum.auto()
    BEHIND = enum.auto()
    OPENING = enum.auto()
    CLOSING = enum.auto()


_Slot = tuple[_Place, int]
_Comments = Mapping[_Slot, Sequence[Comment]]


def _slot(place: _Place, node: ast.Node) -> _Slot:
    return place, id(node)


@frozen
class _Block:
    """Statements or match arms, which stand on lines of their own, and where in the text."""

    node: ast.Node
    items: Sequence[ast.Node]
    start: int
    end: int


def _place_comments(parsed: Parsed) -> _Comments:
    return _Placement(parsed).run() if parsed.comments else {}


class _Placement:
    """Walks the tree and the comments side by side, so that comments never change their order."""

    def __init__(self, parsed: Parsed) -> None:
        self.program = parsed.program
        self.text = parsed.source.text
        self.tokens = tokenize(parsed.source).tokens
        self.token_starts = [token.span.start for token in self.tokens]
        self.waiting = deque(parsed.comments)
        self.placed: dict[_Slot, list[Comment]] = {}

    def run(self) -> _Comments:
        self.fill(_Block(self.program, self.program.statements, 0, len(self.text)), None)
        return self.placed

    def put(self, slot: _Slot, comment: Comment) -> None:
        self.placed.setdefault(slot, []).append(comment)

    def take(self, until: int) -> Iterator[Comment]:
        while self.waiting and self.waiting[0].span.start < until:
            yield self.waiting.popleft()

    def fill(self, block: _Block, opening: _Slot | None) -> None:
        behind, end = opening, block.start
        for item in block.items:
            self.between(behind, end, _slot(_Place.BEFORE, item), item.span.start)
            self.inside(item)
            behind, end = _slot(_Place.BEHIND, item), item.span.end
        self.between(behind, end, _slot(_Place.CLOSING, block.node), block.end)

    def between(self, behind: _Slot | None, end: int, following: _Slot, until: int) -> None:
        """Place comments that follow something which ends at `end`, on its line or below."""
        for comment in self.take(until):
            on_same_line = "\n" not in self.text[end : comment.span.start]
            self.put(behind if behind and on_same_line else following, comment)

    def inside(self, item: ast.Node) -> None:
        slot = _slot(_Place.BEFORE, item)
        for block in self.blocks(item):
            for comment in self.take(block.start):
                self.put(slot, comment)
            waiting = len(self.waiting)
            self.fill(block, _slot(_Place.OPENING, block.node))
            if len(self.waiting) < waiting:
                # Above the item, the comments still to come would overtake those in the block.
                slot = _slot(_Place.CLOSING, block.node)
        for comment in self.take(item.span.end):
            self.put(slot, comment)

    def blocks(self, node: ast.Node) -> Iterator[_Block]:
        """The outermost blocks in `node`, in the order of the text."""
        match node:
            case ast.EmitEach():
                yield from self.blocks(node.source)
                yield self.block(node, node.body)
            case ast.Match():
                if node.subject:
                    yield from self.blocks(node.subject)
                yield self.block(node, node.arms)
            case _:
                for child in ast.children(node):
                    yield from self.blocks(child)

    def block(self, node: ast.Node, items: Sequence[ast.Node]) -> _Block:
        end = node.span.end - len("}")
        first = items[0].span.start if items else end
        opening = self.tokens[bisect_left(self.token_starts, first) - 1]
        return _Block(node, items, opening.span.end, end)


# Precedence


class _Level(enum.IntEnum):
    """How tightly an expression holds together.

    An OPEN one swallows all that follows it; nothing but parentheses makes one ENCLOSED.
    """

    OPEN = enum.auto()
    COALESCE = enum.auto()
    OR = enum.auto()
    AND = enum.auto()
    COMPARE = enum.auto()
    ADD = enum.auto()
    MULTIPLY = enum.auto()
    UNARY = enum.auto()
    POSTFIX = enum.auto()
    ENCLOSED = enum.auto()

    @property
    def next(self) -> _Level:
        return _Level(self + 1)


_LEVELS: dict[ast.BinaryOp | ast.LogicOp, _Level] = {
    ast.BinaryOp.COALESCE: _Level.COALESCE,
    ast.LogicOp.OR: _Level.OR,
    ast.LogicOp.AND: _Level.AND,
    **dict.fromkeys(ast.COMPARISON_OPS, _Level.COMPARE),
    **dict.fromkeys((ast.BinaryOp.ADD, ast.BinaryOp.SUBTRACT), _Level.ADD),
    **dict.fromkeys(
        (ast.BinaryOp.MULTIPLY, ast.BinaryOp.DIVIDE, ast.BinaryOp.MODULO), _Level.MULTIPLY
    ),
}


def _level(expression: ast.Expr) -> _Level:
    match expression:
        case ast.If() | ast.Closure():
            return _Level.OPEN
        case ast.Binary() | ast.Logic():
            return _LEVELS[expression.op]
        case ast.Unary():
            return _Level.UNARY
        case ast.Literal(value=int(value)) if value < 0:
            return _Level.UNARY
        case ast.Name(name="this"):
            # Before a dot or a bracket, a bare `this` is the record and no longer a field's name.
            return _Level.UNARY
        case _:
            return _Level.POSTFIX


def _links(expression: ast.Binary | ast.Logic) -> tuple[ast.Expr, list[tuple[str, ast.Expr]]]:
    """The first operand of a chain such as `a + b - c`, and the others with their operators."""
    if isinstance(expression, ast.Logic):
        first, *others = expression.operands
        return first, [(expression.op, other) for other in others]
    if expression.op is ast.BinaryOp.COALESCE:
        return _coalesce_links(expression)
    level = _level(expression)
    left: ast.Expr = expression.left
    links: list[tuple[str, ast.Expr]] = [(expression.op, expression.right)]
    while isinstance(left, ast.Binary) and _level(left) is level is not _Level.COMPARE:
        links.append((left.op, left.right))
        left = left.left
    return left, links[::-1]


def _coalesce_links(expression: ast.Binary) -> tuple[ast.Expr, list[tuple[str, ast.Expr]]]:
    right: ast.Expr = expression.right
    links: list[tuple[str, ast.Expr]] = []
    while isinstance(right, ast.Binary) and right.op is ast.BinaryOp.COALESCE:
        links.append((right.op, right.left))
        right = right.right
    return expression.left, [*links, (expression.op, right)]


# Tokens

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n", "\t": r"\t", "\r": r"\r"})


def _literal(value: bool | int | float | str | dt.date | None) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float():
            return _float(value)
        case str():
            return f'"{value.translate(_ESCAPES)}"'
        case dt.date():
            return f"#{value.isoformat()}#"
        case _:
            return str(value)


def _float(value: float) -> str:
    digits = format(Decimal(repr(value)), "f")
    return digits if "." in digits else f"{digits}.0"


# Layout

# What is laid out from the start of a line, as opposed to what opens a bracket where it stands.
_FRESH_LINE = (ast.Binary, ast.Logic, ast.If, ast.Literal)

# As the only argument, these open their bracket right behind the one of the call.
_BRACKETED = (ast.ArrayLiteral, ast.MapLiteral, ast.Match)

_LOOKS_LIKE_LEVEL_AND_MESSAGE = re.compile(rf"(?:{'|'.join(ast.TraceLevel)}) ?[-(\[]")


def _message_level(trace: ast.Trace) -> _Level:
    """How tightly a message without a guard has to hold together to be read as one."""
    if isinstance(trace.message, ast.If) and not trace.message.otherwise:
        return _Level.COALESCE
    if trace.level is ast.TraceLevel.TRACE:
        text = format_expression(trace.message)
        return _Level.ENCLOSED if _LOOKS_LIKE_LEVEL_AND_MESSAGE.match(text) else _Level.OPEN
    return _Level.OPEN


def _parentheses(doc: Doc) -> Doc:
    return group("(", Indent((Line(""), doc)), Line(""), ")")


def _listed(opening: str, items: Sequence[Doc], closing: str) -> Doc:
    if not items:
        return opening + closing
    first, *others = items
    body = (first, *((",", Line(), item) for item in others))
    return group(opening, Indent((Line(""), body)), IfBroken(","), Line(""), closing)


class _Writer:
    """Turns the tree into a document, with the comments where they were placed."""

    def __init__(self, comments: _Comments, after_blank_line: AbstractSet[int]) -> None:
        self.comments = comments
        self.after_blank_line = after_blank_line

    # Blocks

    def program(self, program: ast.Program) -> Doc:
        return self.lines(self.statements(program.statements), program)

    def lines(self, items: Iterable[tuple[ast.Node, Doc]], block: ast.Node) -> Doc:
        """Items with the comments around them, one per line."""
        pieces: list[tuple[bool, Doc]] = []
        for node, doc in items:
            pieces.extend(self.with_comments(node, doc))
        for comment in self.comments_at(_Place.CLOSING, block):
            pieces.append((self.is_apart(comment), Remark(comment.text)))
        return tuple(
            (Line(", ", blank=is_apart) if index else "", doc)
            for index, (is_apart, doc) in enumerate(pieces)
        )

    def with_comments(self, node: ast.Node, doc: Doc) -> Iterator[tuple[bool, Doc]]:
        """The lines of an item, each with whether a blank line goes above it."""
        is_apart = self.is_apart(node)
        for comment in self.comments_at(_Place.BEFORE, node):
            if comment.span.start < node.span.start:
                yield self.is_apart(comment), Remark(comment.text)
            else:
                yield is_apart, Remark(comment.text)
                is_apart = False
        yield is_apart, (doc, self.remark(_Place.BEHIND, node))

    def comments_at(self, place: _Place, node: ast.Node) -> Sequence[Comment]:
        return self.comments.get(_slot(place, node), ())

    def remark(self, place: _Place, node: ast.Node) -> Doc:
        return tuple(Remark(f"  {comment.text}") for comment in self.comments_at(place, node))

    def is_apart(self, item: ast.Node | Comment) -> bool:
        return item.span.start in self.after_blank_line

    # Statements

    def statements(
        self, statements: Iterable[ast.Statement]
    ) -> Iterator[tuple[ast.Statement, Doc]]:
        return ((statement, self.statement(statement)) for statement in statements)

    def statement(self, statement: ast.Statement) -> Doc:
        match statement:
            case ast.Let():
                return self.led_by(f"let {statement.name} =", statement.value)
            case ast.Emit():
                return self.led_by(f"emit {statement.name} =", statement.value)
            case ast.EmitMeta():
                return self.led_by(f"emit meta {statement.name} =", statement.value)
            case ast.EmitEach():
                return self.emit_each(statement)
            case ast.Filter():
                return "filter ", self.hanging(statement.condition)
            case ast.Distinct(by=None):
                return "distinct"
            case ast.Distinct(by=ast.Expr() as key):
                return "distinct by ", self.expression(key)
            case ast.Trace():
                return self.trace(statement)
            case ast.Use():
                alias = f" as {statement.alias}" if statement.alias else ""
                return f"use {'.'.join(statement.path)}{alias}"
            case ast.Function():
                head = f"fn {statement.name}", _listed("(", statement.params, ")"), " ="
                return self.led_by(head, statement.body)
            case _:
                raise TypeError(statement)

    def emit_each(self, statement: ast.EmitEach) -> Doc:
        source = self.hanging(statement.source, _Level.COALESCE)
        modifier = " outer" if statement.outer else ""
        opening = self.remark(_Place.OPENING, statement)
        head = f"emit each {statement.binding} in ", source, modifier, " {", opening
        lines = self.lines(self.statements(statement.body), statement)
        body: Doc = Indent((Line(""), lines)) if lines else ""
        return head, body, Line("") if lines or opening else "", "}"

    def trace(self, statement: ast.Trace) -> Doc:
        level = "" if statement.level is ast.TraceLevel.TRACE else f" {statement.level}"
        if not statement.guard:
            return self.led_by(f"trace{level}", statement.message, _message_level(statement))
        head = f"trace{level} if ", self.condition(statement.guard), " then"
        return self.led_by(head, statement.message, _Level.COALESCE)

    # Expressions in their surroundings

    def operand(self, expression: ast.Expr, level: _Level) -> Doc:
        """`expression`, in parentheses unless it holds together at least as tightly as `level`."""
        doc = self.expression(expression)
        return _parentheses(doc) if _level(expression) < level else doc

    def led_by(self, head: Doc, expression: ast.Expr, level: _Level = _Level.OPEN) -> Doc:
        """`expression` behind a head such as `emit x =`, or below it when it does not fit."""
        doc = self.operand(expression, level)
        if isinstance(expression, _FRESH_LINE) and _level(expression) >= level:
            return head, group(Indent((Line(), doc)))
        return head, " ", doc

    def hanging(self, expression: ast.Expr, level: _Level = _Level.OPEN) -> Doc:
        """`expression` behind something on its line, so that its further lines are indented."""
        doc = self.operand(expression, level)
        if isinstance(expression, _FRESH_LINE) and _level(expression) >= level:
            return Indent(doc)
        return doc

    def condition(self, expression: ast.Expr) -> Doc:
        # Indented twice, to stand out from the branch below it.
        return Indent(self.hanging(expression, _Level.COALESCE))

    # Expressions

    def expression(self, expression: ast.Expr) -> Doc:
        match expression:
            case ast.Literal():
                return _literal(expression.value)
            case ast.Name():
                return expression.name
            case ast.It():
                return "it"
            case ast.This():
                return "this"
            case ast.Now():
                return "now"
            case ast.Star():
                return "*"
            case ast.SystemRef():
                return f"${expression.namespace}.{expression.name}"
            case ast.Member() | ast.Index() | ast.MethodCall():
                return self.postfix(expression)
            case ast.FunctionCall():
                return expression.name, self.arguments(expression.args)
            case ast.WindowCall():
                return f"$window.{expression.function}", self.arguments(expression.args)
            case ast.ModuleRef(args=None):
                return f"{expression.alias}::{expression.member}"
            case ast.ModuleRef(args=tuple(args)):
                return f"{expression.alias}::{expression.member}", self.arguments(args)
            case ast.Closure():
                return self.led_by("it =>", expression.body)
            case ast.Unary():
                return self.unary(expression)
            case ast.Binary() | ast.Logic():
                return self.chain(expression)
            case ast.If():
                return self.conditional(expression)
            case ast.Match():
                return self.match(expression)
            case ast.ArrayLiteral():
                return _listed("[", [self.expression(item) for item in expression.items], "]")
            case ast.MapLiteral():
                return _listed("{", [self.map_entry(entry) for entry in expression.entries], "}")
            case _:
                raise TypeError(expression)

    def postfix(self, expression: ast.Expr) -> Doc:
        """`base.member[index].call()`; in a chain of calls, lines break before each of them."""
        links: list[tuple[bool, Doc]] = []
        while isinstance(expression, ast.Member | ast.Index | ast.MethodCall):
            match expression:
                case ast.Member(object=inner):
                    links.append((False, f".{expression.name}"))
                case ast.Index(object=inner):
                    links.append((False, ("[", self.hanging(expression.index), "]")))
                case ast.MethodCall(receiver=inner):
                    call = f".{expression.method}", self.arguments(expression.args)
                    links.append((True, call))
            expression = inner
        base = self.operand(expression, _Level.POSTFIX)
        if sum(is_call for is_call, _ in links) < CALLS_IN_A_CHAIN:
            return base, *(link for _, link in reversed(links))
        chain = tuple((Line("") if is_call else "", link) for is_call, link in reversed(links))
        return group(base, Indent(chain))

    def arguments(self, arguments: Sequence[ast.Expr]) -> Doc:
        match arguments:
            case [ast.Closure() as closure]:
                return self.closure_argument(closure)
            case [argument] if isinstance(argument, _BRACKETED):
                return "(", self.expression(argument), ")"
            case _:
                return _listed("(", [self.expression(argument) for argument in arguments], ")")

    def closure_argument(self, closure: ast.Closure) -> Doc:
        body = self.expression(closure.body)
        if isinstance(closure.body, _FRESH_LINE):
            return group("(it =>", Indent((Line(), body)), Line(""), ")")
        return "(it => ", body, ")"

    def unary(self, expression: ast.Unary) -> Doc:
        operand = self.operand(expression.operand, _Level.UNARY)
        if expression.op is ast.UnaryOp.NOT:
            return "not ", operand
        # Two signs in a row look like a comment, and are one when a blank follows.
        return "- " if starts_with(operand, "-") else "-", operand

    def chain(self, expression: ast.Binary | ast.Logic) -> Doc:
        level = _level(expression).next
        first, links = _links(expression)
        rest = [(Line(), op, " ", self.hanging(operand, level)) for op, operand in links]
        return group(self.hanging(first, level), *rest)

    def conditional(self, expression: ast.If) -> Doc:
        branches = [self.branch("if ", expression)]
        otherwise = expression.otherwise
        while isinstance(otherwise, ast.If):
            branches.append((Line(), self.branch("else if ", otherwise)))
            otherwise = otherwise.otherwise
        if otherwise:
            branches.append((Line(), "else ", self.hanging(otherwise)))
        return group(*branches)

    def branch(self, keyword: str, expression: ast.If) -> Doc:
        head = keyword, self.condition(expression.condition), " then"
        # Another conditional in front of an `else` would take it for its own, or look as if.
        level = _Level.COALESCE if expression.otherwise else _Level.OPEN
        return self.led_by(head, expression.then, level)

    def match(self, expression: ast.Match) -> Doc:
        opening = self.remark(_Place.OPENING, expression)
        arms = self.lines(((arm, self.arm(arm)) for arm in expression.arms), expression)
        return group(
            *("match ", self.subject(expression.subject), "{", opening),
            *(Indent((Line(), arms)), Line(), "}"),
            broken=len(expression.arms) > MAX_ARMS_ON_ONE_LINE,
        )

    def subject(self, subject: ast.Expr | None) -> Doc:
        if not subject:
            return ""
        doc = self.hanging(subject, _Level.COALESCE)
        # A brace behind `match` opens the arms of a match without a subject.
        return _parentheses(doc) if starts_with(doc, "{") else doc, " "

    def arm(self, arm: ast.Arm) -> Doc:
        pattern = self.hanging(arm.pattern, _Level.COALESCE) if arm.pattern else "_"
        return self.led_by((pattern, " =>"), arm.value), IfBroken(",")

    def map_entry(self, entry: ast.MapEntry) -> Doc:
        return self.led_by(f"{_literal(entry.key)}:", entry.value)
