"""The names of the files that an output is split into."""

from __future__ import annotations

import glob
import re
from collections.abc import Callable, Iterator
from pathlib import PurePath

from clinker.file_names import split_name
from clinker.stores.access import list_objects
from clinker.stores.urls import FilePath, ObjectUrl

_TOKEN = re.compile(r"\{\{|\}\}|\{(?P<name>stem|ext|seq)(?::(?P<width>\d+))?\}|[^{}]+")
_NO_EXTENSION = "dat"


def split_path(path: FilePath, naming: str, number: int) -> FilePath:
    """The file of this number, counted from 1, beside the path that was asked for."""
    return path.parent / _fill_in(path, naming, str, lambda width: f"{number:0{width}}")


def find_split_files(path: FilePath, naming: str) -> Iterator[FilePath]:
    """The files that the output may have been split into before."""
    numbered = re.compile(_fill_in(path, naming, re.escape, lambda _: "([0-9]+)"))
    for name in sorted(_names_beside(path, naming)):
        number = numbered.fullmatch(name)
        if number and split_path(path, naming, int(number[1])) == path.parent / name:
            yield path.parent / name


def _names_beside(path: FilePath, naming: str) -> Iterator[str]:
    """Names, as seen from the directory of a path, that may be those of its files."""
    if isinstance(path, ObjectUrl):
        within = len(f"{path.parent}/".removesuffix("//"))
        for found in list_objects(path.parent, recursive="/" in naming):
            yield str(found.url)[within:].removeprefix("/")
        return
    anything = _fill_in(path, naming, glob.escape, lambda _: "*")
    for file in path.parent.glob(anything):
        yield file.relative_to(path.parent).as_posix()


def _fill_in(
    path: FilePath, naming: str, literal: Callable[[str], str], number: Callable[[int], str]
) -> str:
    stem, extension = split_name(PurePath(path.name))

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
