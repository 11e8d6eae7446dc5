"""Places in texts and how findings about them are shown."""

from __future__ import annotations

import io
import json
import time

import pytest

from clinker.diagnostics import (
    Diagnostic,
    EmbeddedSource,
    Label,
    Severity,
    Source,
    Span,
    in_reading_order,
)
from clinker.diagnostics.render import print_diagnostics, render_json, render_text
from clinker.diagnostics.suggest import closest


def finding(source: Source, start: int, end: int, **more: object) -> Diagnostic:
    return Diagnostic("E1", "wrong", Label(source.at(Span(start, end))), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("offset", "position"), [(0, (1, 1)), (2, (1, 3)), (3, (2, 1)), (5, (3, 1)), (6, (3, 2))]
)
def test_positions(offset: int, position: tuple[int, int]) -> None:
    assert Source("t", "ab\nc\nd").position(offset) == position


def test_text_with_caret_and_help() -> None:
    source = Source("p.cxl", "one\n  two three\n")
    assert render_text([finding(source, 6, 9, help="do this")]) == (
        "error[E1]: wrong (at p.cxl:2)\n    2 |   two three\n      |   ^^^\n  help: do this\n"
    )


def test_secondary_places_are_shown_with_their_file() -> None:
    here, there = Source("a", "x = y"), Source("b", "\ny = 1")
    note = Label(there.at(Span(1, 2)), "declared here")
    assert render_text([finding(here, 4, 5, secondary=(note,))]) == (
        "error[E1]: wrong (at a:1)\n"
        "    1 | x = y\n"
        "      |     ^\n"
        "      :: b:2:1\n"
        "    2 | y = 1\n"
        "      | - declared here\n"
    )


def test_carets_line_up_under_wide_and_tabbed_text() -> None:
    source = Source("t", "\t日本 x")
    lines = render_text([finding(source, 4, 5)]).splitlines()
    assert lines[1] == "    1 |     日本 x"
    assert lines[2] == "      |          ^"


def test_a_span_over_lines_is_marked_to_the_end_of_its_first() -> None:
    assert "^^^\n" in render_text([finding(Source("t", "abc\ndef"), 0, 7)])


def test_very_long_lines_are_cut() -> None:
    text = render_text([finding(Source("t", "a" * 500 + "b" + "c" * 500), 500, 501)])
    assert max(len(line) for line in text.splitlines()) < 120
    assert "b" in text


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in render_text([finding(Source("t", "\x1b[31m x"), 6, 7)])


def test_json() -> None:
    (found,) = json.loads(render_json([finding(Source("t", "ab\ncd"), 3, 5)]))
    assert found == {
        "code": "E1",
        "severity": "error",
        "message": "wrong",
        "primary": {
            "file": "t",
            "start": {"line": 2, "column": 1, "offset": 3},
            "end": {"line": 2, "column": 3, "offset": 5},
            "text": "",
        },
        "secondary": [],
        "help": None,
    }


def test_a_terminal_gets_colour_and_a_pipe_does_not() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, pipe = Terminal(), io.StringIO()
    problem = finding(Source("t", "ab"), 0, 1, severity=Severity.WARNING)
    print_diagnostics([problem], terminal)
    print_diagnostics([problem], pipe)
    assert "\x1b[" in terminal.getvalue()
    assert pipe.getvalue() == render_text([problem])


def test_reading_order() -> None:
    source = Source("t", "abc")
    first, second = finding(source, 0, 1), finding(source, 2, 3)
    nowhere = Diagnostic("E2", "everywhere")
    assert in_reading_order([second, first, nowhere]) == [nowhere, first, second]


def test_places_in_an_embedded_text_are_places_in_its_host() -> None:
    host = Source("p.yaml", "cxl: |\n  emit a = 1\n  emit b = x\n")
    text = "emit a = 1\nemit b = x\n"
    offsets = [*range(9, 20), *range(22, 33), 33]
    embedded = EmbeddedSource("p.yaml", text, host=host, offsets=offsets)
    location = embedded.at(Span(text.index("x"), text.index("x") + 1))
    assert location.source is host
    assert location.start == (3, 12)
    assert host.text[location.span.start : location.span.end] == "x"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("amoutn", "amount"),
        ("uper", "upper"),
        ("AMOUNT", "amount"),
        ("xyz", None),
        ("lenght", "length"),
    ],
)
def test_suggestions(name: str, meant: str | None) -> None:
    assert closest(name, ["amount", "upper", "length", "abc"]) == meant


def test_a_name_among_thousands_is_found_at_once() -> None:
    names = [f"customer_field_{number:05}" for number in range(10_000)]
    began = time.process_time()
    for number in range(1000):
        assert closest(f"custmoer_field_{number:05}", names) == names[number]
        assert closest(f"nothing_like_it_{number}", names) is None
    assert time.process_time() - began < 20


def test_a_long_name_is_no_burden() -> None:
    began = time.process_time()
    assert closest("x" * 60_000, ["x" * 59_999, "y"] * 1000) == "x" * 59_999
    assert closest("a" * 60_000, ["b" * 60_000] * 100) is None
    assert time.process_time() - began < 20
