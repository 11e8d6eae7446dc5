"""Values of a column as the texts that stand in a field."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.failure import printable, shown
from clinker.cxl.run.strftime import compile_pattern, format_value
from clinker.formats.common.cell_texts import show_cells
from clinker.formats.common.coercion import Coercion
from clinker.formats.common.writing import OutputColumn, WriteError
from clinker.formats.fixed_width.dialect import FixedField
from clinker.formats.fixed_width.values import NUMBERS, TYPES, field_type, map_distinct

_TRUE_FALSE = len("false")
_CHECKED = (*NUMBERS, "boolean", "date", "datetime")
"""What a text must be to stand in a field of such a type."""
_EXACT = 2**53
"""Whole numbers up to this one are floats."""


class FieldTexts:
    """Shows the values of one column in one field."""

    def __init__(self, field: FixedField, column: OutputColumn) -> None:
        self._field = field
        self._column = column
        self.type = field_type(field, column.type)
        is_number = self.type in NUMBERS
        self.is_right = (field.justify or ("right" if is_number else "left")) == "right"
        self.truncation: Literal["error", "warn", "silent"] = field.truncation or (
            "warn" if self.type == "string" else "error"
        )
        self._name = printable(column.name)
        is_moment = self.type in ("date", "datetime")
        self._pattern = compile_pattern(field.format) if field.format and is_moment else None
        self._digits = rf"^-?0*(\.?[0-9]){{0,{field.precision}}}$" if field.precision else None
        self._default = self._show_constant(field.default) if field.default is not None else None
        self._allowed = pa.array(map(self._show_constant, field.enum), pa.string())

    def show(self, values: pa.Array) -> pa.StringArray:
        """Texts without nulls; WriteError if a value must not stand there."""
        texts = self._show(values, self._column)
        if self._default is not None:
            texts = pc.fill_null(texts, self._default)
        self._check(texts)
        return pc.fill_null(texts, "")

    def _show_constant(self, text: str) -> str:
        """A value of the layout as records have it, or else as it is given."""
        type_ = TYPES[self.type]
        constant = Coercion(type_).column_from_text(pa.array([text], pa.string()))
        if constant.unfit is not None or self.type == "string":
            return text
        column = OutputColumn(self._column.name, type_)
        shown_text: str = self._show(constant.values, column)[0].as_py()
        return shown_text

    def _show(self, values: pa.Array, column: OutputColumn) -> pa.StringArray:
        if self._pattern is not None:
            texts = self._show_moments(values, column)
        elif self._field.scale:
            texts = self._show_scaled(values, column)
        else:
            texts = show_cells(values, column, "fixed_width")
            if self.type in _CHECKED and pa.types.is_string(values.type):
                self._converted(values, column)
        if self.type == "boolean" and self._field.width < _TRUE_FALSE:
            texts = map_distinct(texts, lambda text: {"true": "Y", "false": "N"}.get(text, text))
        return texts

    def _show_moments(self, values: pa.Array, column: OutputColumn) -> pa.StringArray:
        """Dates by the format of the field, each distinct one once."""
        pattern = self._pattern
        assert pattern
        if not (pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)):
            values = self._converted(values, column)
        if pattern.needs_time and pa.types.is_date(values.type):
            values = pc.cast(values, pa.timestamp("us"))
        encoded = values.dictionary_encode()
        texts = [format_value(value, pattern) for value in encoded.dictionary.to_pylist()]
        return pa.array(texts, pa.string()).take(encoded.indices)

    def _converted(self, values: pa.Array, column: OutputColumn) -> pa.Array:
        """Texts as values of the type of the field."""
        texts = show_cells(values, column, "fixed_width")
        coerced = Coercion(TYPES[self.type]).column_from_text(texts)
        if coerced.unfit is not None:
            at = int(np.flatnonzero(coerced.unfit)[0])
            raise self._refusal(texts, at, f"is no {self.type}")
        return coerced.values

    def _show_scaled(self, values: pa.Array, column: OutputColumn) -> pa.StringArray:
        """Numbers without their point, rounded to the digits that stand behind it."""
        scale = self._field.scale
        if pa.types.is_integer(values.type):
            return pc.binary_join_element_wise(pc.cast(values, pa.string()), "0" * scale, "")
        if pa.types.is_floating(values.type) and pc.all(pc.is_finite(values)).as_py() is not False:
            scaled = pc.round(pc.multiply(values, float(10**scale)), 0, "half_towards_infinity")
            largest = pc.max(pc.abs(scaled)).as_py()
            if largest is None or largest < _EXACT:
                return pc.cast(pc.cast(scaled, pa.int64()), pa.string())
        texts = show_cells(values, column, "fixed_width")
        is_number = pc.match_substring_regex(texts, r"^-?[0-9]+(\.[0-9]+)?$")
        odd = pc.index(is_number, False).as_py()
        if odd >= 0:
            raise self._refusal(texts, odd, "is no number")
        return map_distinct(texts, _without_point(scale))

    def _check(self, texts: pa.StringArray) -> None:
        field = self._field
        if field.required and texts.null_count:
            at = pc.index(texts.is_null(), True).as_py()
            raise WriteError(
                f"column '{self._name}' has no value, and its field must have one",
                record=at + 1,
                code="E061",
                help="give it a value, or the field a 'default'",
            )
        if field.enum:
            others = pc.invert(pc.is_in(texts, self._allowed))
            self._refuse_where(pc.and_(texts.is_valid(), others), texts, "is not in its 'enum'")
        if self._digits and self.type in NUMBERS:
            fits = pc.match_substring_regex(texts, self._digits)
            more = f"has more than {field.precision} digits"
            self._refuse_where(pc.invert(fits), texts, more)

    def _refuse_where(self, where: pa.BooleanArray, texts: pa.StringArray, why: str) -> None:
        at = pc.index(where, True).as_py()
        if at >= 0:
            raise self._refusal(texts, at, why)

    def _refusal(self, texts: pa.StringArray, at: int, why: str) -> WriteError:
        return WriteError(
            f"'{shown(texts[at].as_py())}' in column '{self._name}' {why}",
            record=at + 1,
            code="E061",
            help="change the value, or what the layout says about its field",
        )


def _without_point(scale: int) -> Callable[[str], str]:
    def convert(text: str) -> str:
        scaled = Decimal(text).scaleb(scale)
        return str(int(scaled.to_integral_value(ROUND_HALF_UP)))

    return convert
