"""Results leave the engine: small ones through the driver's memory, large ones as part files.

Either way a record is looked at once: what is in the flow is rendered, what was rejected is put
aside for the dead-letter file.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.types import Type
from clinker.engine.flow.flow import POSITION, REJECT, SOURCE
from clinker.engine.flow.frame import Frame
from clinker.engine.rejects.reject_texts import REJECTS, rejects_of, source_text
from clinker.engine.writing.tables import typed_table
from clinker.file_names import name_part
from clinker.formats.common.cell_texts import show_values
from clinker.formats.common.column_types import is_tagged
from clinker.formats.common.read_spec import FILE_SHIFT
from clinker.formats.common.rendering import render_all
from clinker.formats.common.tagged_texts import forget_spelling
from clinker.formats.common.writing import (
    OutputColumn,
    Piece,
    WriteError,
    WriteSpec,
    writing_to,
)
from clinker.formats.files.parts import Part, PartWriter
from clinker.formats.renderer import renderer
from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.engine.session.engine import PartFunction
    from clinker.engine.session.session import Session

FileKey = tuple[int, int, tuple[str, ...]]
"""The number of a source and of one of its files, and values as they stand in names of files."""
ONE_FILE: FileKey = (-1, -1, ())
MOST_FILES = 10_000
"""How many files an output may have for values: more are a slip, and no disk likes them."""
_MOST_OPEN = 64
"""How many files a task has open at a time."""

_WRITTEN = pa.schema(
    [
        ("partition", pa.int32()),
        ("source", pa.int32()),
        ("file", pa.int32()),
        ("values", pa.list_(pa.string())),
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


@frozen(eq=False, kw_only=True)
class Filing:
    """Which records of an output go to files of their own."""

    path: str
    """As users write it, with its tokens."""
    by_input: bool = False
    """Whether those of each input file do."""
    by: tuple[OutputColumn, ...] = ()
    """Those of each value that these hidden columns have."""

    @property
    def is_one_file(self) -> bool:
        return not (self.by_input or self.by)


@frozen(eq=False)
class Collected:
    """What an output is made of, by the files it goes to, and the rejects."""

    pieces: dict[FileKey, list[Piece]]
    rejects: Sequence[pa.Table]
    unwritable: WriteError | None = None
    """Why there are not all pieces; the rejects are all."""
    is_whole: bool = True
    """Whether nobody gave up writing since a rejected record decided that it was in vain."""
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


def by_file(table: pa.Table, filing: Filing) -> Iterator[tuple[FileKey, pa.Table]]:
    """The records of each file; with input files, those that come from none as `ONE_FILE`."""
    if filing.is_one_file:
        yield ONE_FILE, table
        return
    sources = files = np.full(len(table), -1)
    if filing.by_input:
        sources = np.asarray(table.column(SOURCE).fill_null(-1))
        files = np.asarray(table.column(POSITION).fill_null(-1)) >> FILE_SHIFT
    values = [_encoded(table.column(column.held_as), column.type) for column in filing.by]
    keys = np.stack([sources, files, *(codes for codes, _ in values)])
    order = np.lexsort(keys[::-1])
    keys, ordered = keys[:, order], table.take(order)
    borders = (np.flatnonzero(np.diff(keys).any(axis=0)) + 1).tolist()
    for begin, end in pairwise([0, *borders, len(table)]):
        if end > begin:
            source, file, *codes = keys[:, begin].tolist()
            names = (of[code] for code, (_, of) in zip(codes, values, strict=True))
            yield (source, file, tuple(names)), ordered.slice(begin, end - begin)


def _encoded(column: pa.ChunkedArray, type_: Type) -> tuple[npt.NDArray[Any], list[str]]:
    """Values as numbers, and what stands for each of them in the name of a file."""
    values = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    if is_tagged(type_):
        values = forget_spelling(values)
    texts = pc.fill_null(show_values(values, type_), None).dictionary_encode()
    names = [name_part(text) for text in texts.dictionary.to_pylist()]
    codes = np.asarray(texts.indices.fill_null(len(names)))
    return codes, [*names, name_part(None)]


def collect_here(table: pa.Table, spec: WriteSpec, filing: Filing) -> Collected:
    """Render records that are in the driver's memory."""
    texts, kept = reject_texts(table), kept_records(table)
    rejects = [rejects_of(texts)] if texts else []
    try:
        form = renderer(spec)
        pieces = {
            key: list[Piece](render_all(form, _written_columns(part, filing).to_batches()))
            for key, part in by_file(kept, filing)
        }
        _check_number(len(pieces), filing)
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
    filing: Filing,
    directory: Path,
    *,
    decisive: Set[int] = frozenset(),
) -> Collected:
    """Have every task of the engine render its records to a part file.

    If a record of one of the `decisive` sources is rejected, only the rejects count: there need not
    be all pieces then.
    """
    function = _part_function(spec, filing, str(directory), frozenset(decisive))
    written = session.run_in_parts(frame, function, _WRITTEN)
    rows = sorted(written.to_pylist(), key=lambda row: row["partition"])
    rejects = [_read(row["rejects"]) for row in rows if row["rejects"]]
    is_whole = all(decisive.isdisjoint(pc.unique(r[SOURCE]).to_pylist()) for r in rejects)
    failed = next((row for row in rows if row["error"] is not None), None)
    if failed:
        before = sum(row["records"] or 0 for row in rows if row["partition"] < failed["partition"])
        problem = WriteError(
            failed["error"],
            record=failed["error_record"],
            code=failed["error_code"],
            help=failed["error_help"],
        )
        return Collected({}, rejects, problem.after(before), is_whole)
    pieces: dict[FileKey, list[Piece]] = {}
    for row in rows:
        if row["path"] is not None:
            key = (row["source"], row["file"], tuple(row["values"]))
            pieces.setdefault(key, []).append(_part(row))
    try:
        _check_number(len(pieces), filing)
    except WriteError as problem:
        return Collected({}, rejects, problem)
    return Collected(pieces, rejects, is_whole=is_whole)


def _check_number(files: int, filing: Filing) -> None:
    if filing.by and files > MOST_FILES:
        raise WriteError(
            f"'{filing.path}' would be more than {MOST_FILES:,} files",
            help="name a field with fewer values, or write one file and split it",
        )


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
    spec: WriteSpec, filing: Filing, directory: str, decisive: frozenset[int]
) -> PartFunction:
    """What a task does with its partition; the rows it gives tell what it has written."""

    def write(part: int, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = _Task(spec, filing, directory, part, decisive)
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
        filing: Filing,
        directory: str,
        partition: int,
        decisive: frozenset[int],
    ) -> None:
        self._spec = spec
        self._directory = Path(directory)
        self._partition = partition
        self._filing = filing
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
        for key, part in by_file(kept, self._filing):
            if key not in self._writers:
                _check_number(len(self._writers) + 1, self._filing)
                self._writers[key] = PartWriter(self._directory, self._spec, self._partition)
            for piece in _written_columns(part, self._filing).to_batches():
                self._writers[key].write(piece)
            if len(self._writers) > _MOST_OPEN:
                self._writers[key].rest()

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
        source, file, values = key
        part = self._writers[key].close()
        return {
            "partition": self._partition,
            "source": source,
            "file": file,
            "values": values,
            "path": part.path,
            "records": part.records,
            "size": part.size,
            "index": part.index,
            "notes": orjson.dumps(part.notes).decode(),
        }

    def _write_rejects(self) -> str:
        path = self._directory / f"rejects-{self._partition:05}-{uuid.uuid4().hex}"
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


def _written_columns(table: pa.Table, filing: Filing) -> pa.Table:
    """What the renderer looks at."""
    hidden = {REJECT, SOURCE, POSITION, *(column.held_as for column in filing.by)}
    return table.select([name for name in table.column_names if name not in hidden])
