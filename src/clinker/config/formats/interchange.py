"""What EDIFACT and X12 share: documents of segments between a header and a trailer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field

from clinker.config.errors import found, invalid
from clinker.config.formats.encoding import Encoding
from clinker.config.model import Model
from clinker.config.names import Name, Positive
from clinker.diagnostics import Diagnostic

ELEMENT = r"e(0[1-9]|[1-9][0-9]{1,3})"
"""The names of columns that hold a data element."""


def _delimiter(text: str) -> str:
    if len(text) != 1 or text.isalnum() or text == " ":
        message = f"expected one character, no letter, digit or blank, found {found(text)}"
        raise invalid("E007", message)
    return text


Delimiter: TypeAlias = Annotated[str, AfterValidator(_delimiter)]


class EdiReading(Model):
    max_elements: Positive = Field(default=32, description="number of eNN columns")
    encoding: Encoding = Field(default="utf-8", description="the encoding of the files")


class EnvelopeWriting(Model):
    """An interchange header is given literally or taken from the document that was read."""

    interchange: tuple[str, ...] | None = Field(
        default=None, description="the header's data elements"
    )
    interchange_from_doc: Name | None = Field(
        default=None, description="the $doc section whose header is written again"
    )
    segment_newline: bool = Field(default=True, description="a newline after every segment")

    def check(self) -> Iterator[Diagnostic]:
        if self.interchange is None and self.interchange_from_doc is None:
            yield self.problem(
                "E019",
                "the interchange header is not given",
                help="add 'interchange' with its elements, or 'interchange_from_doc'",
            )
        if self.interchange is not None and self.interchange_from_doc is not None:
            yield self.problem(
                "E019",
                "the interchange header is given twice",
                "interchange_from_doc",
                key=True,
                help="keep either 'interchange' or 'interchange_from_doc'",
            )
