from __future__ import annotations

from clinker.diagnostics import Diagnostic, Label, Severity, Source, Span
from clinker.diagnostics.as_github import render_github


def test_a_line_for_each_finding() -> None:
    source = Source("a,b.yaml", "x: 1\n")
    finding = Diagnostic(
        "W013", "100%\nof it", Label(source.at(Span(3, 4))), (), "look", Severity.WARNING
    )
    assert render_github([finding]) == (
        "::warning file=a%2Cb.yaml,line=1,endLine=1,col=4,endColumn=5,title=W013::"
        "100%25%0Aof it%0Ahelp: look\n"
    )


def test_columns_are_left_out_over_several_lines() -> None:
    source = Source("p.yaml", "x:\n  y\n")
    finding = Diagnostic("E007", "no", Label(source.at(Span(0, 6))))
    assert render_github([finding]) == "::error file=p.yaml,line=1,endLine=2,title=E007::no\n"


def test_a_message_cannot_begin_a_command_of_its_own() -> None:
    rendered = render_github([Diagnostic("E000", "x\r\n::set-env name=A::b")])
    assert rendered == "::error title=E000::x%0D%0A::set-env name=A::b\n"
