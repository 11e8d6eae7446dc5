"""Environment variables in pipeline files."""

from __future__ import annotations

import pytest

from clinker.config.interpolate import interpolate
from clinker.diagnostics import Source, Span

ENV = {"HOST": "db1", "EMPTY": "", "LIST": "[1, 2]", "_X9": "under"}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("no variables", "no variables"),
        ("${HOST}", "db1"),
        ("a ${HOST} b ${HOST}", "a db1 b db1"),
        ("${NOPE:-default}", "default"),
        ("${NOPE:-}", ""),
        ("${EMPTY:-default}", ""),
        ("${HOST:-default}", "db1"),
        ("${_X9}", "under"),
        ("${NOPE:-a:-b c}", "a:-b c"),
        ("# ${HOST}", "# db1"),
        ("$$", "$"),
        ("$${HOST}", "${HOST}"),
        ("$$$${HOST}", "$${HOST}"),
        ("$$${HOST}", "$db1"),
        ("$pipeline.name + $vars.x", "$pipeline.name + $vars.x"),
        ("^[a-z]+$", "^[a-z]+$"),
        ("$ {HOST}", "$ {HOST}"),
    ],
)
def test_what_is_replaced(text: str, result: str) -> None:
    expanded, problems = interpolate(Source("p", text), ENV)
    assert not problems
    assert expanded.text == result


@pytest.mark.parametrize(
    ("text", "place", "message", "help"),
    [
        ("x: ${NOPE}", "1:4", "environment variable NOPE is not set", "${NOPE:-value}"),
        ("x: ${HOTS}", "1:4", "environment variable HOTS is not set", "did you mean 'HOST'?"),
        ("a\nx: ${host}", "2:4", "'host' cannot be the name of an environment variable", "$${"),
        ("${}", "1:1", "'' cannot be the name of an environment variable", "upper-case"),
        ("${9A}", "1:1", "'9A' cannot be the name of an environment variable", "upper-case"),
        ("x: ${HOST\n}", "1:4", "'${' is never closed on this line", "${NAME}"),
    ],
)
def test_what_cannot_be_replaced(text: str, place: str, message: str, help: str) -> None:
    _, (problem,) = interpolate(Source("p", text), ENV)
    assert problem.primary
    start = problem.primary.location.start
    assert (problem.code, f"{start.line}:{start.column}", problem.message) == (
        "E008",
        place,
        message,
    )
    assert help in (problem.help or "")


def test_all_problems_are_reported() -> None:
    _, problems = interpolate(Source("p", "${A} ${b} ${C:-x} ${D}"), ENV)
    assert [p.code for p in problems] == ["E008"] * 3


def test_the_way_back_to_the_file() -> None:
    text = "a ${HOST} b $$ c ${EMPTY} d"
    expanded, _ = interpolate(Source("p", text), ENV)
    assert expanded.text == "a db1 b $ c  d"

    def written(part: str) -> str:
        start = expanded.text.index(part)
        return text[slice(*expanded.written(Span(start, start + len(part))))]

    assert written("a ") == "a "
    assert written("db1") == "${HOST}"
    assert written("b1 b") == "${HOST} b"
    assert written("a d") == "a ${HOST}"
    assert written("$") == "$$"
    assert written(" c ") == " c "
    assert text[expanded.written(Span(14, 14)).start :] == ""
