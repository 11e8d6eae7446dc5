"""EDIFACT: messages of segments in an interchange."""

from __future__ import annotations

from pydantic import Field

from clinker.config.formats.base import FormatOptions
from clinker.config.formats.interchange import EdiReading, EnvelopeWriting
from clinker.config.names import Name


class EdifactWriting(EnvelopeWriting):
    message_type: Name | None = Field(default=None, description="for records without msg_type")
    write_una: bool = Field(
        default=False, description="whether the file begins with UNA, which names the delimiters"
    )


FORMAT = FormatOptions(
    name="edifact",
    reading=EdiReading,
    writing=EdifactWriting,
    required_to_write="the interchange header and more",
    extract_rule="segment",
    header_segment="UNB",
    code_of_split="E323",
    holds_arrays=False,
    segment_columns=("seg_id", "msg_ref", "msg_type"),
)
