"""Writing fixed width: every value in its place, filled up with pads.

All lines of a batch are rows of one matrix of bytes, and a field is some of its columns.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.failure import printable, shown
from clinker.cxl.types import ANY
from clinker.formats.common.cell_texts import tag_again
from clinker.formats.common.rendering import take_column, take_group_keys
from clinker.formats.common.texts import join_bytes
from clinker.formats.common.writing import (
    WIDENED_COLUMN,
    OutputColumn,
    Rendered,
    WriteError,
    WriteSpec,
)
from clinker.formats.fixed_width.decoding import Codec
from clinker.formats.fixed_width.dialect import BLANK, FixedField, FixedWidthDialect
from clinker.formats.fixed_width.field_texts import FieldTexts
from clinker.formats.fixed_width.values import NUMBERS

Codes = npt.NDArray[np.uint8]
_BREAKS = {"lf": "\n", "crlf": "\r\n", "cr": "\r", "none": ""}
_MAKE_ROOM = "widen the field, shorten the value, or set 'truncation' of the field"


class FixedWidthRenderer:
    """Records as lines of fields."""

    opening = separator = closing = empty = b""
    is_headed = False
    framing = None

    def __init__(self, spec: WriteSpec, dialect: FixedWidthDialect) -> None:
        (layout,) = dialect.records
        self._spec = spec
        self._codec = Codec(dialect.encoding)
        self._length = layout.length
        self._break = self._codec.encode_one(_BREAKS[dialect.separator])
        breaks = self._codec.line_ends("\n") + self._codec.encode_one("\r") if self._break else b""
        self._fields = [
            _Field(field, _column_of(field, spec), self._codec, breaks) for field in layout.fields
        ]

    def render(self, batch: pa.RecordBatch) -> Rendered:
        count = len(batch)
        size = self._length + len(self._break)
        lines = np.full((count, size), self._codec.encode_one(BLANK)[0], np.uint8)
        if self._break:
            lines[:, self._length :] = np.frombuffer(self._break, np.uint8)
        notes: Counter[str] = Counter()
        widened = self._widened(batch)
        for field in self._fields:
            field.put(lines, batch, widened, notes)
        ends = np.arange(1, count + 1, dtype=np.int64) * size
        keys = take_group_keys(batch, self._spec.split)
        return Rendered(pa.py_buffer(lines.reshape(-1)), ends, keys, dict(notes))

    def _widened(self, batch: pa.RecordBatch) -> dict[str, pa.StringArray]:
        """The undeclared fields of records that have a place in the line."""
        if self._spec.widened is None:
            return {}
        without = [field.name for field in self._fields if field.column is None]
        taken = {column.name for column in self._spec.columns}
        texts = take_column(batch, WIDENED_COLUMN).to_pylist() if without else []
        maps = [orjson.loads(text or "{}") for text in texts]
        every = dict.fromkeys(name for each in maps for name in each)
        shown_as = self._spec.widened.written(every, taken)
        return {
            name: pa.array([tag_again(each.get(shown_as[name])) for each in maps], pa.string())
            for name in without
            if name in shown_as
        }


def _column_of(field: FixedField, spec: WriteSpec) -> OutputColumn | None:
    """The column that a field shows: of its name, or else of its alias."""
    by_name = {column.name: column for column in spec.columns}
    return by_name.get(field.name) or by_name.get(field.alias or field.name)


class _Field:
    """Puts the values of one column into their place."""

    def __init__(
        self,
        field: FixedField,
        column: OutputColumn | None,
        codec: Codec,
        breaks: bytes,
    ) -> None:
        self.name = field.name
        self.column = column
        self._field = field
        self._codec = codec
        self._breaks = breaks
        self._shown = printable(column.name if column else field.name)
        self._pad = codec.encode_one(field.pad)[0]
        self._texts = FieldTexts(field, column or OutputColumn(field.name, ANY))

    def put(
        self,
        lines: Codes,
        batch: pa.RecordBatch,
        widened: dict[str, pa.StringArray],
        notes: Counter[str],
    ) -> None:
        if self.column is not None:
            values = take_column(batch, self.column)
        else:
            values = widened.get(self.name, pa.nulls(len(batch), pa.string()))
        texts = self._texts.show(values)
        encoded, odd = self._codec.encode(texts)
        if odd >= 0:
            why = "has characters that the encoding does not have"
            raise self._refuse(why, texts, odd, "replace them, or set another 'encoding'")
        encoded = self._fit(encoded, texts, notes)
        data = join_bytes(encoded)
        self._check_breaks(data, encoded, texts)
        place = lines[:, self._field.start : self._field.end]
        place[:] = self._pad
        lengths = np.asarray(pc.binary_length(encoded))
        columns = np.arange(self._field.width)
        if self._texts.is_right:
            is_text = columns >= self._field.width - lengths[:, None]
        else:
            is_text = columns < lengths[:, None]
        place[is_text] = np.frombuffer(data, np.uint8)
        if self._texts.is_right and self._field.pad == "0" and self._texts.type in NUMBERS:
            self._put_signs_first(place, lengths)

    def _check_breaks(self, data: bytes, encoded: pa.BinaryArray, texts: pa.StringArray) -> None:
        """Refuse what would end a line in the midst of it."""
        for code in self._breaks:
            if code in data:
                found = pc.greater_equal(pc.find_substring(encoded, bytes([code])), 0)
                at = pc.index(found, True).as_py()
                why = "has a line break, and lines end with one"
                raise self._refuse(why, texts, at, "replace it in a transform before the output")

    def _put_signs_first(self, place: Codes, lengths: npt.NDArray[np.int32]) -> None:
        """The sign of a number stands before the zeros that fill it up."""
        minus = self._codec.encode_one("-")[0]
        rows = np.flatnonzero(lengths > 0)
        first = self._field.width - lengths[rows]
        is_signed = place[rows, first] == minus
        rows, first = rows[is_signed], first[is_signed]
        place[rows, first] = self._pad
        place[rows, 0] = minus

    def _fit(
        self, encoded: pa.BinaryArray, texts: pa.StringArray, notes: Counter[str]
    ) -> pa.BinaryArray:
        """The values, those cut that have no room and may be cut."""
        width = self._field.width
        too_long = pc.greater(pc.binary_length(encoded), width)
        first = pc.index(too_long, True).as_py()
        if first < 0:
            return encoded
        if self._texts.truncation == "error":
            size = len(encoded[first].as_py())
            raise self._refuse(f"has {size} bytes, and its field {width}", texts, first)
        if self._texts.truncation == "warn":
            what = f"values of '{self._shown}' were cut to the {width} bytes of their field"
            notes[what] += pc.sum(too_long).as_py()
        kept = [self._codec.shorten(v, width) for v in pc.filter(encoded, too_long).to_pylist()]
        return pc.replace_with_mask(encoded, too_long, pa.array(kept, pa.binary()))

    def _refuse(
        self, why: str, texts: pa.StringArray, at: int, help: str = _MAKE_ROOM
    ) -> WriteError:
        return WriteError(
            f"'{shown(texts[at].as_py())}' in column '{self._shown}' {why}",
            record=at + 1,
            code="E061",
            help=help,
        )
