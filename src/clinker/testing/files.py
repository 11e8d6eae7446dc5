"""Where test files are: beside the pipelines, by their names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

ENDS = ("_test.yaml", "_test.yml")


class NotThere(Exception):
    """A path is no file and no directory."""


def find_test_files(paths: Sequence[Path]) -> list[Path]:
    """The files that are named, and the test files below directories, each once, in order."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            found |= dict.fromkeys(_below(path))
        elif path.exists():
            found[path] = None
        else:
            raise NotThere(str(path))
    return list(found)


def _below(directory: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(directory):
        # Virtual environments, repositories and the like hold tests of others.
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(folder, name) for name in sorted(files) if name.endswith(ENDS))
