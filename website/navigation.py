"""The order of pages, which is that of the tables in docs/README.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from website.markdown import LINK
from website.pages import DOCS, INDEX, codes, pages

_SECTION = re.compile(r"^## (?P<title>.+)\n(?P<body>(?:(?!## ).*\n?)*)", re.MULTILINE)
_ROW = re.compile(r"^\| (\[.*?) \|", re.MULTILINE)
_DIAGNOSTICS = DOCS / "diagnostics.md"


def navigation() -> str:
    """A list in TOML: of places, of titled places, and of titled lists."""
    entries = [_titled("Overview", json.dumps(pages()[INDEX]))]
    for section in _SECTION.finditer(INDEX.read_text("utf-8")):
        if rows := _ROW.findall(section["body"]):
            entries.append(_titled(section["title"], _list(map(_entry, rows))))
    return _list(entries)


def _entry(row: str) -> str:
    """The page that a row of a table begins with."""
    link = LINK.match(row)
    assert link, row
    title = link["text"][1:-1].replace("`", "")
    source = (DOCS / link["target"]).resolve()
    place = json.dumps(pages()[source])
    if source != _DIAGNOSTICS:
        return _titled(title, place)
    pages_of_codes = (_titled(Path(code).stem, json.dumps(code)) for code in codes())
    return _titled(title, _list([place, *pages_of_codes]))


def _titled(title: str, value: str) -> str:
    return f"{{ {json.dumps(title)} = {value} }}"


def _list(values: Iterator[str] | list[str]) -> str:
    return f"[{', '.join(values)}]"
