"""Records as the parts of segments: the columns of a batch, as texts."""

from __future__ import annotations

import re
from collections.abc import Iterable

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.failure import printable
from clinker.cxl.types import ANY
from clinker.formats.common.cell_texts import show_cells, tag_again
from clinker.formats.common.rendering import take_column
from clinker.formats.common.writing import WIDENED_COLUMN, OutputColumn, WriteError, WriteSpec
from clinker.formats.interchange.columns import TAG
from clinker.formats.interchange.wording import Wording
from clinker.frozen import frozen

_ELEMENT = re.compile(r"e(0[1-9]|[1-9][0-9]{1,3})")


@frozen(eq=False)
class SegmentFields:
    """What the records of a batch say: tags, the messages they are in, elements by number."""

    tags: pa.StringArray
    references: pa.StringArray
    types: pa.StringArray
    elements: dict[int, pa.StringArray]


def take_fields(batch: pa.RecordBatch, spec: WriteSpec, wording: Wording) -> SegmentFields:
    """The columns of a batch by what they are in a segment; others are refused."""
    texts = _take_declared(batch, spec, wording) | _take_undeclared(batch, spec, wording)
    missing = pa.nulls(len(batch), pa.string())
    numbers = {name: element_number(name) for name in texts}
    return SegmentFields(
        tags=texts.get(TAG, missing),
        references=texts.get(wording.grammar.reference_column, missing),
        types=texts.get(wording.grammar.type_column, missing),
        elements={number: texts[name] for name, number in numbers.items() if number},
    )


def _take_declared(
    batch: pa.RecordBatch, spec: WriteSpec, wording: Wording
) -> dict[str, pa.StringArray]:
    written = [column for column in spec.columns if not column.name.startswith("$")]
    for column in written:
        if not _is_known(column.name, wording):
            raise _no_place(column.name, 1, wording)
    return {column.name: _show(take_column(batch, column), column, wording) for column in written}


def _take_undeclared(
    batch: pa.RecordBatch, spec: WriteSpec, wording: Wording
) -> dict[str, pa.StringArray]:
    if spec.widened is None:
        return {}
    maps = [orjson.loads(text or "{}") for text in take_column(batch, WIDENED_COLUMN).to_pylist()]
    every: Iterable[str] = dict.fromkeys(name for fields in maps for name in fields)
    written = spec.widened.written(every, {column.name for column in spec.columns})
    texts: dict[str, pa.StringArray] = {}
    for shown, name in written.items():
        if not _is_known(shown, wording):
            first = next(number for number, fields in enumerate(maps, 1) if name in fields)
            raise _no_place(shown, first, wording)
        tagged = pa.array([tag_again(fields.get(name)) for fields in maps], pa.string())
        texts[shown] = _show(tagged, OutputColumn(shown, ANY), wording)
    return texts


def _show(values: pa.Array, column: OutputColumn, wording: Wording) -> pa.StringArray:
    texts = show_cells(values, column, wording.format, holds_arrays=False)
    return pc.cast(texts, pa.string())


def _is_known(name: str, wording: Wording) -> bool:
    return name in wording.columns or element_number(name) is not None


def _no_place(name: str, record: int, wording: Wording) -> WriteError:
    return WriteError(
        f"an {wording.format} file has no place for the column '{printable(name)}'",
        record=record,
        code="E062",
        help=f"its columns are {', '.join(wording.columns)}, e01, e02 …: exclude others, or give "
        "them such a name with 'mapping'",
    )


def element_number(name: str) -> int | None:
    """Which data element a column holds; None if it is no such column."""
    return int(name[1:]) if _ELEMENT.fullmatch(name) else None
