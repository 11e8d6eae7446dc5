"""Sets of characters, and how they are written for both engines that match patterns."""

from __future__ import annotations

from collections.abc import Iterable

from clinker.frozen import frozen

Ranges = tuple[tuple[int, int], ...]


@frozen
class CharacterSet:
    r"""Characters by code, and Unicode categories as `\p{..}` or `\P{..}`."""

    ranges: Ranges = ()
    categories: tuple[str, ...] = ()


def _set(pairs: str) -> CharacterSet:
    """The set of a compact notation: "azAZ" is a-z and A-Z."""
    ends = [ord(character) for character in pairs]
    return CharacterSet(tuple(zip(ends[::2], ends[1::2], strict=True)))


LAST_CODE = 0x10FFFF
EVERYTHING = _set("\0\U0010ffff")
NEWLINE = _set("\n\n")
PERL = {"d": _set("09"), "s": _set("\t\r  "), "w": _set("09AZ__az")}
POSIX = {
    "alnum": _set("09AZaz"),
    "alpha": _set("AZaz"),
    "ascii": _set("\x00\x7f"),
    "blank": _set("\t\t  "),
    "cntrl": _set("\x00\x1f\x7f\x7f"),
    "digit": PERL["d"],
    "graph": _set("!~"),
    "lower": _set("az"),
    "print": _set(" ~"),
    "punct": _set("!/:@[`{~"),
    "space": PERL["s"],
    "upper": _set("AZ"),
    "word": PERL["w"],
    "xdigit": _set("09AFaf"),
}
# Without C, Cn and Cs: whether unassigned characters are C differs, and surrogates are none.
CATEGORIES = frozenset(
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po "
    "S Sm Sc Sk So Z Zs Zl Zp Cc Cf Co".split()
)
# Engines differ in what these are under the flag i.
CASED = frozenset({"Lu", "Ll", "Lt", "^lower", "^upper"})
SPECIAL = frozenset(r"\.[](){}*+?^$|-&~#")


def complement(ranges: Iterable[tuple[int, int]]) -> Ranges:
    gaps: list[tuple[int, int]] = []
    start = 0
    for low, high in sorted(ranges):
        if start < low:
            gaps.append((start, low - 1))
        start = max(start, high + 1)
    if start <= LAST_CODE:
        gaps.append((start, LAST_CODE))
    return tuple(gaps)


def both_cases(ranges: Ranges) -> Ranges:
    other_case: list[tuple[int, int]] = []
    for first, last, distance in (("a", "z", -0x20), ("A", "Z", 0x20)):
        for low, high in ranges:
            low, high = max(low, ord(first)), min(high, ord(last))
            if low <= high:
                other_case.append((low + distance, high + distance))
    return (*ranges, *other_case)


def escape(code: int) -> str:
    """A character as it stands in a pattern."""
    character = chr(code)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02X}"
    return f"\\{character}" if character in SPECIAL else character


def _range_text(low: int, high: int) -> str:
    return escape(low) if low == high else f"{escape(low)}-{escape(high)}"


def write_class(members: CharacterSet, negated: bool = False) -> str:
    r"""A class for both engines.

    Negation is spelt out as ranges where it can be: the `regex` library takes `[^a]|[^b]` for
    `[^ab]`, and `[^\p{L}\P{L}]` for everything.
    """
    ranges, categories = complement(complement(members.ranges)), set(members.categories)
    if any(text.replace(r"\p", r"\P") in categories - {text} for text in categories):
        ranges, categories = EVERYTHING.ranges, set()
    if negated and not categories:
        ranges, negated = complement(ranges), False
    if not ranges and not categories:
        ranges, negated = EVERYTHING.ranges, True
    body = "".join([*(_range_text(low, high) for low, high in ranges), *sorted(categories)])
    return f"[^{body}]" if negated else f"[{body}]"
