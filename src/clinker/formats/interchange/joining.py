"""Segments as text, all of a batch at once.

The elements of all records are laid out one after the other, each record with as many as it has up
to its last one that is not empty. So what it costs depends on the elements that are written, not on
the columns that there are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.failure import printable, shown
from clinker.formats.common.texts import join_bytes, replace_where
from clinker.formats.common.writing import Offsets, WriteError
from clinker.formats.interchange.columns import TAG, element_name
from clinker.formats.interchange.fields import SegmentFields
from clinker.formats.interchange.syntax import Syntax


def join_segments(
    fields: SegmentFields, is_silent: npt.NDArray[np.bool_], syntax: Syntax
) -> pa.StringArray:
    """The text of each record's segment with what ends it; nothing for those that are silent."""
    columns = {0: fields.tags} | {
        number: texts for number, texts in sorted(fields.elements.items()) if len(join_bytes(texts))
    }
    counts = np.where(is_silent, 0, _count_filled(columns))
    bounds = np.concatenate(([0], np.cumsum(counts)))
    cells = _lay_out(columns, counts, bounds)
    cells = _make_fit(cells, bounds, syntax)
    lists = pa.ListArray.from_arrays(pa.array(bounds, pa.int32()), cells)
    segments = pc.binary_join(lists, syntax.delimiters.element)
    end = pa.scalar(syntax.end)
    ends = pc.if_else(pa.array(is_silent), "", end) if is_silent.any() else end
    return pc.binary_join_element_wise(segments, ends, "")


def check_tags(tags: pa.StringArray, syntax: Syntax) -> None:
    """Refuse records without a tag, and those whose tag would be read as something else."""
    for tag in tags.unique().to_pylist():
        if not tag:
            where = pc.equal(pc.fill_null(tags, ""), "")
            message = f"the record has no '{TAG}', the tag of its segment"
        elif not _is_tag(tag) or any(character in tag for character in syntax.special):
            where = pc.equal(tags, tag)
            message = f"'{TAG}' is '{shown(tag)}', which cannot be the tag of a segment"
        else:
            continue
        raise WriteError(
            message,
            record=pc.index(where, True).as_py() + 1,
            code="E063",
            help=f"every record is a segment: '{TAG}' names it",
        )


def _is_tag(text: str) -> bool:
    """Whether a text is without blanks, line breaks and control characters."""
    return text.isprintable() and not any(map(str.isspace, text))


def check_binary(fields: SegmentFields, tags: Mapping[bytes, int]) -> None:
    """Refuse segments of binary data that declare another length than their data has."""
    for tag, number in tags.items():
        for at in np.flatnonzero(np.asarray(pc.equal(fields.tags, tag.decode()))).tolist():
            declared, data = (_text_at(fields, place, at) for place in (number, number + 1))
            size = len(data.encode())
            if not declared or (declared.lstrip("0") or "0") != str(size):
                raise WriteError(
                    f"{tag.decode()} declares '{shown(declared)}' bytes of data in "
                    f"'{element_name(number)}', and has {size}",
                    record=at + 1,
                    code="E063",
                    help=f"set '{element_name(number)}' to the number of bytes",
                )


def _text_at(fields: SegmentFields, number: int, at: int) -> str:
    texts = fields.elements.get(number)
    return "" if texts is None else texts[at].as_py() or ""


def refuse_delimiter(text: str, character: str, column: str, record: int) -> WriteError:
    """The refusal of a value that would be taken apart where it has a delimiter."""
    return WriteError(
        f"'{column}' is '{shown(text)}', and '{printable(character)}' is a delimiter of the file",
        record=record,
        code="E063",
        help="replace the character in a transform, or choose delimiters that the data does not "
        "have",
    )


def _count_filled(columns: dict[int, pa.StringArray]) -> Offsets:
    """How many parts each segment has, the tag among them."""
    counts = np.ones(len(columns[0]), np.int64)
    for number, texts in columns.items():
        if number:
            counts[_is_filled(texts)] = number + 1
    return counts


def _is_filled(texts: pa.StringArray) -> npt.NDArray[np.bool_]:
    _, offsets, _ = texts.buffers()
    bounds = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    filled = bounds[1:] > bounds[:-1]
    return filled & np.asarray(texts.is_valid()) if texts.null_count else filled


def _lay_out(columns: dict[int, pa.StringArray], counts: Offsets, bounds: Offsets) -> pa.Array:
    """The parts of all segments, record by record."""
    records = len(counts)
    blank = len(columns) * records
    begin_of = np.full(max(columns) + 1, -1, np.int64)
    begin_of[list(columns)] = np.arange(len(columns)) * records
    record = np.repeat(np.arange(records), counts)
    begin = begin_of[np.arange(len(record)) - np.repeat(bounds[:-1], counts)]
    texts = pa.concat_arrays([*columns.values(), pa.array([""], pa.string())])
    cells = texts.take(pa.array(np.where(begin < 0, blank, begin + record)))
    return pc.fill_null(cells, "") if cells.null_count else cells


def _make_fit(cells: pa.StringArray, bounds: Offsets, syntax: Syntax) -> pa.StringArray:
    """Release characters that would be taken for delimiters, or refuse them."""
    data = join_bytes(cells)
    found = [character for character in syntax.special if character.encode() in data]
    if not found:
        return cells
    where = pc.match_substring_regex(cells, f"[{''.join(map(re.escape, found))}]")
    if not syntax.can_release:
        raise _find_refused(cells, where, bounds, syntax)

    def release(texts: pa.StringArray) -> pa.StringArray:
        for character in found:
            texts = pc.replace_substring(texts, character, syntax.delimiters.release + character)
        return texts

    return replace_where(cells, where, release)


def _find_refused(
    cells: pa.StringArray, where: pa.BooleanArray, bounds: Offsets, syntax: Syntax
) -> WriteError:
    cell = pc.index(where, True).as_py()
    record = int(np.searchsorted(bounds, cell, side="right")) - 1
    text = cells[cell].as_py()
    character = syntax.find_special(text)
    assert character
    return refuse_delimiter(text, character, element_name(cell - int(bounds[record])), record + 1)
