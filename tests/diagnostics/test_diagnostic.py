"""Findings in the order of their places."""

from __future__ import annotations

from clinker.diagnostics import Diagnostic, Label, Source, Span, in_reading_order


def test_reading_order() -> None:
    source = Source("t", "abc")
    first = Diagnostic("E1", "wrong", Label(source.at(Span(0, 1))))
    second = Diagnostic("E1", "wrong", Label(source.at(Span(2, 3))))
    nowhere = Diagnostic("E2", "everywhere")
    assert in_reading_order([second, first, nowhere]) == [nowhere, first, second]
