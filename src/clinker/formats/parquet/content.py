"""Parquet files opened, and what is wrong with them told in our words."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from clinker.cxl.failure import printable, shown
from clinker.formats.common.read_spec import FormatError
from clinker.formats.files.local import open_file
from clinker.frozen import frozen

_MAGIC, _MAGIC_ENCRYPTED = b"PAR1", b"PARE"
_SMALLEST = 12
_READ_AT_ONCE = 1 << 20
_HELP = "check that it was copied completely, or have it written again"
_PACKED = (b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd")
"""What files compressed by gzip, bzip2 or Zstandard begin with."""


@frozen(eq=False)
class Content:
    """A file whose footer has been read."""

    path: str
    file: pq.ParquetFile

    @property
    def schema(self) -> pa.Schema:
        return self.file.schema_arrow

    @property
    def metadata(self) -> pq.FileMetaData:
        return self.file.metadata

    @property
    def group_records(self) -> list[int]:
        """How many records each group of rows has."""
        return [self.metadata.row_group(at).num_rows for at in range(self.metadata.num_row_groups)]

    def read(
        self, groups: Sequence[int], names: Sequence[str], rows: int
    ) -> Iterator[pa.RecordBatch]:
        """Some columns of some groups of rows, so many rows at a time."""
        with _reading(self.path):
            yield from self.file.iter_batches(
                batch_size=rows, row_groups=list(groups), columns=list(names), use_threads=False
            )


@contextmanager
def opened(path: str) -> Iterator[Content]:
    """A file to read; FormatError if it, or what is read of it later, is broken."""
    with open_file(path) as stream:
        _check_ends(stream, path)
        with _reading(path):
            file = pq.ParquetFile(
                stream,
                buffer_size=_READ_AT_ONCE,
                pre_buffer=False,
                coerce_int96_timestamp_unit="us",
                page_checksum_verification=True,
            )
            names = file.schema_arrow.names
        repeated = next((name for name, count in Counter(names).items() if count > 1), None)
        if repeated is not None:
            message = f"has several columns named '{shown(repeated)}'"
            raise FormatError(message, path, "have it written with another name for each of them")
        yield Content(path, file)


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """While Arrow reads a file, what it does not like of it is a FormatError."""
    try:
        yield
    except (pa.ArrowException, OSError) as problem:
        if isinstance(problem, OSError) and problem.errno is not None:  # of the disk
            raise
        raise FormatError(_describe(problem), path, _HELP) from None
    except UnicodeDecodeError:
        raise FormatError("has a column whose name is not UTF-8", path, _HELP) from None


def _check_ends(stream: BinaryIO, path: str) -> None:
    """What the first and the last bytes of a file tell."""
    start = stream.read(len(_MAGIC))
    if not start:
        raise FormatError("is empty, which no Parquet file is", path, _HELP)
    if start.startswith(_PACKED):
        help = "unpack it first: what is in a Parquet file is compressed already"
        raise FormatError("is compressed as a whole, which no Parquet file is", path, help)
    if start not in (_MAGIC, _MAGIC_ENCRYPTED):
        message = "is not a Parquet file: it does not begin with 'PAR1'"
        raise FormatError(message, path, "check 'type' and which files are read")
    stream.seek(-len(start), os.SEEK_END)
    end = stream.read()
    if _MAGIC_ENCRYPTED in (start, end):
        help = "have it written without encryption, or decrypt it first"
        raise FormatError("is encrypted", path, help)
    if end != _MAGIC or stream.tell() < _SMALLEST:
        raise FormatError("is not whole: it does not end with 'PAR1'", path, _HELP)
    stream.seek(0)


def _describe(problem: Exception) -> str:
    lines = str(problem).splitlines() or [type(problem).__name__]
    return f"is damaged, or written in a way that cannot be read: {printable(lines[0])}"
