"""Text patterns that mean the same in the interpreter and in Spark.

The interpreter matches with the `regex` library and Spark with `java.util.regex`. The two differ in
what `.`, `$`, `\\w`, `\\b` and `(?i)` mean, so a pattern is never handed to either as written: it is
parsed here, in the subset that Java and the RE2 family agree on, and rewritten into one canonical
text built only from constructs that both engines read alike. Whatever lies outside the subset is an
error.

Unicode general categories are the one thing left to the engines: a character added to Unicode after
the older engine was built counts as unassigned there.
"""

from __future__ import annotations

import enum
import functools
import string
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import regex

MAX_LENGTH = 10_000
MAX_NESTING = 100
MAX_REPEAT = 1000

Ranges = tuple[tuple[int, int], ...]


class PatternError(ValueError):
    """A pattern outside the supported subset; `offset` is the character it goes wrong at."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


@dataclass(frozen=True)
class Pattern:
    """A pattern in its canonical text, valid in Java and in Python's `regex`."""

    text: str
    groups: int


@functools.lru_cache(maxsize=1024)
def compile_pattern(source: str) -> Pattern:
    """Parse and rewrite a user's pattern; raises PatternError."""
    if len(source) > MAX_LENGTH:
        raise PatternError(f"a pattern has at most {MAX_LENGTH} characters", MAX_LENGTH)
    return _Parser(source).parse()


def full_match(pattern: Pattern, text: str) -> bool:
    """Whether the whole of `text` matches."""
    return _engine(pattern.text).fullmatch(text) is not None


def search(pattern: Pattern, text: str) -> bool:
    """Whether some part of `text` matches."""
    return _engine(pattern.text).search(text) is not None


def capture(pattern: Pattern, text: str, group: int) -> str | None:
    """What `group` holds in the first match; None without a match, or when it took no part."""
    found = _engine(pattern.text).search(text) if group <= pattern.groups else None
    return None if found is None else found.group(group)


@functools.lru_cache(maxsize=1024)
def _engine(text: str) -> regex.Pattern[str]:
    import regex

    # The version is pinned because the library's default is a global that anyone may change.
    return regex.compile(text, regex.V0)


# --- sets of characters ---------------------------------------------------------------------------

# The surrogates are left out: they are no characters, but Java could see them inside its strings.
_BEFORE_SURROGATES = 0xD7FF
_AFTER_SURROGATES = 0xE000
_LAST = 0x10FFFF
_NEWLINE: Ranges = ((0x0A, 0x0A),)
_ANY = r"[\s\S]"
_NONE = r"[^\s\S]"
_SPECIAL = frozenset(r"\.[](){}*+?^$|-&~#")
_CASE_DISTANCE = ord("a") - ord("A")


def _ranges(text: str) -> Ranges:
    """Ranges from a compact notation of character pairs: "azAZ" is a-z and A-Z."""
    return tuple((ord(a), ord(b)) for a, b in zip(text[::2], text[1::2], strict=True))


_DIGIT = _ranges("09")
_SPACE = _ranges("\t\r  ")
_WORD = _ranges("09AZ__az")
_POSIX: dict[str, Ranges] = {
    "alnum": _ranges("09AZaz"),
    "alpha": _ranges("AZaz"),
    "ascii": _ranges("\x00\x7f"),
    "blank": _ranges("\t\t  "),
    "cntrl": _ranges("\x00\x1f\x7f\x7f"),
    "digit": _DIGIT,
    "graph": _ranges("!~"),
    "lower": _ranges("az"),
    "print": _ranges(" ~"),
    "punct": _ranges("!/:@[`{~"),
    "space": _SPACE,
    "upper": _ranges("AZ"),
    "word": _WORD,
    "xdigit": _ranges("09AFaf"),
}
_PERL = {"d": _DIGIT, "s": _SPACE, "w": _WORD}

# C and Cn are missing: RE2 does not count unassigned characters as C. Cs is: it holds no characters.
_CATEGORIES = frozenset(
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp Cc Cf Co".split()
)
_CASED = frozenset({"Lu", "Ll", "Lt"})


@dataclass(frozen=True)
class _Set:
    """Characters by range, and Unicode categories in the engines' notation."""

    ranges: Ranges = ()
    categories: tuple[str, ...] = ()


def _merged(ranges: Iterable[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def _complement(ranges: Ranges) -> Ranges:
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in _merged((*ranges, (_BEFORE_SURROGATES + 1, _AFTER_SURROGATES - 1))):
        if start < low:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= _LAST:
        gaps.append((start, _LAST))
    return tuple(gaps)


def _both_cases(ranges: Ranges) -> Ranges:
    folded = list(ranges)
    for first, last, distance in (("a", "z", -_CASE_DISTANCE), ("A", "Z", _CASE_DISTANCE)):
        for low, high in ranges:
            inside = max(low, ord(first)), min(high, ord(last))
            if inside[0] <= inside[1]:
                folded.append((inside[0] + distance, inside[1] + distance))
    return tuple(folded)


def _literal(code: int) -> str:
    character = chr(code)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02X}"
    return f"\\{character}" if character in _SPECIAL else character


def _range_text(low: int, high: int) -> str:
    dash = "-" if high - low > 1 else ""
    return _literal(low) if low == high else f"{_literal(low)}{dash}{_literal(high)}"


def _set_text(members: _Set, negated: bool = False) -> str:
    """A character class for both engines."""
    ranges = _complement(_complement(members.ranges))
    if not members.categories:
        if ranges and ranges[-1][1] == _LAST:
            ranges, negated = _complement(ranges), not negated
        if not ranges:
            return _ANY if negated else _NONE
    body = "".join(_range_text(low, high) for low, high in ranges) + "".join(members.categories)
    return f"[^{body}]" if negated else f"[{body}]"


# --- the parser -----------------------------------------------------------------------------------

_WORD_TEXT = _set_text(_Set(_WORD))
_END = f"(?!{_ANY})"
_LINE_START = r"(?<![^\x0A])"
_LINE_END = r"(?![^\x0A])"
_BOUNDARY = f"(?:(?<={_WORD_TEXT})(?!{_WORD_TEXT})|(?<!{_WORD_TEXT})(?={_WORD_TEXT}))"
# "No word character follows" is not written `(?![...])`: without a class that reaches beyond the
# basic plane Java would also try the place between the two halves of a surrogate pair.
_NO_BOUNDARY = (
    f"(?:(?<={_WORD_TEXT})(?={_WORD_TEXT})"
    f"|(?<!{_WORD_TEXT})(?:(?={_set_text(_Set(_WORD), negated=True)})|{_END}))"
)
_ASSERTIONS = {"A": r"\A", "z": _END, "b": _BOUNDARY, "B": _NO_BOUNDARY}
_CONTROLS = {"a": 0x07, "t": 0x09, "n": 0x0A, "v": 0x0B, "f": 0x0C, "r": 0x0D}
# `\<` and `\>` are word boundaries in some engines.
_ESCAPABLE = frozenset(string.punctuation + " ") - frozenset("<>")
_UNSUPPORTED_ESCAPES = {
    "Z": r"'\Z' differs between engines; write '\z' for the end of the text",
    "u": r"'\u' is not supported; write '\x{...}'",
    "U": r"'\U' is not supported; write '\x{...}'",
    "k": r"back-reference '\k' is not supported",
    "0": r"octal escape '\0' is not supported; write '\x{...}'",
    "Q": r"quoting with '\Q' is not supported; escape each character",
    "E": r"quoting with '\E' is not supported; escape each character",
}
_UNSUPPORTED_GROUPS = {
    "(?=": "look-ahead",
    "(?!": "look-ahead",
    "(?<=": "look-behind",
    "(?<!": "look-behind",
    "(?>": "atomic group",
    "(?P=": "back-reference",
    "(?P>": "recursion",
    "(?#": "comment",
    "(?(": "conditional",
    "(?|": "branch reset",
}
_SET_OPERATIONS = ("&&", "--", "~~", "||")
_SIMPLE_QUANTIFIERS = frozenset("*+?")
_FLAGS = frozenset("ism")
_DIGITS = frozenset(string.digits)
_HEX_DIGITS = frozenset(string.hexdigits)
_LETTERS = frozenset(string.ascii_letters)
_NAME_START = _LETTERS | {"_"}
_NAME = _NAME_START | _DIGITS


class _Before(enum.Enum):
    """What a quantifier would apply to."""

    NOTHING = enum.auto()
    ASSERTION = enum.auto()
    ATOM = enum.auto()
    QUANTIFIED = enum.auto()


@dataclass
class _Open:
    """A group not closed yet."""

    offset: int
    outer_flags: frozenset[str]
    repeats: int = 1


class _Parser:
    """Rewrites from left to right. Open groups are kept on a list: deep nesting costs no recursion."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.position = 0
        self.output: list[str] = []
        self.groups = 0
        self.names: set[str] = set()
        self.flags: frozenset[str] = frozenset()
        self.open: list[_Open] = [_Open(0, self.flags)]
        self.before = _Before.NOTHING
        self.repeats = 1

    def parse(self) -> Pattern:
        while self.position < len(self.source):
            self._next()
        if len(self.open) > 1:
            raise PatternError("group '(' is not closed", self.open[-1].offset)
        return Pattern("".join(self.output), self.groups)

    def _next(self) -> None:
        start = self.position
        character = self._take()
        match character:
            case "(":
                self._open_group(start)
            case ")":
                self._close_group(start)
            case "|":
                self._emit("|", _Before.NOTHING)
            case "*" | "+" | "?" | "{":
                self._quantifier(character, start)
            case "[":
                self._class(start)
            case "\\":
                self._escape(start)
            case "^":
                self._emit(_LINE_START if "m" in self.flags else r"\A", _Before.ASSERTION)
            case "$":
                self._emit(_LINE_END if "m" in self.flags else _END, _Before.ASSERTION)
            case ".":
                self._emit_set(_Set() if "s" in self.flags else _Set(_NEWLINE), negated=True)
            case _:
                self._emit_character(self._code(character, start))

    # reading

    def _at(self, text: str) -> bool:
        return self.source.startswith(text, self.position)

    def _accept(self, text: str) -> bool:
        found = self._at(text)
        if found:
            self.position += len(text)
        return found

    def _take(self) -> str:
        """The next character, or nothing at the end."""
        character = self.source[self.position : self.position + 1]
        self.position += len(character)
        return character

    def _take_while(self, allowed: frozenset[str]) -> str:
        start = self.position
        while self.position < len(self.source) and self.source[self.position] in allowed:
            self.position += 1
        return self.source[start : self.position]

    # writing

    def _emit(self, text: str, before: _Before) -> None:
        self.output.append(text)
        self.before = before
        self.repeats = 1

    def _emit_set(self, members: _Set, negated: bool = False) -> None:
        self._emit(_set_text(members, negated), _Before.ATOM)

    def _emit_character(self, code: int) -> None:
        if "i" in self.flags and chr(code) in string.ascii_letters:
            self._emit_set(_Set(_both_cases(((code, code),))))
        else:
            self._emit(_literal(code), _Before.ATOM)

    # groups

    def _open_group(self, start: int) -> None:
        for prefix, construct in _UNSUPPORTED_GROUPS.items():
            if self.source.startswith(prefix, start):
                raise PatternError(f"{construct} '{prefix}' is not supported", start)
        if not self._accept("?"):
            self._enter_capturing(start)
        elif self._accept("P<") or self._accept("<"):
            self._name()
            self._enter_capturing(start)
        else:
            flags = self._changed_flags()
            if self._accept(":"):
                self._enter("(?:", start)
            elif not self._accept(")"):
                raise PatternError("group '(?' is not supported or not closed", start)
            self.flags = flags
            self.before = _Before.NOTHING

    def _enter_capturing(self, start: int) -> None:
        self.groups += 1
        self._enter("(", start)

    def _enter(self, opening: str, start: int) -> None:
        if len(self.open) > MAX_NESTING:
            raise PatternError(f"groups are nested more than {MAX_NESTING} deep", start)
        self.open.append(_Open(start, self.flags))
        self._emit(opening, _Before.NOTHING)

    def _close_group(self, start: int) -> None:
        if len(self.open) == 1:
            raise PatternError("')' closes no group", start)
        group = self.open.pop()
        self.flags = group.outer_flags
        self._emit(")", _Before.ATOM)
        self._count_repeats(group.repeats)

    def _name(self) -> None:
        start = self.position
        name = self._take_while(_NAME)
        if not name or name[0] not in _NAME_START or not self._accept(">"):
            raise PatternError("a group name is letters, digits and '_', then '>'", start)
        if name in self.names:
            raise PatternError(f"group name '{name}' is used twice", start)
        self.names.add(name)

    def _changed_flags(self) -> frozenset[str]:
        start = self.position
        on = self._take_while(_LETTERS)
        off = ""
        if self._accept("-"):
            off = self._take_while(_LETTERS)
            if not off:
                raise PatternError("a flag is missing after '-'", self.position)
        for flag in on + off:
            if flag not in _FLAGS:
                raise PatternError(f"flag '{flag}' is not supported; only i, s and m are", start)
        if len(set(on + off)) < len(on + off):
            raise PatternError("a flag is given twice", start)
        return (self.flags | set(on)) - set(off)

    # quantifiers

    def _quantifier(self, character: str, start: int) -> None:
        match self.before:
            case _Before.NOTHING:
                hint = f"write '\\{character}' for the character itself"
                raise PatternError(f"nothing to repeat before '{character}'; {hint}", start)
            case _Before.ASSERTION:
                raise PatternError(f"'{character}' repeats an assertion, not text", start)
            case _Before.QUANTIFIED:
                raise PatternError(f"'{character}' repeats a repetition; group it first", start)
        count = self._count(start) if character == "{" else 1
        lazy = self._accept("?")
        if not lazy and self._at("+"):
            text = self.source[start : self.position + 1]
            raise PatternError(f"possessive quantifier '{text}' is not supported", start)
        repeats = self.repeats * count
        if repeats > MAX_REPEAT:
            raise PatternError(f"a repetition of more than {MAX_REPEAT} is not supported", start)
        self._emit(self.source[start : self.position], _Before.QUANTIFIED)
        self._count_repeats(repeats)

    def _count_repeats(self, repeats: int) -> None:
        self.repeats = repeats
        self.open[-1].repeats = max(self.open[-1].repeats, repeats)

    def _count(self, start: int) -> int:
        """The largest count of a `{...}`; at least 1, to weigh what it encloses."""
        low = high = self._take_while(_DIGITS)
        if self._accept(","):
            high = self._take_while(_DIGITS) or low
        if not low or not self._accept("}"):
            hint = "write '\\{' for the character itself"
            raise PatternError(f"'{{' begins no {{n}}, {{n,}} or {{n,m}}; {hint}", start)
        if any(len(count) > 1 and count[0] == "0" for count in (low, high)):
            raise PatternError("a repetition count begins with 0", start)
        if any(len(count) > len(str(MAX_REPEAT)) for count in (low, high)):
            raise PatternError(f"a repetition of more than {MAX_REPEAT} is not supported", start)
        if int(high) < int(low):
            raise PatternError("a repetition's bounds are in the wrong order", start)
        return max(int(high), 1)

    # classes

    def _class(self, start: int) -> None:
        negated = self._accept("^")
        members: list[_Set] = []
        first = True
        while first or not self._accept("]"):
            members.append(self._class_members(start, first))
            first = False
        ranges = tuple(span for member in members for span in member.ranges)
        if "i" in self.flags:
            ranges = _both_cases(ranges)
        categories = tuple(name for member in members for name in member.categories)
        self._emit_set(_Set(ranges, categories), negated)

    def _class_members(self, class_start: int, first: bool) -> _Set:
        """One character, range or named set of a class."""
        start = self.position
        low = self._class_item(class_start)
        bare = self.source[start : self.position]
        if bare == "-" and not first and not self._at("]"):
            raise PatternError("'-' inside a class must be escaped", start)
        if self._at("-") and not self._at("-]"):
            self._reject_set_operation()
            self.position += 1
            high = self._class_item(class_start)
            if isinstance(low, _Set) or isinstance(high, _Set) or bare in ("-", "]"):
                raise PatternError("a range needs a character at both ends", start)
            if high < low:
                raise PatternError("a range's ends are in the wrong order", start)
            return _Set(((low, high),))
        return low if isinstance(low, _Set) else _Set(((low, low),))

    def _class_item(self, class_start: int) -> int | _Set:
        self._reject_set_operation()
        start = self.position
        character = self._take()
        if not character:
            raise PatternError("class '[' is not closed", class_start)
        if character == "[":
            return self._posix(start)
        if character == "\\":
            return self._escaped(start)
        return self._code(character, start)

    def _reject_set_operation(self) -> None:
        for operation in _SET_OPERATIONS:
            if self._at(operation):
                raise PatternError(
                    f"'{operation}' inside a class is a set operation in some engines; escape it",
                    self.position,
                )

    def _posix(self, start: int) -> _Set:
        if not self._accept(":"):
            raise PatternError("'[' inside a class must be escaped", start)
        negated = self._accept("^")
        name = self._take_while(_LETTERS)
        if not self._accept(":]") or name not in _POSIX:
            raise PatternError(f"unknown character class '[:{name}:]'", start)
        return _Set(_complement(_POSIX[name]) if negated else _POSIX[name])

    # escapes

    def _escape(self, start: int) -> None:
        assertion = _ASSERTIONS.get(self.source[self.position : self.position + 1])
        if assertion is not None:
            self.position += 1
            self._emit(assertion, _Before.ASSERTION)
            return
        value = self._escaped(start)
        if isinstance(value, _Set):
            self._emit_set(value)
        else:
            self._emit_character(value)

    def _escaped(self, start: int) -> int | _Set:
        """What an escape stands for, in a class or outside; the backslash is already read."""
        character = self._take()
        if character in _CONTROLS:
            return _CONTROLS[character]
        if character in _ESCAPABLE:
            return ord(character)
        if character in _PERL:
            return _Set(_PERL[character])
        if character.lower() in _PERL:
            return _Set(_complement(_PERL[character.lower()]))
        match character:
            case "":
                raise PatternError("the pattern ends with a lone '\\'", start)
            case "x":
                return self._hexadecimal(start)
            case "p" | "P":
                return self._category(character, start)
        if character in _DIGITS - {"0"}:
            raise PatternError(f"back-reference '\\{character}' is not supported", start)
        message = f"escape '\\{character}' is not supported"
        raise PatternError(_UNSUPPORTED_ESCAPES.get(character, message), start)

    def _hexadecimal(self, start: int) -> int:
        if self._accept("{"):
            digits = self._take_while(_HEX_DIGITS)
            closed = self._accept("}")
        else:
            digits = self.source[self.position : self.position + 2]
            self.position += len(digits)
            closed = len(digits) == 2
        if not digits or not closed or not _HEX_DIGITS.issuperset(digits):
            raise PatternError("'\\x' needs two hexadecimal digits, or some in braces", start)
        code = int(digits, 16)
        if code > _LAST:
            raise PatternError(f"'\\x{{{digits}}}' is beyond the last character", start)
        return self._code(chr(code), start)

    def _code(self, character: str, start: int) -> int:
        code = ord(character)
        if _BEFORE_SURROGATES < code < _AFTER_SURROGATES:
            raise PatternError("a surrogate is not a character", start)
        return code

    def _category(self, letter: str, start: int) -> _Set:
        name = self._take()
        if name == "{":
            end = self.source.find("}", self.position)
            if end < 0:
                raise PatternError(f"'\\{letter}{{' is not closed", start)
            name = self.source[self.position : end]
            self.position = end + 1
        if name not in _CATEGORIES:
            raise PatternError(
                f"'\\{letter}{{{name}}}' is not supported; "
                "only Unicode general categories are, such as \\p{L}, \\p{Lu} or \\p{Nd}",
                start,
            )
        if "i" in self.flags and name in _CASED:
            raise PatternError(f"'\\{letter}{{{name}}}' is not supported under the flag i", start)
        return _Set((), (f"\\{letter}{{{name}}}",))
