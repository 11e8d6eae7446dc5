"""The whole page, as a document and as a part of a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clinker import __version__
from clinker.diagnostics import Diagnostic
from clinker.engine.report.as_html.background import environment, plan_text, times, warnings
from clinker.engine.report.as_html.files import outputs, sources
from clinker.engine.report.as_html.masthead import masthead, tiles, what_went_wrong
from clinker.engine.report.as_html.nodes import flow
from clinker.engine.report.as_html.rejects import rejects
from clinker.engine.report.as_html.style import STYLE
from clinker.engine.report.as_html.values import anchor
from clinker.engine.report.facts import RunError, RunReport
from clinker.frozen import frozen
from clinker.markup import Content, Markup, document, element, stylesheet

GENERATOR = "clinker run report"
"""By this a page is known as one of ours."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing is fetched, and no script runs, whatever the data may contain."""


@frozen(eq=False)
class _Section:
    name: str
    title: str
    content: tuple[Content, ...]


def report_page(
    report: RunReport, error: RunError | None = None, findings: Sequence[Diagnostic] = ()
) -> str:
    """The report as a document; `findings` are those about the pipeline itself."""
    sections = [*_sections(report, error, findings), *_appendix(report)]
    main = anchor(report, "main")
    return str(
        document(
            element("head", _head(report)),
            element(
                "body",
                element("a", "Skip to the report", class_="skip", href=f"#{main}"),
                masthead(report),
                _contents(report, sections),
                element(
                    "main",
                    tiles(report),
                    (_shown(report, each) for each in sections),
                    id=main,
                    tabindex=-1,
                ),
                element("footer", element("p", f"clinker {__version__}")),
                class_="clinker page",
            ),
            language="en",
        )
    )


def report_fragment(report: RunReport) -> str:
    """The report as a part of another page, without what is long."""
    sections = _sections(report, None, ())
    return str(
        element(
            "div",
            stylesheet(STYLE),
            masthead(report),
            element("div", tiles(report), (_shown(report, each) for each in sections)),
            class_="clinker page",
        )
    )


def _head(report: RunReport) -> Iterator[Markup]:
    yield element("meta", charset="utf-8")
    yield element("meta", http_equiv="Content-Security-Policy", content=_POLICY)
    yield element("meta", name="generator", content=GENERATOR)
    yield element("meta", name="viewport", content="width=device-width, initial-scale=1")
    yield element("meta", name="color-scheme", content="light dark")
    yield element("title", f"{report.pipeline}: report of a run")
    yield stylesheet(STYLE)


def _sections(
    report: RunReport, error: RunError | None, findings: Sequence[Diagnostic]
) -> Iterator[_Section]:
    if error:
        yield _Section("error", "What went wrong", (*what_went_wrong(error),))
    if report.plan:
        yield _Section("flow", "Flow", (*flow(report, report.plan),))
    yield _Section("rejects", "Dead letters", (*rejects(report),))
    yield _Section("files", "Files", (*sources(report), *outputs(report)))
    yield _Section("time", "Time", (*times(report),))
    yield _Section("warnings", "Warnings", (*warnings(report, findings),))


def _appendix(report: RunReport) -> Iterator[_Section]:
    if report.plan:
        yield _Section("plan", "Plan", (*plan_text(report.plan),))
    yield _Section("environment", "Environment", (*environment(report),))


def _contents(report: RunReport, sections: Sequence[_Section]) -> Markup:
    return element(
        "nav",
        element(
            "ul",
            (
                element("li", element("a", each.title, href=f"#{anchor(report, each.name)}"))
                for each in sections
            ),
        ),
        aria_label="Sections",
    )


def _shown(report: RunReport, section: _Section) -> Markup:
    name = anchor(report, section.name)
    return element(
        "section",
        element("h2", section.title, id=name),
        section.content,
        class_=section.name,
        aria_labelledby=name,
    )
