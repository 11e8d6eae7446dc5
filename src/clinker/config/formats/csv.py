"""CSV: lines of cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field

from clinker.config.errors import found, invalid
from clinker.config.formats.base import FormatOptions
from clinker.config.formats.encoding import Encoding
from clinker.config.model import Model
from clinker.diagnostics import Diagnostic


def _one_character(text: str) -> str:
    if len(text) != 1 or text in "\r\n":
        raise invalid("E007", f"expected a single character, found {found(text)}")
    return text


Character: TypeAlias = Annotated[str, AfterValidator(_one_character)]


class CsvReading(Model):
    delimiter: Character = Field(default=",", description="what stands between cells")
    quote_char: Character = Field(
        default='"', description="what encloses cells that hold delimiters or newlines"
    )
    has_header: bool = Field(default=True, description="whether the first row names the columns")
    encoding: Encoding = Field(default="utf-8", description="a Python codec, such as latin-1")

    def check(self) -> Iterator[Diagnostic]:
        if self.delimiter == self.quote_char:
            yield self.problem(
                "E007",
                "'delimiter' and 'quote_char' are the same character",
                "quote_char" if self.has("quote_char") else "delimiter",
                help="choose another one",
            )


class CsvWriting(Model):
    delimiter: Character = Field(default=",", description="what stands between cells")


FORMAT = FormatOptions(name="csv", reading=CsvReading, writing=CsvWriting)
