"""Fixed width: lines in which every field has its place."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema

from clinker.config.formats.base import FormatOptions
from clinker.config.formats.encoding import Encoding
from clinker.config.model import Model


def _line_separator(value: object) -> object:
    return "crlf" if value == "cr_lf" else value


LineSeparator: TypeAlias = Annotated[
    Literal["lf", "crlf", "cr", "none"],
    BeforeValidator(_line_separator),
    WithJsonSchema({"enum": ["lf", "crlf", "cr_lf", "cr", "none"]}),
]


class FixedWidthReading(Model):
    line_separator: LineSeparator = Field(default="lf", description="what ends a line")
    encoding: Encoding | None = Field(
        default=None, description="how the file is encoded; without it, what the layout says"
    )


class FixedWidthWriting(Model):
    line_separator: LineSeparator = Field(default="lf", description="what ends a line")
    encoding: Encoding | None = Field(
        default=None, description="how the file is encoded; without it, what the layout says"
    )


FORMAT = FormatOptions(
    name="fixed_width", reading=FixedWidthReading, writing=FixedWidthWriting, needs_layout=True
)
