"""How long it took, warnings, the plan and the environment."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence

from clinker import __version__
from clinker.diagnostics import Diagnostic
from clinker.engine.report.as_html.masthead import finding
from clinker.engine.report.as_html.tables import Column, table
from clinker.engine.report.as_html.values import byte_size, code, duration, facts, moment, path
from clinker.engine.report.explain import explain
from clinker.engine.report.facts import RunReport, StepTime
from clinker.engine.session.secrets import HIDDEN, is_secret
from clinker.markup import Content, Markup, element
from clinker.plan.compile import Plan
from clinker.plan.explain.as_text import size

_SHORTEST_SECRET = 4


def times(report: RunReport) -> Iterator[Content]:
    if not report.steps:
        yield element("p", "No step was timed.")
        return
    whole = sum(step.seconds for step in report.steps) or 1.0
    outputs = set(report.plan.projections) if report.plan else set()
    rows = [
        (
            _step(step, outputs),
            duration(step.seconds),
            _bar(step.seconds / whole),
        )
        for step in report.steps
    ]
    yield table("Time by step", ("Step", Column("Time", is_number=True), "Share"), rows)
    yield element(
        "p",
        "An output is computed in one go with all that it is made of, so that single nodes have no "
        "times. A step lasts until the next begins: the last output includes what is done for all.",
        class_="hint",
    )


def _step(step: StepTime, outputs: set[str]) -> str:
    name = f"output '{step.name}'" if step.name in outputs else step.name
    return name if step.times == 1 else f"{name} ({step.times} times)"


def _bar(share: float) -> Markup:
    percent = round(share * 100)
    bar = element("span", style=f"width: {max(percent, 1)}%")
    return element("span", element("span", bar, class_="bar"), f"{percent} %", class_="share")


def warnings(report: RunReport, findings: Sequence[Diagnostic]) -> Iterator[Content]:
    if not (findings or report.warnings):
        yield element("p", "None.")
    yield (finding(each) for each in findings)
    if report.warnings:
        yield element("ul", (element("li", text) for text in report.warnings), class_="notes")


def plan_text(plan: Plan) -> Iterator[Content]:
    text = explain(plan, "text")
    for secret in _secrets(plan):
        text = text.replace(secret, HIDDEN)
    yield element(
        "details",
        element("summary", "What ", code("--explain"), " tells of this pipeline"),
        element(
            "pre",
            text,
            class_="plan-text",
            role="region",
            aria_label="The plan as text",
            tabindex=0,
        ),
    )


def _secrets(plan: Plan) -> list[str]:
    """What of the environment is nobody's business, by its names; the longest first."""
    found = {
        value
        for name, value in plan.options.variables.items()
        if is_secret(name) and len(value) >= _SHORTEST_SECRET
    }
    return sorted(found, key=lambda value: (-len(value), value))


def environment(report: RunReport) -> Iterator[Content]:
    engine = report.engine
    pairs: list[tuple[str, Content]] = [
        ("Execution", code(report.execution_id)),
        ("Batch", code(report.batch_id)),
        ("Started", moment(report.started)),
        ("Finished", moment(report.finished)),
        ("clinker", __version__),
        ("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}"),
    ]
    if engine:
        pairs += [
            ("Engine", f"{engine['engine']} {engine['version']}"),
            ("Master", code(engine["master"])),
        ]
        if engine.get("java"):
            pairs.append(("Java", engine["java"]))
    else:
        pairs.append(("Engine", "was not started"))
    if report.partitions is not None:
        pairs.append(("Shuffle partitions", f"at most {report.partitions}"))
    if report.plan:
        pairs.append(("Pipeline file", path(report.plan.path)))
        pairs.append(("Memory limit", size(report.plan.memory_limit)))
    if report.peak_rss_bytes is not None:
        pairs.append(("Most memory in use", byte_size(report.peak_rss_bytes)))
    if report.spilled is not None:
        pairs.append(("Spilled to disk", byte_size(sum(each.bytes for each in report.spilled))))
    yield facts(*pairs)
