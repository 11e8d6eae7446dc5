"""Places in texts."""

from __future__ import annotations

import pytest

from clinker.diagnostics import EmbeddedSource, Source, Span


@pytest.mark.parametrize(
    ("offset", "position"), [(0, (1, 1)), (2, (1, 3)), (3, (2, 1)), (5, (3, 1)), (6, (3, 2))]
)
def test_positions(offset: int, position: tuple[int, int]) -> None:
    assert Source("t", "ab\nc\nd").position(offset) == position


def test_places_in_an_embedded_text_are_places_in_its_host() -> None:
    host = Source("p.yaml", "cxl: |\n  emit a = 1\n  emit b = x\n")
    text = "emit a = 1\nemit b = x\n"
    offsets = [*range(9, 20), *range(22, 33), 33]
    embedded = EmbeddedSource("p.yaml", text, host=host, offsets=offsets)
    location = embedded.at(Span(text.index("x"), text.index("x") + 1))
    assert location.source is host
    assert location.start == (3, 12)
    assert host.text[location.span.start : location.span.end] == "x"
