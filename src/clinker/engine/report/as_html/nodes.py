"""The picture of the pipeline, and what came into each node and left it."""

from __future__ import annotations

from collections.abc import Iterator

from clinker.engine.report.as_html.tables import Column, table
from clinker.engine.report.as_html.values import anchor, number
from clinker.engine.report.facts import RunReport
from clinker.markup import Content, Markup, element
from clinker.plan.analyses.passing import NodePassing
from clinker.plan.compile import Plan
from clinker.plan.explain.as_svg import UNKNOWN, plan_pictures

_COLUMNS = (
    "Node",
    "Kind",
    Column("In", is_number=True),
    Column("Out", is_number=True),
    Column("Rejected", is_number=True),
    Column("Filtered", is_number=True),
    Column("Duplicates", is_number=True),
)


def flow(report: RunReport, plan: Plan) -> Iterator[Content]:
    yield element(
        "div",
        plan_pictures(plan, report.nodes, anchor(report, "picture")),
        class_="scrolling canvas",
        role="region",
        aria_label="The steps of the pipeline, drawn",
        tabindex=0,
    )
    yield element("p", _legend(report, plan), class_="hint")
    if report.nodes:
        yield table("Records by node", _COLUMNS, [_row(node) for node in report.nodes])
        if branches := [*_branches(report)]:
            columns = ("Branch", "Of", Column("Records", is_number=True))
            yield table("Records by branch", columns, branches)


def _legend(report: RunReport, plan: Plan) -> str:
    said = "Dashed lines cross a shuffle, a broadcast or a cache"
    if not report.nodes:
        return f"{said}. Records are counted when a run comes to its end."
    return f"Numbers beside lines are records. {said}.{_unknown(report, plan)}"


def _unknown(report: RunReport, plan: Plan) -> str:
    """Why some numbers are missing, if they are."""
    if all(None not in (each.records_in, each.records_out) for each in report.nodes):
        return ""
    if plan.options.count_nodes:
        return f" {UNKNOWN} is a number that nobody can tell, since records were taken back."
    return (
        f" {UNKNOWN} is a number that does not follow from others: a run counts it with "
        "--count-nodes, or from Python with clinker.compile(…, count_nodes=True)."
    )


def _row(node: NodePassing) -> tuple[Content, ...]:
    return (
        node.name,
        node.kind,
        number(node.records_in),
        number(node.records_out),
        _lost(node.rejected),
        number(node.filtered),
        number(node.distinct),
    )


def _lost(rejected: int) -> Markup:
    return element("strong", number(rejected), class_="bad") if rejected else number(rejected)


def _branches(report: RunReport) -> Iterator[tuple[Content, ...]]:
    for node in report.nodes:
        for port, records in node.ports.items():
            yield port, node.name, number(records)
