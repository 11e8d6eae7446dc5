"""The header with links to other pages."""

from __future__ import annotations

import pytest

from clinker.formats.files.rest.links import find_next


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ('<https://a.b/?page=2>; rel="next"', "https://a.b/?page=2"),
        ("</x>;rel=next", "/x"),
        ("</x> ; REL = NEXT", "/x"),
        ('</1>; rel="first", </2>; rel="prev", </3>; rel="last next"', "/3"),
        ('</a,b;c>; title="x, </y>; rel=next"; rel="next"', "/a,b;c"),
        ('</a>; title="say \\"next\\""; rel=last, </b>; rel=next', "/b"),
        ('</a>; rel="prev"; rel="next"', None),
        ('</a>; rel="nextish"', None),
        ('</a>; rev="next"', None),
        ("</a>", None),
        ("no link; rel=next", None),
        ("<unclosed; rel=next", None),
        ('</a>; rel="next', "/a"),
        ("</a>; ; ;rel=next", "/a"),
        ("", None),
    ],
)
def test_the_next_page(header: str, target: str | None) -> None:
    assert find_next([header]) == target


def test_several_headers() -> None:
    assert find_next(['</a>; rel="prev"', '</b>; rel="next"']) == "/b"
