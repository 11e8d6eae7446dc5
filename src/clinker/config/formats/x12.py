"""X12: transaction sets of segments, in groups, in an interchange."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from clinker.config.formats.base import FormatOptions
from clinker.config.formats.interchange import EdiReading, EnvelopeWriting
from clinker.config.names import Name
from clinker.cxl.types import STRING
from clinker.diagnostics import Diagnostic

_ISA_ELEMENTS = 16
_GS_ELEMENTS = 8
_SECTIONS = ("functional_group", "transaction_set")
_SECTION_ELEMENTS = 32


class X12Writing(EnvelopeWriting):
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


FORMAT = FormatOptions(
    name="x12",
    reading=EdiReading,
    writing=X12Writing,
    required_to_write="the interchange and group headers and more",
    extract_rule="segment",
    header_segment="ISA",
    own_sections={
        f"{section}.e{number:02}": STRING.nullable()
        for section in _SECTIONS
        for number in range(1, _SECTION_ELEMENTS + 1)
    },
    code_of_split="E338",
)
