"""Writing EDIFACT: messages in an interchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from clinker.formats.common.writing import WriteSpec
from clinker.formats.edifact.grammar import GRAMMAR, LEVEL_A
from clinker.formats.interchange.header import Delimiters, Header
from clinker.formats.interchange.rendering import SegmentRenderer
from clinker.formats.interchange.syntax import Syntax
from clinker.formats.interchange.wording import Wording
from clinker.frozen import frozen

if TYPE_CHECKING:
    from clinker.config.formats.edifact import EdifactWriting
    from clinker.config.layout import Layout
    from clinker.config.nodes.output import OutputConfig

WORDING = Wording(
    format="edifact",
    grammar=GRAMMAR,
    keeps_further=False,
    type_option="message_type",
    counted="{}",
)


@frozen(kw_only=True)
class EdifactWriteDialect:
    """How interchanges are to be written."""

    header: Header | None = None
    """The header with the delimiters; None where they are those of the records' document."""
    message_type: str | None = None
    write_una: bool = False
    segment_newline: bool = True


def write_dialect(config: OutputConfig, layout: Layout | None) -> EdifactWriteDialect:
    options = cast("EdifactWriting", config.options)
    interchange = options.interchange
    return EdifactWriteDialect(
        header=None if interchange is None else Header(LEVEL_A, interchange),
        message_type=options.message_type,
        write_una=options.write_una,
        segment_newline=options.segment_newline,
    )


class EdifactRenderer(SegmentRenderer):
    """Records as segments of messages."""

    def __init__(self, spec: WriteSpec, dialect: EdifactWriteDialect) -> None:
        super().__init__(
            spec,
            WORDING,
            EdifactEnvelope(dialect.write_una),
            header=dialect.header,
            message_type=dialect.message_type,
            newline=dialect.segment_newline,
        )


@frozen
class EdifactEnvelope:
    """The interchange, and the advice on its delimiters where it is asked for or needed."""

    write_una: bool

    def open(self, header: Header, syntax: Syntax) -> bytes:
        is_needed = self.write_una or _advice(syntax.delimiters) != _advice(LEVEL_A)
        una = _advice(syntax.delimiters) + syntax.end_of_line if is_needed else ""
        return una.encode() + syntax.write("UNB", header.elements)

    def close(self, header: Header, syntax: Syntax, messages: int) -> bytes:
        return syntax.write_trimmed(
            "UNZ", [str(messages), GRAMMAR.levels[0].find_reference(header.elements)]
        )

    def write_empty(self, header: Header, syntax: Syntax) -> bytes:
        return self.open(header, syntax) + self.close(header, syntax, 0)


def _advice(delimiters: Delimiters) -> str:
    """The segment that tells the delimiters; a blank stands for what is not in use."""
    return (
        "UNA"
        + delimiters.component
        + delimiters.element
        + (delimiters.decimal or ".")
        + (delimiters.release or " ")
        + (delimiters.repetition or " ")
        + delimiters.terminator
    )
