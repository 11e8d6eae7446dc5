"""The names of the files that an output is split into."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from clinker.file_names import split_name

_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<name>stem|ext|seq)(?::(?P<width>\d+))?\}|[^{}]+")
_NO_EXTENSION = "dat"


def split_path(path: Path, naming: str, number: int) -> Path:
    """The file of this number, counted from 1, beside the path that was asked for."""
    return path.parent / _fill_in(path, naming, str, lambda width: f"{number:0{width}}")


def find_split_files(path: Path, naming: str) -> Iterator[Path]:
    """The files that the output may have been split into before."""
    anything = _fill_in(path, naming, glob.escape, lambda _: "*")
    numbered = re.compile(_fill_in(path, naming, re.escape, lambda _: "([0-9]+)"))
    for file in sorted(path.parent.glob(anything)):
        name = numbered.fullmatch(file.relative_to(path.parent).as_posix())
        if name and split_path(path, naming, int(name[1])) == file:
            yield file


def _fill_in(
    path: Path, naming: str, literal: Callable[[str], str], number: Callable[[int], str]
) -> str:
    stem, extension = split_name(path)

    def shown(token: re.Match[str]) -> str:
        match token["name"]:
            case "seq":
                return number(int(token["width"] or 0))
            case "stem":
                return literal(stem)
            case "ext":
                return literal(extension.removeprefix(".") or _NO_EXTENSION)
            case _:
                return literal({"{{": "{", "}}": "}"}.get(token[0], token[0]))

    return _TOKEN.sub(shown, naming)
