"""The patterns of CXL: what is accepted and means what, what is refused and why."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from clinker.cxl.run.pattern_parser import MAX_NESTING, PatternError
from clinker.cxl.run.patterns import MAX_LENGTH, capture, compile_pattern, full_match, search

MATCHES = [
    # pattern, text, whole text matches, part of it matches
    ("", "", True, True),
    ("", "a", False, True),
    ("abc", "abc", True, True),
    ("abc", "xabcx", False, True),
    ("a|", "", True, True),
    ("|a", "a", True, True),
    ("a|ab", "ab", True, True),
    ("(a|ab)(c|bcd)", "abcd", True, True),
    ("a]b}c", "a]b}c", True, True),
    ("a-b&c~d#e f", "a-b&c~d#e f", True, True),
    # any character
    (".", "\n", False, False),
    (".", "\r", True, True),
    (".", "\x85", True, True),
    (".", "\u2028", True, True),
    (".", "\0", True, True),
    (".", "😀", True, True),
    ("..", "😀", False, False),
    (".|[^a]", "\n", True, True),
    ("[^a]x|[^b]y", "ay", True, True),
    ("(?s).", "\n", True, True),
    ("(?s:.).", "\n\n", False, False),
    ("(?s)(?-s:.).", "\n\n", False, False),
    ("(?s)(?-s:.).", "a\n", True, True),
    # start and end
    ("^a", "a", True, True),
    ("^b", "a\nb", False, False),
    ("(?m)^b", "a\nb", False, True),
    ("(?m)^b", "a\rb", False, False),
    ("(?m)a\n^", "a\n", True, True),
    ("(?m)^b", "😀b", False, False),
    ("a$", "a", True, True),
    ("a$", "a\n", False, False),
    ("a$", "a\r\n", False, False),
    (r"a\z", "a\n", False, False),
    ("(?m)a$", "a\nb", False, True),
    ("(?m)a$", "a\r\n", False, False),
    (r"(?m)\Ab", "a\nb", False, False),
    # the named sets are ASCII
    (r"\d", "7", True, True),
    (r"\d", "٣", False, False),
    (r"\D", "٣", True, True),
    (r"\w+", "aZ_09", True, True),
    (r"\w", "é", False, False),
    (r"\W", "é", True, True),
    (r"\s+", "\t\n\x0b\f\r ", True, True),
    (r"\s", "\xa0", False, False),
    (r"\s", "\x1c", False, False),
    (r"\S", "\u2003", True, True),
    (r"\bb\b", "ébé", False, True),
    (r"\bb", "ab", False, False),
    (r"\b", "", False, False),
    (r"\B", "", True, True),
    (r"\B", "a", False, False),
    (r"a\Bb", "ab", True, True),
    (r"\B", "a😀b", False, False),
    # quantifiers
    ("a*", "", True, True),
    ("a+", "", False, False),
    ("ab?", "a", True, True),
    ("a{2}", "aa", True, True),
    ("a{2}", "a", False, False),
    ("a{2,}", "aaaa", True, True),
    ("a{2,3}", "aaaa", False, True),
    ("a{0}b", "b", True, True),
    ("a*?", "aaa", True, True),
    ("a+?b??", "ab", True, True),
    ("a{1,2}?", "aa", True, True),
    ("😀{2}", "😀😀", True, True),
    ("(?:a*b*)*", "abba", True, True),
    ("(ab)?", "", True, True),
    ("a{1000}", "a" * 1000, True, True),
    # the flag i folds ASCII only
    ("(?i)abc", "aBC", True, True),
    ("a(?i)b", "aB", True, True),
    ("a(?i)b", "AB", False, False),
    ("a(?i)b|c", "C", True, True),
    ("(a(?i)b)c", "aBC", False, False),
    ("(?i:a)b", "Ab", True, True),
    ("(?i:a)b", "AB", False, False),
    ("(?i)a(?-i)b", "Ab", True, True),
    ("(?i)a(?-i)b", "AB", False, False),
    ("(?is)a.", "A\n", True, True),
    ("(?i-s:a.)", "A\n", False, False),
    ("(?i)é", "É", False, False),
    ("(?i)k", "\u212a", False, False),
    ("(?i)s", "\u017f", False, False),
    ("(?i)[a-c]", "B", True, True),
    ("(?i)[^a-c]", "B", False, False),
    ("(?i)[Z-a]", "z", True, True),
    ("(?i)[Z-a]", "b", False, False),
    ("(?i)[[:upper:]]", "a", True, True),
    (r"(?i)\x41", "a", True, True),
    # classes
    ("[abc]", "b", True, True),
    ("[^abc]", "b", False, False),
    ("[^abc]", "\n", True, True),
    ("[]a]", "]", True, True),
    ("[^]a]", "]", False, False),
    ("[-a]", "-", True, True),
    ("[a-]", "-", True, True),
    ("[^-a]", "-", False, False),
    (r"[\d-]", "-", True, True),
    ("[a^]", "^", True, True),
    ("[a&b]", "&", True, True),
    ("[.*$|]", "|", True, True),
    ("[.*$|]", "a", False, False),
    (r"[\]\[\-\\^]", "[", True, True),
    (r"[\d\s]", " ", True, True),
    (r"[\Da]", "5", False, False),
    (r"[^\Da]", "5", True, True),
    (r"[^\s\S]", "a", False, False),
    (r"[\s\S]", "\n", True, True),
    (r"[^\p{L}\P{L}]", "a", False, False),
    ("[[:alpha:]_]", "_", True, True),
    ("[[:alpha:]]", "é", False, False),
    ("[[:^alpha:]]", "é", True, True),
    ("[[:punct:]]+", "!/:@[`{~", True, True),
    ("[[:space:]]", "\x0b", True, True),
    ("[:alpha:]", "l", True, True),
    ("[à-ü]", "é", True, True),
    ("[😀-😂]", "😁", True, True),
    (r"[\x{0}-\x{FFFF}]", "😀", False, False),
    (r"[\t\n\v]", "\x0b", True, True),
    # Unicode categories
    (r"\p{L}+", "aéλ字", True, True),
    (r"\pL\PL", "a1", True, True),
    (r"\p{Lu}", "É", True, True),
    (r"\p{Lu}", "é", False, False),
    (r"\P{Nd}", "٣", False, False),
    (r"[\p{Lu}\d]", "5", True, True),
    (r"[^\p{L}\d]", "é", False, False),
    (r"[\P{L}a]", "a", True, True),
    # escapes
    (r"\t\n\r\f\v\a", "\t\n\r\f\x0b\x07", True, True),
    (r"\v", "\n", False, False),
    (r"\x41\x{1F600}", "A😀", True, True),
    (r"\.\*\+\?\^\$\|\(\)\[\]\{\}\\", r".*+?^$|()[]{}" + "\\", True, True),
    (r"\-\_\ \#\&\~\/\"", '-_ #&~/"', True, True),
    (r"\.", "a", False, False),
]

CAPTURES = [
    # pattern, text, group, captured
    ("b+", "abbb", 0, "bbb"),
    ("b", "a", 0, None),
    ("b", "b", 1, None),
    ("(a)|(b)", "b", 1, None),
    ("(a)|(b)", "b", 2, "b"),
    (r"(\d+)-(\d+)", "x 12-34 56-78", 2, "34"),
    ("(?P<year>[0-9]{4})(?<month>[0-9]{2})", "202411", 2, "11"),
    ("(?:a)(b)", "ab", 1, "b"),
    ("(a?)b", "b", 1, ""),
    ("(a)+?", "aa", 0, "a"),
    ("(.)+", "abc", 1, "c"),
    # Java's own loops would get these wrong
    ("(?:(.))+b", "aab", 1, "a"),
    ("(?:(.)+){2}", "bab", 1, "b"),
]

REJECTED = [
    # pattern, part of the message, offset
    ("a(?=b)", "look-ahead '(?=' is not supported", 1),
    ("(?!b)", "look-ahead '(?!'", 0),
    ("(?<=a)b", "look-behind '(?<='", 0),
    ("(?<!a)b", "look-behind '(?<!'", 0),
    ("(?>a)", "atomic group '(?>'", 0),
    ("(?P<n>a)(?P=n)", "back-reference '(?P='", 8),
    ("(?#a)", "comment", 0),
    ("(?(1)a)", "conditional", 0),
    (r"(a)\1", r"back-reference '\1' is not supported", 3),
    (r"(?<n>a)\k<n>", r"back-reference '\k'", 7),
    ("(?|a)", "group '(?|' is not supported", 0),
    ("(?)", "group '(?)' is not supported", 0),
    ("(?i", "group '(?i' is not supported", 0),
    ("(?i-)", "group '(?i' is not supported", 0),
    ("(?x)", "flag 'x' is not supported", 0),
    ("(?iU:a)", "flag 'U' is not supported", 0),
    ("(?R)", "flag 'R' is not supported", 0),
    ("(?i-i)", "a flag is given twice", 0),
    ("(?P<1a>b)", "group name", 0),
    ("(?<é>b)", "group name", 0),
    ("(?<n>a)(?P<n>b)", "group name 'n' is used twice", 7),
    ("(a", "group '(' is not closed", 0),
    ("a(b(c)", "group '(' is not closed", 1),
    ("a)", "')' closes no group", 1),
    # quantifiers
    ("*a", "nothing to repeat before '*'", 0),
    ("a|+", "nothing to repeat before '+'", 2),
    ("a(?i)*", "nothing to repeat before '*'", 5),
    ("{2}", "nothing to repeat before '{'", 0),
    ("^*", "repeats an assertion", 1),
    (r"\b+", "repeats an assertion", 2),
    ("a**", "'*' repeats a repetition", 2),
    ("a{2}{3}", "'{' repeats a repetition", 4),
    ("a*??", "'?' repeats a repetition", 3),
    ("a*+", "possessive quantifier '*+'", 1),
    ("a{2}+", "possessive quantifier '{2}+'", 1),
    ("a{,3}", "'{' begins no {n}", 1),
    ("a{", "'{' begins no {n}", 1),
    ("a{1, 2}", "'{' begins no {n}", 1),
    ("a{02}", "'{' begins no {n}", 1),
    ("a{٣}", "'{' begins no {n}", 1),
    ("a{3,2}", "wrong order", 1),
    ("a{1001}", "more than 1000 repetitions", 1),
    ("a{1,1001}", "more than 1000 repetitions", 1),
    ("a{" + "9" * 5000 + "}", "more than 1000 repetitions", 1),
    ("b(?:a{1000}){1000}", "too large", 0),
    ("(a*)*", "a repeated capture can match the empty text", 4),
    (r"(?:(a)?\b)+", "a repeated capture can match the empty text", 10),
    ("(?:a|^){2}", "can match the empty text", 7),
    # classes
    ("a[b", "class '[' is not closed", 1),
    ("[]", "class '[' is not closed", 0),
    ("[^]", "class '[' is not closed", 0),
    ("[a&&b]", "'&&' inside a class", 2),
    ("[a--b]", "'--' inside a class", 2),
    ("[+--]", "'--' inside a class", 2),
    ("[a~~b]", "'~~' inside a class", 2),
    ("[a||b]", "'||' inside a class", 2),
    ("[a[b]]", "'[' inside a class must be escaped", 2),
    ("[[.a.]]", "'[' inside a class must be escaped", 1),
    ("[[:nope:]]", "unknown character class '[:nope:]'", 1),
    ("(?i)[[:^upper:]]", "under the flag i", 5),
    ("[z-a]", "wrong order", 1),
    (r"[\d-z]", "a range needs a character at both ends", 1),
    (r"[a-\d]", "a range needs a character at both ends", 1),
    ("[]-a]", "a range needs a character at both ends", 1),
    ("[a-c-e]", "'-' inside a class must be escaped", 4),
    (r"[\b]", r"escape '\b' is not supported", 1),
    # escapes
    ("a\\", r"ends with a lone '\'", 1),
    (r"\Z", r"'\Z' is not supported; write '\z'", 0),
    (r"\u0041", r"'\u' is not supported; write '\x{...}'", 0),
    (r"\07", r"'\0' is not supported", 0),
    (r"\Qa\E", r"'\Q' is not supported", 0),
    (r"\<", r"'\<' is not supported", 0),
    (r"\é", r"'\é' is not supported", 0),
    *((f"a\\{letter}", f"'\\{letter}' is not supported", 1) for letter in "GRXhHVNCKceEy"),
    (r"\x4", r"'\x' needs", 0),
    (r"\x{}", r"'\x' needs", 0),
    (r"\x{110000}", "U+110000 is not a character", 0),
    (r"\x{D800}", "U+D800 is not a character", 0),
    ("a\udc00", "U+DC00 is not a character", 1),
    (r"\p{Latin}", "only general categories", 0),
    (r"\p{IsLatin}", "only general categories", 0),
    (r"\p{^L}", "only general categories", 0),
    (r"\p{C}", "only general categories", 0),
    (r"\p{lu}", "only general categories", 0),
    (r"\p{L", "only general categories", 0),
    (r"(?i)\p{Lu}", "under the flag i", 4),
    # limits
    ("(" * (MAX_NESTING + 1) + ")" * (MAX_NESTING + 1), "groups nest more than", MAX_NESTING),
    ("a" * (MAX_LENGTH + 1), "at most", MAX_LENGTH),
]


@pytest.mark.parametrize(("source", "text", "whole", "part"), MATCHES)
def test_match(source: str, text: str, whole: bool, part: bool) -> None:
    pattern = compile_pattern(source)
    assert (full_match(pattern, text), search(pattern, text)) == (whole, part)


@pytest.mark.parametrize(("source", "text", "group", "captured"), CAPTURES)
def test_capture(source: str, text: str, group: int, captured: str | None) -> None:
    assert capture(compile_pattern(source), text, group) == captured


@pytest.mark.parametrize(("source", "message", "offset"), REJECTED)
def test_rejected(source: str, message: str, offset: int) -> None:
    with pytest.raises(PatternError) as caught:
        compile_pattern(source)
    assert message in str(caught.value)
    assert caught.value.offset == offset


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a.b", "a[\\x00-\\x09\\x0B-\U0010ffff]b"),
        ("(?i)^aé$", "\\A[Aa]é(?![\\x00-\U0010ffff])"),
        (r"(?<n>\d)+|[\s\-]", r"([0-9])+|[\x09-\x0D \-]"),
        (r"[^b\p{L}]\.", r"[^b\p{L}]\."),
    ],
)
def test_canonical_text(source: str, text: str) -> None:
    assert compile_pattern(source).text == text


def test_groups_are_counted() -> None:
    assert compile_pattern("(a)(?:b)(?<n>c(d))").groups == 3


@pytest.mark.parametrize("quantifier", ["", "?"])
def test_deepest_nesting_matches(quantifier: str) -> None:
    source = "(" * MAX_NESTING + "a" + f"|b){quantifier}" * MAX_NESTING
    assert full_match(compile_pattern(source), "b")


def test_engine_is_loaded_on_first_use_only() -> None:
    program = (
        "import sys; from clinker.cxl.run.patterns import compile_pattern; compile_pattern('a');"
        "sys.exit('regex' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


SYNTAX = st.sampled_from(
    r"""
    a b K 0 1 9 é 😀 . ^ $ | ( ) (?: (?i) (?-s: (?m) (?P<n> * + ? *? {2} {1,3} { } , [ ] [^ - & : =
    \d \W \s \b \B \A \z \pL \P{Lu} \p{ \x41 \x{1F600} \x \- \] \\ \ [:alpha:] [[:^digit:] [a-z]
    """.split()
)


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=30), st.lists(SYNTAX, max_size=12).map("".join)))
def test_every_accepted_text_compiles(source: str) -> None:
    try:
        pattern = compile_pattern(source)
    except PatternError as error:
        assert 0 <= error.offset <= len(source)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert regex.compile(pattern.text).groups == pattern.groups


SIMPLE = st.recursive(
    st.sampled_from(["a", "b", ".", "[^a]", "[ab]", r"\w", r"\W", r"\s", r"\b", "^", "é", "\n"]),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda branches: f"(?:{'|'.join(branches)})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "??", "{1,2}"])).map(
            lambda loop: f"(?:{loop[0]}){loop[1]}"
        ),
    ),
    max_leaves=6,
)


@settings(max_examples=200)
@given(SIMPLE, st.text("ab é\n_", max_size=5))
def test_agrees_with_the_standard_library(source: str, text: str) -> None:
    """Where the standard library means the same by a pattern, it gives the same answers."""
    pattern, standard = compile_pattern(source), re.compile(source, re.ASCII)
    assert full_match(pattern, text) == (standard.fullmatch(text) is not None)
    assert search(pattern, text) == (standard.search(text) is not None)
