"""Where test files are: beside the pipelines, by their names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clinker.file_names import TEST_ENDS
from clinker.plain_files import files_below


class NotThere(Exception):
    """A path is no file and no directory."""


def find_test_files(paths: Sequence[Path]) -> list[Path]:
    """The files that are named, and the test files below directories, each once, in order."""
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            tests = (file for file in files_below(path) if file.name.endswith(TEST_ENDS))
            found |= dict.fromkeys(tests)
        elif path.exists():
            found[path] = None
        else:
            raise NotThere(str(path))
    return list(found)
