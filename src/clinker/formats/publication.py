"""Publication: the files of a run appear together, after it has succeeded.

Every file is written aside, in the directory it belongs to and under a hidden name, and brought to
the disk. `commit` then renames them all; if that fails half-way, what was there before comes back.
A run that fails leaves nothing behind and touches nothing.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import BinaryIO

import orjson

from clinker.formats.writing import IfExists, WriteError, writing_to
from clinker.frozen import frozen

_BUFFER = 1 << 20
_NEW_FILE_MODE = 0o666
"""Less what the umask takes away."""
_NO_SUCH_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)


@frozen(kw_only=True)
class Target:
    """Where a file goes, and what happens if one is there."""

    path: Path
    if_exists: IfExists = "error"
    unique_suffix_width: int = 0
    meta: Mapping[str, object] | None = None
    """What `<path>.meta.json` says beside the numbers of records and bytes, if it is wanted."""

    def at(self, path: Path) -> Target:
        """The same for another file."""
        return Target(
            path=path,
            if_exists=self.if_exists,
            unique_suffix_width=self.unique_suffix_width,
            meta=self.meta,
        )


@frozen(kw_only=True)
class Published:
    """A file that a run has written."""

    path: Path
    records: int
    size: int


@frozen(kw_only=True)
class _Staged:
    """A file that lies aside, complete."""

    target: Target
    aside: Path
    records: int
    size: int


class StagedFile:
    """A file while it is written aside; whoever writes it counts its records."""

    def __init__(self, target: Target, file: BinaryIO) -> None:
        self._target = target
        self._file = file
        self.records = 0
        self.size = 0

    def write(self, data: bytes | memoryview, /) -> int:
        with writing_to(self._target.path):
            written = self._file.write(data)
        self.size += written
        return written


class Publication:
    """The files of one run."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._numbers = count(1)
        self._staged: list[_Staged] = []
        self._taken: set[Path] = set()
        self._aside: list[Path] = []
        self._directories: list[Path] = []

    def __enter__(self) -> Publication:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    def __len__(self) -> int:
        """How many files have been staged; `commit` gives them in the same order."""
        return len(self._staged)

    @contextmanager
    def stage(self, target: Target) -> Iterator[StagedFile]:
        """A new file; it is part of the publication once this ends well."""
        with writing_to(target.path):
            real = self._claimed(target)
            self._make_directory(real.parent)
            aside = self._new_name(real.parent)
            # Arrow hands over large buffers, which are written through without a copy.
            file = os.fdopen(_create(aside), "wb", buffering=_BUFFER)
        try:
            staged = StagedFile(target, file)
            yield staged
            with writing_to(target.path):
                _keep_mode(file, real)
                file.flush()
                os.fsync(file.fileno())
        finally:
            # What a full disk has left in the buffer fails again.
            with suppress(OSError):
                file.close()
        self._staged.append(
            _Staged(target=target.at(real), aside=aside, records=staged.records, size=staged.size)
        )

    def commit(self) -> list[Published]:
        """Make all files visible; if that fails, none, and `discard` is still to be called."""
        published = []
        with ExitStack() as undo:
            for staged in self._staged:
                with writing_to(staged.target.path):
                    published.append(self._publish(staged, undo))
            for directory in self._touched():
                _sync_directory(directory)
            undo.pop_all()
        self._directories.clear()
        self.discard()
        return published

    def discard(self) -> None:
        """Remove what was never published, and the directories that were made for it."""
        for aside in self._aside:
            with suppress(OSError):
                aside.unlink(missing_ok=True)
        for directory in reversed(self._directories):
            with suppress(OSError):
                directory.rmdir()
        self._aside.clear()
        self._directories.clear()
        self._staged.clear()
        self._taken.clear()

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

    def _make_directory(self, directory: Path) -> None:
        if directory.is_dir():
            return
        if os.path.lexists(directory):
            raise NotADirectoryError(errno.ENOTDIR, f"{directory} is no directory")
        self._make_directory(directory.parent)
        directory.mkdir(exist_ok=True)
        self._directories.append(directory)

    def _new_name(self, directory: Path) -> Path:
        aside = directory / f".clinker-{self._run_id}-{next(self._numbers)}.tmp"
        self._aside.append(aside)
        return aside

    def _publish(self, staged: _Staged, undo: ExitStack) -> Published:
        target = staged.target
        match target.if_exists:
            case "overwrite":
                path = self._overwrite(staged.aside, target.path, undo)
            case "error":
                path = _move_to_free(staged.aside, [target.path], undo)
            case "unique_suffix":
                path = _move_to_free(staged.aside, _candidates(target), undo)
        published = Published(path=path, records=staged.records, size=staged.size)
        if target.meta is not None:
            self._publish_meta(published, target.meta, undo)
        return published

    def _overwrite(self, aside: Path, path: Path, undo: ExitStack) -> Path:
        if path.exists():
            before = self._new_name(path.parent)
            _link_or_move(path, before)
            undo.callback(_restore, before, path)
        else:
            undo.callback(path.unlink, missing_ok=True)
        aside.replace(path)
        return path

    def _publish_meta(
        self, published: Published, meta: Mapping[str, object], undo: ExitStack
    ) -> None:
        path = published.path.with_name(published.path.name + ".meta.json")
        counts = {"record_count": published.records, "bytes_written": published.size}
        aside = self._new_name(path.parent)
        with os.fdopen(_create(aside), "wb") as file:
            file.write(orjson.dumps({**meta, **counts}, option=orjson.OPT_INDENT_2) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._overwrite(aside, path, undo)

    def _touched(self) -> set[Path]:
        made = {directory.parent for directory in self._directories}
        return made | {staged.target.path.parent for staged in self._staged}


def _create(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _NEW_FILE_MODE)


def _keep_mode(file: BinaryIO, replaced: Path) -> None:
    """Whoever could read the file before still can."""
    with suppress(FileNotFoundError):
        os.fchmod(file.fileno(), stat.S_IMODE(replaced.stat().st_mode))


def _candidates(target: Target) -> Iterator[Path]:
    """`out.csv`, `out-1.csv`, `out-2.csv`, …"""
    path = target.path
    yield path
    for number in count(1):
        yield path.with_name(f"{path.stem}-{number:0{target.unique_suffix_width}}{path.suffix}")


def _move_to_free(aside: Path, candidates: Iterable[Path], undo: ExitStack) -> Path:
    """Move to the first name that nobody has, without ever replacing a file."""
    for path in candidates:
        try:
            _link_or_move(aside, path)
        except FileExistsError:
            continue
        undo.callback(path.unlink, missing_ok=True)
        return path
    raise FileExistsError(errno.EEXIST, "it exists already")


def _link_or_move(source: Path, path: Path) -> None:
    """A link fails if the name is taken, a rename replaces; not all file systems have links."""
    try:
        path.hardlink_to(source)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "it exists already") from None
        source.rename(path)


def _restore(before: Path, path: Path) -> None:
    before.replace(path)
    # Renaming one of two links to the same file does nothing at all.
    before.unlink(missing_ok=True)


def _sync_directory(directory: Path) -> None:
    with writing_to(directory):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in _NO_SUCH_SYNC:
                raise
        finally:
            os.close(descriptor)
