"""Records as segments, and what they tell of the messages around them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clinker.formats.common.rendering import join_records, take_column
from clinker.formats.common.writing import Offsets, Rendered, WriteError, WriteSpec
from clinker.formats.interchange.fields import SegmentFields, take_fields
from clinker.formats.interchange.framing import InterchangeFraming, differing_delimiters
from clinker.formats.interchange.header import Header
from clinker.formats.interchange.joining import check_binary, check_tags, join_segments
from clinker.formats.interchange.starts import Start
from clinker.formats.interchange.syntax import Syntax
from clinker.formats.interchange.wording import Envelope, Wording

Mask = npt.NDArray[np.bool_]


class SegmentRenderer:
    """Every record is a segment; the framing adds those around the messages."""

    opening = separator = closing = empty = b""
    is_headed = False

    def __init__(
        self,
        spec: WriteSpec,
        wording: Wording,
        envelope: Envelope,
        *,
        header: Header | None,
        message_type: str | None,
        newline: bool,
    ) -> None:
        self._spec = spec
        self._wording = wording
        self._header = header
        self._newline = newline
        self.framing = InterchangeFraming(
            wording=wording,
            envelope=envelope,
            header=header,
            message_type=message_type,
            newline=newline,
        )

    def render(self, batch: pa.RecordBatch) -> Rendered:
        wording = self._wording
        fields = take_fields(batch, self._spec, wording)
        headers = None if self._header else self._take_headers(batch)
        syntax = self._syntax(headers)
        check_tags(fields.tags, syntax)
        check_binary(fields, wording.grammar.binary)
        # The framing writes what opens a message, since the reference may have to be made up.
        is_silent = _is_one_of(fields.tags, wording.services)
        segments = join_segments(fields, is_silent, syntax)
        rendered = join_records(batch, segments, self.separator, None)
        is_opening = _is_one_of(fields.tags, frozenset([wording.opening]))
        starts = _mark_starts(fields, is_silent, is_opening, headers, wording)
        return Rendered(rendered.body, rendered.record_ends, starts)

    def _take_headers(self, batch: pa.RecordBatch) -> pa.StringArray:
        assert self._spec.header
        headers = take_column(batch, self._spec.header)
        if headers.null_count:
            raise WriteError(
                "the record comes from no interchange, so there is no header to write again",
                record=pc.index(headers.is_null(), True).as_py() + 1,
                code="E064",
                help="give the header with 'interchange'",
            )
        return headers

    def _syntax(self, headers: pa.StringArray | None) -> Syntax:
        if headers is None:
            assert self._header
            return Syntax(self._header.delimiters, self._newline)
        first, *others = headers.unique().to_pylist()
        delimiters = Header.from_text(first).delimiters
        for other in others:
            if Header.from_text(other).delimiters != delimiters:
                raise differing_delimiters(pc.index(headers, other).as_py() + 1)
        return Syntax(delimiters, self._newline)


def _mark_starts(
    fields: SegmentFields,
    is_silent: Mask,
    is_opening: Mask,
    headers: pa.StringArray | None,
    wording: Wording,
) -> pa.StringArray:
    """By record, what it tells of its message; null where that is what the one before it told.

    Segments that are silent and open nothing are in no message.
    """
    inside = np.flatnonzero(~is_silent | is_opening)
    begins = is_opening[inside]
    begins[:1] = True
    begins[1:] |= _differ(pc.fill_null(fields.references, ""), inside)
    if headers is not None:
        begins[1:] |= _differ(headers, inside)
    rows = inside[begins]
    texts = [each.to_text() for each in _starts(fields, rows, is_opening, headers, wording)]
    places = np.full(len(is_silent), -1, np.int64)
    places[rows] = np.arange(len(rows))
    return pa.array(texts, pa.string()).take(pa.array(places, mask=places < 0))


def _starts(
    fields: SegmentFields,
    rows: Offsets,
    is_opening: Mask,
    headers: pa.StringArray | None,
    wording: Wording,
) -> Iterator[Start]:
    references, types = _texts(fields.references, rows), _texts(fields.types, rows)
    documents = [None] * len(rows) if headers is None else _texts(headers, rows)
    grammar = wording.grammar
    explicit = is_opening[rows]
    elements = iter(_elements(fields, rows[explicit]))
    before = None
    for is_explicit, reference, type_, header in zip(
        explicit.tolist(), references, types, documents, strict=True
    ):
        group = reference
        further: tuple[str, ...] = ()
        if is_explicit:
            written = next(elements)
            reference = reference or written.get(grammar.reference_element, "")
            type_ = type_ or written.get(grammar.type_element, "")
            if wording.keeps_further:
                last = max(written, default=0)
                further = tuple(written.get(number, "") for number in range(3, last + 1))
        told = header if header != before else None
        yield Start(is_explicit, group, reference, type_, further, told)
        before = header


def _elements(fields: SegmentFields, rows: Offsets) -> list[dict[int, str]]:
    """The elements that are not empty in some records, by number."""
    found: list[dict[int, str]] = [{} for _ in rows]
    for number, texts in fields.elements.items():
        chosen = texts.take(rows)
        if chosen.null_count < len(chosen):
            for written, text in zip(found, chosen.to_pylist(), strict=True):
                if text:
                    written[number] = text
    return found


def _texts(texts: pa.StringArray, rows: Offsets) -> list[str]:
    return [text or "" for text in texts.take(rows).to_pylist()]


def _is_one_of(tags: pa.StringArray, chosen: frozenset[str]) -> Mask:
    return np.asarray(pc.is_in(tags, value_set=pa.array(sorted(chosen))))


def _differ(texts: pa.StringArray, rows: Offsets) -> Mask:
    """Of some records, which have another text than the one before; the first is not asked."""
    if len(rows) < len(texts):
        texts = texts.take(rows)
    return np.asarray(pc.not_equal(texts.slice(1), texts.slice(0, max(0, len(texts) - 1))))
