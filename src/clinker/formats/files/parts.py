"""Part files: what one task writes of an output, to be assembled later.

A part is the body of a piece of the output and, if the output is to be split or has frames, an
index beside it that says where its records end and which groups they belong to. Its name is unique,
so a task that is run again leaves the parts of its earlier attempts alone.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import field
from io import FileIO
from pathlib import Path

import numpy as np
import pyarrow as pa

from clinker.formats.common.rendering import render_all
from clinker.formats.common.writing import (
    Offsets,
    Rendered,
    Sink,
    WriteError,
    WriteSpec,
    writing_to,
)
from clinker.formats.renderer import renderer
from clinker.frozen import frozen

_COPIED_AT_ONCE = 1 << 20
_ENDS, _GROUPS = "end", "group"


@frozen(kw_only=True)
class Part:
    """A part file; a piece of an output."""

    path: str
    order: int
    """Parts are assembled in this order."""
    records: int
    size: int
    index: str | None = None
    notes: Mapping[str, int] = field(default_factory=dict)
    """What is worth a warning, and how many records it is true of."""

    def ends(self) -> Offsets:
        return np.asarray(self._index().column(_ENDS).combine_chunks())

    def groups(self) -> pa.StringArray | None:
        index = self._index()
        if _GROUPS not in index.column_names:
            return None
        return pa.concat_arrays(index.column(_GROUPS).chunks)

    def copy_to(self, sink: Sink, begin: int, end: int) -> None:
        try:
            with Path(self.path).open("rb", buffering=0) as part:
                part.seek(begin)
                left = end - begin
                while left and (data := part.read(min(left, _COPIED_AT_ONCE))):
                    sink.write(data)
                    left -= len(data)
        except OSError as error:
            raise WriteError(f"cannot read {self.path}: {error.strerror}") from error
        if left:
            raise WriteError(f"cannot read {self.path}: the last {left} bytes are missing")

    def whole(self) -> tuple[pa.Buffer, int]:
        if not self.size:
            return pa.py_buffer(b""), 0
        try:
            with pa.memory_map(self.path) as part:
                data = part.read_buffer()
        except OSError as error:
            raise WriteError(f"cannot read {self.path}: {error.strerror}") from error
        if data.size < self.size:
            missing = self.size - data.size
            raise WriteError(f"cannot read {self.path}: the last {missing} bytes are missing")
        return data, 0

    def _index(self) -> pa.Table:
        if self.index is None:
            raise ValueError("only the parts of an output that is split or framed have an index")
        streams: list[pa.Table] = []
        with pa.memory_map(self.index) as file:
            while file.tell() < file.size():
                with pa.ipc.open_stream(file) as stream:
                    streams.append(stream.read_all())
        return pa.concat_tables(streams)


class PartWriter:
    """Writes one part, batch after batch; what goes wrong is a `WriteError`."""

    def __init__(self, directory: str | Path, spec: WriteSpec, order: int = 0) -> None:
        self._order = order
        self._renderer = renderer(spec)
        self._has_index = spec.split is not None or self._renderer.framing is not None
        self._path = Path(directory, f"part-{order:05}-{uuid.uuid4().hex}")
        self._records = 0
        self._size = 0
        self._end = 0
        """Where the last record ends."""
        self._notes: Counter[str] = Counter()
        self._open: dict[Path, FileIO] = {}
        self._is_indexed = False
        with writing_to(self._path):
            self._open[self._path] = self._path.open("xb", buffering=0)

    def write(self, batch: pa.RecordBatch) -> None:
        try:
            for piece in render_all(self._renderer, [batch]):
                with writing_to(self._path):
                    if self._records:
                        self._append(self._renderer.separator)
                    if self._has_index:
                        self._note(piece)
                    self._append(piece.body)
                self._records += piece.records
                self._notes.update(piece.notes)
        except WriteError as error:
            raise error.after(self._records) from None

    def rest(self) -> None:
        """Have no file open until more is written."""
        with writing_to(self._path):
            while self._open:
                _, file = self._open.popitem()
                file.close()

    def close(self) -> Part:
        self.rest()
        return Part(
            path=str(self._path),
            order=self._order,
            records=self._records,
            size=self._size,
            index=str(self._index_path) if self._is_indexed else None,
            notes=dict(self._notes),
        )

    def abandon(self) -> None:
        """Close and remove the part."""
        # What a full disk has left unwritten fails again.
        with suppress(WriteError):
            self.rest()
        self._path.unlink(missing_ok=True)
        self._index_path.unlink(missing_ok=True)

    @property
    def _index_path(self) -> Path:
        return self._path.with_suffix(".index")

    def _append(self, data: bytes | pa.Buffer) -> None:
        self._write(self._path, data)
        self._size += len(memoryview(data))

    def _write(self, path: Path, data: bytes | pa.Buffer) -> None:
        if path not in self._open:
            self._open[path] = path.open("ab", buffering=0)
        left = memoryview(data)
        while left:
            left = left[self._open[path].write(left) :]

    def _note(self, piece: Rendered) -> None:
        begin = self._end + len(self._renderer.separator) if self._records else 0
        ends, groups = begin + piece.ends(), piece.groups()
        self._end = int(ends[-1])
        columns = {_ENDS: pa.array(ends)} | ({} if groups is None else {_GROUPS: groups})
        batch = pa.RecordBatch.from_pydict(columns)
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, batch.schema) as writer:
            writer.write_batch(batch)
        self._write(self._index_path, stream.getvalue())
        self._is_indexed = True


def write_part(
    directory: str | Path, spec: WriteSpec, batches: Iterable[pa.RecordBatch], order: int = 0
) -> Part:
    """All records of a task as one part; nothing is left of it if they cannot be written."""
    writer = PartWriter(directory, spec, order)
    try:
        for batch in batches:
            writer.write(batch)
        return writer.close()
    except WriteError:
        writer.abandon()
        raise
