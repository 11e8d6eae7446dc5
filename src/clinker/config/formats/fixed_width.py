"""Fixed width: lines in which every field has its place."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, WithJsonSchema

from clinker.config.formats.base import FormatOptions
from clinker.config.model import Model


def _line_separator(value: object) -> object:
    return "crlf" if value == "cr_lf" else value


LineSeparator: TypeAlias = Annotated[
    Literal["lf", "crlf", "none"],
    BeforeValidator(_line_separator),
    WithJsonSchema({"enum": ["lf", "crlf", "cr_lf", "none"]}),
]


class FixedWidthReading(Model):
    line_separator: LineSeparator = "lf"


class FixedWidthWriting(Model):
    line_separator: LineSeparator = "lf"


FORMAT = FormatOptions(
    name="fixed_width", reading=FixedWidthReading, writing=FixedWidthWriting, needs_layout=True
)
