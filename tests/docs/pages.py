"""The pages of the documentation: their code blocks, headings and links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from website.markdown import FENCE, INLINE_CODE, LINK

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples" / "cxl"

_CELL_BORDER = re.compile(r"(?<!\\)\|")
_HEADING = re.compile(r"^#{1,6} (?P<title>.+)$", re.MULTILINE)
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class Block:
    """A fenced code block. What follows the language in its opening fence are its flags."""

    page: Path
    line: int
    language: str
    flags: tuple[str, ...]
    text: str

    def option(self, name: str) -> str | None:
        """The value of a flag `name=value`."""
        values = [f.partition("=")[2] for f in self.flags if f.startswith(f"{name}=")]
        return values[0] if values else None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    return sorted(DOCS.rglob("*.md"))


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in FENCE.finditer(text):
        language, *flags = found["info"].split() or [""]
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, language, tuple(flags), found["text"])


def blocks(*languages: str) -> list[Block]:
    """All code blocks, or those in some languages."""
    found = [block for page in pages() for block in blocks_of(page)]
    return [block for block in found if not languages or block.language in languages]


def links_of(page: Path) -> list[str]:
    """The targets of all links that do not leave the documentation."""
    targets = [found["target"] for found in LINK.finditer(_prose(page))]
    return [target for target in targets if "://" not in target]


@cache
def anchors_of(page: Path) -> frozenset[str]:
    """The fragments that lead to the headings of a page, as GitHub derives them."""
    anchors: set[str] = set()
    seen: Counter[str] = Counter()
    for found in _HEADING.finditer(FENCE.sub("", page.read_text("utf-8"))):
        anchor = _NOT_IN_ANCHORS.sub("", found["title"].lower()).replace(" ", "-")
        anchors.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return frozenset(anchors)


def code_in_last_column(*header: str) -> Iterator[str]:
    """The pieces of code in the last column of the tables with this header."""
    for page in pages():
        in_table = False
        for line in page.read_text("utf-8").splitlines():
            cells = tuple(cell.strip() for cell in _CELL_BORDER.split(line)[1:-1])
            in_table = bool(cells) and (in_table or cells == header)
            if in_table:
                yield from (code[1:-1] for code in INLINE_CODE.findall(cells[-1]))


def _prose(page: Path) -> str:
    return INLINE_CODE.sub("", FENCE.sub("", page.read_text("utf-8")))
