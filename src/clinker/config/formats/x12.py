"""X12: transaction sets of segments, in groups, in an interchange."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from clinker.config.formats.base import FormatOptions
from clinker.config.formats.interchange import Delimiter, EdiReading, EnvelopeWriting
from clinker.config.names import Name
from clinker.cxl.failure import printable
from clinker.cxl.types import STRING
from clinker.diagnostics import Diagnostic

_ISA_ELEMENTS = 16
_GS_ELEMENTS = 8
_SECTIONS = ("functional_group", "transaction_set")
_SECTION_ELEMENTS = 32


class X12Writing(EnvelopeWriting):
    group_header: tuple[str, ...] = Field(description="the elements GS01 to GS08")
    set_type: Name | None = Field(default=None, description="for records without set_type")
    element_separator: Delimiter = Field(default="*", description="between the elements")
    segment_terminator: Delimiter = Field(default="~", description="behind every segment")

    def check(self) -> Iterator[Diagnostic]:
        yield from super().check()
        if self.interchange is not None and len(self.interchange) != _ISA_ELEMENTS:
            yield self.problem(
                "E019",
                f"an ISA header has {_ISA_ELEMENTS} elements, found {len(self.interchange)}",
                "interchange",
            )
        else:
            yield from self._check_delimiters()
        if len(self.group_header) != _GS_ELEMENTS:
            yield self.problem(
                "E019",
                f"a GS header has {_GS_ELEMENTS} elements, found {len(self.group_header)}",
                "group_header",
            )

    def _check_delimiters(self) -> Iterator[Diagnostic]:
        if self.interchange is None:
            yield from self._name_unused_delimiters()
            return
        component = self.interchange[-1]
        if len(component) != 1:
            yield self.problem(
                "E019",
                f"ISA16 separates components: one character, found '{printable(component)}'",
                "interchange",
                _ISA_ELEMENTS - 1,
            )
        marks = [self.element_separator, self.segment_terminator, component]
        if len(set(marks)) < len(marks):
            yield self.problem(
                "E019",
                "two of 'element_separator', 'segment_terminator' and ISA16 are the same",
                "interchange",
                _ISA_ELEMENTS - 1,
                help="choose another one",
            )
            return
        elements = ("interchange", self.interchange[:-1]), ("group_header", self.group_header)
        for option, texts in elements:
            for place, text in enumerate(texts):
                for mark in marks[:2]:
                    if mark in text:
                        yield self.problem(
                            "E019",
                            f"the element holds '{printable(mark)}', a delimiter of the file",
                            option,
                            place,
                            help="change it, or choose other delimiters",
                        )

    def _name_unused_delimiters(self) -> Iterator[Diagnostic]:
        for option in ("element_separator", "segment_terminator"):
            if self.has(option):
                yield self.problem(
                    "W013",
                    f"'{option}' has no effect: the delimiters are those of the file that was read",
                    option,
                    key=True,
                    help="remove it",
                    warning=True,
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
    holds_arrays=False,
    segment_columns=("seg_id", "set_ref", "set_type"),
)
