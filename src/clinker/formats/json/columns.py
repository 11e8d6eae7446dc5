"""Lines of JSON read by Arrow, a column at a time, where that gives the same as line by line.

Arrow is less exact: it takes an Int for a Float and several objects on a line for several records,
and it does not mind how deep what it skips is nested. So it reads only blocks in which none of that
can be, and whatever it refuses is read line by line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from clinker.cxl.types import Kind, Type
from clinker.formats.common.coercion import Coerced, Coercion
from clinker.formats.common.column_types import arrow_type
from clinker.formats.common.json_numbers import Spelling
from clinker.formats.common.read_spec import Column, MemberTypes, member_struct
from clinker.formats.common.unfolding import Record
from clinker.formats.json.lines import Lines
from clinker.formats.json.records import Unreadable

_OPENS, _CLOSES, _LF, _CR = b"{}\n\r"
_UPPER_CASE = 0x20
"""What `{` has, and `[` has not."""
_DEEPEST = 250
_LARGEST = 1 << 24
"""Blocks of more bytes are lines so long that there is nothing to gain."""
_MOST_FAILURES = 3
"""After so many blocks in a row that Arrow refused it is not asked again."""
_AS_THEY_ARE = {Kind.STRING, Kind.INT, Kind.FLOAT, Kind.BOOL}
_READ_FROM_TEXT = {Kind.DATE, Kind.DATETIME}
_EXOTIC = (b"\\ud", b"\\uD", b"NaN", b"Inf")
"""Halves of characters, and words that are no numbers in JSON: Arrow accepts them all."""


class LineColumns:
    """Reads some columns, and of some arrays just members of their elements."""

    def __init__(self, columns: Sequence[Column], members: Mapping[str, MemberTypes]) -> None:
        types = {
            column.name: pa.list_(member_struct(members[column.name]))
            if column.name in members
            else _type_read(column.type)
            for column in columns
        }
        inner = [type_ for each in members.values() for type_ in each.values()]
        self._can_read = (
            bool(types)
            and all(members.values())
            and None not in types.values()
            and all(_kind(type_) in _AS_THEY_ARE for type_ in inner)
        )
        self._floats = [name for name, type_ in types.items() if type_ == pa.float64()]
        self._arrays = [name for name in types if name in members]
        self._are_plain = any(_kind(type_) == Kind.FLOAT for type_ in inner)
        """Whether there are Floats to be told from Ints, which takes numbers written plainly."""
        self._failures = 0
        if self._can_read:
            self._parsing = pa.json.ParseOptions(
                explicit_schema=pa.schema(types), unexpected_field_behavior="ignore"
            )

    def read(self, block: bytes) -> ColumnsOfLines | None:
        """The records of whole lines, None if they have to be read one by one."""
        if not self._can_read or self._failures == _MOST_FAILURES:
            return None
        lines = Lines(block)
        if not self._may_read(lines):
            return None
        columns = self._parsed(lines)
        self._failures = self._failures + 1 if columns is None else 0
        return columns

    def _may_read(self, lines: Lines) -> bool:
        block = lines.block
        if len(block) > _LARGEST or any(text in block for text in _EXOTIC):
            return False
        if self._are_plain:
            return lines.spelling is Spelling.PLAIN
        return lines.spelling is not Spelling.ODD_INTS

    def _parsed(self, lines: Lines) -> ColumnsOfLines | None:
        count = _count_objects(lines.block)
        if not count:
            return None
        try:
            lines.check_encoding()
            reading = pa.json.ReadOptions(use_threads=False, block_size=len(lines.block) + 1)
            found = pa.json.read_json(pa.BufferReader(lines.block), reading, self._parsing)
        except (UnicodeDecodeError, pa.ArrowInvalid):
            return None
        if len(found) != count:
            return None
        columns = {name: found.column(name).combine_chunks() for name in found.column_names}
        for name in self._floats:
            if not pc.all(pc.is_finite(columns[name]), min_count=0).as_py():
                return None
        for name in self._arrays:
            columns[name] = _with_elements(columns[name])
            if any(map(_has_int, columns[name].values.flatten())):
                return None
        return ColumnsOfLines(lines, columns, count)


class ColumnsOfLines:
    """Records of which only some columns are at hand."""

    unreadable: Mapping[int, Unreadable] = {}

    def __init__(self, lines: Lines, columns: Mapping[str, pa.Array], count: int) -> None:
        self._lines = lines
        self._columns = columns
        self._count = count

    def __len__(self) -> int:
        return self._count

    def values(self, column: str) -> Sequence[Any]:
        values: Sequence[Any] = self._columns[column].to_pylist()
        return values

    def coerced(self, column: str, coercion: Coercion) -> Coerced:
        values = self._columns[column]
        return coercion.column_from_text(values) if coercion.reads_text else Coerced(values)

    def taken_apart(self, column: str, types: MemberTypes) -> pa.ListArray:
        return self._columns[column]

    def whole(self, at: int) -> Record:
        return self._lines.record(at)


def _kind(type_: Type) -> Kind:
    return type_.without_null().kinds


def _type_read(type_: Type) -> pa.DataType | None:
    """As what Arrow reads the values of a column; None if it cannot."""
    kind = _kind(type_)
    if kind in _READ_FROM_TEXT:
        return pa.string()
    return arrow_type(type_) if kind in _AS_THEY_ARE else None


def _count_objects(block: bytes) -> int | None:
    """How many lines there are, if each of them begins and ends like an object that is not nested
    too deeply; empty ones do not count."""
    codes = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(codes == _LF)
    if not block.endswith(b"\n"):
        ends = np.append(ends, len(codes))
    starts = np.concatenate(([0], ends[:-1] + 1))
    if block.find(b"\r") >= 0:
        ends = ends - (codes[ends - 1] == _CR)
    is_filled = ends > starts
    if not is_filled.all():
        starts, ends = starts[is_filled], ends[is_filled]
    if not len(starts):
        return None
    if (codes[starts] != _OPENS).any() or (codes[ends - 1] != _CLOSES).any():
        return None
    if int((ends - starts).max()) > 2 * _DEEPEST:
        is_opening = codes | _UPPER_CASE == _OPENS
        if int(np.add.reduceat(is_opening, starts, dtype=np.int64).max()) > _DEEPEST:
            return None
    return len(starts)


def _with_elements(arrays: pa.ListArray) -> pa.ListArray:
    """The same arrays; elements that are null have members, all of them null."""
    structs = arrays.values
    if not structs.null_count:
        return arrays
    structs = pa.StructArray.from_arrays(structs.flatten(), fields=list(structs.type))
    missing = arrays.is_null() if arrays.null_count else None
    return pa.ListArray.from_arrays(arrays.offsets, structs, mask=missing)


def _has_int(values: pa.Array) -> bool:
    """Whether there is an Int among Floats: of those that are written plainly, none is whole."""
    if not pa.types.is_floating(values.type):
        return False
    return bool(pc.any(pc.equal(values, pc.floor(values)), min_count=0).as_py())
