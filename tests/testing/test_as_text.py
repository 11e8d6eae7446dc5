"""How outcomes are told."""

from __future__ import annotations

import io

from clinker.testing.as_text import Screen
from clinker.testing.judging import Difference, Line
from clinker.testing.outcome import Outcome


def _told(*lines: Line) -> str:
    difference = Difference("n: differs", ["x"], lines)
    stream = io.StringIO()
    Screen(stream).show(Outcome(file="a_test.yaml", name="a", differences=[difference]))
    return stream.getvalue()


def test_records_far_from_a_difference_are_left_out() -> None:
    same = [Line(" ", {"x": number}) for number in range(10)]
    told = _told(*same[:6], Line("+", {"x": 99}), *same[6:])
    assert told == (
        "a_test.yaml\n"
        "  FAILED  a  0.0 s\n"
        "      n: differs\n"
        "        x\n"
        "      …\n"
        "        4\n"
        "        5\n"
        "      + 99\n"
        "        6\n"
        "        7\n"
        "      …\n"
    )


def test_values_that_could_not_be_seen_are_in_quotes() -> None:
    texts = ["", " a", "null", None, "\x1b[31m", "[bold]"]
    told = _told(*(Line("+", {"x": text}) for text in texts))
    shown = [line.removeprefix("      + ") for line in told.splitlines()[4:]]
    assert shown == ["''", "' a'", "'null'", "null", "\\x1b[31m", "[bold]"]
