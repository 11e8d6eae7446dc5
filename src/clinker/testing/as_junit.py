"""The outcome of tests as JUnit XML, which systems of continuous integration read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from xml.etree import ElementTree as ET

from clinker.cxl.failure import printable
from clinker.diagnostics.render import render_text
from clinker.engine.report.views import show_value
from clinker.testing.judging import Difference, Line
from clinker.testing.outcome import Outcome


def junit(outcomes: Sequence[Outcome]) -> bytes:
    """A document with a suite for each test file."""
    root = ET.Element("testsuites", _counts(outcomes), name="clinker")
    for file, some in groupby(outcomes, attrgetter("file")):
        of_file = list(some)
        suite = ET.SubElement(root, "testsuite", _counts(of_file), name=printable(file))
        for outcome in of_file:
            suite.append(_case(outcome))
    ET.indent(root)
    content: bytes = ET.tostring(root, "utf-8", xml_declaration=True)
    return content + b"\n"


def _counts(outcomes: Sequence[Outcome]) -> dict[str, str]:
    unusable = sum(each.is_unusable for each in outcomes)
    failed = sum(not each.has_passed for each in outcomes) - unusable
    seconds = sum(each.seconds for each in outcomes)
    return {
        "tests": str(len(outcomes)),
        "failures": str(failed),
        "errors": str(unusable),
        "time": f"{seconds:.3f}",
    }


def _case(outcome: Outcome) -> ET.Element:
    case = ET.Element(
        "testcase",
        classname=printable(outcome.file),
        name=printable(outcome.name),
        time=f"{outcome.seconds:.3f}",
    )
    if outcome.has_passed:
        return case
    texts = [_difference_text(each) for each in outcome.differences]
    if outcome.diagnostics:
        texts.append(render_text(outcome.diagnostics))
    text = "\n".join(_lines(texts))
    problem = ET.SubElement(case, "error" if outcome.is_unusable else "failure")
    problem.set("message", text.splitlines()[0])
    problem.text = text
    return case


def _lines(texts: Sequence[str]) -> list[str]:
    """Lines without characters that XML has no place for."""
    return [printable(line) for text in texts for line in text.splitlines()]


def _difference_text(difference: Difference) -> str:
    return "\n".join([printable(difference.title), *map(_record_text, difference.lines)])


def _record_text(line: Line) -> str:
    fields = (
        f"{name}={'null' if value is None else show_value(value)}"
        for name, value in line.record.items()
    )
    return printable(f"{line.mark} {', '.join(fields)}")
