"""The files that the paths of a command line name: files as they are, directories walked."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from clinker.editing.kinds import FileKind, kind_of
from clinker.frozen import frozen
from clinker.plain_files import files_below, read_plain

_ENDS = (".yaml", ".yml", ".cxl")
_MOST_BYTES = 4 * 2**20
"""More than any of our files may have; what is larger in a directory is none of them."""


@frozen(eq=False)
class File:
    """A file with the kind that its name and its text tell."""

    path: Path
    content: bytes
    kind: FileKind


class UnknownKind(Exception):
    """A file was named of which nothing tells what it is."""


def read_files(paths: Iterable[str]) -> Iterator[File | OSError | UnknownKind]:
    """Every file of ours below `paths`, each once, in order; or why one cannot be read.

    A file that is named is ours if it can be; of those in directories some belong to others.
    """
    seen: set[Path] = set()
    for text in paths:
        path = Path(text)
        named = not path.is_dir()
        for file in [path] if named else _below(path):
            if file.resolve() in seen:
                continue
            seen.add(file.resolve())
            try:
                if not (named or _may_be_ours(file)):
                    continue
                content = read_plain(file)
            except OSError as problem:
                yield problem
                continue
            kind = kind_of(file, content.decode("utf-8-sig", "replace"))
            if kind:
                yield File(file, content, kind)
            elif named:
                # Whoever names a YAML file means a pipeline, whatever is missing in it.
                is_yaml = file.name.lower().endswith(_ENDS)
                yield File(file, content, FileKind.PIPELINE) if is_yaml else UnknownKind(text)


def _may_be_ours(file: Path) -> bool:
    facts = file.stat()
    return stat.S_ISREG(facts.st_mode) and facts.st_size <= _MOST_BYTES


def _below(directory: Path) -> Iterator[Path]:
    """The files of a directory that may be ours."""
    for file in files_below(directory):
        if file.name.lower().endswith(_ENDS) or file.name == "clinker.toml":
            yield file
