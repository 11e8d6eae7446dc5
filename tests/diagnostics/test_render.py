"""How findings are shown."""

from __future__ import annotations

import io
import json

from clinker.diagnostics import Diagnostic, Label, Severity, Source, Span
from clinker.diagnostics.render import print_diagnostics, render_json, render_text


def finding(source: Source, start: int, end: int, **more: object) -> Diagnostic:
    return Diagnostic("E1", "wrong", Label(source.at(Span(start, end))), **more)  # type: ignore[arg-type]


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
