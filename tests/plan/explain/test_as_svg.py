"""A plan as a picture."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from clinker.cli.clinker import main
from clinker.plan.analyses.passing import NodePassing
from clinker.plan.compile import Plan, compile_pipeline
from clinker.plan.explain.as_svg import as_svg, plan_html, plan_pictures
from clinker.plan.explain.style import PICTURE
from clinker.plan.options import Options

HOSTILE = '<script>alert("1")</script>'
PIPELINE = """
pipeline: { name: picture }
nodes:
  - { type: source, name: orders, config: { type: csv, path: a.csv, schema: { id: int } } }
  - type: route
    name: split
    input: orders
    config: { conditions: { few: id < 4 }, default: many }
  - type: aggregate
    name: sums
    input: split.few
    config: { group_by: [], cxl: emit n = sum(id) }
  - { type: output, name: sum, input: sums, config: { type: csv, path: s.csv } }
  - { type: output, name: '%s', input: split.many, config: { type: csv, path: m.csv } }
"""
SVG = "{http://www.w3.org/2000/svg}"


def plan(text: str = PIPELINE % HOSTILE) -> Plan:
    compiled = compile_pipeline(text.encode(), "p.yaml", Options(base_dir=Path("nowhere")))
    assert compiled.plan, compiled.diagnostics
    return compiled.plan


def passing() -> list[NodePassing]:
    def node(name: str, kind: str, came: int, left: int | None, **more: object) -> NodePassing:
        lost = {"rejected": 0, **more}
        return NodePassing(name=name, kind=kind, records_in=came, records_out=left, **lost)  # type: ignore[arg-type]

    return [
        node("orders", "source", 1234, 1230, rejected=4, filtered=2),
        node("split", "route", 1230, 1230, ports={"few": 1000, "many": None}),
        node("sums", "aggregate", 1000, 1),
        node("sum", "output", 1, 1),
        node(HOSTILE, "output", 0, 0),
    ]


def texts(svg: str, class_: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [
        "".join(each.itertext())
        for each in root.iter(f"{SVG}text")
        if each.attrib.get("class") == class_
    ]


def test_every_node_and_every_line_is_there() -> None:
    svg = as_svg(plan())
    assert texts(svg, "name") == ["orders", "split", "sums", '<script>alert("1")<…', "sum"]
    assert texts(svg, "kind") == ["source", "route", "aggregate", "output", "output"]
    assert texts(svg, "way") == ["few", "many"]
    assert not texts(svg, "records")
    assert svg.count('class="link') == 4
    assert svg.count('class="link held"') == 2  # a cache for many, a shuffle for few


def test_it_is_described_to_those_who_do_not_see_it() -> None:
    root = ElementTree.fromstring(as_svg(plan()))
    assert root.attrib["role"] == "img"
    named = {each.attrib["id"]: each.text for each in root if "id" in each.attrib}
    title, description = (named[name] for name in root.attrib["aria-labelledby"].split())
    assert title == "The steps of picture"
    assert description
    assert description.startswith("orders to split. split (few) to sums.")


def test_names_are_no_markup() -> None:
    for shown in (as_svg(plan()), plan_html(plan()), str(plan_pictures(plan(), passing(), "x"))):
        assert "<script" not in shown


def test_the_same_plan_gives_the_same_picture() -> None:
    assert as_svg(plan()) == as_svg(plan())


def test_what_passed_stands_beside_the_lines() -> None:
    small, wide = re.findall("<svg.*?</svg>", str(plan_pictures(plan(), passing(), "x")), re.DOTALL)
    for svg in (small, wide):
        assert texts(svg, "records") == ["1,230", "1,000", "—", "1"]
        assert texts(svg, "fate") == ["4 rejected, 2 filtered"]
        assert "split (many) to" in svg
        assert "unknown records" in svg
        assert ". orders: 4 rejected, 2 filtered.</desc>" in svg
    assert "picture for-narrow" in small
    assert "picture for-wide" in wide


def test_long_names_end_where_the_box_does() -> None:
    wide = "表" * 30
    svg = as_svg(plan(PIPELINE % wide))
    assert texts(svg, "name")[3] == "表" * 9 + "…"
    assert f"<title>{wide} (output)</title>" in svg


def test_a_long_pipeline_is_read_downwards() -> None:
    steps = "".join(
        f"  - {{ type: transform, name: s{n}, input: {f's{n - 1}' if n else 'orders'}, "
        f"config: {{ cxl: emit a{n} = id }} }}\n"
        for n in range(9)
    )
    last = "  - { type: output, name: last, input: s8, config: { type: csv, path: l.csv } }\n"
    root = ElementTree.fromstring(as_svg(plan(PIPELINE % "many" + steps + last)))
    assert float(root.attrib["height"]) > float(root.attrib["width"])
    flat = ElementTree.fromstring(as_svg(plan(PIPELINE % "many")))
    assert float(flat.attrib["width"]) > float(flat.attrib["height"])


def test_the_command_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "p.yaml").write_text(PIPELINE % "many")
    assert main(["run", str(tmp_path / "p.yaml"), "--explain", "svg"]) == 0
    assert capsys.readouterr().out == as_svg(plan(PIPELINE % "many"))


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    dark, light = sorted(map(_luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("is_dark", [False, True])
def test_everything_can_be_told_from_its_background(is_dark: bool) -> None:
    light, dark = PICTURE.split("@media screen and (prefers-color-scheme: dark)")
    colours = dict(re.findall(r"--(\w+): (#\w{6})", dark if is_dark else light))
    for ink in ("ink", "faint", "accent", "good", "careful", "bad"):
        for background in ("paper", "sheet"):
            assert _contrast(colours[ink], colours[background]) >= 4.5, (ink, background)
    assert _contrast(colours["ink"], colours["mark"]) >= 4.5
    for line in ("source", "output", "works", "gathers", "parts"):
        assert _contrast(colours[line], colours["paper"]) >= 3, line


def test_lines_to_what_was_not_computed_have_no_numbers() -> None:
    some = [each for each in passing() if each.name != HOSTILE]
    shown = str(plan_pictures(plan(), some, "x"))
    svg = re.findall("<svg.*?</svg>", shown, re.DOTALL)[0]
    assert texts(svg, "records") == ["1,230", "1,000", "1"]
    assert "<title>split (many) to &lt;script" in svg
