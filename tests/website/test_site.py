"""The documentation as a site: built without a warning, whole, in need of nothing else."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from website.build import build
from website.navigation import navigation
from website.pages import CODES, pages

_LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src"}


@dataclass
class Page:
    links: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    anchors: set[str] = field(default_factory=set)
    code: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._around: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if anchor := values.get("id"):
            self.page.anchors.add(anchor)
        if tag == "a" and (target := values.get("href")):
            self.page.links.add(target)
        if (loaded := values.get(_LOADED.get(tag, ""))) and values.get("rel") != "canonical":
            self.page.loaded.add(loaded)
        if tag in ("code", "script", "style", "pre"):
            self._around.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._around and self._around[-1] == tag:
            self._around.pop()

    def handle_data(self, data: str) -> None:
        if self._around == ["code"]:
            self.page.code.append(data)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("built") / "site"
    build(directory)
    return directory


@pytest.fixture(scope="module")
def html(site: Path) -> dict[Path, Page]:
    """All pages, but for that of paths that lead nowhere."""
    return {path: _read(path) for path in site.rglob("*.html") if path.name != "404.html"}


def _read(path: Path) -> Page:
    reader = _Reader()
    reader.feed(path.read_text("utf-8"))
    return reader.page


def _targets(path: Path, page: Page) -> Iterator[tuple[Path, str]]:
    """The files of the site that a page links to, with the fragment behind each."""
    for link in page.links:
        parts = urlsplit(link)
        if not parts.scheme:
            target = os.path.normpath(path.parent / unquote(parts.path)) if parts.path else path
            yield Path(target), unquote(parts.fragment)


def test_every_file_is_on_the_site(site: Path) -> None:
    built = {path.relative_to(site).as_posix() for path in site.rglob("*")}
    assert {place.removesuffix(".md") for place in pages().values()} <= {
        place.removesuffix(".html") for place in built
    }


def test_every_link_leads_somewhere(html: dict[Path, Page], site: Path) -> None:
    nowhere = [
        f"{path.relative_to(site)}: {target.name}#{fragment}"
        for path, page in html.items()
        for target, fragment in _targets(path, page)
        if not (target in html or target.is_file())
        or (fragment and target in html and fragment not in html[target].anchors)
    ]
    assert nowhere == []


def test_every_page_can_be_reached(html: dict[Path, Page], site: Path) -> None:
    left = [site / "index.html"]
    reached: set[Path] = set()
    while left:
        path = left.pop()
        if path in html and path not in reached:
            reached.add(path)
            left += [target for target, _ in _targets(path, html[path])]
    assert html.keys() - reached == set()


def test_nothing_is_loaded_from_elsewhere(html: dict[Path, Page], site: Path) -> None:
    for path, page in html.items():
        for loaded in page.loaded:
            assert not urlsplit(loaded).netloc, loaded
            assert (path.parent / urlsplit(loaded).path).is_file(), loaded
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?https?:|@import", style.read_text("utf-8")), style.name


def test_pages_are_read_as_github_reads_them(site: Path) -> None:
    """Two readers of Markdown agree on where paragraphs, lists and tables are, and on emphasis."""
    github = MarkdownIt("commonmark").enable("table")
    for source, place in pages().items():
        if source.is_file() and source.suffix == ".md":
            built = (site / place).with_suffix(".html").read_text("utf-8")
            shown = built[built.index("<article") : built.index("</article>")]
            assert _structure(shown) == _structure(github.render(source.read_text("utf-8"))), place


def _structure(html: str) -> Counter[str]:
    return Counter(re.findall(r"<(p|ul|ol|li|tr|td|h[1-6]|pre|em|strong|blockquote)[ >]", html))


def test_code_is_shown_as_it_is_written(html: dict[Path, Page], site: Path) -> None:
    for path, page in html.items():
        assert [text for text in page.code if r"\|" in text] == [], path.relative_to(site)


@pytest.mark.parametrize("word", ["correlation key", "E305", "pad_left", "clinker.toml", "UNOA"])
def test_search_finds(word: str, site: Path) -> None:
    index = json.loads((site / "search.json").read_text("utf-8"))
    assert any(word in item["title"] + item["text"] for item in index["items"])
    assert word in (site / "search.js").read_text("utf-8")  # for pages opened from disk


def test_the_menu_is_that_of_the_index() -> None:
    menu = navigation()
    places = [pages()[path] for path in pages() if path.suffix == ".md" and path.parent != CODES]
    assert [place for place in places if json.dumps(place) not in menu] == []
    assert menu.index("first-hour.md") < menu.index("pipelines/sources.md") < menu.index("E001.md")
