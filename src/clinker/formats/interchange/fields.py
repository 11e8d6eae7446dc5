"""Records as the parts of segments: the columns of a batch, as texts."""

from __future__ import annotations

from collections.abc import Iterable

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.failure import printable
from clinker.cxl.types import ANY
from clinker.formats.common.cell_texts import show_cells, tag_again
from clinker.formats.common.rendering import take_column
from clinker.formats.common.writing import WIDENED_COLUMN, OutputColumn, WriteError, WriteSpec
from clinker.formats.interchange.columns import SEGMENT, element_number
from clinker.formats.interchange.grammar import Grammar
from clinker.frozen import frozen


@frozen(eq=False)
class SegmentFields:
    """What the records of a batch say: tags, the messages they are in, elements by number."""

    tags: pa.StringArray
    references: pa.StringArray
    types: pa.StringArray
    elements: dict[int, pa.StringArray]


def take_fields(batch: pa.RecordBatch, spec: WriteSpec, grammar: Grammar) -> SegmentFields:
    """The columns of a batch by what they are in a segment; others are refused."""
    texts = _take_declared(batch, spec, grammar) | _take_undeclared(batch, spec, grammar)
    missing = pa.nulls(len(batch), pa.string())
    numbers = {name: element_number(name) for name in texts}
    return SegmentFields(
        tags=texts.get(SEGMENT, missing),
        references=texts.get(grammar.reference, missing),
        types=texts.get(grammar.type, missing),
        elements={number: texts[name] for name, number in numbers.items() if number},
    )


def _take_declared(
    batch: pa.RecordBatch, spec: WriteSpec, grammar: Grammar
) -> dict[str, pa.StringArray]:
    written = [column for column in spec.columns if not column.name.startswith("$")]
    for column in written:
        if not _is_known(column.name, grammar):
            raise _no_place(column.name, 1, grammar)
    return {column.name: _show(take_column(batch, column), column, grammar) for column in written}


def _take_undeclared(
    batch: pa.RecordBatch, spec: WriteSpec, grammar: Grammar
) -> dict[str, pa.StringArray]:
    if spec.widened is None:
        return {}
    maps = [orjson.loads(text or "{}") for text in take_column(batch, WIDENED_COLUMN).to_pylist()]
    every: Iterable[str] = dict.fromkeys(name for fields in maps for name in fields)
    written = spec.widened.written(every, {column.name for column in spec.columns})
    texts: dict[str, pa.StringArray] = {}
    for shown, name in written.items():
        if not _is_known(shown, grammar):
            first = next(number for number, fields in enumerate(maps, 1) if name in fields)
            raise _no_place(shown, first, grammar)
        tagged = pa.array([tag_again(fields.get(name)) for fields in maps], pa.string())
        texts[shown] = _show(tagged, OutputColumn(shown, ANY), grammar)
    return texts


def _show(values: pa.Array, column: OutputColumn, grammar: Grammar) -> pa.StringArray:
    texts = show_cells(values, column, grammar.format, holds_arrays=False)
    return pc.cast(texts, pa.string())


def _is_known(name: str, grammar: Grammar) -> bool:
    own = (SEGMENT, grammar.reference, grammar.type)
    return name in own or element_number(name) is not None


def _no_place(name: str, record: int, grammar: Grammar) -> WriteError:
    return WriteError(
        f"an {grammar.format} file has no place for the column '{printable(name)}'",
        record=record,
        code="E062",
        help=f"its columns are {SEGMENT}, {grammar.reference}, {grammar.type} and e01, e02, …: "
        "exclude others, or give them such a name with 'mapping'",
    )
