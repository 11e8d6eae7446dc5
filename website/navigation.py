"""The order of pages, which is that of the tables in docs/README.md."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from website.pages import DOCS, INDEX, codes, on_site, pages

_SECTION = re.compile(r"^## (?P<title>.+)\n(?P<body>(?:(?!## ).*\n?)*)", re.MULTILINE)
_ROW = re.compile(r"^\| \[(?P<title>[^\]]+)\]\((?P<target>[^)]+)\) \|", re.MULTILINE)
_DIAGNOSTICS = DOCS / "diagnostics.md"


def navigation() -> str:
    """A list in TOML: of places, of titled places, and of titled lists."""
    entries = [_titled("Overview", json.dumps(pages()[INDEX]))]
    for section in _SECTION.finditer(INDEX.read_text("utf-8")):
        if rows := list(_ROW.finditer(section["body"])):
            entries.append(_titled(section["title"], _list(map(_entry, rows))))
    return _list(entries)


def _entry(row: re.Match[str]) -> str:
    """The page that a row of a table begins with."""
    title, place = row["title"].replace("`", ""), on_site(INDEX, row["target"])
    if place != pages()[_DIAGNOSTICS]:
        return _titled(title, json.dumps(place))
    pages_of_codes = (_titled(Path(code).stem, json.dumps(code)) for code in codes())
    return _titled(title, _list([json.dumps(place), *pages_of_codes]))


def _titled(title: str, value: str) -> str:
    return f"{{ {json.dumps(title)} = {value} }}"


def _list(values: Iterator[str] | list[str]) -> str:
    return f"[{', '.join(values)}]"
