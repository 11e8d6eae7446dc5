"""JSON: an array of objects, one object per line, or records inside a document."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from clinker.config.formats.base import FormatOptions
from clinker.config.model import Model
from clinker.config.names import Name


class JsonReading(Model):
    format: Literal["array", "ndjson", "object"] | None = Field(
        default=None, description="found out from the content when left out"
    )
    record_path: Name | None = Field(
        default=None, description="where the records are: $.a.b, a.b or /a/b"
    )


class JsonWriting(Model):
    format: Literal["array", "ndjson"] = Field(
        default="array", description="one array, or one object per line"
    )
    pretty: bool = Field(default=False, description="whether objects are indented")


FORMAT = FormatOptions(
    name="json",
    reading=JsonReading,
    writing=JsonWriting,
    comes_over_rest=True,
    unfolds_arrays=True,
    extract_rule="json_pointer",
    holds_maps=True,
)
