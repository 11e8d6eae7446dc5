"""The page that a run leaves: whole, escaped, of a bounded size."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path

import pytest

from clinker.diagnostics import Source, Span
from clinker.engine.rejects.alike import MOST_KINDS, MOST_SAMPLES
from clinker.engine.report.as_html import report_fragment, report_page
from clinker.engine.report.facts import (
    Counts,
    DeadLetterFile,
    Exit,
    RejectedAlike,
    RejectedRecord,
    RunError,
    RunReport,
    SourceReport,
    StepTime,
    failed_report,
)
from clinker.plan.analyses.passing import NodePassing
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.options import Options
from tests.engine.report.reports import STARTED, output
from tests.engine.report.reports import report as short_report

HOSTILE = (
    "</pre></script><script>alert('1')</script><img src=x onerror=alert(2)>\x1b[2J\u202e${SECRET}"
)
"""What begins a tag, an attribute or an escape sequence where it is not escaped."""
PIPELINE = """
pipeline: { name: shop }
nodes:
  - { type: source, name: orders, config: { type: csv, path: a.csv, schema: { id: int } } }
  - type: transform
    name: big
    input: orders
    config: { cxl: "emit key = '${API_TOKEN}' emit half = id / 2" }
  - type: route
    name: kinds
    input: big
    config: { conditions: { own: "key == '${API_TOKEN}'" }, default: others }
  - { type: output, name: out, input: kinds.own, config: { type: csv, path: out.csv } }
  - { type: output, name: rest, input: kinds.others, config: { type: csv, path: rest.csv } }
"""
SECRET = "t0p-s3cret"


class Page(HTMLParser):
    """Elements and texts of a page, and whether each element is ended in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "col", "hr"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def plan(text: str = PIPELINE) -> Plan:
    variables = {"API_TOKEN": SECRET, "HOME": "/root"}
    options = Options(base_dir=Path("nowhere"), variables=variables)
    compiled = compile_pipeline(text.encode(), "shop.yaml", options)
    assert compiled.plan, compiled.diagnostics
    return compiled.plan


def passing(name: str, kind: str, came: int | None, left: int | None) -> NodePassing:
    return NodePassing(name=name, kind=kind, records_in=came, records_out=left, rejected=0)


def report(**changes: object) -> RunReport:
    full: dict[str, object] = {
        "plan": plan(),
        "engine": {"engine": "spark", "version": "4.2.1", "master": "local[2]", "java": "25"},
        "partitions": 4,
        "nodes": (passing("orders", "source", 1234, 1230), passing("big", "transform", None, None)),
        "steps": (StepTime(name="starting", seconds=1.25), StepTime(name="out", seconds=63)),
        "peak_rss_bytes": 512_000_000,
        "spilled": (),
    }
    return short_report(**{**full, **changes})


def test_all_there_is_to_know_is_there() -> None:
    shown = Page(report_page(report())).text
    for fact in (
        "orders",
        "1,234",
        "not known",
        "spark 4.2.1",
        "local[2]",
        "at most 4",
        "512.0 MB",
    ):
        assert fact in shown
    assert "Finished with rejected records" in shown
    assert "output 'out'" in shown
    assert "1 min 3 s" in shown
    assert "Execution Plan: shop" in shown


def test_nothing_is_fetched_and_no_script_can_run() -> None:
    page = Page(report_page(report()))
    policy = [meta["content"] for meta in page.all("meta") if "http-equiv" in meta]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "link", "img", "iframe", "object", "form", "base"}
    for _, attributes in page.elements:
        assert not any(name.startswith("on") or name == "src" for name in attributes)
    links = [link["href"] for link in page.all("a")]
    names = {attributes.get("id") for _, attributes in page.elements}
    assert links
    assert all(link and link.startswith("#") and link[1:] in names for link in links)


def hostile_report() -> RunReport:
    source = Source(HOSTILE, f"nodes: {HOSTILE}\n")
    sample = RejectedRecord(place=HOSTILE, field=HOSTILE, value=HOSTILE, detail=HOSTILE)
    alike = RejectedAlike(
        category=HOSTILE,
        node=HOSTILE,
        rule=HOSTILE,
        field=HOSTILE,
        location=source.at(Span(7, 20)),
        count=2,
        samples=(sample,),
    )
    return report(
        pipeline=HOSTILE,
        batch_id=HOSTILE,
        sources=(SourceReport(name=HOSTILE, files=(Path("a<b>.csv"),), records=1, rejected=1),),
        outputs=(output(HOSTILE, "a<b>.csv"),),
        dead_letter_files=(DeadLetterFile(path=Path("<i>.csv"), entries=2),),
        rejections={HOSTILE: 2},
        rejected_alike=(alike,),
        nodes=(replace(passing(HOSTILE, HOSTILE, 1, 1), ports={HOSTILE: 1}),),
        engine=dict.fromkeys(("engine", "version", "master", "java"), HOSTILE),
        warnings=(HOSTILE,),
        steps=(StepTime(name=HOSTILE, seconds=1),),
    )


def test_whatever_comes_from_outside_is_only_text() -> None:
    error = RunError(HOSTILE, 3, help=HOSTILE, notes=[HOSTILE])
    harmless = Page(report_page(report(), RunError("e", 3, help="h", notes=["n"])))
    page = Page(report_page(hostile_report(), error))
    known = {tag for tag, _ in harmless.elements} | {"details", "summary", "figure", "figcaption"}
    assert {tag for tag, _ in page.elements} <= known | {"mark", "pre", "strong"}
    assert "alert('1')" in page.text
    for character in "\x1b\u202e":
        assert character not in page.text
    fragment = report_fragment(hostile_report())
    assert "<script" not in fragment
    assert "<img" not in fragment


def test_secrets_of_the_environment_stay_there() -> None:
    page = report_page(report())
    assert SECRET not in page
    assert '"***"' in Page(page).text


def test_places_in_the_page_differ_from_run_to_run() -> None:
    names = [
        set(re.findall(r' id="([^"]+)"', report_page(report(execution_id=number * 12))))
        for number in "12"
    ]
    assert names[0]
    assert not names[0] & names[1]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (Exit.OK, "Succeeded"),
        (Exit.DEAD_LETTERS, "Finished with rejected records"),
        (Exit.CONFIGURATION, "Failed"),
        (Exit.IO, "Failed"),
        (Exit.INTERRUPTED, "Interrupted"),
    ],
)
def test_the_verdict_is_in_words(code: Exit, words: str) -> None:
    shown = Page(report_page(report(exit_code=code))).text
    assert f"{words}exit code {int(code)}: " in shown


def test_a_run_that_failed_tells_what_is_known() -> None:
    failed = failed_report(report(), "shop", Exit.EVALUATION, Counts(total=9, dlq=5), plan())
    error = RunError("too many", Exit.EVALUATION, help="allow more", notes=["record: {id: 1}"])
    shown = Page(report_page(failed, error)).text
    for fact in ("What went wrong", "too many", "allow more", "record: {id: 1}", "Execution Plan"):
        assert fact in shown
    assert "5 records were rejected" in shown
    assert "Nothing was written" in shown
    assert "was not started" in shown


def test_a_finding_is_shown_with_its_line() -> None:
    options = Options(Path("nowhere"), variables={"API_TOKEN": SECRET})
    wrong = PIPELINE.replace("id / 2", "ide / 2")
    compiled = compile_pipeline(wrong.encode(), "shop.yaml", options)
    assert compiled.plan is None
    error = RunError("unknown field", Exit.CONFIGURATION, compiled.diagnostics)
    failed = failed_report(report(), "shop.yaml", Exit.CONFIGURATION)
    page = Page(report_page(failed, error))
    assert "error E200: unknown field 'ide'" in page.text
    assert "shop.yaml:8" in page.text
    assert "did you mean 'id'?" in page.text


def test_a_notebook_shows_the_same_without_what_is_long() -> None:
    own = report()
    fragment = own._repr_html_()
    assert fragment == report_fragment(own)
    shown = Page(fragment).text
    assert "Finished with rejected records" in shown
    assert "Execution Plan: shop" not in shown
    assert not {"html", "body", "main"} & {tag for tag, _ in Page(fragment).elements}


def forty_nodes() -> str:
    lines = ["pipeline: { name: forty }", "nodes:"]
    for number in range(8):
        schema = ", ".join(f"column_{n}: float" for n in range(20))
        lines.append(
            f"  - {{ type: source, name: source_{number}, "
            f"config: {{ type: csv, path: {number}.csv, schema: {{ {schema} }} }} }}"
        )
        before = f"source_{number}"
        for step in range(3):
            name = f"transform_{number}_{step}"
            lines.append(
                f"  - {{ type: transform, name: {name}, input: {before}, config: "
                f"{{ cxl: 'emit new_{step} = column_{step} / column_{step + 1}' }} }}"
            )
            before = name
        lines.append(
            f"  - {{ type: output, name: output_{number}, input: {before}, "
            f"config: {{ type: csv, path: out_{number}.csv }} }}"
        )
    return "\n".join(lines) + "\n"


def test_the_page_of_forty_nodes_is_not_large() -> None:
    large = plan(forty_nodes())
    assert len(large.nodes) == 40
    line = Source("forty.yaml", "x" * 1000).at(Span(400, 900))
    sample = RejectedRecord(place="p" * 110, field="f" * 100, value="<" * 100, detail="&" * 240)
    most = tuple(
        RejectedAlike(
            category="type_coercion_failure",
            node=f"transform_{number}_0",
            rule="",
            field="f" * 100,
            location=line,
            count=10**6,
            samples=(sample,) * MOST_SAMPLES,
        )
        for number in range(MOST_KINDS)
    )
    full = report(
        plan=large,
        nodes=tuple(passing(unit.name, unit.kind, 10**9, 10**9) for unit in large.graph),
        sources=tuple(
            SourceReport(
                name=f"source_{number}",
                files=tuple(Path("/data") / ("d" * 60) / f"{n}.csv" for n in range(1000)),
                records=10**9,
                rejected=10**6,
            )
            for number in range(8)
        ),
        rejected_alike=most,
        rejections={"type_coercion_failure": 10**8},
        finished=STARTED + timedelta(hours=3),
    )
    page = report_page(full)
    assert len(page.encode()) < 500_000
    assert "and 990 more" in Page(page).text
    assert "70,000,000 entries for other reasons" in Page(page).text
