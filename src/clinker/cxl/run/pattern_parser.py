"""The parser of patterns, which rewrites them into their canonical text."""

from __future__ import annotations

import enum
import re
import string
from dataclasses import dataclass, field, replace

from clinker.cxl.run import backtracking as shapes
from clinker.cxl.run.backtracking import Shape
from clinker.cxl.run.character_sets import (
    CASED,
    CATEGORIES,
    EVERYTHING,
    LAST_CODE,
    NEWLINE,
    PERL,
    POSIX,
    CharacterSet,
    both_cases,
    complement,
    escape,
    write_class,
)
from clinker.frozen import frozen

# The `regex` library compiles by recursion, and takes up to eight calls for every open group.
MAX_NESTING = 50
MAX_REPEAT = 1000
# Of the canonical text with every required repetition written out, as engines store it.
MAX_SIZE = 500_000
_UNBOUNDED = MAX_REPEAT + 1  # above every count


class PatternError(ValueError):
    """A pattern outside the supported subset; `offset` is the character where it goes wrong."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


_NO_CHARACTER = write_class(CharacterSet())
_WORD = write_class(PERL["w"])
_NOT_WORD = write_class(PERL["w"], negated=True)
_NOT_NEWLINE = write_class(NEWLINE, negated=True)
START = r"\A"
END = f"(?!{write_class(EVERYTHING)})"
_LINE_START = f"(?<!{_NOT_NEWLINE})"
_LINE_END = f"(?!{_NOT_NEWLINE})"
_ASSERTIONS = {
    "A": START,
    "z": END,
    "b": f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    # Not `(?!{_WORD})` at the end: without a set that reaches beyond the basic plane, Java also
    # tries the place between the two halves of a surrogate pair.
    "B": f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?:(?={_NOT_WORD})|{END}))",
}
_CONTROLS = {"a": 0x07, "t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D}
# `\<` and `\>` are word boundaries in some engines.
_ESCAPABLE = frozenset(string.punctuation + " ") - frozenset("<>")
_ESCAPE_HINTS = {
    "Z": r"; write '\z' for the end of the text",
    "u": r"; write '\x{...}'",
    "0": r"; write '\x{...}'",
    "Q": "; escape each character",
    "<": "; write '<'",
    ">": "; write '>'",
}
_UNSUPPORTED_GROUPS = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<=": "look-behind",
    "(?<!": "look-behind",
    "(?>": "atomic group",
    "(?P=": "back-reference",
    "(?#": "comment",
    "(?(": "conditional",
}
_NAME = re.compile(r"\?P?<([A-Za-z_][A-Za-z0-9_]*)>")
_FLAGS = re.compile(r"\?([A-Za-z]*)(?:-([A-Za-z]+))?(?=[:)])")
_COUNT = re.compile(r"(0|[1-9][0-9]*)(?:,((?:0|[1-9][0-9]*)?))?\}")
_POSIX_NAME = re.compile(r":(\^?)([a-z]+):\]")
_SET_OPERATION = re.compile(r"&&|--|~~|\|\|")
_HEXADECIMAL = re.compile(r"([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\}")
_CATEGORY = re.compile(r"([A-Za-z])|\{([^}]*)\}")


class _Kind(enum.Enum):
    ATOM = enum.auto()
    ASSERTION = enum.auto()
    QUANTIFIED = enum.auto()
    FLAGS = enum.auto()


@frozen
class Piece:
    """What a quantifier has to know of the text it follows."""

    kind: _Kind
    size: int
    shape: Shape
    nullable: bool = False
    captures: bool = False
    encloses_captures: bool = False
    varies: bool = False
    """Whether it matches in several ways; Java then calls itself for every repetition."""
    recursion: int = 0
    """How many such calls are open at once."""


@dataclass
class _Group:
    """A group being read, or the whole pattern."""

    offset: int
    captures: bool
    outer_flags: frozenset[str]
    branches: list[list[Piece]] = field(default_factory=lambda: [[]])

    def close(self) -> Piece:
        pieces = [piece for branch in self.branches for piece in branch]
        size = sum(piece.size for piece in pieces)
        if size > MAX_SIZE:
            raise PatternError("its repetitions make the pattern too large", self.offset)
        return Piece(
            _Kind.ATOM,
            size + len("(?:)"),
            shapes.choice([shapes.row([p.shape for p in branch]) for branch in self.branches]),
            nullable=any(all(piece.nullable for piece in branch) for branch in self.branches),
            captures=self.captures,
            encloses_captures=any(piece.captures or piece.encloses_captures for piece in pieces),
            varies=len(self.branches) > 1 or any(piece.varies for piece in pieces),
            recursion=sum(piece.recursion for piece in pieces),
        )


class PatternParser:
    """Rewrites from left to right, with the open groups on a list: nesting costs no recursion."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0
        self.output: list[str] = []
        self.groups = 0
        self.names: set[str] = set()
        self.flags: frozenset[str] = frozenset()
        self.open = [_Group(0, False, self.flags)]

    def parse(self) -> Piece:
        """The whole pattern; its canonical text is then in `output`."""
        while self.position < len(self.source):
            start = self.position
            self._next(self._take(), start)
        whole = self.open.pop()
        if self.open:
            raise PatternError("group '(' is not closed", whole.offset)
        return whole.close()

    def _next(self, character: str, start: int) -> None:
        match character:
            case "(":
                self._open_group(start)
            case ")":
                self._close_group(start)
            case "|":
                self.output.append("|")
                self.open[-1].branches.append([])
            case "*" | "+" | "?" | "{":
                self._quantifier(character, start)
            case "[":
                self._class(start)
            case "\\":
                self._escape(start)
            case "^":
                self._assert(_LINE_START if "m" in self.flags else START)
            case "$":
                self._assert(_LINE_END if "m" in self.flags else END)
            case ".":
                self._emit_set(CharacterSet() if "s" in self.flags else NEWLINE, negated=True)
            case _:
                self._emit_character(_code(ord(character), start))

    def _take(self) -> str:
        """The next character, or nothing at the end."""
        character = self.source[self.position : self.position + 1]
        self.position += 1
        return character

    def _at(self, text: str) -> bool:
        return self.source.startswith(text, self.position)

    def _accept(self, text: str) -> bool:
        is_next = self._at(text)
        self.position += len(text) if is_next else 0
        return is_next

    def _scan(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        match = expression.match(self.source, self.position)
        self.position = self.position if match is None else match.end()
        return match

    def _emit(self, text: str, kind: _Kind, shape: Shape) -> None:
        self.output.append(text)
        nullable = kind is not _Kind.ATOM
        self.open[-1].branches[-1].append(Piece(kind, len(text), shape, nullable=nullable))

    def _assert(self, text: str) -> None:
        self._emit(text, _Kind.ASSERTION, shapes.assertion(starts=text == START))

    def _emit_set(self, members: CharacterSet, negated: bool = False) -> None:
        gaps = complement(members.ranges)
        ranges = gaps if negated else complement(gaps)
        shape = shapes.characters(None if members.categories else ranges)
        self._emit(write_class(members, negated), _Kind.ATOM, shape)

    def _emit_character(self, code: int) -> None:
        if "i" in self.flags and chr(code) in string.ascii_letters:
            self._emit_set(CharacterSet(both_cases(((code, code),))))
        else:
            self._emit(escape(code), _Kind.ATOM, shapes.characters(((code, code),)))

    def _open_group(self, start: int) -> None:
        for prefix, construct in _UNSUPPORTED_GROUPS.items():
            if self.source.startswith(prefix, start):
                raise PatternError(f"{construct} '{prefix}' is not supported", start)
        if not self._at("?"):
            self._enter("(", start)
        elif self._at("?P<") or self._at("?<"):
            self._name(start)
            self._enter("(", start)
        else:
            flags = self._changed_flags(start)
            if self._take() == ":":
                self._enter("(?:", start)
            else:
                self._emit("", _Kind.FLAGS, shapes.row([]))
            self.flags = flags

    def _enter(self, opening: str, start: int) -> None:
        if len(self.open) > MAX_NESTING:
            raise PatternError(f"groups nest more than {MAX_NESTING} deep", start)
        self.output.append(opening)
        self.groups += opening == "("
        self.open.append(_Group(start, opening == "(", self.flags))

    def _close_group(self, start: int) -> None:
        if len(self.open) == 1:
            raise PatternError("')' closes no group", start)
        group = self.open.pop()
        self.flags = group.outer_flags
        self.output.append(")")
        self.open[-1].branches[-1].append(group.close())

    def _name(self, start: int) -> None:
        match = self._scan(_NAME)
        if match is None:
            raise PatternError("a group name is '<', letters, digits or '_', and '>'", start)
        if match[1] in self.names:
            raise PatternError(f"group name '{match[1]}' is used twice", start)
        self.names.add(match[1])

    def _changed_flags(self, start: int) -> frozenset[str]:
        match = self._scan(_FLAGS)
        if match is None or (match[0] == "?" and self._at(")")):
            raise PatternError(f"group '{self.source[start : start + 3]}' is not supported", start)
        on, off = match[1], match[2] or ""
        for flag in on + off:
            if flag not in "ism":
                raise PatternError(f"flag '{flag}' is not supported; only i, s and m are", start)
        if len(set(on + off)) < len(on + off):
            raise PatternError("a flag is given twice", start)
        return (self.flags | set(on)) - set(off)

    def _quantifier(self, character: str, start: int) -> None:
        branch = self.open[-1].branches[-1]
        if not branch or branch[-1].kind is _Kind.FLAGS:
            hint = f"write '\\{character}' for the character"
            raise PatternError(f"nothing to repeat before '{character}'; {hint}", start)
        piece = branch[-1]
        if piece.kind is not _Kind.ATOM:
            what = "an assertion" if piece.kind is _Kind.ASSERTION else "a repetition"
            raise PatternError(f"'{character}' repeats {what}", start)
        low, high = self._bounds(character, start)
        if not self._accept("?") and self._at("+"):
            text = self.source[start : self.position + 1]
            raise PatternError(f"possessive quantifier '{text}' is not supported", start)
        varies = piece.varies
        if high > 1:
            varies |= self._prepare_loop(piece, low, start)
        self.output.append(self.source[start : self.position])
        branch[-1] = replace(
            piece,
            kind=_Kind.QUANTIFIED,
            size=piece.size * (low + 1),
            shape=shapes.repeat(piece.shape, low, None if high == _UNBOUNDED else high),
            nullable=piece.nullable or low == 0,
            varies=varies or low < high,
            recursion=high * (piece.recursion + 1) if varies else piece.recursion,
        )

    def _bounds(self, character: str, start: int) -> tuple[int, int]:
        if character != "{":
            return {"*": (0, _UNBOUNDED), "+": (1, _UNBOUNDED), "?": (0, 1)}[character]
        match = self._scan(_COUNT)
        if match is None:
            hint = "write '\\{' for the character"
            raise PatternError(f"'{{' begins no {{n}}, {{n,}} or {{n,m}}; {hint}", start)
        counts = [count for count in match.groups() if count]
        if any(len(count) > len(str(MAX_REPEAT)) or int(count) > MAX_REPEAT for count in counts):
            raise PatternError(f"more than {MAX_REPEAT} repetitions", start)
        low = int(counts[0])
        high = _UNBOUNDED if match[2] == "" else int(counts[-1])
        if high < low:
            raise PatternError("the repetition counts are in the wrong order", start)
        return low, high

    def _prepare_loop(self, piece: Piece, low: int, start: int) -> bool:
        """Refuse or rewrite the repeated groups that Java and Python answer differently; whether
        one was rewritten.

        An iteration that matches the empty text sets captures in one engine only, and ends the loop
        in Java even below its lower bound. And Java's loop over a group of fixed length gets
        captures wrong, except those of a group that stands at the top and encloses no other; with
        a branch that never matches, Java takes its general loop instead.
        """
        if piece.nullable and low > 1:
            raise PatternError("what is repeated several times can match the empty text", start)
        if piece.nullable and (piece.captures or piece.encloses_captures):
            message = "a repeated capture can match the empty text; write '(?:' to only group"
            raise PatternError(message, start)
        if piece.encloses_captures or (piece.captures and len(self.open) > 1):
            self.output.insert(-1, f"|{_NO_CHARACTER}")
            return True
        return False

    def _class(self, start: int) -> None:
        negated = self._accept("^")
        members = [self._class_members(start, first=True)]
        while not self._accept("]"):
            members.append(self._class_members(start, first=False))
        ranges = tuple(span for member in members for span in member.ranges)
        if "i" in self.flags:
            ranges = both_cases(ranges)
        categories = tuple(name for member in members for name in member.categories)
        self._emit_set(CharacterSet(ranges, categories), negated)

    def _class_members(self, class_start: int, first: bool) -> CharacterSet:
        """One character, range or named set of a class."""
        start = self.position
        low = self._class_item(class_start)
        written = self.source[start : self.position]
        if written == "-" and not first and not self._at("]"):
            raise PatternError("'-' inside a class must be escaped", start)
        if not self._at("-") or self._at("-]"):
            return low if isinstance(low, CharacterSet) else CharacterSet(((low, low),))
        self._reject_set_operation()
        self.position += 1
        high = self._class_item(class_start)
        if isinstance(low, CharacterSet) or isinstance(high, CharacterSet) or written == "]":
            raise PatternError("a range needs a character at both ends", start)
        if high < low:
            raise PatternError("the ends of the range are in the wrong order", start)
        return CharacterSet(((low, high),))

    def _class_item(self, class_start: int) -> int | CharacterSet:
        self._reject_set_operation()
        start = self.position
        match self._take():
            case "":
                raise PatternError("class '[' is not closed", class_start)
            case "[":
                return self._posix(start)
            case "\\":
                return self._escaped(start)
            case character:
                return _code(ord(character), start)

    def _reject_set_operation(self) -> None:
        match = _SET_OPERATION.match(self.source, self.position)
        if match is not None:
            message = f"'{match[0]}' inside a class is a set operation in some engines; escape it"
            raise PatternError(message, self.position)

    def _posix(self, start: int) -> CharacterSet:
        match = self._scan(_POSIX_NAME)
        if match is None:
            raise PatternError("'[' inside a class must be escaped", start)
        if match[2] not in POSIX:
            raise PatternError(f"unknown character class '[{match[0]}'", start)
        self._reject_under_i(match[1] + match[2], f"[{match[0]}", start)
        members = POSIX[match[2]]
        return CharacterSet(complement(members.ranges)) if match[1] else members

    def _reject_under_i(self, name: str, text: str, start: int) -> None:
        if "i" in self.flags and name in CASED:
            raise PatternError(f"'{text}' is not supported under the flag i", start)

    def _escape(self, start: int) -> None:
        assertion = _ASSERTIONS.get(self.source[self.position : self.position + 1])
        if assertion is not None:
            self.position += 1
            self._assert(assertion)
            return
        value = self._escaped(start)
        if isinstance(value, CharacterSet):
            self._emit_set(value)
        else:
            self._emit_character(value)

    def _escaped(self, start: int) -> int | CharacterSet:
        """What an escape stands for; the backslash is already read."""
        character = self._take()
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character in _ESCAPABLE:
            return ord(character)
        if character in PERL:
            return PERL[character]
        if character.lower() in PERL:
            return CharacterSet(complement(PERL[character.lower()].ranges))
        if character == "x":
            return self._hexadecimal(start)
        if character in ("p", "P"):
            return self._category(f"\\{character}", start)
        if not character:
            raise PatternError("the pattern ends with a lone '\\'", start)
        kind = "back-reference" if character in "123456789k" else "escape"
        hint = _ESCAPE_HINTS.get(character, "")
        raise PatternError(f"{kind} '\\{character}' is not supported{hint}", start)

    def _hexadecimal(self, start: int) -> int:
        match = self._scan(_HEXADECIMAL)
        if match is None:
            raise PatternError("'\\x' needs two hexadecimal digits, or some in braces", start)
        return _code(int(match[1] or match[2], 16), start)

    def _category(self, escape: str, start: int) -> CharacterSet:
        match = self._scan(_CATEGORY)
        name = "" if match is None else match[1] or match[2]
        text = f"{escape}{{{name}}}"
        if name not in CATEGORIES:
            hint = "only general categories are, such as \\p{L} or \\p{Lu}"
            raise PatternError(f"'{text}' is not supported; {hint}", start)
        self._reject_under_i(name, text, start)
        return CharacterSet((), (text,))


def _code(code: int, start: int) -> int:
    if code > LAST_CODE or 0xD800 <= code <= 0xDFFF:
        raise PatternError(f"U+{code:04X} is not a character", start)
    return code
