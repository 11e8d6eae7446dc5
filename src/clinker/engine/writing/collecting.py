"""Results leave the engine: small ones through the driver's memory, large ones as part files.

Either way a record is looked at once: what is in the flow is rendered, what was rejected is put
aside for the dead-letter file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.engine.flow.flow import POSITION, REJECT, SOURCE
from clinker.engine.flow.frame import BatchFunction, Frame
from clinker.engine.rejects.reject_texts import REJECTS, rejects_of, source_text
from clinker.engine.writing.tables import typed_table
from clinker.formats.common.read_spec import FILE_SHIFT
from clinker.formats.common.rendering import render_all
from clinker.formats.common.writing import Piece, WriteError, WriteSpec, writing_to
from clinker.formats.files.parts import Part, PartWriter
from clinker.formats.renderer import renderer
from clinker.frozen import frozen

if TYPE_CHECKING:
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
    unwritable: WriteError | None = None
    """Why there are not all pieces; the rejects are all."""
    table: pa.Table | None = None
    """The records themselves, if they are wanted as such instead of pieces."""

    @property
    def records(self) -> int:
        if self.table is not None:
            return len(self.table)
        return sum(piece.records for pieces in self.pieces.values() for piece in pieces)

    @property
    def notes(self) -> Counter[str]:
        """What is worth a warning, and how many records it is true of."""
        notes: Counter[str] = Counter()
        for pieces in self.pieces.values():
            for piece in pieces:
                notes.update(piece.notes)
        return notes


def reject_texts(table: pa.Table) -> list[str]:
    """What is told of the rejected records."""
    if REJECT not in table.column_names:
        return []
    texts: list[str] = table.column(REJECT).drop_null().to_pylist()
    return texts


def kept_records(table: pa.Table) -> pa.Table:
    """The records in the flow."""
    if REJECT not in table.column_names:
        return table
    reject = table.column(REJECT)
    kept = table.drop_columns(REJECT)
    return kept if reject.null_count == len(table) else kept.filter(pc.is_null(reject))


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
    texts, kept = reject_texts(table), kept_records(table)
    rejects = [rejects_of(texts)] if texts else []
    parts = by_file(kept) if per_file else [(ONE_FILE, kept)]
    try:
        form = renderer(spec)
        pieces = {
            key: list[Piece](render_all(form, _written_columns(part, spec).to_batches()))
            for key, part in parts
        }
    except WriteError as problem:
        return Collected({}, rejects, problem)
    return Collected(pieces, rejects)


def collect_table(table: pa.Table, spec: WriteSpec) -> Collected:
    """Take records that are in the driver's memory as they are."""
    texts = reject_texts(table)
    rejects = [rejects_of(texts)] if texts else []
    return Collected({}, rejects, table=typed_table(kept_records(table), spec))


def collect_in_parts(
    session: Session,
    frame: Frame,
    spec: WriteSpec,
    directory: Path,
    *,
    per_file: bool,
    decisive: Set[int] = frozenset(),
) -> Collected:
    """Have every task of the engine render its records to a part file.

    If a record of one of the `decisive` sources is rejected, only the rejects count: there need not
    be all pieces then.
    """
    part_number = session.engine.part_number
    function = _part_function(spec, str(directory), per_file, frozenset(decisive), part_number)
    written = session.run_in_parts(frame, function, _WRITTEN)
    rows = sorted(written.to_pylist(), key=lambda row: row["partition"])
    rejects = [_read(row["rejects"]) for row in rows if row["rejects"]]
    failed = next((row for row in rows if row["error"] is not None), None)
    if failed:
        before = sum(row["records"] or 0 for row in rows if row["partition"] < failed["partition"])
        problem = WriteError(
            failed["error"],
            record=failed["error_record"],
            code=failed["error_code"],
            help=failed["error_help"],
        )
        return Collected({}, rejects, problem.after(before))
    pieces: dict[FileKey, list[Piece]] = {}
    for row in rows:
        if row["path"] is not None:
            pieces.setdefault((row["source"], row["file"]), []).append(_part(row))
    return Collected(pieces, rejects)


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


def _part_function(
    spec: WriteSpec,
    directory: str,
    per_file: bool,
    decisive: frozenset[int],
    part_number: Callable[[], int],
) -> BatchFunction:
    """What a task does with its partition; the rows it gives tell what it has written."""

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = _Task(spec, directory, part_number(), per_file, decisive)
        for batch in batches:
            task.take(batch)
        yield pa.RecordBatch.from_pylist(task.finish(), _WRITTEN)

    return write


class _Task:
    """The writing of one partition.

    All of it is looked at for rejected records, also when nothing is written any more: since a
    record cannot be, or since all is in vain.
    """

    def __init__(
        self,
        spec: WriteSpec,
        directory: str,
        partition: int,
        per_file: bool,
        decisive: frozenset[int],
    ) -> None:
        self._spec = spec
        self._directory = Path(directory)
        self._partition = partition
        self._per_file = per_file
        self._decisive = frozenset(map(str, decisive))
        self._in_vain = self._directory / "in-vain"
        """There as soon as some task knows that nothing of what is written will be used."""
        self._writers: dict[FileKey, PartWriter] = {}
        self._rejects: list[str] = []
        self._failure: dict[str, Any] | None = None
        """The row that tells why something cannot be written; the error itself would hold on to
        files."""

    def take(self, batch: pa.RecordBatch) -> None:
        table = pa.Table.from_batches([batch])
        rejects = reject_texts(table)
        self._rejects += rejects
        if not self._decisive.isdisjoint(map(source_text, rejects)):
            self._in_vain.touch()
        if self._failure or (self._decisive and self._in_vain.exists()):
            return
        try:
            self._write(kept_records(table))
        except WriteError as problem:
            self._failure = self._failed(problem)

    def _write(self, kept: pa.Table) -> None:
        for key, part in by_file(kept) if self._per_file else [(ONE_FILE, kept)]:
            if key not in self._writers:
                self._writers[key] = PartWriter(self._directory, self._spec, self._partition)
            for piece in _written_columns(part, self._spec).to_batches():
                self._writers[key].write(piece)

    def finish(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        try:
            if self._rejects:
                rows.append({"partition": self._partition, "rejects": self._write_rejects()})
            if not self._failure:
                rows += [self._closed(key) for key in self._writers]
        except WriteError as problem:
            self._failure = self._failed(problem)
        if self._failure:
            self._abandon()
            rows.append(self._failure)
        return rows

    def _closed(self, key: FileKey) -> dict[str, Any]:
        source, file = key
        part = self._writers[key].close()
        return {
            "partition": self._partition,
            "source": source,
            "file": file,
            "path": part.path,
            "records": part.records,
            "size": part.size,
            "index": part.index,
            "notes": orjson.dumps(part.notes).decode(),
        }

    def _write_rejects(self) -> str:
        path = self._directory / f"rejects-{self._partition:05}-{id(self):x}"
        with (
            writing_to(path),
            path.open("xb") as file,
            pa.ipc.new_file(file, REJECTS) as writer,
        ):
            writer.write_table(rejects_of(self._rejects))
        return str(path)

    def _failed(self, problem: WriteError) -> dict[str, Any]:
        return {
            "partition": self._partition,
            "error": problem.message,
            "error_record": problem.record,
            "error_code": problem.code,
            "error_help": problem.help,
        }

    def _abandon(self) -> None:
        for writer in self._writers.values():
            writer.abandon()


def _written_columns(table: pa.Table, spec: WriteSpec) -> pa.Table:
    """What the renderer looks at."""
    hidden = {REJECT, SOURCE, POSITION}
    return table.select([name for name in table.column_names if name not in hidden])
