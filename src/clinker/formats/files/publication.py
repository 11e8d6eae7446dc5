"""Publication: the files of a run appear together, after it has succeeded.

Every file is written aside, in the directory it belongs to and under a hidden name, and brought to
the disk; a directory that does not exist yet is made by the commit. `commit` writes down what it is
about to change, then renames all files; if that fails half-way, what was there before comes back.
If the process is killed half-way, `recovery` does the same. A run that fails leaves nothing behind
and touches nothing.

Objects are put together on this machine and uploaded aside, in the store; they get their names
last, as `objects.commit` tells.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

import orjson

from clinker.file_names import Compression
from clinker.formats.common.writing import IfExists, Sink, WriteError, writing_to
from clinker.formats.files.claims import Claimant, Claims
from clinker.formats.files.commit import Commit, Placement
from clinker.formats.files.compression import CompressedSink
from clinker.formats.files.free_names import Naming
from clinker.formats.files.marks import Marks, staging_directory
from clinker.formats.files.objects.claims import ObjectClaims
from clinker.formats.files.objects.commit import ObjectCommit, ObjectPlacement
from clinker.formats.files.objects.marks import ObjectMarks
from clinker.frozen import frozen
from clinker.stores.access import MOST_COPIED, upload, write_object
from clinker.stores.urls import FilePath, ObjectUrl

_BUFFER = 1 << 20
_NEW_FILE_MODE = 0o666
"""Less what the umask takes away."""


@frozen(kw_only=True)
class Target:
    """Where a file goes, and what happens if one is there."""

    path: FilePath
    if_exists: IfExists = "error"
    unique_suffix_width: int = 0
    numbered: Callable[[int], str] | None = None
    """The names to try, if it was said where in them the number goes."""
    compression: Compression = "none"
    meta: Mapping[str, object] | None = None
    """What `<path>.meta.json` says beside the numbers of records and bytes, if it is wanted."""

    @property
    def naming(self) -> Naming:
        return Naming(
            if_exists=self.if_exists,
            unique_suffix_width=self.unique_suffix_width,
            numbered=self.numbered,
        )

    def at(self, path: FilePath) -> Target:
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

    path: FilePath
    records: int
    size: int


@frozen(kw_only=True)
class _Prepared:
    """A file or an object that lies aside, complete."""

    target: Target
    place: _Place
    records: int
    size: int


@frozen
class _OnDisk:
    """Where a file lies aside, and where it goes, behind all symbolic links."""

    aside: Path
    path: Path


@frozen
class _InStore:
    """Where an object lies aside, and where it goes."""

    aside: ObjectUrl
    path: ObjectUrl


_Place: TypeAlias = _OnDisk | _InStore


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
    """The files of one run, and its objects if there is a way to make folders for what goes to a
    store."""

    def __init__(self, run_id: str, make_folder: Callable[[], Path] | None = None) -> None:
        self._marks = Marks(run_id)
        self._object_marks = ObjectMarks(run_id)
        self._make_folder = make_folder
        self._prepared: list[_Prepared] = []
        self._removals: list[FilePath] = []
        self._taken: set[FilePath] = set()

    def claims(self, claimant: Claimant) -> Claims:
        """The claims of the run, which end together with the publication."""
        return Claims(self._marks, claimant)

    def object_claims(self, claimant: Claimant) -> ObjectClaims:
        """The same for objects."""
        return ObjectClaims(self._object_marks, claimant)

    def __enter__(self) -> Publication:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def __len__(self) -> int:
        """How many files have been prepared; `commit` gives them in the same order."""
        return len(self._prepared)

    @contextmanager
    def prepare(self, target: Target) -> Iterator[PreparedFile]:
        """A new file or object; it is part of the publication once this ends well."""
        with writing_to(target.path):
            path = self._claimed(target)
            aside = self._aside_on_disk(path)
            # Arrow hands over large buffers, which are written through without a copy.
            file = os.fdopen(_create(aside, path), "wb", buffering=_BUFFER)
        try:
            prepared = PreparedFile(target, file)
            yield prepared
            with writing_to(target.path):
                prepared.finish()
                file.flush()
                size = os.fstat(file.fileno()).st_size
                if isinstance(path, Path):
                    _keep_mode(file.fileno(), path)
                    os.fsync(file.fileno())
        finally:
            # What a full disk has left in the buffer fails again.
            with suppress(OSError):
                file.close()
        place = self._uploaded(aside, path) if isinstance(path, ObjectUrl) else _OnDisk(aside, path)
        self._prepared.append(
            _Prepared(target=target, place=place, records=prepared.records, size=size)
        )

    def remove(self, path: FilePath) -> None:
        """Let a file of an earlier run vanish together with the appearance of the others."""
        with writing_to(path):
            self._removals.append(self._claimed(Target(path=path, if_exists="overwrite")))

    def parts_directory(self, target: Target) -> Path:
        """A new directory for files that are only of use to this run: on the volume of a target, or
        on this machine if that is an object."""
        with writing_to(target.path):
            if isinstance(target.path, ObjectUrl):
                return self._folder()
            directory = self._marks.new_name(staging_directory(target.path.resolve()), "parts")
            directory.mkdir(0o700)
        return directory

    def commit(self) -> list[Published]:
        """Make all files visible; if that fails, none, and `discard` is still to be called.

        Objects come last: what is to become of them is certain by then.
        """
        on_disk: list[Placement] = []
        in_store: list[ObjectPlacement] = []
        for prepared in self._prepared:
            match prepared.place:
                case _OnDisk():
                    on_disk.append(self._placement(prepared, prepared.place))
                case _InStore():
                    in_store.append(self._object_placement(prepared, prepared.place))
        removed = [path for path in self._removals if isinstance(path, ObjectUrl)]
        objects = ObjectCommit(self._object_marks, in_store, removed)
        files = self._commit_files(on_disk)
        objects.carry_out(beside_files=bool(files))
        paths, urls = iter(files), iter(objects.paths)
        published = [
            Published(
                path=next(paths) if isinstance(prepared.place, _OnDisk) else next(urls),
                records=prepared.records,
                size=prepared.size,
            )
            for prepared in self._prepared
        ]
        self.discard()
        return published

    def discard(self) -> None:
        """Remove what was never published."""
        self._marks.remove()
        self._object_marks.remove()
        self._prepared.clear()
        self._removals.clear()
        self._taken.clear()

    def _aside_on_disk(self, path: FilePath) -> Path:
        """Where a file is put together; one that is to be an object, before it is uploaded."""
        if isinstance(path, ObjectUrl):
            return self._folder() / "aside"
        return self._marks.new_name(staging_directory(path))

    def _folder(self) -> Path:
        assert self._make_folder
        return self._make_folder()

    def _commit_files(self, placements: Sequence[Placement]) -> list[Path]:
        files = [path for path in self._removals if isinstance(path, Path)]
        removals = [path for path in files if os.path.lexists(path)]
        if not (placements or removals):
            return []
        return Commit(self._marks, placements, removals).carry_out()

    def _placement(self, prepared: _Prepared, place: _OnDisk) -> Placement:
        meta = _meta(prepared)
        return Placement(
            aside=place.aside,
            path=place.path,
            naming=prepared.target.naming,
            meta=None if meta is None else self._prepared_meta(place.path, meta),
        )

    def _prepared_meta(self, path: Path, meta: bytes) -> Path:
        with writing_to(path):
            aside = self._marks.new_name(staging_directory(path))
            replaced = path.with_name(path.name + ".meta.json")
            with os.fdopen(_create(aside, replaced), "wb") as file:
                file.write(meta)
                file.flush()
                os.fsync(file.fileno())
        return aside

    def _object_placement(self, prepared: _Prepared, place: _InStore) -> ObjectPlacement:
        meta = _meta(prepared)
        aside = None
        if meta is not None:
            with writing_to(place.path):
                aside = self._object_marks.new_name(place.path.parent)
                write_object(aside, meta)
        return ObjectPlacement(
            aside=place.aside, path=place.path, naming=prepared.target.naming, meta=aside
        )

    def _uploaded(self, file: Path, url: ObjectUrl) -> _InStore:
        """A file as an object that lies aside; it is not on this machine any more."""
        with writing_to(url):
            size = file.stat().st_size
            if url.scheme == "s3" and size > MOST_COPIED:
                raise OSError(
                    errno.EFBIG,
                    f"it has {size} bytes, and S3 puts no more than {MOST_COPIED} in place at "
                    "once: split the output, or compress it",
                )
            aside = self._object_marks.new_name(url.parent)
            upload(file, aside)
            file.unlink()
        return _InStore(aside, url)

    def _claimed(self, target: Target) -> FilePath:
        """The file that is meant, behind all symbolic links, or the object."""
        path = target.path
        real = path if isinstance(path, ObjectUrl) else path.resolve()
        if real in self._taken and target.if_exists != "unique_suffix":
            raise WriteError(f"{target.path} would be written twice")
        if isinstance(real, Path):
            if real.is_dir():
                raise IsADirectoryError(errno.EISDIR, "a directory of that name exists")
            if real.exists() and not real.is_file():
                raise FileExistsError(errno.EEXIST, "it exists and is no regular file")
        self._taken.add(real)
        return real


def _meta(prepared: _Prepared) -> bytes | None:
    """What is told of a file beside it, if that is wanted."""
    meta = prepared.target.meta
    if meta is None:
        return None
    counts = {"record_count": prepared.records, "bytes_written": prepared.size}
    return orjson.dumps({**meta, **counts}, option=orjson.OPT_INDENT_2) + b"\n"


def _create(aside: Path, replaced: FilePath) -> int:
    """A new file that nobody can read who could not read the one that it is to replace."""
    if isinstance(replaced, ObjectUrl):
        return os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
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
