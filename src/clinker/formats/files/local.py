"""Files of this machine: identified, opened, and watched for change until a run ends.

A file is surveyed once and read later, in parts and by several processes. If it becomes another one
meanwhile, what they read does not belong together, even where each part can be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import blake2b
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from clinker.formats.common.read_spec import FormatError, InputFile, Split
from clinker.stores.access import PIECE_BYTES, find, open_object
from clinker.stores.urls import ObjectUrl, parse_url

_HELP = (
    "let whoever writes it finish first: write it under another name, and rename it when it is "
    "complete; then run again"
)


def input_file(
    index: int, path: str, shown: str | None = None, page_of: int | None = None
) -> InputFile:
    """A file or an object as it is now; FormatError if it is not there."""
    try:
        if url := parse_url(path):
            return _object(index, url, shown, page_of)
        status = os.stat(path)  # noqa: PTH116, the text is what messages show
    except OSError as problem:
        raise FormatError(f"cannot be read: {problem.strerror}", shown or path) from None
    identity = (status.st_dev, status.st_ino)
    return InputFile(index, path, status.st_size, status.st_mtime_ns, identity, shown, page_of)


def _object(index: int, url: ObjectUrl, shown: str | None, page_of: int | None) -> InputFile:
    """Its version tells an object from others, wherever it is looked at."""
    facts = find(url)
    with open_object(url) as stream:
        version = blake2b(stream.version.encode(), digest_size=8).digest()
    identity = (int.from_bytes(version), 0)
    return InputFile(index, str(url), facts.size, facts.modified_ns, identity, shown, page_of)


def open_file(path: str) -> BinaryIO:
    """A file or an object to read; FormatError if it cannot be opened."""
    try:
        if url := parse_url(path):
            return BufferedReader(open_object(url), PIECE_BYTES)
        return Path(path).open("rb")
    except OSError as problem:
        raise FormatError(f"cannot be read: {problem.strerror}", path) from None


def check_unchanged(file: InputFile) -> None:
    """FormatError if a file is not the one it was, on the machine where it was identified."""
    try:
        now = input_file(file.index, file.path, file.shown)
    except FormatError:
        raise _changed(file, "it is gone") from None
    _compare(file, now)
    if now.identity != file.identity:
        raise _changed(file, "another file has taken its name")


@contextmanager
def reading(files: Sequence[InputFile]) -> Iterator[None]:
    """While files are read, on any machine; FormatError if one is not as it was, before or after.

    Of what cannot be read the reason may be that it changes, so that is said first.
    """
    _check_content(files)
    try:
        yield
    except FormatError as problem:
        _check_content(files)
        names = {file.path: file.name for file in files}
        path = names.get(problem.path, problem.path)
        raise FormatError(problem.message, path, problem.help) from None
    except OSError as problem:
        _check_content(files)
        paths = ", ".join(file.name for file in files)
        raise FormatError(f"cannot be read: {problem.strerror}", paths) from None
    _check_content(files)


def check_count(split: Split, records: int) -> None:
    """FormatError if a split does not hold as many records as were counted before."""
    if split.records is not None and records != split.records:
        counted = f"{split.records} were counted between bytes {split.start} and {split.end}"
        raise _changed(split.file, f"{counted}, {records} are there now")


def _check_content(files: Sequence[InputFile]) -> None:
    """What holds on every machine that sees the files, under whatever numbers."""
    for file in files:
        _compare(file, input_file(file.index, file.path, file.shown))


def _compare(file: InputFile, now: InputFile) -> None:
    if now.size != file.size:
        raise _changed(file, f"it had {file.size} bytes, now it has {now.size}")
    if now.mtime_ns != file.mtime_ns:
        moments = f"it was last written at {_moment(file.mtime_ns)}, now at {_moment(now.mtime_ns)}"
        raise _changed(file, moments)


def _moment(nanoseconds: int) -> str:
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC).isoformat(timespec="milliseconds")


def _changed(file: InputFile, how: str) -> FormatError:
    return FormatError(f"changed while it was read: {how}", file.name, _HELP)
