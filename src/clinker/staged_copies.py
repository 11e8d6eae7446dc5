"""Staged copies: how they are called, what their manifests say, and whether they may be used.

`formats/files/staging` makes them and tells their life; an explained plan only looks at them.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from clinker.frozen import frozen
from clinker.stores.access import find
from clinker.stores.urls import FilePath, ObjectUrl, canonical

_MOST_READ = 1 << 16
"""No manifest has so many bytes."""


@frozen(kw_only=True)
class Manifest:
    """What was copied, and when: the last file to be written, so there is a whole copy with it."""

    source: str
    """The canonical path."""
    size: int
    mtime_ns: int
    blake3: str
    copy_mtime_ns: int
    """When the copy was written: if it has been touched since, it is not what was copied."""
    staged_at: str
    run: str

    def is_fresh(self, size: int, mtime_ns: int) -> bool:
        """Whether a source with this size and time is still what was copied."""
        return (self.size, self.mtime_ns) == (size, mtime_ns)

    def as_json(self) -> bytes:
        return json.dumps({"version": 1, **vars(self)}, indent=2).encode() + b"\n"


@frozen
class StagedCopy:
    """The files that belong to a staged source. They are called after its canonical path, so every
    run finds them."""

    directory: Path
    id: str

    @staticmethod
    def of(directory: Path, source: FilePath) -> StagedCopy:
        identity = hashlib.blake2b(os.fsencode(canonical(source)), digest_size=32)
        return StagedCopy(directory, identity.hexdigest())

    @property
    def path(self) -> Path:
        return self.directory / f"{self.id}.staged"

    @property
    def manifest(self) -> Path:
        return self.directory / f"{self.id}.manifest.json"

    @property
    def lock(self) -> Path:
        return self.directory / f"{self.id}.lock"

    def partial(self, run: str) -> Path:
        """What one of the others is called until it is whole."""
        return self.directory / f"{self.id}.{run}.partial"

    def committed(self) -> Manifest | None:
        """What the manifest says, if there is a whole copy that nobody has touched."""
        try:
            manifest = _parsed(_content(self.manifest))
            copy = self.path.lstat()
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        is_whole = (copy.st_size, copy.st_mtime_ns) == (manifest.size, manifest.copy_mtime_ns)
        return manifest if is_whole and _is_own_file(copy) else None

    def is_fresh(self, source: FilePath) -> bool:
        """Whether the copy of an earlier run may be used instead of the source."""
        manifest = self.committed()
        try:
            size, mtime_ns = _written(source)
        except OSError:
            return False
        return manifest is not None and manifest.is_fresh(size, mtime_ns)

    def leftovers(self) -> Iterator[Path]:
        """What is there of the copy and its manifest, the manifest first."""
        yield from (path for path in (self.manifest, self.path) if os.path.lexists(path))


def _written(source: FilePath) -> tuple[int, int]:
    """How large a source is, and when it was last written."""
    if isinstance(source, ObjectUrl):
        facts = find(source)
        return facts.size, facts.modified_ns
    status = source.stat()
    return status.st_size, status.st_mtime_ns


def _content(path: Path) -> bytes:
    """What a file of ours holds; `OSError` if it is none."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not _is_own_file(os.fstat(descriptor)):
            raise PermissionError
        return file.read(_MOST_READ)


def _is_own_file(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()


def _parsed(content: bytes) -> Manifest:
    """`ValueError` or `TypeError` if it is no manifest."""
    fields: Any = json.loads(content)
    if not isinstance(fields, dict) or fields.pop("version", None) != 1:
        raise ValueError
    return Manifest(**fields)
