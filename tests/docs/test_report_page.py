"""The page about reports: its example is run, and what it leaves is looked at in a browser."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.browser import Browser, browsing
from tests.docs.console import commands
from tests.docs.pages import DOCS, blocks_of

CLINKER = str(Path(sys.executable).with_name("clinker"))
PAGE = DOCS / "running" / "report.md"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the example was run, with its report and its metrics."""
    folder = tmp_path_factory.mktemp("report")
    for block in blocks_of(PAGE):
        if file := block.option("file"):
            (folder / file).write_text(block.text, "utf-8")
    [session] = [block for block in blocks_of(PAGE) if "session" in block.flags]
    [command] = commands(session.text)
    ended = subprocess.run(
        [CLINKER, *command.words[1:], "--metrics-spool-dir", "spool"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if not command.matches(ended.stdout):
        assert ended.stdout == command.expected
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.endswith("info: the report is in 'run.html'\n")
    return folder


@pytest.fixture(scope="module")
def metrics(place: Path) -> dict[str, Any]:
    [file] = (place / "spool").iterdir()
    found: dict[str, Any] = json.loads(file.read_bytes())
    return found


@pytest.fixture(scope="module")
def browser(place: Path) -> Any:
    with browsing() as opened:
        opened.resize(1400)
        opened.open(place / "run.html")
        yield opened


def test_the_run_prints_what_the_page_shows(place: Path) -> None:
    assert "exit code 2: all outputs are in place" in (place / "run.html").read_text()


NUMBERS = """
(() => {
  const value = cell => cell.querySelector("data") ? +cell.querySelector("data").value : null;
  const tables = {};
  for (const table of document.querySelectorAll("table"))
    tables[table.caption.textContent] = [...table.tBodies[0].rows].map(
      row => [row.cells[0].textContent, ...[...row.cells].slice(1).map(value)]);
  const tiles = {};
  for (const tile of document.querySelectorAll(".tiles div"))
    tiles[tile.querySelector("dt").textContent] = value(tile);
  return {tables, tiles};
})()
"""


def test_the_numbers_are_those_of_the_metrics(browser: Browser, metrics: dict[str, Any]) -> None:
    shown = browser.evaluate(NUMBERS)
    assert shown["tiles"] == {
        "read": metrics["records_total"],
        "ok": metrics["records_ok"],
        "written": metrics["records_written"],
        "dead letters": metrics["records_dlq"],
        "filtered": metrics["records_filtered"],
        "duplicates": metrics["records_distinct"],
    }
    numbers = ("records_in", "records_out", "rejected", "filtered", "distinct")
    assert shown["tables"]["Records by node"] == [
        [node["name"], None, *(node[name] for name in numbers)] for node in metrics["nodes"]
    ]
    assert all(node[name] is not None for node in metrics["nodes"] for name in numbers[:3])
    assert [row[:2] for row in shown["tables"]["What was read"]] == [
        [*each] for each in metrics["per_source_record_counts"].items()
    ]
    branches = [port for node in metrics["nodes"] for port in node["ports"].items()]
    assert [[row[0], row[2]] for row in shown["tables"]["Records by branch"]] == [
        [*each] for each in branches
    ]


def test_every_line_of_the_picture_has_its_number(
    browser: Browser, metrics: dict[str, Any]
) -> None:
    left = {node["name"]: node["records_out"] for node in metrics["nodes"]}
    sizes = next(node["ports"] for node in metrics["nodes"] if node["name"] == "sizes")
    expected = {
        f"orders to priced: {left['orders']} records",
        f"priced to sizes: {left['priced']} records",
        f"sizes (large) to totals: {sizes['large']} records",
        f"sizes (small) to small: {sizes['small']} records",
        f"totals to large: {left['totals']} records",
    }
    titles = browser.evaluate(
        "[...document.querySelectorAll('.canvas svg:first-child .link title')]"
        ".map(each => each.textContent)"
    )
    assert len(titles) == len(expected)
    assert {text for text in expected for title in titles if title.startswith(text)} == expected


def test_each_reason_is_shown_with_the_line_that_rejects(browser: Browser) -> None:
    reasons = browser.evaluate(
        """[...document.querySelectorAll("details.reason")].map(each => [
            each.querySelector("summary").textContent,
            each.querySelector("figcaption").textContent,
            each.querySelector("mark").textContent,
            each.querySelector("tbody th").textContent,
        ])"""
    )
    assert sorted(reasons) == [
        [
            "1 entry: rule 'has_region' in priced, field region",
            "shop.yaml:22",
            "not_empty",
            "orders.csv, row 5",
        ],
        [
            "1 entry: type_coercion_failure in orders, field amount",
            "shop.yaml:12",
            "float",
            "orders.csv, row 4",
        ],
        [
            "1 entry: type_coercion_failure in priced, field each",
            "shop.yaml:20",
            "amount / parts.to_float()",
            "orders.csv, row 6",
        ],
    ]


def test_it_loads_without_a_word_and_fetches_nothing(browser: Browser, place: Path) -> None:
    browser.open(place / "run.html")
    assert browser.complaints() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1400])
def test_nothing_is_wider_than_the_screen(
    browser: Browser, place: Path, width: int, scheme: str
) -> None:
    browser.resize(width, is_mobile=width < 500)
    browser.prefer(scheme)
    browser.open(place / "run.html")
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    paper = browser.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 31)"}[scheme]


def test_on_paper_it_is_dark_on_light(browser: Browser, place: Path) -> None:
    browser.open(place / "run.html")
    browser.prefer("dark", "print")
    shown = browser.evaluate(
        "['body', 'nav'].map(name => getComputedStyle(document.querySelector(name)))"
        ".map(style => [style.backgroundColor, style.display])"
    )
    browser.prefer("light")
    assert shown == [["rgb(255, 255, 255)", "block"], ["rgba(0, 0, 0, 0)", "none"]]


def test_it_is_one_document_with_headings_in_order(browser: Browser) -> None:
    headings = browser.evaluate(
        "[...document.querySelectorAll('h1, h2, h3, h4')].map(each => each.tagName)"
    )
    assert headings == ["H1", *["H2"] * (len(headings) - 1)]
    landmarks = {"header": 1, "nav": 1, "main": 1, "footer": 1}
    for name, count in landmarks.items():
        assert browser.evaluate(f"document.querySelectorAll('body > {name}').length") == count
    assert browser.evaluate("document.documentElement.lang") == "en"
    unnamed = browser.evaluate(
        """[...document.querySelectorAll("section, svg, nav, [role=region]")].filter(each =>
            !each.getAttribute("aria-label") &&
            !(each.getAttribute("aria-labelledby") || "?").split(" ").every(
                name => document.getElementById(name))).length"""
    )
    assert unnamed == 0
    doubled = browser.evaluate(
        "(names => names.length - new Set(names).size)"
        "([...document.querySelectorAll('[id]')].map(each => each.id))"
    )
    assert doubled == 0


def test_tables_tell_what_their_cells_are_about(browser: Browser) -> None:
    heads = browser.evaluate(
        """[...document.querySelectorAll("table")].every(table =>
            table.caption.textContent &&
            [...table.querySelectorAll("th")].every(head =>
                head.scope === (head.closest("thead") ? "col" : "row")) &&
            [...table.tBodies[0].rows].every(row => row.cells[0].tagName === "TH"))"""
    )
    assert heads is True


FOCUS = """
(() => {
  const at = document.activeElement, outline = getComputedStyle(at).outlineStyle;
  return [at.tagName, at.textContent.slice(0, 20), outline, at.getBoundingClientRect().top >= 0];
})()
"""


def test_the_keyboard_leads_everywhere(browser: Browser, place: Path) -> None:
    browser.resize(1400)
    browser.open(place / "run.html")
    browser.press("Tab")
    assert browser.evaluate(FOCUS) == ["A", "Skip to the report", "solid", True]
    browser.press("Enter")
    assert browser.evaluate("document.activeElement.tagName") == "MAIN"
    reached = []
    for _ in range(40):
        browser.press("Tab")
        tag, _, outline, _ = browser.evaluate(FOCUS)
        if tag == "BODY":
            break
        assert outline == "solid"
        reached.append(tag)
    assert reached.count("SUMMARY") == browser.evaluate(
        "document.querySelectorAll('summary').length"
    )
    browser.evaluate("document.querySelector('.plan summary').focus()")
    browser.press("Enter")
    assert browser.evaluate("document.querySelector('.plan details').open")
