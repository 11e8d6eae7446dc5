"""Which file becomes which page of the site."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from website import examples
from website.markdown import rewritten

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
CODES = ROOT / "src" / "clinker" / "diagnostics" / "pages"
INDEX = DOCS / "README.md"

_ELSEWHERE = {
    INDEX: "index.md",
    DOCS / "diagnostics.md": "diagnostics/index.md",
    ROOT / "CONTRIBUTING.md": "contributing.md",
    ROOT / "bench" / "RESULTS.md": "benchmarks/results.md",
    ROOT / "bench" / "FORMATS.md": "benchmarks/formats.md",
    examples.DIRECTORY: "cxl/examples.md",
}

_SEE_ALSO = "\n## See also\n"
_WORD = re.compile(r"[A-Z][\w-]*\d\w*")


class NoPageError(Exception):
    """A link leads to a file that is no page of the site."""


@cache
def pages() -> dict[Path, str]:
    """Every file of the repository that becomes a page or is handed out, with its place."""
    found = {path: path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*") if path.is_file()}
    found |= {path: f"diagnostics/{path.name}" for path in CODES.glob("*.md")}
    return found | _ELSEWHERE


def write_pages(directory: Path) -> None:
    for source, place in pages().items():
        target = directory / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix == ".md":
            target.write_text(_page(source), "utf-8")
        else:
            target.write_bytes(source.read_bytes())


def _page(source: Path) -> str:
    if source == examples.DIRECTORY:
        return examples.page()
    text = source.read_text("utf-8")
    if source.parent == CODES:
        text = _with_links_to_codes(text)
    return rewritten(text, lambda target: on_site(source, target))


def _with_links_to_codes(text: str) -> str:
    """A page about a code, as the command prints it, with links where it names others."""
    before, heading, mentions = text.partition(_SEE_ALSO)

    def linked(found: re.Match[str]) -> str:
        code = found[0]
        return f"[{code}]({code}.md)" if (CODES / f"{code}.md") in pages() else code

    return before + heading + _WORD.sub(linked, mentions)


def on_site(page: Path, target: str) -> str:
    """Where a link of a page leads on the site, from where the page is."""
    path, mark, fragment = target.partition("#")
    if "://" in path or not path:
        return target
    meant = Path(os.path.normpath(page.parent / path))
    if examples.DIRECTORY in meant.parents:
        meant, mark, fragment = examples.DIRECTORY, "#", examples.anchor(meant)
    if meant not in pages():
        where = page.relative_to(ROOT)
        raise NoPageError(f"{where} links to {target}, which is no page of the site")
    here = Path(pages()[page]).parent
    return os.path.relpath(pages()[meant], here) + mark + fragment


def codes() -> Iterator[str]:
    """The places of the pages about codes, in the order of the codes."""
    yield from (pages()[path] for path in sorted(CODES.glob("*.md")))
