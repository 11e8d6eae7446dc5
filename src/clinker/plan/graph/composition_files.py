"""The files of compositions: where a call finds them, each read once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path

from clinker.config import Composition, Loaded, load_composition
from clinker.diagnostics.suggest import did_you_mean
from clinker.frozen import frozen
from clinker.plain_files import read_plain
from clinker.plan.files.paths import (
    Violation,
    is_directory,
    is_file,
    leaves,
    link_violation,
    resolve,
    violation,
)

_SEARCH_DEPTH = 16


class UnsafePath(Exception):
    """A path that must not be followed."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(violation.message)
        self.violation = violation


@frozen(eq=False)
class Files:
    """The composition files of a workspace, each read once."""

    root: Path
    bounds: tuple[Path, ...]
    """A file has to be below one of these."""
    allow_absolute: bool = False
    read: Callable[[Path], bytes] = read_plain
    _loaded: dict[Path, Loaded[Composition] | OSError] = field(default_factory=dict)

    def find(self, use: str, directory: Path) -> list[Path]:
        """The files that `use` may mean in a file of `directory`; raises UnsafePath."""
        forbidden = None
        for start in (directory, self.root):
            wrong = violation(use, start, self.allow_absolute, *self.bounds)
            path = resolve(use, start)
            if wrong is None and is_file(path):
                return [path]
            if start is directory or is_file(path):
                forbidden = forbidden or wrong
        if forbidden:
            raise UnsafePath(forbidden)
        if Path(use).name != use:
            return []
        files = [path for path in self._every_file() if path.name == use]
        if not self.allow_absolute and any(leaves(path, *self.bounds) for path in files):
            raise UnsafePath(link_violation(use))
        return files

    def _every_file(self) -> Iterator[Path]:
        for folder, folders, names in os.walk(self.root):
            depth = len(Path(folder).relative_to(self.root).parts)
            visible = (name for name in folders if not name.startswith("."))
            folders[:] = sorted(visible) if depth < _SEARCH_DEPTH else []
            yield from (Path(folder, name) for name in sorted(names))

    def near(self, use: str, directory: Path) -> str | None:
        """A file beside the one that is missing, with a similar name."""
        for start in (directory, self.root):
            folder = (start / use).parent
            if is_directory(folder):
                names = (p.name for p in sorted(folder.glob("*.comp.yaml")))
                close = did_you_mean(Path(use).name, names)
                if close:
                    return close
        return None

    def is_new(self, path: Path) -> bool:
        return path not in self._loaded

    def load(self, path: Path) -> Loaded[Composition] | OSError:
        if path not in self._loaded:
            try:
                self._loaded[path] = load_composition(self.read(path), str(path))
            except OSError as error:
                self._loaded[path] = error
        return self._loaded[path]
