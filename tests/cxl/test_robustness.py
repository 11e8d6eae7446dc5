"""Whatever is fed to `cxl`: it answers with a result or with diagnostics, and soon."""

from __future__ import annotations

import io
import json
import random
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clinker.cli import cxl
from clinker.cxl.builtins import AGGREGATES, METHODS, WINDOW_FUNCTIONS
from clinker.cxl.check.resolve import OPEN_ROW, Context, ProgramKind, WindowContext
from clinker.cxl.check.typecheck import check
from clinker.cxl.syntax.expressions import NAMESPACES
from clinker.cxl.syntax.lexer import KEYWORDS, MAX_SOURCE_BYTES
from clinker.cxl.syntax.parser import parse
from clinker.diagnostics import Source
from tests.cxl import typed_programs as tp

_F = TypeVar("_F", bound=Callable[..., object])

# Seconds of processor time that are enough for a program, and for one of the largest size.
SOON = 5.0
SOON_ENOUGH = 10.0


def examples(count: int) -> Callable[[_F], _F]:
    return settings(
        max_examples=count,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


# The command, run in this process


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


def _stream(errors: str = "strict") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), "utf-8", errors=errors, newline="\n")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue().decode()


@contextmanager
def soon() -> Iterator[None]:
    """Interrupts what takes longer than it may, in processor time."""
    late = f"no answer within {SOON} s"
    alarms: list[int] = []

    def interrupt(number: int, _frame: object) -> None:
        alarms.append(number)
        raise AssertionError(late)

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, SOON)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    assert not alarms, late  # the interruption may have hit code that catches everything


def run_cxl(*argv: str, given: bytes = b"") -> Answer:
    """What `cxl` says to arguments and standard input."""
    out, err = _stream(), _stream("backslashreplace")
    with (
        mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(given), "utf-8")),
        mock.patch("sys.stdout", out),
        mock.patch("sys.stderr", err),
        soon(),
        mock.patch("signal.signal"),  # the command's own handling of pipes is not for this process
    ):
        try:
            code = cxl.main(argv)
        except RecursionError:  # pytest needs minutes to show a traceback of that many calls
            raise AssertionError("the recursion limit was exceeded") from None
    return Answer(code, _text(out), _text(err))


def assert_answered(program: bytes) -> None:
    """`check` and `fmt` both answer, and agree on whether the program can be parsed."""
    checked = run_cxl("check", "-", given=program)
    assert checked.code in (0, 1)
    assert ("error[" in checked.err) == (checked.code == 1)
    formatted = run_cxl("fmt", "-", given=program)
    assert formatted.code in (0, 1)
    if formatted.code == 0:
        assert run_cxl("fmt", "-", given=formatted.out.encode()).out == formatted.out
    else:
        assert "error[parse]" in formatted.err
        assert checked.code == 1


def assert_listed(program: bytes) -> None:
    """The findings as JSON are those that decide the exit code."""
    answer = run_cxl("check", "--format", "json", "-", given=program)
    found = json.loads(answer.out)
    assert any(finding["severity"] == "error" for finding in found) == (answer.code == 1)


def assert_checked(text: str) -> None:
    """The checker answers for every kind of program this text could be."""
    for context in (
        Context(row=OPEN_ROW, window=WindowContext()),
        Context(row=OPEN_ROW, kind=ProgramKind.AGGREGATE, group_by=("a",)),
    ):
        with soon():
            checked = check(parse(Source("program.cxl", text)), context)
        assert checked.program or any(d.is_error for d in checked.diagnostics)


# Small inputs of every sort

TOKENS = (
    *sorted(KEYWORDS),
    *(f"${namespace}" for namespace in NAMESPACES),
    *"a b amount this each in outer meta info error _ by _x".split(),
    *'1 0 2.5 9223372036854775808 "x" \'y\' "" #2024-02-29#'.split(),
    *"== != <= >= => :: ?? - + * / % < > = ( ) [ ] { } , . : && | ; ? ! $ # -- \\ @ é".split(),
    *"( ) ( ) { } . . , = =>".split(),
    *sorted(METHODS),
    *sorted(AGGREGATES),
    *sorted(WINDOW_FUNCTIONS),
)
TOKEN_SOUP = st.lists(st.sampled_from(TOKENS), max_size=25).map(" ".join)
STARTS = st.sampled_from(["emit x =", "let y =", "filter", "trace"])
STATEMENTS = st.lists(st.tuples(STARTS, TOKEN_SOUP).map(" ".join), max_size=3).map("\n".join)


@examples(100)
@given(st.text(max_size=60))
def test_any_text_is_answered(text: str) -> None:
    program = text.encode("utf-8", "surrogatepass")
    assert_answered(program)
    assert_listed(program)


@examples(100)
@given(st.binary(max_size=60))
def test_any_bytes_are_answered(program: bytes) -> None:
    assert_answered(program)
    assert_listed(program)


@examples(140)
@given(TOKEN_SOUP | STATEMENTS)
def test_any_tokens_are_answered(text: str) -> None:
    assert_answered(text.encode())
    assert_listed(text.encode())
    assert_checked(text)


def _cut(text: str, rng: random.Random) -> tuple[int, int]:
    start, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    return start, min(end, start + 12)


def mutated(text: str, rng: random.Random) -> str:
    """The text with a piece removed, doubled, moved or replaced by some token."""
    start, end = _cut(text, rng)
    piece = text[start:end]
    match rng.randrange(5):
        case 0:
            return text[:start] + text[end:]
        case 1:
            return text[:end] + piece + text[end:]
        case 2:
            return text[:start] + f" {rng.choice(TOKENS)} " + text[end:]
        case 3:
            rest = text[:start] + text[end:]
            at = rng.randrange(len(rest) + 1)
            return rest[:at] + piece + rest[at:]
        case _:
            return text[:start] + piece[::-1] + text[end:]


@examples(90)
@given(tp.program_texts(), st.integers(0, 2**32), st.integers(1, 4))
def test_damaged_programs_are_answered(text: str, seed: int, times: int) -> None:
    rng = random.Random(seed)
    for _ in range(times):
        text = mutated(text, rng)
    assert_answered(text.encode("utf-8", "surrogatepass"))
    assert_checked(text)


# Records


@examples(100)
@given(st.text(max_size=30), st.lists(st.text(max_size=10), max_size=2))
def test_any_record_and_any_field_is_answered(record: str, fields: Sequence[str]) -> None:
    surrogates = [text for text in (record, *fields) if not text.isascii() or "\0" in text]
    assert run_cxl("eval", "-e", "emit x = 1", f"--record={record}").code in (0, 2)
    options = [f"--field={text}" for text in fields if text not in surrogates]
    assert run_cxl("eval", "-e", "emit x = 1", *options).code in (0, 1, 2, 64)


@pytest.mark.parametrize("depth", [50, 900, 4000, 9000, 100_000])
@pytest.mark.parametrize(
    "program",
    [
        "emit x = a",
        "emit x = a.to_string()",
        "emit x = a == a",
        "emit x = a distinct",
        "emit x = [a].join(1.to_string())",
        'emit x = {"k": a}.to_string().length()',
    ],
)
def test_deeply_nested_records_are_answered(program: str, depth: int) -> None:
    for opening, closing in (("[", "]"), ('{"k": ', "}")):
        inner = opening * depth + "1" + closing * depth
        answer = run_cxl("eval", "-e", program, "--record", f'{{"a": {inner}}}')
        assert answer.code in (0, 1, 2)


# Deep and long programs

DEEP: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "emit x = " + "(" * n + "1" + ")" * n,
    "open parentheses": lambda n: "emit x = " + "(" * n,
    "brackets": lambda n: "emit x = " + "[" * n + "1" + "]" * n,
    "open brackets": lambda n: "emit x = " + "[" * n,
    "maps": lambda n: "emit x = " + '{"k": ' * n + "1" + "}" * n,
    "open braces": lambda n: "{" * n,
    "closing braces": lambda n: "}" * n,
    "minus signs": lambda n: "emit x = " + "- " * n + "1",
    "nots": lambda n: "emit x = " + "not " * n + "true",
    "ifs": lambda n: "emit x = " + "if a then 1 else " * n + "2",
    "nested conditions": lambda n: "emit x = " + "if " * n + "a" + " then 1 else 2" * n,
    "matches": lambda n: "emit x = " + "match { a => " * n + "1" + ", _ => 2 }" * n,
    "closures": lambda n: "emit x = " + "[1].map(it => " * n + "it" + ")" * n,
    "arguments": lambda n: "emit x = " + "a.concat(" * n + "a" + ")" * n,
    "indices": lambda n: "emit x = " + "a[" * n + "0" + "]" * n,
    "method chain": lambda n: "emit x = a" + ".trim()" * n,
    "member chain": lambda n: "emit x = a" + ".b" * n,
    "index chain": lambda n: "emit x = a" + "[0]" * n,
    "sum": lambda n: "emit x = 1" + " + 1" * n,
    "texts": lambda n: 'emit x = "a"' + ' + "b"' * n,
    "ands": lambda n: "emit x = a" + " and a" * n,
    "ands and ors": lambda n: "emit x = a" + " and a or a" * n,
    "coalesces": lambda n: "emit x = a" + " ?? a" * n,
    "comparisons": lambda n: "emit x = a" + " == a" * n,
    "each": lambda n: "emit each t in a { " * n + "emit x = t" + " }" * n,
    "lets": lambda n: "let a0 = a " + " ".join(f"let a{i + 1} = a{i} + a{i}" for i in range(n)),
    "emits": lambda n: "emit a = 1 " * n,
    "errors": lambda n: "emit " * n,
    "unknown names": lambda n: "filter " + " and ".join(f"$vars.v{i}.x" for i in range(n)),
    "wrong methods": lambda n: "emit a = 1.uper() " * n,
    "wrong operands": lambda n: 'emit a = 1 + "a" ' * n,
    "foreign symbols": lambda n: ";" * n,
    "unknown characters": lambda n: "@" * n,
    "quotes": lambda n: '"' * n,
    "quoted lines": lambda n: '"\n' * n,
    "hashes": lambda n: "#1\n" * n,
    "blanks": lambda n: " " * n,
    "newlines": lambda n: "\n" * n,
    "comments": lambda n: "# a\n" * n,
    "long name": lambda n: "emit x = " + "a" * n,
    "long number": lambda n: "emit x = " + "9" * n,
    "long float": lambda n: "emit x = " + "9" * n + "." + "9" * n,
    "long text": lambda n: 'emit x = "' + "a" * n + '"',
    "escapes": lambda n: 'emit x = "' + "\\n" * n + '"',
    "arms": lambda n: "emit x = match a { " + "1 => 2, " * n + "_ => 3 }",
    "items": lambda n: "emit x = [" + "1, 2.5, " * n + "]",
    "entries": lambda n: "emit x = {" + ", ".join(f'"{i}": {i}' for i in range(n)) + "}",
    "pattern": lambda n: 'emit x = a.matches("' + "(a|b)*" * n + '")',
    "nested pattern": lambda n: 'emit x = a.matches("' + "(" * n + ")" * n + '")',
    "counted pattern": lambda n: 'emit x = a.matches("' + "a{9}" * n + '")',
    "format": lambda n: 'emit x = a.to_date("' + "%Y" * n + '")',
    "uses": lambda n: "use a.b as c " * n,
    "functions": lambda n: "fn f(x) = x " * n,
    "calls": lambda n: "\n".join(f"fn f{i}(x) = f{i + 1}(x) + f{i + 1}(x)" for i in range(n)),
    "self calls": lambda n: "fn f(x) = " + "f(" * n + "x" + ")" * n,
}


def _limited(write: Callable[[int], str], size: int) -> str:
    """The longest program of a shape that fits into `size` bytes."""
    per_step = max(1, len(write(20)) - len(write(19)))
    count = max(1, size // per_step)
    while len(write(count).encode()) > size and count > 1:
        count = count * 9 // 10
    return write(count)


@pytest.mark.parametrize("shape", DEEP)
def test_deep_programs_are_answered(shape: str) -> None:
    text = DEEP[shape](250)
    assert_answered(text.encode())
    assert_checked(text)


@pytest.mark.parametrize("shape", DEEP)
def test_programs_that_are_too_deep_are_answered(shape: str) -> None:
    assert run_cxl("check", "-", given=DEEP[shape](300).encode()).code in (0, 1)


LONG_BYTES = MAX_SOURCE_BYTES // 2
LONG = [
    *("closing braces", "each", "errors", "wrong methods", "wrong operands", "uses", "lets"),
    *("foreign symbols", "unknown characters", "quoted lines", "unknown names", "calls"),
    *("format", "pattern", "nested pattern", "ands and ors", "arms", "parentheses", "long float"),
]


@pytest.mark.parametrize("shape", LONG)
def test_long_programs_are_checked_soon(shape: str) -> None:
    text = _limited(DEEP[shape], LONG_BYTES)
    assert run_cxl("check", "-", given=text.encode()).code in (0, 1)


@pytest.mark.parametrize("shape", "emits arms items comments".split())
def test_long_programs_are_formatted_soon(shape: str) -> None:
    text = _limited(DEEP[shape], LONG_BYTES)
    assert run_cxl("fmt", "-", given=text.encode()).code in (0, 1)


@pytest.mark.parametrize("shape", ["sum", "errors", "each", "blanks"])
def test_programs_beyond_the_largest_size_are_refused(shape: str) -> None:
    text = DEEP[shape](MAX_SOURCE_BYTES + 1)
    answer = run_cxl("check", "-", given=text.encode())
    assert answer.code == 1
    assert "bytes, more than" in answer.err


DOUBLING = " ".join(f"let a{i + 1} = a{i} + a{i}" for i in range(40))
WINDOWED = {
    "sum": f"let a0 = a {DOUBLING} emit x = $window.sum(a40)",
    "lag": f"let a0 = a {DOUBLING} emit x = $window.lag(a40, 1)",
}


@pytest.mark.parametrize("function", WINDOWED)
def test_lets_that_use_each_other_twice_are_no_burden(function: str) -> None:
    context = Context(row=OPEN_ROW, window=WindowContext())
    with soon():
        checked = check(parse(Source("program.cxl", WINDOWED[function])), context)
    assert checked.program


# Deep programs that are valid also run

RUNNABLE = {
    shape: DEEP[shape](250)
    for shape in (
        "parentheses brackets maps ifs matches closures arguments coalesces texts sum lets".split()
    )
}
RUNNABLE["method chain"] = 'emit x = "a"' + ".trim()" * 250
RUNNABLE["each"] = "emit each t in [1] { " * 30 + "emit x = t" + " }" * 30


@pytest.mark.parametrize("shape", RUNNABLE)
def test_deep_programs_run(shape: str) -> None:
    answer = run_cxl("eval", "-e", RUNNABLE[shape], "--field", "a=")
    assert answer.code in (0, 1)
    if answer.code == 0:
        json.loads(answer.out)


def test_patterns_do_not_run_away() -> None:
    program = 'emit x = a.matches("(a|a)*b") emit y = a.find("(a*)*b") emit z = a.capture("(a+)+b")'
    answer = run_cxl("eval", "-e", program, "--field", f"a={'a' * 40}")
    assert answer.code in (0, 1)
