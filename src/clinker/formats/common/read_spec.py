"""What is to be read, and the inventory of what is there: values that travel to every worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from typing import Any, Literal, TypeAlias

import pyarrow as pa

from clinker.cxl.failure import printable
from clinker.cxl.run.strftime import Pattern
from clinker.cxl.types import SCHEMA_TYPES, Kind, Type
from clinker.formats.common.column_types import arrow_type
from clinker.frozen import frozen

POSITION = "$pos"
"""The column that says where in its source a record stands: which file, and where in it."""
REJECT = "$reject"
"""The column that says why a record is rejected; null while it is not."""
WIDENED = "$widened"
"""The column of undeclared fields, a tagged map; some formats have `$widened.<name>` for each."""
DOCUMENT = "$doc."
"""What the names of columns begin with that tell of the document around a record."""
FRAME = "<frame>"
"""What people call a frame of another library, where a file would have a name."""
FILE_SHIFT = 40
"""A record's position is its file's index shifted by this, plus its number in the file."""
ROW_MASK = (1 << FILE_SHIFT) - 1
"""What of a position is the number in the file."""

REJECT_TYPE = pa.struct([("site", pa.int32()), ("inputs", pa.string()), ("origin", pa.string())])
MemberTypes: TypeAlias = Mapping[str, Type]
"""The types of members of maps, by their keys."""


class FormatError(Exception):
    """A file that cannot be read; stops the run."""

    def __init__(self, message: str, path: str, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.help = help

    def __str__(self) -> str:
        return printable(f"{self.path}: {self.message}")

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, str, str | None]]:
        return FormatError, (self.message, self.path, self.help)


@frozen
class Column:
    """A column that a source's schema declares."""

    name: str
    type: Type
    required: bool = False

    @property
    def type_name(self) -> str:
        """The type as the schema spells it."""
        return _type_name(self.type.kinds & ~Kind.NULL)


@cache
def _type_name(kinds: Kind) -> str:
    return next(n for n, t in SCHEMA_TYPES.items() if t.without_null().kinds == kinds)


@frozen
class Section:
    """A part of the document around the records, read as `$doc.<name>.<field>`."""

    name: str
    place: str
    """Where it is found: a path, a pointer or the tag of a segment."""
    fields: tuple[Column, ...]


@frozen
class ArrayPath:
    """An array inside records that is unfolded into records or joined into a text."""

    path: str
    mode: Literal["explode", "join"] = "explode"
    separator: str = ","


@frozen(kw_only=True)
class ReadSpec:
    """What is to be read from the files of one source."""

    source: int
    """The position of the source among the sites, for its rejects."""
    source_name: str
    format: str
    """The module of the format, which workers import."""
    dialect: Any
    """How the files are written: a value of the format's own class."""
    columns: tuple[Column, ...]
    needed: tuple[str, ...]
    """The declared columns to deliver."""
    checked: tuple[str, ...] = ()
    """Others of which values that do not fit reject their record."""
    undeclared: Literal["keep", "drop", "reject"] = "keep"
    date_formats: tuple[Pattern, ...] = ()
    array_paths: tuple[ArrayPath, ...] = ()
    sections: tuple[Section, ...] = ()
    """The declared parts of documents; what they hold is checked, wanted or not."""
    document: tuple[str, ...] = ()
    """What is wanted of documents, as `section.field`; a section alone is its whole header, as the
    format writes it."""
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The arrays to take apart: of their elements, only these members are delivered."""
    site_of_unlike: int = -1
    """The site to send a record to that does not fit the types its members were guessed to have;
    no more records follow it."""

    @property
    def needed_columns(self) -> tuple[Column, ...]:
        """The columns to deliver, in the order of the schema."""
        return self._named(set(self.needed))

    @property
    def document_schema(self) -> pa.Schema:
        """The columns for what is wanted of documents; what no section declares is text."""
        types = {
            f"{section.name}.{field.name}": arrow_type(field.type)
            for section in self.sections
            for field in section.fields
        }
        return pa.schema(
            [pa.field(DOCUMENT + key, types.get(key, pa.string())) for key in self.document]
        )

    @property
    def converted_columns(self) -> tuple[Column, ...]:
        """The columns whose values are converted, be it only to see whether they can be."""
        return self._named({*self.needed, *self.checked})

    def _named(self, names: set[str]) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.name in names)


@frozen
class InputFile:
    """One of the files of a source as it was at first; `index` is its place among them."""

    index: int
    path: str
    size: int
    mtime_ns: int
    """When it was last written."""
    identity: tuple[int, int]
    """What tells it from other files on this machine: its device and number."""
    shown: str | None = None
    """What people call it, if that is not its path: it may be a copy of something."""
    page_of: int | None = None
    """The place of the file that it is a page of, among those that people know, if it is one."""

    @property
    def name(self) -> str:
        return self.shown or self.path

    @property
    def is_frame(self) -> bool:
        """Whether it is the copy of a frame that is given in place of files."""
        return self.shown == FRAME

    def position(self, row: int) -> int:
        """The position of the record with this number."""
        file = self.index if self.page_of is None else self.page_of
        return (file << FILE_SHIFT) + row


@frozen
class Split:
    """A range of bytes of a file that holds whole records."""

    file: InputFile
    start: int
    end: int
    first_row: int
    """The number of its first record: in the file, or in all pages if it is one of several."""
    records: int | None = None
    """How many it holds; None where only parsing the file can tell."""
    most: int | None = None
    """How many of them are read, from the first one on; None for all."""

    @property
    def size(self) -> int:
        return self.end - self.start


@frozen(kw_only=True)
class Inventory:
    """What there is in the files of a source."""

    schema: pa.Schema
    """The columns of every batch that the reader of the format gives."""
    undeclared: tuple[str, ...]
    """Names of undeclared columns that have a column each, in the order of the files."""
    layouts: tuple[Any, ...]
    """What the format needs to know of each file, by its index: values of its own."""
    splits: tuple[Split, ...]
    """In the order of files and records."""
    task_bytes: int
    """How much one task should read."""
    record_bytes: int | None = None
    """How many bytes records have in their file where they are largest, on average over those of a
    block; None where only parsing can tell."""
    decoded_bytes: int | None = None
    """How many bytes all records take once they are decoded, about; None where files have them as
    they are."""
    members: Mapping[str, MemberTypes] = field(default_factory=dict)
    """The arrays that are taken apart."""
    document_schema: pa.Schema = field(default=pa.schema([]))
    """The columns that are the same for all records of a file, and that no reader gives."""
    documents: tuple[Mapping[str, Any], ...] = ()
    """What these columns hold, by the index of the file; what is not named is null."""
    warnings: tuple[str, ...] = field(default=())

    @property
    def delivered(self) -> pa.Schema:
        """The columns of every delivered batch."""
        return pa.schema([*self.schema, *self.document_schema])

    def with_whole_arrays(self, spec: ReadSpec) -> Inventory:
        """The same, but no array is taken apart."""
        types = {column.name: arrow_type(column.type) for column in spec.columns}
        fields = [
            pa.field(each.name, types[each.name]) if each.name in self.members else each
            for each in self.schema
        ]
        return replace(self, schema=pa.schema(fields), members={})


def member_struct(types: MemberTypes) -> pa.StructType:
    """How the members of a map are held."""
    return pa.struct([(key, arrow_type(type_)) for key, type_ in types.items()])


def delivered_schema(
    spec: ReadSpec, widened: Sequence[str], members: Mapping[str, MemberTypes] | None = None
) -> pa.Schema:
    """The columns of the batches that a source delivers, some of them arrays taken apart.

    `widened` are the hidden columns that carry undeclared fields if they are kept.
    """
    parts = {name: pa.list_(member_struct(types)) for name, types in (members or {}).items()}
    fields = [pa.field(c.name, parts.get(c.name, arrow_type(c.type))) for c in spec.needed_columns]
    if spec.undeclared == "keep":
        fields += [pa.field(name, pa.string()) for name in widened]
    fields += [pa.field(POSITION, pa.int64()), pa.field(REJECT, REJECT_TYPE)]
    return pa.schema(fields)
