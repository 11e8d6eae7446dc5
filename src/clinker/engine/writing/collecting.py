"""Results leave the engine: small ones through the driver's memory, large ones as part files.

Either way a record is looked at once: what is in the flow is rendered, what was rejected is put
aside for the dead-letter file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.engine.flow.flow import POSITION, REJECT, SOURCE
from clinker.engine.flow.frame import Frame
from clinker.engine.rejects.reject_texts import REJECTS, rejects_of
from clinker.formats.common.read_spec import FILE_SHIFT
from clinker.formats.common.rendering import render_all
from clinker.formats.common.writing import Piece, WriteError, WriteSpec, writing_to
from clinker.formats.files.parts import Part, PartWriter
from clinker.formats.renderer import renderer
from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.engine.session.engine import PartFunction
    from clinker.engine.session.session import Session

FileKey = tuple[int, int]
"""The number of a source and of one of its files."""
ONE_FILE: FileKey = (-1, -1)

_WRITTEN = pa.schema(
    [
        ("partition", pa.int32()),
        ("source", pa.int32()),
        ("file", pa.int32()),
        ("path", pa.string()),
        ("records", pa.int64()),
        ("size", pa.int64()),
        ("index", pa.string()),
        ("notes", pa.string()),
        ("rejects", pa.string()),
        ("error", pa.string()),
        ("error_record", pa.int64()),
        ("error_code", pa.string()),
        ("error_help", pa.string()),
    ]
)


@frozen(eq=False)
class Collected:
    """What an output is made of, by input file if it writes one for each, and the rejects."""

    pieces: dict[FileKey, list[Piece]]
    rejects: Sequence[pa.Table]

    @property
    def records(self) -> int:
        return sum(piece.records for pieces in self.pieces.values() for piece in pieces)

    @property
    def notes(self) -> Counter[str]:
        """What is worth a warning, and how many records it is true of."""
        notes: Counter[str] = Counter()
        for pieces in self.pieces.values():
            for piece in pieces:
                notes.update(piece.notes)
        return notes


def split_off_rejects(table: pa.Table) -> tuple[pa.Table, list[str]]:
    """The records in the flow, and what is told of the rejected ones."""
    if REJECT not in table.column_names:
        return table, []
    reject = table.column(REJECT)
    if reject.null_count == len(table):
        return table, []
    kept = table.drop_columns(REJECT).filter(pc.is_null(reject))
    return kept, reject.drop_null().to_pylist()


def by_file(table: pa.Table) -> Iterator[tuple[FileKey, pa.Table]]:
    """The records of each input file, and those that come from none as `ONE_FILE`."""
    sources = np.asarray(table.column(SOURCE).fill_null(ONE_FILE[0]))
    files = np.asarray(table.column(POSITION).fill_null(-1)) >> FILE_SHIFT
    order = np.lexsort((files, sources))
    sources, files, ordered = sources[order], files[order], table.take(order)
    is_next = (np.diff(sources) != 0) | (np.diff(files) != 0)
    borders = (np.flatnonzero(is_next) + 1).tolist()
    for begin, end in pairwise([0, *borders, len(table)]):
        if end > begin:
            yield (int(sources[begin]), int(files[begin])), ordered.slice(begin, end - begin)


def collect_here(table: pa.Table, spec: WriteSpec, *, per_file: bool) -> Collected:
    """Render records that are in the driver's memory."""
    kept, rejects = split_off_rejects(table)
    form = renderer(spec)
    parts = by_file(kept) if per_file else [(ONE_FILE, kept)]
    pieces = {
        key: list[Piece](render_all(form, _written_columns(part, spec).to_batches()))
        for key, part in parts
    }
    return Collected(pieces, [rejects_of(rejects)] if rejects else [])


def collect_in_parts(
    session: Session, frame: Frame, spec: WriteSpec, directory: Path, *, per_file: bool
) -> Collected:
    """Have every task of the engine render its records to a part file."""
    function = _part_function(spec, str(directory), per_file)
    written = session.run_in_parts(frame, function, _WRITTEN)
    rows = sorted(written.to_pylist(), key=lambda row: row["partition"])
    failed = next((row for row in rows if row["error"] is not None), None)
    if failed:
        before = sum(row["records"] or 0 for row in rows if row["partition"] < failed["partition"])
        problem = WriteError(
            failed["error"],
            record=failed["error_record"],
            code=failed["error_code"],
            help=failed["error_help"],
        )
        raise problem.after(before)
    pieces: dict[FileKey, list[Piece]] = {}
    for row in rows:
        if row["path"] is not None:
            pieces.setdefault((row["source"], row["file"]), []).append(_part(row))
    return Collected(pieces, [_read(row["rejects"]) for row in rows if row["rejects"]])


def _part(row: dict[str, Any]) -> Part:
    return Part(
        path=row["path"],
        order=row["partition"],
        records=row["records"],
        size=row["size"],
        index=row["index"],
        notes=orjson.loads(row["notes"]),
    )


def _read(path: str) -> pa.Table:
    with pa.memory_map(path) as file, pa.ipc.open_file(file) as rejects:
        return rejects.read_all()


def _part_function(spec: WriteSpec, directory: str, per_file: bool) -> PartFunction:
    """What a task does with its partition; the rows it gives tell what it has written."""

    def write(part: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = _Task(spec, directory, part, per_file)
        try:
            for batch in batches:
                task.take(batch)
            rows = task.finish()
        except WriteError as error:
            task.abandon()
            rows = [
                {
                    "partition": task.partition,
                    "error": error.message,
                    "error_record": error.record,
                    "error_code": error.code,
                    "error_help": error.help,
                }
            ]
        yield pa.RecordBatch.from_pylist(rows, _WRITTEN)

    return write


class _Task:
    """The writing of one partition."""

    def __init__(self, spec: WriteSpec, directory: str, partition: int, per_file: bool) -> None:
        self._spec = spec
        self._directory = Path(directory)
        self.partition = partition
        self._per_file = per_file
        self._writers: dict[FileKey, PartWriter] = {}
        self._rejects: list[str] = []

    def take(self, batch: pa.RecordBatch) -> None:
        kept, rejects = split_off_rejects(pa.Table.from_batches([batch]))
        self._rejects += rejects
        for key, part in by_file(kept) if self._per_file else [(ONE_FILE, kept)]:
            if key not in self._writers:
                self._writers[key] = PartWriter(self._directory, self._spec, self.partition)
            for piece in _written_columns(part, self._spec).to_batches():
                self._writers[key].write(piece)

    def finish(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for (source, file), writer in self._writers.items():
            part = writer.close()
            rows.append(
                {
                    "partition": self.partition,
                    "source": source,
                    "file": file,
                    "path": part.path,
                    "records": part.records,
                    "size": part.size,
                    "index": part.index,
                    "notes": orjson.dumps(part.notes).decode(),
                }
            )
        if self._rejects:
            rows.append({"partition": self.partition, "rejects": self._write_rejects()})
        return rows

    def _write_rejects(self) -> str:
        path = self._directory / f"rejects-{self.partition:05}-{id(self):x}"
        with (
            writing_to(path),
            path.open("xb") as file,
            pa.ipc.new_file(file, REJECTS) as writer,
        ):
            writer.write_table(rejects_of(self._rejects))
        return str(path)

    def abandon(self) -> None:
        for writer in self._writers.values():
            writer.abandon()


def _written_columns(table: pa.Table, spec: WriteSpec) -> pa.Table:
    """What the renderer looks at."""
    hidden = {REJECT, SOURCE, POSITION}
    return table.select([name for name in table.column_names if name not in hidden])
