"""Compressed files, unpacked into the spool of a run and read from there."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import PurePath
from typing import BinaryIO, Literal

import pyarrow as pa

from clinker.file_names import Compression, compression_of
from clinker.formats.common.read_spec import FormatError, InputFile
from clinker.formats.files.local import input_file, open_file, reading
from clinker.formats.files.spool import Spool

_PIECE_BYTES = 1 << 20
_HELP = "check that it was copied completely, and that 'compression' says how it is compressed"


def find_codec(path: str, compression: Compression | Literal["auto"]) -> str | None:
    """How a file is compressed: as it is said, or by its name if that is left to it."""
    if compression == "auto":
        compression = compression_of(PurePath(path))
    return None if compression == "none" else compression


def unpack(file: InputFile, codec: str, spool: Spool) -> InputFile:
    """The content of a compressed file as a file of its own, under the same name for people.

    FormatError if it is damaged, or holds more than there is room for.
    """
    with reading([file]), open_file(file.path) as stream, spool.file(file.name) as copy:
        if not file.size:
            raise FormatError(f"is empty, which no {codec} file is", file.path, _HELP)
        try:
            for piece in _pieces(stream, codec):
                copy.write(piece)
        except (OSError, EOFError, zlib.error) as problem:
            if isinstance(problem, OSError) and problem.errno is not None:  # of the disk
                raise
            raise _damaged(file, codec, stream.tell(), copy.size) from None
    return input_file(file.index, str(copy.path), file.name, file.page_of)


def _pieces(stream: BinaryIO, codec: str) -> Iterator[bytes]:
    """What was compressed, members one after another."""
    unpacked: gzip.GzipFile | pa.CompressedInputStream
    if codec == "gzip":  # zeros at the end are fine, as for everybody else
        unpacked = gzip.GzipFile(fileobj=stream)
    else:
        unpacked = pa.CompressedInputStream(pa.PythonFile(stream, "r"), codec)
    while piece := unpacked.read(_PIECE_BYTES):
        yield piece


def _damaged(file: InputFile, codec: str, packed: int, unpacked: int) -> FormatError:
    message = (
        f"is not a {codec} file, or damaged, or not whole: unpacking it failed before byte "
        f"{packed} of {file.size}, after {unpacked} unpacked bytes"
    )
    return FormatError(message, file.path, _HELP)
