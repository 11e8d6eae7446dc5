"""Meters: how many bytes of a source workers have read so far, noted by them split by split."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa

from clinker.formats.reading import Split
from clinker.frozen import frozen

_NOTE = np.dtype([("position", np.int64), ("size", np.int64)])


@frozen
class Meter:
    """Where workers note what they have read of a source."""

    file: Path

    def reset(self) -> None:
        """Begin anew; nothing has been read."""
        self.file.write_bytes(b"")

    def noting(self, split: Split, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches; behind the last one, it is noted that the split has been read."""
        yield from batches
        note = np.array((split.file.position(split.first_row), split.size), _NOTE).tobytes()
        # A worker that does not share the directory notes nothing, and nobody knows how far it is.
        with suppress(OSError):
            file = os.open(self.file, os.O_WRONLY | os.O_APPEND)
            try:
                os.write(file, note)
            finally:
                os.close(file)

    @property
    def read(self) -> int:
        """How many bytes have been read; those that were read again count once."""
        try:
            content = self.file.read_bytes()
        except OSError:  # the run is over, and its directory gone
            return 0
        notes = np.frombuffer(content[: len(content) // _NOTE.itemsize * _NOTE.itemsize], _NOTE)
        _, first = np.unique(notes["position"], return_index=True)
        return int(notes["size"][first].sum())
