"""Objects found, listed, read, written, copied and removed.

What a store refuses is an `OSError` whose `strerror` says why in a few words, as those of files do.
"""

from __future__ import annotations

import errno
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from clinker.frozen import frozen
from clinker.stores.opening import opened
from clinker.stores.urls import ObjectUrl

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer
    from pyarrow import NativeFile
    from pyarrow.fs import FileInfo, FileSystem

PIECE_BYTES = 8 << 20
"""Every piece that is read is a request of its own."""
MOST_COPIED = 5 << 30
"""S3 makes no larger object of another one at once."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_AWS = re.compile(r"AWS Error (\w+)(?: \(.*?\))?(?: during \w+ operation)?:? ?(.*)", re.S)
_AFTERWARDS = re.compile(r"\s*(\(Request ID|; Details:|Detail:).*", re.S)
_VERSIONS = ("VersionId", "ETag", "Generation", "Last-Modified")
_MOST_TOLD = 200
_REASONS = {
    "NO_SUCH_BUCKET": "the bucket does not exist",
    "ACCESS_DENIED": "access denied",
    "INVALID_ACCESS_KEY_ID": "the store does not know the credentials",
    "SIGNATURE_DOES_NOT_MATCH": "the store does not accept the credentials",
    "INVALID_SIGNATURE": "the store does not accept the credentials",
    "EXPIRED_TOKEN": "the credentials have expired",
    "UNRECOGNIZED_CLIENT": "the store does not know the credentials",
    "SLOW_DOWN": "the store is overloaded",
}
_SIGNS = {
    "OAuth2 access token": "no credentials were found for the store",
    "AuthenticationException": "no credentials were found for the store",
    "Unable to load lib": "the client of Hadoop is not installed; libjvm and libhdfs are looked for"
    " by JAVA_HOME, HADOOP_HOME and ARROW_LIBHDFS_DIR",
}


class StoreError(OSError):
    """What a store refuses."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EIO, reason)


@frozen
class ObjectFacts:
    """An object as it was at one moment."""

    url: ObjectUrl
    size: int
    modified_ns: int

    @property
    def modified(self) -> datetime:
        return _EPOCH + timedelta(microseconds=self.modified_ns // 1000)


def find(url: ObjectUrl) -> ObjectFacts:
    """An object; FileNotFoundError or IsADirectoryError if there is none."""
    from pyarrow.fs import FileType

    with refusals(url):
        system, path = opened(url)
        info = system.get_file_info(path.rstrip("/"))
        if info.type == FileType.File:
            return _facts(url, info)
        if info.type == FileType.Directory:
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        _check_bucket(system, path)
    raise FileNotFoundError(errno.ENOENT, "does not exist")


def _check_bucket(system: FileSystem, path: str) -> None:
    """Tell a bucket that is not there from an object that is not there."""
    from pyarrow.fs import FileType

    bucket = path.partition("/")[0]
    is_missing = False
    # Who may look at a directory need not be allowed to look at its bucket.
    with suppress(OSError):
        is_missing = bool(bucket) and system.get_file_info(bucket).type == FileType.NotFound
    if is_missing:
        raise StoreError(f"the bucket '{bucket}' does not exist")


def find_if_any(url: ObjectUrl) -> ObjectFacts | None:
    """An object, if there is one."""
    try:
        return find(url)
    except (FileNotFoundError, IsADirectoryError):
        return None


def list_objects(directory: ObjectUrl, *, recursive: bool) -> list[ObjectFacts]:
    """The objects in a directory, which need not exist, in no particular order."""
    from pyarrow.fs import FileSelector, FileType

    with refusals(directory):
        system, path = opened(directory)
        path = path.rstrip("/")
        selector = FileSelector(path, allow_not_found=True, recursive=recursive)
        found = [info for info in system.get_file_info(selector) if info.type == FileType.File]
        if not found:
            _check_bucket(system, path)
    return [_facts(directory / info.path[len(path) + 1 :], info) for info in found]


def open_object(url: ObjectUrl) -> OpenObject:
    """An object to read, from wherever in it one likes."""
    with refusals(url):
        system, path = opened(url)
        file = system.open_input_file(path)
        return OpenObject(url, file, _version(file))


def read_object(url: ObjectUrl) -> bytes:
    """All of a small object."""
    with open_object(url) as stream:
        return stream.readall()


class OpenObject(io.RawIOBase):
    """An object that is read; `version` tells what it holds from what it held, or will hold."""

    def __init__(self, url: ObjectUrl, file: NativeFile, version: str) -> None:
        self.version = version
        self._url = url
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        with refusals(self._url):
            return int(self._file.readinto(buffer))

    def readall(self) -> bytes:
        with refusals(self._url):
            return bytes(self._file.readall())

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        self._file.close()
        super().close()


def write_object(url: ObjectUrl, content: bytes) -> None:
    """A small object, in place of any other."""
    with refusals(url):
        system, path = opened(url)
        with system.open_output_stream(path) as stream:
            stream.write(content)


def upload(file: Path, url: ObjectUrl) -> None:
    """A file as an object; it appears when all of it is there.

    An upload that fails may leave an object that is not whole: never call it what others look for.
    """
    with file.open("rb", buffering=0) as source, refusals(url):
        system, path = opened(url)
        with system.open_output_stream(path) as stream:
            while piece := source.read(PIECE_BYTES):
                stream.write(piece)


def put_in_place(aside: ObjectUrl, url: ObjectUrl) -> None:
    """Give an object its name, in place of any other; what is left of it aside is not looked at."""
    with refusals(url):
        system, path = opened(url)
        other = opened(aside)[1]
        if url.scheme == "hdfs":
            if find_if_any(url):
                system.delete_file(path)
            system.move(other, path)
        else:
            system.copy_file(other, path)


def remove_object(url: ObjectUrl) -> None:
    """Remove an object; that it is not there is fine."""
    with refusals(url):
        system, path = opened(url)
        try:
            system.delete_file(path)
        except FileNotFoundError:
            return


def remove_directory(url: ObjectUrl) -> None:
    """Remove all objects of a directory."""
    with refusals(url):
        system, path = opened(url)
        try:
            system.delete_dir(path)
        except FileNotFoundError:
            return


@contextmanager
def refusals(url: ObjectUrl) -> Iterator[None]:
    """What the store of an object refuses inside, or cannot be asked, in words for people."""
    from pyarrow import ArrowException

    try:
        yield
    except StoreError:
        raise
    except (FileNotFoundError, IsADirectoryError) as problem:
        words = "does not exist" if isinstance(problem, FileNotFoundError) else "is a directory"
        raise type(problem)(problem.errno or errno.EIO, words) from None
    except OSError as problem:
        raise StoreError(reason_of(str(problem.strerror or problem))) from None
    except ArrowException as problem:
        raise StoreError(reason_of(str(problem))) from None


def reason_of(text: str) -> str:
    """What a client says, without what people cannot use; it may name keys and requests."""
    for sign, reason in _SIGNS.items():
        if sign in text:
            return reason
    found = _AWS.search(text)
    if found is None:
        return _AFTERWARDS.sub("", text.strip()).partition("\n")[0][:_MOST_TOLD].rstrip(". ")
    code, message = found.groups()
    told = _AFTERWARDS.sub("", message).strip().rstrip(".")[:_MOST_TOLD]
    if code == "NETWORK_CONNECTION":
        return f"the store cannot be reached: {told.partition(', ')[2] or told}"
    return _REASONS.get(code) or (
        f"the store refuses: {told}" if told else f"the store says {code}"
    )


def _facts(url: ObjectUrl, info: FileInfo) -> ObjectFacts:
    return ObjectFacts(url, info.size, info.mtime_ns or 0)


def _version(file: NativeFile) -> str:
    """What stores tell of the version of an object, as much as each of them tells."""
    metadata = file.metadata() or {}
    told = [f"{name}={metadata[name].decode()}" for name in _VERSIONS if name in metadata]
    return " ".join([f"size={file.size()}", *told])
