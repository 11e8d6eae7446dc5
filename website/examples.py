"""The example programs of CXL, all of them on one page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

DIRECTORY = Path(__file__).resolve().parents[1] / "examples" / "cxl"

_INTRODUCTION = """\
# Example programs

The programs that the pages about CXL use, and the records they are shown with.
"""
_LANGUAGES = {".cxl": "cxl", ".json": "json", ".csv": "csv", ".sh": "sh"}


def page() -> str:
    return "\n".join([_INTRODUCTION, *map(_section, _files())])


def anchor(file: Path) -> str:
    """The fragment that leads to the heading of a file."""
    return re.sub(r"[^\w-]", "", file.relative_to(DIRECTORY).as_posix().lower())


def _files() -> Iterator[Path]:
    files = (path for path in DIRECTORY.rglob("*") if path.is_file())
    yield from sorted(files, key=lambda path: (path.suffix != ".cxl", path))


def _section(file: Path) -> str:
    text = file.read_text("utf-8").rstrip("\n")
    language = _LANGUAGES[file.suffix]
    return f"## {file.relative_to(DIRECTORY).as_posix()}\n\n```{language}\n{text}\n```\n"
