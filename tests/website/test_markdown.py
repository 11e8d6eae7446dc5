"""What a page is on the site."""

from __future__ import annotations

import pytest
from website.markdown import rewritten


def moved(text: str) -> str:
    return rewritten(text, lambda target: f"moved/{target}")


@pytest.mark.parametrize(
    ("info", "expected"),
    [
        ("", "text"),
        ("yaml pipeline", "pipeline"),
        ("text session", "console"),
        ("text file=in/a.csv", 'text title="in/a.csv"'),
        ("cxl window columns=a,b", "cxl"),
    ],
)
def test_fences_keep_what_readers_need(info: str, expected: str) -> None:
    assert moved(f"```{info}\nx\n```\n") == f"```{expected}\nx\n```\n"


def test_links_are_moved_where_they_are_links() -> None:
    assert moved("[a](b.md#c), `[d](e)`, [`f`](g)\n") == (
        "[a](moved/b.md#c), `[d](e)`, [`f`](moved/g)\n"
    )
    code = "```text\n[a](b)\n<!-- c -->\n```\n"
    assert moved(code) == code


def test_remarks_are_left_out() -> None:
    assert moved("a\n\n<!-- keys: X -->\n\n| b |\n") == "a\n\n| b |\n"


def test_bars_in_code_need_no_backslash() -> None:
    assert moved(r"| `a\|b` | [`c\|d`](e) | f\|g |") == r"| `a|b` | [`c|d`](moved/e) | f\|g |"
