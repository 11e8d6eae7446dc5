"""The options of each file format, for reading and for writing."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from clinker.config.errors import found, invalid
from clinker.config.model import Model
from clinker.config.names import Name, Positive
from clinker.diagnostics import Diagnostic

_ISA_ELEMENTS = 16
_GS_ELEMENTS = 8


def _one_character(text: str) -> str:
    if len(text) != 1 or text in "\r\n":
        raise invalid("E007", f"expected a single character, found {found(text)}")
    return text


def _encoding(text: str) -> str:
    try:
        codec = codecs.lookup(text)
    except (LookupError, ValueError):
        raise invalid(
            "E007", f"unknown encoding '{text}'", "for example utf-8 or latin-1"
        ) from None
    # Python also registers codecs such as base64, which are no encodings of text.
    if not codec._is_text_encoding:
        raise invalid(
            "E007", f"'{text}' is not an encoding of text", "for example utf-8 or latin-1"
        )
    return codec.name


def _line_separator(value: object) -> object:
    return "crlf" if value == "cr_lf" else value


Character: TypeAlias = Annotated[str, AfterValidator(_one_character)]
Encoding: TypeAlias = Annotated[str, AfterValidator(_encoding)]
LineSeparator: TypeAlias = Annotated[
    Literal["lf", "crlf", "none"],
    BeforeValidator(_line_separator),
    WithJsonSchema({"enum": ["lf", "crlf", "cr_lf", "none"]}),
]


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


class JsonReading(Model):
    format: Literal["array", "ndjson", "object"] | None = Field(
        default=None, description="found out from the content when left out"
    )
    record_path: Name | None = Field(
        default=None, description="where the records are: $.a.b, a.b or /a/b"
    )


class XmlReading(Model):
    record_path: Name | None = Field(
        default=None, description="the record elements: //x, /a/b/x or a/b/x"
    )
    attribute_prefix: str = "@"
    namespace_handling: Literal["strip", "qualify"] = "strip"


class FixedWidthReading(Model):
    line_separator: LineSeparator = "lf"


class EdiReading(Model):
    max_elements: Positive = Field(default=32, description="number of eNN columns")


class CsvWriting(Model):
    delimiter: Character = ","


class JsonWriting(Model):
    format: Literal["array", "ndjson"] = "array"
    pretty: bool = False


class XmlWriting(Model):
    root_element: Name = "Root"
    record_element: Name = "Record"


class FixedWidthWriting(Model):
    line_separator: LineSeparator = "lf"


class _EnvelopeWriting(Model):
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


class EdifactWriting(_EnvelopeWriting):
    message_type: Name | None = Field(default=None, description="for records without msg_type")
    write_una: bool = False


class X12Writing(_EnvelopeWriting):
    group_header: tuple[str, ...] = Field(description="the elements GS01 to GS08")
    set_type: Name | None = Field(default=None, description="for records without set_type")

    def check(self) -> Iterator[Diagnostic]:
        yield from super().check()
        if self.interchange is not None and len(self.interchange) != _ISA_ELEMENTS:
            yield self.problem(
                "E019",
                f"an ISA header has {_ISA_ELEMENTS} elements, found {len(self.interchange)}",
                "interchange",
            )
        if len(self.group_header) != _GS_ELEMENTS:
            yield self.problem(
                "E019",
                f"a GS header has {_GS_ELEMENTS} elements, found {len(self.group_header)}",
                "group_header",
            )
