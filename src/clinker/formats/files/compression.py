"""Compression of files that are written: the same bytes come out however they came in."""

from __future__ import annotations

import bz2
import gzip
from typing import Any, Protocol

import pyarrow as pa

from clinker.file_names import Compression
from clinker.formats.common.writing import Sink

_BLOCK_BYTES = 1 << 20
"""Compressors are given as much at a time, since what they make may depend on it."""
_GZIP_LEVEL = 6
_BZ2_LEVEL = 9


class _Stream(Protocol):
    def write(self, data: Any, /) -> Any: ...

    def close(self) -> None: ...


class CompressedSink:
    """Compresses what is written to it into another sink, as one stream."""

    def __init__(self, compression: Compression, sink: Sink) -> None:
        self._stream = _open(compression, sink)
        self._waiting = bytearray()

    def write(self, data: bytes | memoryview, /) -> int:
        self._waiting += data
        whole = len(self._waiting) // _BLOCK_BYTES * _BLOCK_BYTES
        for begin in range(0, whole, _BLOCK_BYTES):
            self._stream.write(bytes(self._waiting[begin : begin + _BLOCK_BYTES]))
        del self._waiting[:whole]
        return len(data)

    def close(self) -> None:
        """Write the end of the stream; the sink stays open."""
        self._stream.write(bytes(self._waiting))
        self._stream.close()


def _open(compression: Compression, sink: Sink) -> _Stream:
    match compression:
        case "gzip":
            # Neither a name nor a time, which would differ from run to run.
            return gzip.GzipFile("", "wb", _GZIP_LEVEL, _Kept(sink), mtime=0)
        case "bz2":
            return bz2.BZ2File(_Kept(sink), "wb", compresslevel=_BZ2_LEVEL)
        case "zstd":
            stream: _Stream = pa.CompressedOutputStream(pa.PythonFile(_Kept(sink), "w"), "zstd")
            return stream
        case "none":
            return _Kept(sink)


class _Kept:
    """A sink that is not closed with what writes to it."""

    mode = "wb"
    closed = False

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def write(self, data: bytes | memoryview, /) -> int:
        return self._sink.write(data)

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def writable(self) -> bool:
        return True
