"""Writing X12: transaction sets in one functional group in an interchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from clinker.formats.common.writing import WriteError, WriteSpec
from clinker.formats.interchange.header import Delimiters, Header
from clinker.formats.interchange.joining import refuse_delimiter
from clinker.formats.interchange.rendering import SegmentRenderer
from clinker.formats.interchange.syntax import Syntax
from clinker.formats.interchange.wording import Wording
from clinker.formats.x12.grammar import GRAMMAR
from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.config.formats.x12 import X12Writing
    from clinker.config.layout import Layout
    from clinker.config.nodes.output import OutputConfig

WORDING = Wording(
    format="x12",
    grammar=GRAMMAR,
    keeps_further=True,
    type_option="set_type",
    counted="{:04}",
)

_ISA16 = 15
_ISA_CHARACTERS = 106
"""Many readers look for delimiters at fixed places of a header of this length."""
_GS06 = 5
_GROUP_NUMBER = "1"
"""There is one functional group."""


@frozen(kw_only=True)
class X12WriteDialect:
    """How interchanges are to be written."""

    header: Header | None = None
    """The header with the delimiters; None where they are those of the records' document."""
    group_header: tuple[str, ...]
    set_type: str | None = None
    segment_newline: bool = True


def write_dialect(config: OutputConfig, layout: Layout | None) -> X12WriteDialect:
    options = cast("X12Writing", config.options)
    header = None
    if options.interchange is not None:
        delimiters = Delimiters(
            element=options.element_separator,
            component=options.interchange[_ISA16],
            terminator=options.segment_terminator,
        )
        header = Header(delimiters, options.interchange)
    return X12WriteDialect(
        header=header,
        group_header=options.group_header,
        set_type=options.set_type,
        segment_newline=options.segment_newline,
    )


class X12Renderer(SegmentRenderer):
    """Records as segments of transaction sets."""

    def __init__(self, spec: WriteSpec, dialect: X12WriteDialect) -> None:
        super().__init__(
            spec,
            WORDING,
            X12Envelope(dialect.group_header, is_echoed=dialect.header is None),
            header=dialect.header,
            message_type=dialect.set_type,
            newline=dialect.segment_newline,
        )


@frozen
class X12Envelope:
    """The interchange and its one functional group."""

    group_header: tuple[str, ...]
    is_echoed: bool = False
    """Whether the header is that of a document which was read."""

    def open(self, header: Header, syntax: Syntax) -> bytes:
        if self.is_echoed:
            _check_length(header)
        group = list(self.group_header)
        group[_GS06] = _GROUP_NUMBER
        for number, text in enumerate(group, start=1):
            # The delimiters of a document are not known before.
            if character := syntax.find_special(text):
                raise refuse_delimiter(text, character, f"GS{number:02}", record=1)
        return syntax.write("ISA", header.elements) + syntax.write("GS", group)

    def close(self, header: Header, syntax: Syntax, messages: int) -> bytes:
        group_trailer = syntax.write("GE", [str(messages), _GROUP_NUMBER])
        return group_trailer + _trailer(header, syntax, groups=1)

    def write_empty(self, header: Header, syntax: Syntax) -> bytes:
        """A functional group must hold a set, so there is none."""
        return syntax.write("ISA", header.elements) + _trailer(header, syntax, groups=0)


def _check_length(header: Header) -> None:
    """WriteError if a header was read that others may not be able to read."""
    length = len("ISA") + sum(1 + len(text) for text in header.elements) + 1
    if length != _ISA_CHARACTERS:
        raise WriteError(
            f"the ISA header of the document has {length} characters, not {_ISA_CHARACTERS}, so "
            "others may not find its delimiters",
            record=1,
            code="E064",
            help="write 'interchange' with its elements, each filled up with blanks to its length",
        )


def _trailer(header: Header, syntax: Syntax, groups: int) -> bytes:
    return syntax.write("IEA", [str(groups), GRAMMAR.levels[0].find_reference(header.elements)])
