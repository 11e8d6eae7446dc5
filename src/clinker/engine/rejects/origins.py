"""What rejected records were: the fields that their source holds for them.

The engine knows a rejected record by its position and carries none of its fields along, most of
which no node reads. When all is computed, the few that were rejected are looked up in their files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.run.tagged import decode
from clinker.cxl.values import Value
from clinker.engine.expressions.arrow_value import to_values
from clinker.engine.reading.inputs import SourceInput
from clinker.formats.common.coercion import Coercion
from clinker.formats.common.read_spec import ROW_MASK
from clinker.formats.reading import (
    Column,
    FormatError,
    ReadSpec,
    Split,
    read_origins,
)
from clinker.formats.registry import load_format
from clinker.frozen import frozen

Numbers = npt.NDArray[np.int64]
NO_POSITION = np.iinfo(np.int64).max
"""The position of a group without any record: behind all others."""


@frozen(eq=False)
class Places:
    """Where rejected records stand, or the first record of a rejected group: in this order, groups
    of records of several sources behind all others."""

    sources: Numbers
    """The number of each one's source."""
    positions: Numbers
    is_group: npt.NDArray[np.bool_]
    is_merged: npt.NDArray[np.bool_]
    """Whether it is a group of a flow that has records of several sources."""

    def __len__(self) -> int:
        return len(self.sources)

    def take(self, rows: Sequence[int] | slice) -> Places:
        return Places(
            self.sources[rows], self.positions[rows], self.is_group[rows], self.is_merged[rows]
        )


def with_origins(
    origins: pa.ChunkedArray, places: Places, inputs: Sequence[SourceInput]
) -> pa.ChunkedArray:
    """The fields of all records, as tagged maps, of which some are known already.

    What a source rejects itself brings its fields along, and so do groups, which are in no file.
    """
    return pa.chunked_array(_filled(origins, places, inputs), pa.string())


def _filled(
    origins: pa.ChunkedArray, places: Places, inputs: Sequence[SourceInput]
) -> Iterator[pa.Array]:
    done = 0
    ends = np.searchsorted(places.sources[~places.is_merged], range(len(inputs)), "right")
    for source, end in zip(inputs, ends.tolist(), strict=True):
        splits = source.inventory.splits
        starts = [split.file.position(split.first_row) for split in splits[1:]]
        borders = done + np.searchsorted(places.positions[done:end], starts)
        for split, behind in zip(splits, [*borders.tolist(), end], strict=False):
            if behind > done:
                rows = slice(done, behind)
                known = origins.slice(done, behind - done).combine_chunks()
                yield _filled_in_split(known, places.take(rows), source, split)
                done = behind
        if end > done:
            yield from origins.slice(done, end - done).chunks
            done = end
    yield from origins.slice(done).chunks


def _filled_in_split(
    known: pa.StringArray, places: Places, source: SourceInput, split: Split
) -> pa.StringArray:
    is_sought = known.is_null().to_numpy(zero_copy_only=False) & ~places.is_group
    positions, which = np.unique(places.positions[is_sought], return_inverse=True)
    if not len(positions):
        return known
    rows = (positions & ROW_MASK).tolist()
    found = read_origins(source.spec, source.inventory, split, rows)
    if len(found) != len(rows):
        raise FormatError(
            "the file has changed while it was read: rejected records are gone", split.file.name
        )
    return pc.replace_with_mask(known, pa.array(is_sought), found.take(pa.array(which)))


def typed_fields(
    origins: Sequence[str], source: SourceInput | None, names: Collection[str]
) -> Iterator[Mapping[str, Value]]:
    """The values of some fields as a source delivers them, of records of which its files hold
    `origins`; those of groups, which have no source, are there already."""
    records = [record if isinstance(record := decode(o), dict) else {} for o in origins]
    values = {name: [record.get(name) for record in records] for name in names}
    if source:
        for column in source.spec.columns:
            if column.name in values:
                values[column.name] = _coerced(values[column.name], column, source.spec)
    for row in zip(*values.values(), strict=True):
        yield dict(zip(values, row, strict=True))


def _coerced(values: Sequence[Value], column: Column, spec: ReadSpec) -> list[Value]:
    coercion = Coercion(column.type, spec.date_formats)
    if load_format(spec.format).has_texts:
        coerced = coercion.column_from_text(pa.array(values, pa.string()))
    else:
        coerced = coercion.column_from_values(values)
    return to_values(coerced.values, column.type)
