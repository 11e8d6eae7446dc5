"""Lines of JSON read for a few of their fields.

Most of what reading JSON costs is making objects. So of a line, only the values of the wanted
fields are made, and all else is skipped; none at all where Arrow makes columns of them. Lines that
are not what the columns suggest, or no JSON at all, are read whole instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from types import GenericAlias
from typing import Annotated, Any

import msgspec
import pyarrow as pa

from clinker.cxl.types import Kind, Type
from clinker.cxl.values import MAX_INT, MIN_INT
from clinker.formats.common.coercion import Coerced, Coercion
from clinker.formats.common.json_numbers import LOADS, MALFORMED, Spelling
from clinker.formats.common.read_spec import Column, MemberTypes
from clinker.formats.common.unfolding import Record
from clinker.formats.json.columns import LineColumns
from clinker.formats.json.lines import Lines
from clinker.formats.json.members import take_apart
from clinker.formats.json.records import (
    Records,
    Unreadable,
    line_blocks,
)

_BLOCK_BYTES, _COLUMN_BYTES = 1 << 17, 1 << 19
"""How much is read at a time: what is made of it should stay in the cache. Columns are smaller than
objects, and to begin with them takes a while."""
_MAY_NEST = Kind.ARRAY | Kind.MAP
_INTEGER = Annotated[int, msgspec.Meta(ge=MIN_INT, le=MAX_INT)]
_NUMBERS = Kind.INT | Kind.FLOAT
_NO_FLOAT = bool | _INTEGER | str | None
"""Lines that have a Float there are read whole, with the text that it has."""
_SCALAR = _NO_FLOAT | float


class LineFields:
    """Reads just what some columns need, and of some arrays just members of their elements."""

    def __init__(self, columns: Sequence[Column], members: Mapping[str, MemberTypes]) -> None:
        types = {column.name: column.type for column in columns}
        self._columns = LineColumns(columns, members)
        self._forms = {each: _Form(types, members, each) for each in (Spelling.PLAIN, Spelling.ODD)}

    def read(self, data: bytes) -> Iterator[Records]:
        """The records of whole lines, some at a time."""
        for block in line_blocks(data, _COLUMN_BYTES):
            columns = self._columns.read(block)
            if columns is None:
                yield from self._read_objects(block)
            else:
                yield columns

    def _read_objects(self, data: bytes) -> Iterator[Records]:
        for block in line_blocks(data, _BLOCK_BYTES):
            yield self._read(Lines(block))

    def _read(self, lines: Lines) -> Records:
        form = self._forms.get(lines.spelling)
        if form is None:
            return lines.whole_records()
        try:
            lines.check_encoding()
            return form.read(lines)
        except MALFORMED:
            return lines.whole_records()


class _Form:
    """Reads the fields of lines whose numbers are written in one way."""

    def __init__(
        self, types: MemberTypes, members: Mapping[str, MemberTypes], spelling: Spelling
    ) -> None:
        self._members = members
        self._elements = {
            name: _Fields(types, {}, spelling, are_guessed=True) for name, types in members.items()
        }
        self._record = _Fields(types, self._elements, spelling)
        self._decode = msgspec.json.Decoder(self._record.struct).decode

    def read(self, lines: Lines) -> Records:
        objects = list(map(self._decode, lines.texts))
        values = {name: self._record.values(objects, name) for name in self._record.names}
        arrays = {
            name: take_apart(values[name], types, self._elements[name].values)
            for name, types in self._members.items()
        }
        return _FieldsOfLines(lines, values, arrays)


class _Fields:
    """The wanted fields of objects, by their names."""

    def __init__(
        self,
        types: MemberTypes,
        elements: Mapping[str, _Fields],
        spelling: Spelling,
        *,
        are_guessed: bool = False,
    ) -> None:
        self.names = tuple(types)
        self._loads = LOADS[spelling]
        self._scalars = {
            name: _SCALAR if spelling is Spelling.PLAIN or _computes(type_) else _NO_FLOAT
            for name, type_ in types.items()
        }
        self._places = {name: f"field_{number}" for number, name in enumerate(types)}
        self._unread = {
            name
            for name, type_ in types.items()
            if name not in elements
            and (type_.maybe(_MAY_NEST) or (are_guessed and spelling is Spelling.ODD))
        }
        self.struct = msgspec.defstruct(
            "Fields",
            [(place, self._kind(name, elements), None) for name, place in self._places.items()],
            rename={place: name for name, place in self._places.items()},
            gc=False,
        )

    def _kind(self, name: str, elements: Mapping[str, _Fields]) -> Any:
        if name in elements:
            return GenericAlias(list, (elements[name].struct | None,)) | None
        return msgspec.Raw | None if name in self._unread else self._scalars[name]

    def values(self, objects: Sequence[Any], name: str) -> list[Any]:
        """The value that each object has for a field, None if it has none."""
        take = attrgetter(self._places[name])
        try:
            values = list(map(take, objects))
        except AttributeError:  # some are null
            values = [None if each is None else take(each) for each in objects]
        if name in self._unread:
            return [None if text is None else self._loads(memoryview(text)) for text in values]
        return values


def _computes(type_: Type) -> bool:
    """Whether of a number in such a column only its value counts, not how it is written."""
    return type_.without_null().only(_NUMBERS) and type_.maybe(Kind.FLOAT)


class _FieldsOfLines:
    """Records of which only some fields are at hand."""

    def __init__(
        self,
        lines: Lines,
        values: Mapping[str, Sequence[Any]],
        arrays: Mapping[str, pa.ListArray],
    ) -> None:
        self._lines = lines
        self._values = values
        self._arrays = arrays

    @property
    def unreadable(self) -> Mapping[int, Unreadable]:
        return {}

    def __len__(self) -> int:
        return len(self._lines.texts)

    def values(self, column: str) -> Sequence[Any]:
        return self._values[column]

    def coerced(self, column: str, coercion: Coercion) -> Coerced:
        return coercion.column_from_values(self._values[column])

    def taken_apart(self, column: str, types: MemberTypes) -> pa.ListArray:
        return self._arrays[column]

    def whole(self, at: int) -> Record:
        return self._lines.record(at)
