"""A source file copied, proved and committed, or nothing left of it."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Protocol

from blake3 import blake3

from clinker.formats.common.read_spec import FormatError, InputFile
from clinker.formats.files.local import check_unchanged, open_file
from clinker.formats.files.marks import sync_directory
from clinker.staged_copies import Manifest, StagedCopy
from clinker.stores.urls import FilePath, canonical, file_path

_PIECE_BYTES = 1 << 20
_BYTES_PER_SYNC = 1 << 26
"""So much waits for the disk at most: neither the end of a file nor Ctrl-C takes long."""

_NO_ROOM = "make room there, or set storage.staging.dir in clinker.toml to a larger disk"
_HELP: Mapping[int | None, str] = {
    errno.ENOSPC: _NO_ROOM,
    errno.EDQUOT: _NO_ROOM,
    errno.EMFILE: "raise it (ulimit -n), or narrow storage.staging.patterns in clinker.toml",
}
_OTHER_HELP = "set storage.staging.dir in clinker.toml to a directory of your own on a local disk"


class CopyDiffers(Exception):
    """A copy is not what its source holds, though nobody has changed that; the message says how."""

    def __init__(self, source: FilePath, how: str) -> None:
        super().__init__(how)
        self.source = source


class Progress(Protocol):
    """Is told how far copies are."""

    def copying(self, source: FilePath, size: int) -> None: ...

    def verifying(self, source: FilePath, size: int) -> None: ...

    def advanced(self, size: int) -> None:
        """So many more bytes of a source are copied, or verified."""


def make_copy(
    file: InputFile, copy: StagedCopy, run: str, progress: Progress, *, verifies: bool
) -> None:
    """Copy a source and commit the copy, in place of any other; its lock is held alone.

    FormatError if the source cannot be read, changes meanwhile or there is no room for it;
    CopyDiffers if it is read once more, to verify the copy, and is not the same.
    """
    source = file_path(file.path)
    partial = copy.partial(run)
    try:
        remove_copy(copy)
        _check_room(file, copy)
        progress.copying(source, file.size)
        digest = _copied(file, partial, progress)
        partial.replace(copy.path)
        if verifies:
            progress.verifying(source, file.size)
            _verify(file, digest, progress)
        check_unchanged(file)
        _commit(_manifest(file, copy, run, digest), copy.manifest, partial)
    except BaseException as problem:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
            remove_copy(copy)
        if isinstance(problem, OSError):
            raise unusable(copy, file.path, problem) from None
        raise


def remove_copy(copy: StagedCopy) -> None:
    """Remove a copy, whatever there is of it. Without its manifest nobody takes it for whole."""
    for path in copy.leftovers():
        path.unlink(missing_ok=True)


def unusable(copy: StagedCopy, source: str, problem: OSError) -> FormatError:
    """The error of a source that cannot be copied, for what is wrong where the copy is to stand."""
    message = f"cannot be staged in '{copy.directory}': {problem.strerror}"
    return FormatError(message, source, _HELP.get(problem.errno, _OTHER_HELP))


def _check_room(file: InputFile, copy: StagedCopy) -> None:
    free = shutil.disk_usage(copy.directory).free
    if file.size > free:
        reason = f"it has {file.size} bytes, and there is room for {free}"
        raise OSError(errno.ENOSPC, reason)


def _copied(file: InputFile, path: Path, progress: Progress) -> str:
    """Copy a file to the disk in one pass; the hash of what was read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    hasher = blake3()
    size = waiting = 0
    with open_file(file.path) as stream, os.fdopen(descriptor, "wb", buffering=0) as target:
        for piece in _pieces(stream, file):
            hasher.update(piece)
            _write(target, piece)
            size += len(piece)
            waiting += len(piece)
            progress.advanced(len(piece))
            if waiting >= _BYTES_PER_SYNC:
                os.fsync(descriptor)
                waiting = 0
            if size > file.size:
                break
        os.fsync(descriptor)
    if size != file.size:
        check_unchanged(file)
        raise CopyDiffers(file_path(file.path), f"it has {file.size} bytes, but {size} were read")
    return hasher.hexdigest()


def _verify(file: InputFile, digest: str, progress: Progress) -> None:
    """Read a source again from where it is, not from the memory of this machine."""
    hasher = blake3()
    with open_file(file.path) as stream:
        _forget(stream)
        for piece in _pieces(stream, file):
            hasher.update(piece)
            progress.advanced(len(piece))
    check_unchanged(file)
    if hasher.hexdigest() != digest:
        raise CopyDiffers(file_path(file.path), "it was read twice, and was not the same")


def _forget(stream: BinaryIO) -> None:
    """Let the system drop what it keeps of a file, where it can be asked to."""
    if hasattr(os, "posix_fadvise"):
        with suppress(OSError):
            os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _pieces(stream: BinaryIO, file: InputFile) -> Iterator[memoryview]:
    """What is in a file, piece by piece in the same memory."""
    memory = memoryview(bytearray(_PIECE_BYTES))
    while True:
        try:
            size = stream.readinto(memory)  # type: ignore[attr-defined]
        except OSError as problem:
            raise FormatError(f"cannot be read: {problem.strerror}", file.path) from None
        if not size:
            return
        yield memory[:size]


def _write(target: BinaryIO, piece: memoryview) -> None:
    while piece:
        piece = piece[target.write(piece) :]


def _manifest(file: InputFile, copy: StagedCopy, run: str, digest: str) -> Manifest:
    return Manifest(
        source=canonical(file_path(file.path)),
        size=file.size,
        mtime_ns=file.mtime_ns,
        blake3=digest,
        copy_mtime_ns=copy.path.stat().st_mtime_ns,
        staged_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        run=run,
    )


def _commit(manifest: Manifest, path: Path, aside: Path) -> None:
    """Write the manifest, and bring its name and that of the copy to the disk."""
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(manifest.as_json())
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
    sync_directory(path.parent)
