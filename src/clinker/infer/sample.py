"""The beginning of a file, unpacked: enough to see how it is written."""

from __future__ import annotations

import bz2
import gzip
import zlib
from pathlib import Path
from typing import BinaryIO, Protocol

import pyarrow as pa

from clinker.file_names import Compression, compression_of
from clinker.formats.common.read_spec import FormatError
from clinker.formats.files.local import open_file
from clinker.frozen import frozen

_LEAST_BYTES, _MOST_BYTES = 4 << 20, 64 << 20
_BYTES_PER_RECORD = 512
_STRANGERS = {
    b"PK\x03\x04": "a ZIP archive; a spreadsheet such as .xlsx is one, too: export it as CSV",
    b"\xd0\xcf\x11\xe0": "an old Office file: export it as CSV",
    b"%PDF": "a PDF document",
    b"SQLite format 3\0": "an SQLite database: export the table as CSV",
    b"\x1f\x8b": "compressed with gzip: let its name end in .gz",
    b"BZh": "compressed with bzip2: let its name end in .bz2",
    b"\x28\xb5\x2f\xfd": "compressed with zstd: let its name end in .zst",
}
"""What files begin with that nothing can be inferred from."""


@frozen
class Sample:
    """The first bytes of a file."""

    path: str
    content: bytes
    is_whole: bool
    compression: Compression

    @property
    def extension(self) -> str:
        """The end of its name, whatever it is compressed with."""
        path = Path(self.path)
        inner = path if self.compression == "none" else path.with_suffix("")
        return inner.suffix.lower()


def take_sample(path: str, records: int) -> Sample:
    """The beginning of a file, long enough for so many records; FormatError if it is unreadable."""
    size = min(_MOST_BYTES, max(_LEAST_BYTES, records * _BYTES_PER_RECORD))
    compression = compression_of(Path(path))
    with open_file(path) as stream:
        try:
            content = _unpacked(stream, compression).read(size + 1)
        except (OSError, EOFError, zlib.error) as problem:
            if isinstance(problem, OSError) and problem.errno is not None:
                raise FormatError(f"cannot be read: {problem.strerror}", path) from None
            raise FormatError(f"is not a {compression} file, or damaged", path) from None
    content = bytes(content)
    if not content:
        raise FormatError("is empty, so there is nothing to infer from", path)
    for mark, what in _STRANGERS.items():
        if content.startswith(mark):
            raise FormatError(f"is {what}", path)
    return Sample(path, content[:size], len(content) <= size, compression)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def _unpacked(stream: BinaryIO, compression: Compression) -> _Readable:
    match compression:
        case "gzip":
            return gzip.GzipFile(fileobj=stream)
        case "bz2":
            return bz2.BZ2File(stream)
        case "zstd":
            opened: _Readable = pa.CompressedInputStream(pa.PythonFile(stream, "r"), "zstd")
            return opened
        case "none":
            return stream
