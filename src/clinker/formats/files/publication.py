"""Publication: the files of a run appear together, after it has succeeded.

Every file is written aside, in the directory it belongs to and under a hidden name, and brought to
the disk; a directory that does not exist yet is made by the commit. `commit` writes down what it is
about to change, then renames all files; if that fails half-way, what was there before comes back.
If the process is killed half-way, `recovery` does the same. A run that fails leaves nothing behind
and touches nothing.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import orjson

from clinker.file_names import Compression
from clinker.formats.common.writing import IfExists, Sink, WriteError, writing_to
from clinker.formats.files.claims import Claimant, Claims
from clinker.formats.files.commit import Commit, Placement
from clinker.formats.files.compression import CompressedSink
from clinker.formats.files.marks import Marks, staging_directory
from clinker.frozen import frozen

_BUFFER = 1 << 20
_NEW_FILE_MODE = 0o666
"""Less what the umask takes away."""


@frozen(kw_only=True)
class Target:
    """Where a file goes, and what happens if one is there."""

    path: Path
    if_exists: IfExists = "error"
    unique_suffix_width: int = 0
    numbered: Callable[[int], str] | None = None
    """The names to try, if it was said where in them the number goes."""
    compression: Compression = "none"
    meta: Mapping[str, object] | None = None
    """What `<path>.meta.json` says beside the numbers of records and bytes, if it is wanted."""

    def at(self, path: Path) -> Target:
        """The same for another file, with the number at the end of its name."""
        return Target(
            path=path,
            if_exists=self.if_exists,
            unique_suffix_width=self.unique_suffix_width,
            compression=self.compression,
            meta=self.meta,
        )


@frozen(kw_only=True)
class Published:
    """A file that a run has written."""

    path: Path
    records: int
    size: int


@frozen(kw_only=True)
class _Prepared:
    """A file that lies aside, complete."""

    target: Target
    aside: Path
    records: int
    size: int


class PreparedFile:
    """A file while it is written aside; whoever writes it counts its records."""

    def __init__(self, target: Target, file: BinaryIO) -> None:
        self._target = target
        is_plain = target.compression == "none"
        self._compressed = None if is_plain else CompressedSink(target.compression, file)
        self._sink: Sink = self._compressed or file
        self.records = 0
        self.size = 0
        """How many bytes were written, before they were compressed."""

    def write(self, data: bytes | memoryview, /) -> int:
        with writing_to(self._target.path):
            written = self._sink.write(data)
        self.size += written
        return written

    def finish(self) -> None:
        """Let nothing wait to be compressed."""
        if self._compressed:
            self._compressed.close()


class Publication:
    """The files of one run."""

    def __init__(self, run_id: str) -> None:
        self._marks = Marks(run_id)
        self._prepared: list[_Prepared] = []
        self._removals: list[Path] = []
        self._taken: set[Path] = set()

    def claims(self, claimant: Claimant) -> Claims:
        """The claims of the run, which end together with the publication."""
        return Claims(self._marks, claimant)

    def __enter__(self) -> Publication:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def __len__(self) -> int:
        """How many files have been prepared; `commit` gives them in the same order."""
        return len(self._prepared)

    @contextmanager
    def prepare(self, target: Target) -> Iterator[PreparedFile]:
        """A new file; it is part of the publication once this ends well."""
        with writing_to(target.path):
            real = self._claimed(target)
            aside = self._marks.new_name(staging_directory(real))
            # Arrow hands over large buffers, which are written through without a copy.
            file = os.fdopen(_create(aside, real), "wb", buffering=_BUFFER)
        try:
            prepared = PreparedFile(target, file)
            yield prepared
            with writing_to(target.path):
                prepared.finish()
                _keep_mode(file.fileno(), real)
                file.flush()
                size = os.fstat(file.fileno()).st_size
                os.fsync(file.fileno())
        finally:
            # What a full disk has left in the buffer fails again.
            with suppress(OSError):
                file.close()
        self._prepared.append(
            _Prepared(
                target=replace(target, path=real),
                aside=aside,
                records=prepared.records,
                size=size,
            )
        )

    def remove(self, path: Path) -> None:
        """Let a file of an earlier run vanish together with the appearance of the others."""
        with writing_to(path):
            self._removals.append(self._claimed(Target(path=path, if_exists="overwrite")))

    def parts_directory(self, target: Target) -> Path:
        """A new directory on the volume of a target, for files that are only of use to this run."""
        with writing_to(target.path):
            directory = self._marks.new_name(staging_directory(target.path.resolve()), "parts")
            directory.mkdir(0o700)
        return directory

    def commit(self) -> list[Published]:
        """Make all files visible; if that fails, none, and `discard` is still to be called."""
        placements = [self._placement(prepared) for prepared in self._prepared]
        removals = [path for path in self._removals if os.path.lexists(path)]
        paths = []
        if placements or removals:
            paths = Commit(self._marks, placements, removals).carry_out()
        published = [
            Published(path=path, records=prepared.records, size=prepared.size)
            for path, prepared in zip(paths, self._prepared, strict=True)
        ]
        self.discard()
        return published

    def discard(self) -> None:
        """Remove what was never published."""
        self._marks.remove()
        self._prepared.clear()
        self._removals.clear()
        self._taken.clear()

    def _placement(self, prepared: _Prepared) -> Placement:
        target = prepared.target
        return Placement(
            aside=prepared.aside,
            path=target.path,
            if_exists=target.if_exists,
            unique_suffix_width=target.unique_suffix_width,
            numbered=target.numbered,
            meta=None if target.meta is None else self._prepared_meta(prepared, target.meta),
        )

    def _prepared_meta(self, prepared: _Prepared, meta: Mapping[str, object]) -> Path:
        counts = {"record_count": prepared.records, "bytes_written": prepared.size}
        path = prepared.target.path
        with writing_to(path):
            aside = self._marks.new_name(staging_directory(path))
            replaced = path.with_name(path.name + ".meta.json")
            with os.fdopen(_create(aside, replaced), "wb") as file:
                file.write(orjson.dumps({**meta, **counts}, option=orjson.OPT_INDENT_2) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        return aside

    def _claimed(self, target: Target) -> Path:
        """The file that is meant, behind all symbolic links."""
        real = target.path.resolve()
        if real in self._taken and target.if_exists != "unique_suffix":
            raise WriteError(f"{target.path} would be written twice")
        if real.is_dir():
            raise IsADirectoryError(errno.EISDIR, "a directory of that name exists")
        if real.exists() and not real.is_file():
            raise FileExistsError(errno.EEXIST, "it exists and is no regular file")
        self._taken.add(real)
        return real


def _create(aside: Path, replaced: Path) -> int:
    """A new file that nobody can read who could not read the one that it is to replace."""
    try:
        mode = stat.S_IMODE(replaced.stat().st_mode)
    except FileNotFoundError:
        return os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _NEW_FILE_MODE)
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    os.fchmod(descriptor, mode)
    return descriptor


def _keep_mode(descriptor: int, replaced: Path) -> None:
    """Whoever can read the file now will be able to."""
    with suppress(FileNotFoundError):
        os.fchmod(descriptor, stat.S_IMODE(replaced.stat().st_mode))
