"""CSV: lines of cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeAlias

from pydantic import AfterValidator

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
    delimiter: Character = ","
    quote_char: Character = '"'
    has_header: bool = True
    encoding: Encoding = "utf-8"

    def check(self) -> Iterator[Diagnostic]:
        if self.delimiter == self.quote_char:
            yield self.problem(
                "E007",
                "'delimiter' and 'quote_char' are the same character",
                "quote_char" if self.has("quote_char") else "delimiter",
                help="choose another one",
            )


class CsvWriting(Model):
    delimiter: Character = ","


FORMAT = FormatOptions(name="csv", reading=CsvReading, writing=CsvWriting)
