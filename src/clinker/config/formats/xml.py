"""XML: an element per record."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from clinker.config.formats.base import FormatOptions
from clinker.config.model import Model
from clinker.config.names import Name


class XmlReading(Model):
    record_path: Name | None = Field(
        default=None, description="the record elements: //x, /a/b/x or a/b/x"
    )
    attribute_prefix: str = "@"
    namespace_handling: Literal["strip", "qualify"] = "strip"


class XmlWriting(Model):
    root_element: Name = "Root"
    record_element: Name = "Record"


FORMAT = FormatOptions(
    name="xml",
    reading=XmlReading,
    writing=XmlWriting,
    comes_over_rest=True,
    unfolds_arrays=True,
    extract_rule="xml_path",
)
