"""Texts cut out of lines, as values of their columns.

A field has a type of its own, or else that of its column. Its text is freed of padding and read by
that type: dates by their format, numbers with a point that is not written, `y` and `n`. What comes
out is then converted to the type of the column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.failure import Category, shown
from clinker.cxl.run.strftime import Pattern, compile_pattern
from clinker.cxl.types import ANY, SCHEMA_TYPES, Kind, Type
from clinker.formats.common.coercion import Coerced, Coercion, null_empty
from clinker.formats.common.column_types import arrow_type
from clinker.formats.common.read_spec import Column
from clinker.formats.common.rejecting import Rejection, find_rejections
from clinker.formats.common.texts import contains_any, show_column
from clinker.formats.fixed_width.dates import parse_digits
from clinker.formats.fixed_width.decoding import Codec
from clinker.formats.fixed_width.dialect import BLANK, FixedField
from clinker.formats.fixed_width.lines import Lines
from clinker.frozen import frozen

Mask = npt.NDArray[np.bool_]

NUMBERS = ("integer", "float", "decimal")
TYPES: dict[str, Type] = {
    "string": SCHEMA_TYPES["string"],
    "integer": SCHEMA_TYPES["int"],
    "float": SCHEMA_TYPES["float"],
    "decimal": SCHEMA_TYPES["numeric"],
    "boolean": SCHEMA_TYPES["bool"],
    "date": SCHEMA_TYPES["date"],
    "datetime": SCHEMA_TYPES["date_time"],
    "object": SCHEMA_TYPES["map"],
    "array": SCHEMA_TYPES["array"],
}
_TYPE_OF_KIND = {
    Kind.INT: "integer",
    Kind.FLOAT: "float",
    SCHEMA_TYPES["numeric"].kinds & ~Kind.NULL: "decimal",
    Kind.BOOL: "boolean",
    Kind.DATE: "date",
    Kind.DATETIME: "datetime",
    Kind.MAP: "object",
    Kind.ARRAY: "array",
}
_BLANKS = " \t\x0b\x0c\r\n\0"
"""What stands around values. Mainframes write NUL where there is nothing."""
_ALL_BLANKS = _BLANKS + "\x1c\x1d\x1e\x1f\x85\xa0\u2007\u202f\u3000"
_LONGEST_PLAIN = 18
_EXACT_DIGITS = 15
"""So many digits always are a float, and divided by a power of ten the nearest one."""
_YES_NO = {"y": "true", "n": "false"}


def field_type(field: FixedField, column: Type) -> str:
    """The type of a field as layouts name it: its own, or else that of its column."""
    if field.type is not None:
        return field.type
    return _TYPE_OF_KIND.get(column.kinds & ~Kind.NULL, "string")


@frozen(eq=False)
class FieldValues:
    """The values of a field in some lines, and which of the lines they reject."""

    values: pa.Array
    rejections: dict[int, Rejection]


class FieldReader:
    """Reads one field of lines as values of its column."""

    def __init__(
        self, field: FixedField, column: Column, codec: Codec, date_formats: Sequence[Pattern]
    ) -> None:
        self._field = field
        self._codec = codec
        self._type = field_type(field, column.type)
        self._column = Column(column.name, column.type, column.required or field.required)
        self._own_column = Column(column.name, TYPES[self._type])
        self._coercion = Coercion(column.type, date_formats)
        self._own = Coercion(TYPES[self._type], date_formats)
        self._pattern = compile_pattern(field.format) if field.format else None
        self._convert = self._choose_conversion()
        self._default = self._constants([field.default])[0] if field.default is not None else None
        self._allowed = self._constants(field.enum) if field.enum else None

    @property
    def is_picky(self) -> bool:
        """Whether it rejects lines that a column of text would take."""
        field = self._field
        return field.required or bool(field.enum) or self._type != "string"

    def check(self, lines: Lines) -> dict[int, Rejection]:
        """The lines in which the field is no text."""
        cut = self._codec.decode(lines.cut(self._field.start, self._field.end))
        return {} if cut.broken is None else self._broken(cut.texts, cut.broken)

    def read(self, lines: Lines) -> FieldValues:
        cut = self._codec.decode(lines.cut(self._field.start, self._field.end))
        rejections: dict[int, Rejection] = {}
        if cut.broken is not None:
            rejections = self._broken(cut.texts, cut.broken)
        texts = null_empty(self._trim(cut.texts))
        own, coerced = self._convert(texts)
        rejections = _unfit(self._own_column, own, texts) | rejections
        values = coerced.values
        if self._default is not None and values.null_count:
            missing = texts.is_null()
            values = pc.if_else(missing, self._default, values)
        judged = Coerced(values, coerced.unfit)
        for found in (_unfit(self._column, judged, texts), dict(self._check(values, texts))):
            rejections = found | rejections
        return FieldValues(values, rejections)

    # Padding

    def _trim(self, texts: pa.StringArray) -> pa.StringArray:
        field = self._field
        if not field.trim:
            return texts
        if field.pad != BLANK:
            texts = self._without_pads(texts)
        if texts.buffers()[2] is not None and not contains_any(texts, _BLANKS.encode()):
            return texts if _is_ascii(texts) else pc.utf8_trim(texts, _ALL_BLANKS)
        return (
            pc.ascii_trim(texts, _BLANKS) if _is_ascii(texts) else pc.utf8_trim(texts, _ALL_BLANKS)
        )

    def _without_pads(self, texts: pa.StringArray) -> pa.StringArray:
        field = self._field
        is_number = self._type in NUMBERS
        on_left = (field.justify or ("right" if is_number else "left")) == "right"
        if is_number and field.pad == "0":
            if field.width <= _LONGEST_PLAIN:
                return texts  # they are zeros of the number
            rest = pc.utf8_ltrim(texts, "0")
            is_zero = pc.and_(pc.equal(rest, ""), pc.not_equal(texts, ""))
            return pc.if_else(is_zero, "0", rest)
        trim = pc.utf8_ltrim if on_left else pc.utf8_rtrim
        return trim(texts, field.pad)

    # Conversion

    def _choose_conversion(self) -> Callable[[pa.StringArray], tuple[Coerced | None, Coerced]]:
        """What makes values of texts: in a first step by the type of the field, if it differs from
        that of the column, and then of the column."""
        kinds = self._column.type.kinds & ~Kind.NULL
        is_same = TYPES[self._type].kinds & ~Kind.NULL == kinds
        if self._type == "string":
            return lambda texts: (None, self._coercion.column_from_text(texts))
        if self._field.scale:
            if kinds == Kind.FLOAT:
                return lambda texts: (None, self._scaled_floats(texts))
            return self._scaled
        if is_same:
            return lambda texts: (None, self._by_own_type(texts))
        if self._type in ("float", "decimal") and kinds in _NUMERIC_KINDS:
            return lambda texts: (None, self._coercion.column_from_text(texts))
        return self._in_two_steps

    def _in_two_steps(self, texts: pa.StringArray) -> tuple[Coerced, Coerced]:
        own = self._by_own_type(texts)
        if self._column.type.kinds & ~Kind.NULL == ANY.kinds & ~Kind.NULL:
            return own, Coerced(_tag(own.values))
        kinds = self._column.type.kinds & ~Kind.NULL
        if self._type in ("date", "datetime") and kinds in (Kind.DATE, Kind.DATETIME):
            return own, Coerced(pc.cast(own.values, arrow_type(self._column.type)))
        shown_texts = own.values if self._type == "decimal" else show_column(own.values)
        return own, self._coercion.column_from_text(shown_texts)

    def _by_own_type(self, texts: pa.StringArray) -> Coerced:
        if self._pattern is not None:
            return parse_digits(texts, self._pattern, arrow_type(TYPES[self._type]))
        if self._type == "boolean":
            texts = map_distinct(texts, lambda text: _YES_NO.get(text.lower(), text))
        return self._own.column_from_text(texts)

    def _scaled_floats(self, texts: pa.StringArray) -> Coerced:
        """Digits as whole numbers, divided: as exact as reading them with their point."""
        longest = pc.max(pc.binary_length(texts)).as_py() or 0
        if longest <= _EXACT_DIGITS and not contains_any(texts, b".eExX_ "):
            whole = _INTEGERS.column_from_text(texts)
            if whole.unfit is None:
                numbers = pc.cast(whole.values, pa.float64())
                return Coerced(pc.divide(numbers, float(10**self._field.scale)))
        return self._coercion.column_from_text(self._with_point(texts))

    def _scaled(self, texts: pa.StringArray) -> tuple[Coerced, Coerced]:
        pointed = self._with_point(texts)
        own = _DECIMALS.column_from_text(pointed)
        return own, self._coercion.column_from_text(pointed)

    def _with_point(self, texts: pa.StringArray) -> pa.StringArray:
        scale = self._field.scale
        return map_distinct(texts, lambda text: set_point(text, scale))

    def _constants(self, given: Sequence[str]) -> pa.Array:
        """Values of the layout as lines would give them; their numbers have a point."""
        texts = pa.array(given, pa.string())
        values = self._coercion.column_from_text(texts).values
        if self._type == "string":
            return values
        return pc.coalesce(self._in_two_steps(texts)[1].values, values)

    # Rejections

    def _broken(self, texts: pa.StringArray, broken: Mask) -> dict[int, Rejection]:
        name = self._column.name
        found: dict[int, Rejection] = {}
        for at in np.flatnonzero(broken).tolist():
            text = texts[at].as_py()
            detail = f"the bytes of column '{name}' are no whole characters: '{shown(text)}'"
            found[at] = Rejection(Category.TYPE_COERCION, detail, name, text)
        return found

    def _check(self, values: pa.Array, texts: pa.StringArray) -> Iterator[tuple[int, Rejection]]:
        """What a value must be, apart from its type."""
        name = self._column.name
        if self._allowed is not None:
            others = pc.and_(values.is_valid(), pc.invert(pc.is_in(values, self._allowed)))
            allowed = ", ".join(self._field.enum)
            for at in np.flatnonzero(np.asarray(others)).tolist():
                text = texts[at].as_py() or ""
                detail = f"'{shown(text)}' in column '{name}' is not one of: {shown(allowed)}"
                yield at, Rejection(Category.TYPE_COERCION, detail, name, text)
        most = self._field.precision
        if most is not None and most < self._field.width and self._type in NUMBERS:
            fits = pc.match_substring_regex(texts, rf"^[+-]?0*(\.?[0-9]){{0,{most}}}\.?$")
            for at in np.flatnonzero(~np.asarray(fits.fill_null(True))).tolist():
                text = texts[at].as_py()
                detail = f"'{shown(text)}' in column '{name}' has more than {most} digits"
                yield at, Rejection(Category.TYPE_COERCION, detail, name, text)


_NUMERIC_KINDS = (Kind.INT, Kind.FLOAT, SCHEMA_TYPES["numeric"].kinds & ~Kind.NULL)
_INTEGERS = Coercion(SCHEMA_TYPES["int"])
_DECIMALS = Coercion(SCHEMA_TYPES["numeric"])


def _unfit(column: Column, coerced: Coerced | None, texts: pa.StringArray) -> dict[int, Rejection]:
    if coerced is None:
        return {}
    return find_rejections(
        [(column, coerced)], lambda _, rows: texts.take(pa.array(rows, pa.int64())).to_pylist()
    )


def set_point(text: str, scale: int) -> str:
    """The number whose last digits stand behind a point that is not written; one with a point, and
    what is no number, stays as it is."""
    digits = text.lstrip("+-")
    if not (digits.isascii() and digits.isdigit()) or len(text) - len(digits) > 1:
        return text
    sign = "-" if text.startswith("-") else ""
    return sign + format(Decimal(int(digits)).scaleb(-scale), "f")


def map_distinct(texts: pa.StringArray, convert: Callable[[str], str]) -> pa.StringArray:
    """Every distinct text converted once."""
    encoded = texts.dictionary_encode()
    converted = [None if text is None else convert(text) for text in encoded.dictionary.to_pylist()]
    return pa.array(converted, pa.string()).take(encoded.indices)


def _tag(values: pa.Array) -> pa.StringArray:
    """Native values as tagged texts."""
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        return pc.binary_join_element_wise("@", show_column(values), "")
    if pa.types.is_floating(values.type):
        return _DECIMALS.column_from_text(pc.cast(values, pa.string())).values
    return values if pa.types.is_string(values.type) else pc.cast(values, pa.string())


def _is_ascii(texts: pa.StringArray) -> bool:
    data = texts.buffers()[2]
    return data is None or not (np.frombuffer(data, np.uint8) & 0x80).any()
