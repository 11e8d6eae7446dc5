"""From pieces to files: the opening, the records with separators between them, the closing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clinker.formats.common.writing import (
    Offsets,
    Piece,
    Renderer,
    Sink,
    Split,
    Warn,
    WriteError,
    WriteSpec,
)
from clinker.formats.files.publication import PreparedFile, Publication, Target
from clinker.formats.files.split_names import find_split_files, split_path
from clinker.formats.renderer import renderer
from clinker.frozen import frozen
from clinker.stores.access import find_if_any
from clinker.stores.urls import FilePath, ObjectUrl


def assemble(
    publication: Publication, target: Target, spec: WriteSpec, pieces: Iterable[Piece], warn: Warn
) -> int:
    """Prepare the file or the files of an output; the number of its records."""
    if spec.split is None:
        with publication.prepare(target) as file:
            file.records = write_document(
                file, renderer(spec), pieces, lambda text: warn(f"{target.path}: {text}")
            )
            return file.records
    with _SplitFiles(publication, target, spec, spec.split, warn) as files:
        for piece in pieces:
            files.add(piece)
        files.finish()
        return files.records


def existing_file(target: Target, naming: str | None) -> FilePath | None:
    """A file that stands in the way of an output that must not replace any; OSError if a store
    cannot be asked.

    With `naming` it is split into files of such names.
    """
    if target.if_exists != "error":
        return None
    if naming is not None:
        return next(find_split_files(target.path, naming), None)
    if isinstance(target.path, ObjectUrl):
        return target.path if find_if_any(target.path) else None
    return target.path if os.path.lexists(target.path) else None


def write_document(
    sink: Sink, form: Renderer, pieces: Iterable[Piece], warn: Warn = lambda _: None
) -> int:
    """One whole file; the number of its records."""
    if form.framing:
        return form.framing.write_document(sink, pieces, warn)
    records = 0
    for piece in pieces:
        if piece.records:
            sink.write(form.separator if records else form.opening)
            piece.copy_to(sink, 0, piece.size)
            records += piece.records
    sink.write(form.closing if records else form.empty)
    return records


class _SplitFiles:
    """The files of an output that is split; a new one begins where a limit has been reached.

    With a group key it begins at the next group, so a file may become larger. That is worth a word
    only where a single group has more records or bytes than a file may have.
    """

    def __init__(
        self, publication: Publication, target: Target, spec: WriteSpec, split: Split, warn: Warn
    ) -> None:
        self.records = 0
        self._publication = publication
        self._target = target
        self._form = renderer(spec)
        self._split = split
        self._warn = warn
        self._groups = _Groups(target.path, split, warn) if split.group_key else None
        self._number = 0
        self._open = ExitStack()
        self._file: PreparedFile | None = None
        self._unwritten: list[_Slice] = []

    def __enter__(self) -> _SplitFiles:
        return self

    def __exit__(self, *problem: Any) -> bool | None:
        return self._open.__exit__(*problem)

    def add(self, piece: Piece) -> None:
        if not piece.records:
            return
        ends = piece.ends()
        starts = np.concatenate(([0], ends[:-1] + len(self._form.separator)))
        borders = self._groups.borders(piece, ends - starts) if self._groups else None
        begin = 0
        while True:
            file = self._file or self._begin()
            cut = max(self._full_at(file, begin, starts, ends), begin + (not file.records))
            if borders is not None:
                cut = int(np.append(borders, piece.records)[np.searchsorted(borders, cut)])
            end = min(cut, piece.records)
            if end > begin:
                self._write(file, _Slice(piece, begin, end, int(starts[begin]), int(ends[end - 1])))
                file.records += end - begin
            # Whether a file ends with this piece is decided by the first record of the next one.
            if cut >= piece.records:
                break
            self._end(file)
            begin = end
        self.records += piece.records

    def _write(self, file: PreparedFile, records: _Slice) -> None:
        """Some records; a file that is more than its records is written when it has all of them."""
        if self._form.framing:
            self._unwritten.append(records)
            return
        file.write(self._form.separator if file.records else b"")
        records.copy_to(file, 0, records.size)

    def finish(self) -> None:
        if self._groups:
            self._groups.finish()
        if self._file is None:
            self._prepare().write(self._form.empty)
            self._open.close()
        else:
            self._end(self._file)
        self._warn_of_others()

    def _warn_of_others(self) -> None:
        """Files of an earlier run that wrote more of them would be taken for some of this one."""
        if self._target.if_exists != "overwrite":
            return
        path, naming = self._target.path, self._split.naming
        written = {split_path(path, naming, number + 1) for number in range(self._number)}
        others = [file for file in find_split_files(path, naming) if file not in written]
        if others:
            names = ", ".join(map(str, others))
            self._warn(f"left from an earlier run that wrote more files: {names}")

    def _full_at(self, file: PreparedFile, begin: int, starts: Offsets, ends: Offsets) -> int:
        """The first record, from `begin`, before which the file has reached a limit."""
        full = len(ends)
        if self._split.max_records is not None:
            full = min(full, begin + max(0, self._split.max_records - file.records))
        if self._split.max_bytes is not None:
            left = self._split.max_bytes - file.size - sum(each.size for each in self._unwritten)
            if left <= 0:
                return begin
            if file.records:
                left -= len(self._form.separator)
            full = min(full, int(np.searchsorted(ends, starts[begin] + left)) + 1)
        return full

    def _prepare(self) -> PreparedFile:
        self._number += 1
        path = split_path(self._target.path, self._split.naming, self._number)
        return self._open.enter_context(self._publication.prepare(self._target.at(path)))

    def _begin(self) -> PreparedFile:
        self._file = self._prepare()
        if self._form.framing:
            return self._file
        if self._number == 1 or self._split.repeat_header or not self._form.is_headed:
            self._file.write(self._form.opening)
        return self._file

    def _end(self, file: PreparedFile) -> None:
        if self._form.framing:
            self._form.framing.write_document(file, self._unwritten, self._warn)
            self._unwritten = []
        else:
            file.write(self._form.closing)
        self._open.close()
        self._file = None


@frozen(eq=False)
class _Slice:
    """Some records of a piece: a piece of one file."""

    piece: Piece
    first: int
    last: int
    begin: int
    end: int

    @property
    def records(self) -> int:
        return self.last - self.first

    @property
    def size(self) -> int:
        return self.end - self.begin

    @property
    def notes(self) -> Mapping[str, int]:
        return self.piece.notes

    def ends(self) -> Offsets:
        return self.piece.ends()[self.first : self.last] - self.begin

    def groups(self) -> pa.StringArray | None:
        groups = self.piece.groups()
        return None if groups is None else groups.slice(self.first, self.records)

    def copy_to(self, sink: Sink, begin: int, end: int) -> None:
        self.piece.copy_to(sink, self.begin + begin, self.begin + end)

    def whole(self) -> tuple[pa.Buffer, int]:
        data, before = self.piece.whole()
        return data, before + self.first


class _Groups:
    """The runs of records that share their group key."""

    def __init__(self, path: FilePath, split: Split, warn: Warn) -> None:
        self._path = path
        self._split = split
        self._warn = warn
        self._key: str | None = None
        self._records = 0
        self._bytes = 0

    def borders(self, piece: Piece, sizes: Offsets) -> Offsets:
        """The records of a piece that begin a group."""
        keys = piece.groups()
        if keys is None:
            raise ValueError("the records have been rendered without their groups")
        changes = np.asarray(pc.not_equal(keys.slice(1), keys.slice(0, len(keys) - 1)))
        begins_with_group = keys[0].as_py() != self._key
        if begins_with_group:
            self.finish()
        runs = np.flatnonzero(np.concatenate(([True], changes)))
        self._count(keys, runs, sizes)
        return runs if begins_with_group else runs[1:]

    def finish(self) -> None:
        """The group that was read last has ended."""
        if self._exceeds(np.array([self._records]), np.array([self._bytes])).any():
            self._report(self._key, self._records, self._bytes)
        self._records = self._bytes = 0

    def _count(self, keys: pa.StringArray, runs: Offsets, sizes: Offsets) -> None:
        records = np.diff(runs, append=len(keys))
        size = np.add.reduceat(sizes, runs)
        records[0] += self._records
        size[0] += self._bytes
        # The last group may go on in the next piece.
        for run in np.flatnonzero(self._exceeds(records[:-1], size[:-1])):
            self._report(keys[int(runs[run])].as_py(), int(records[run]), int(size[run]))
        self._key = keys[len(keys) - 1].as_py()
        self._records, self._bytes = int(records[-1]), int(size[-1])

    def _exceeds(self, records: Offsets, size: Offsets) -> npt.NDArray[np.bool_]:
        too_large = np.zeros(len(records), np.bool_)
        if self._split.max_records is not None:
            too_large |= records > self._split.max_records
        if self._split.max_bytes is not None:
            too_large |= size > self._split.max_bytes
        return too_large

    def _report(self, key: str | None, records: int, size: int) -> None:
        message = (
            f"{self._path}: the group {key} has {records} records and {size} bytes, "
            "more than a file may have"
        )
        if self._split.oversize_group == "error":
            raise WriteError(message)
        if self._split.oversize_group == "warn":
            self._warn(message)
