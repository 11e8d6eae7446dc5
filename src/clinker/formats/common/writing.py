"""What all writers share: what is to be written, and what comes out of it.

A writer turns Arrow batches into the bytes of records. Where these bytes go (memory, a part file of
a Spark task, the file itself) is no concern of it: a file is its opening, the records with the
separator between them, and its closing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from clinker.cxl.types import MAP, Type
from clinker.formats.common.read_spec import WIDENED
from clinker.frozen import frozen
from clinker.stores.urls import FilePath

IfExists: TypeAlias = Literal["error", "overwrite", "unique_suffix"]
Offsets: TypeAlias = npt.NDArray[np.int64]
Warn: TypeAlias = Callable[[str], None]


class WriteError(Exception):
    """Records that cannot be written; `record` counts from 1 in what was to be written."""

    def __init__(
        self,
        message: str,
        *,
        record: int | None = None,
        code: str | None = None,
        help: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.record = record
        self.code = code
        self.help = help

    def __reduce__(self) -> tuple[Any, ...]:
        return _write_error, (self.message, self.record, self.code, self.help)

    def __str__(self) -> str:
        if self.record is None:
            return self.message
        return f"{self.message} (record {self.record})"

    def after(self, records: int) -> WriteError:
        """The same error, once it is known how many records come before those it counted."""
        record = None if self.record is None else self.record + records
        return WriteError(self.message, record=record, code=self.code, help=self.help)


@contextmanager
def writing_to(path: str | FilePath) -> Iterator[None]:
    """What the operating system or a store refuses inside is a `WriteError` about this path."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise WriteError(f"cannot write {path}: {reason}") from error


def _write_error(
    message: str, record: int | None, code: str | None, help: str | None
) -> WriteError:
    return WriteError(message, record=record, code=code, help=help)


@frozen
class OutputColumn:
    """A column of a file, or a hidden one that tells what is to be written."""

    name: str
    type: Type
    hidden: bool = False

    @property
    def held_as(self) -> str:
        """The name of the column in batches: `$` begins hidden ones, and what a file calls so has
        one more."""
        return f"${self.name}" if self.name.startswith("$") and not self.hidden else self.name


WIDENED_COLUMN = OutputColumn(WIDENED, MAP, hidden=True)


@frozen(kw_only=True)
class Widened:
    """How the undeclared fields in `$widened` are written, after the columns.

    A column of the same name wins over an undeclared field.
    """

    names: tuple[str, ...] = ()
    """The fields that become columns, in formats that name all columns before the first record;
    others write what each record has."""
    excluded: frozenset[str] = frozenset()
    renamed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Fields and the names they are written under."""

    def written(self, fields: Iterable[str], taken: Set[str]) -> dict[str, str]:
        """Which of these fields are written, by the names under which they are."""
        fields_by_name: dict[str, str] = {}
        for each in fields:
            if each not in self.excluded:
                for name in self.renamed.get(each, (each,)):
                    if name not in taken:
                        fields_by_name.setdefault(name, each)
        return fields_by_name


@frozen(kw_only=True)
class Split:
    """When to start a new file; at least one of the limits is given."""

    max_records: int | None = None
    max_bytes: int | None = None
    group_key: OutputColumn | None = None
    """A column of the batches, whether it is written or not."""
    naming: str = "{stem}_{seq:04}.{ext}"
    repeat_header: bool = True
    oversize_group: Literal["warn", "error", "allow"] = "warn"


@frozen(kw_only=True)
class WriteSpec:
    """What a file looks like; can be sent to where the records are."""

    format: str
    """The module of the format, which workers import."""
    dialect: Any
    """How the file is to be written: a value of the format's own class."""
    columns: tuple[OutputColumn, ...]
    widened: Widened | None = None
    split: Split | None = None
    header: OutputColumn | None = None
    """The hidden column of batches that holds the header of the document a record was read from, if
    it is to be written again."""


class Sink(Protocol):
    """What bytes are written to."""

    def write(self, data: bytes | memoryview, /) -> int: ...


class Piece(Protocol):
    """Some records of an output, rendered; pieces in order make up the whole of it."""

    @property
    def records(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def notes(self) -> Mapping[str, int]:
        """What is worth a warning, and how many records it is true of."""
        ...

    def ends(self) -> Offsets:
        """Where each record ends; with a framing that takes pieces as a `whole`, where it would end
        if records had bytes of their own."""
        ...

    def groups(self) -> pa.StringArray | None:
        """What tells the groups of the records apart, if there are such: those that are not split,
        or those that stand in a frame."""
        ...

    def copy_to(self, sink: Sink, begin: int, end: int) -> None: ...

    def whole(self) -> tuple[pa.Buffer, int]:
        """All that was rendered together with these records, and how many others come before them
        in it: for framings that cannot do with the bytes of single records."""
        ...


@frozen(eq=False)
class Rendered:
    """The bytes of a batch's records, with separators between them: a piece in memory."""

    body: pa.Buffer
    record_ends: Offsets
    group_keys: pa.StringArray | None = None
    notes: Mapping[str, int] = field(default_factory=dict)
    """What is worth a warning, and how many records it is true of."""

    @property
    def records(self) -> int:
        return len(self.record_ends)

    @property
    def size(self) -> int:
        return int(self.body.size)

    def ends(self) -> Offsets:
        return self.record_ends

    def groups(self) -> pa.StringArray | None:
        return self.group_keys

    def copy_to(self, sink: Sink, begin: int, end: int) -> None:
        sink.write(memoryview(self.body)[begin:end])

    def whole(self) -> tuple[pa.Buffer, int]:
        return self.body, 0


class Framing(Protocol):
    """Puts groups of records into frames of their own: the messages of an interchange."""

    def write_document(self, sink: Sink, pieces: Iterable[Piece], warn: Warn) -> int:
        """One whole file; the number of its records."""
        ...


class Renderer(Protocol):
    """A writer of one format; `clinker.formats.renderer.renderer` makes it of a `WriteSpec`."""

    opening: bytes
    """What a file begins with: a header, a bracket."""
    is_headed: bool
    """Whether the opening is a header, which not every file of a split output must repeat."""
    separator: bytes
    """What stands between two records."""
    closing: bytes
    """What a file of at least one record ends with."""
    empty: bytes
    """A file without records."""

    @property
    def framing(self) -> Framing | None:
        """What writes files that are more than their records one after the other."""
        ...

    def render(self, batch: pa.RecordBatch) -> Rendered: ...
