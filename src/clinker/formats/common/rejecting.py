"""Records that a source rejects stay in the flow as data, with the reason in a column."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.failure import Category, shown
from clinker.cxl.run.tagged import encode
from clinker.cxl.values import Value
from clinker.formats.common.coercion import Coerced, to_json_text
from clinker.formats.common.json_texts import escape
from clinker.formats.common.read_spec import POSITION, REJECT, REJECT_TYPE, Column, ReadSpec
from clinker.formats.common.texts import join_bytes
from clinker.frozen import frozen


@frozen
class Rejection:
    """Why a record is rejected: the column and the value to blame, where there is one."""

    category: str
    detail: str
    field: str | None = None
    value: str | None = None

    @cached_property
    def facts(self) -> str | None:
        """What the dead letter shows, as a tagged map."""
        return encode(
            {
                "category": self.category,
                "detail": self.detail,
                "field": self.field,
                "value": self.value,
            }
        )


def unfit_value(column: Column, text: str) -> Rejection:
    """A value that cannot be converted to the type of its column."""
    which = "required column" if column.required else "column"
    return Rejection(
        Category.REQUIRED_CONVERSION if column.required else Category.TYPE_COERCION,
        f"cannot convert '{shown(text)}' in {which} '{column.name}' to {column.type_name}",
        column.name,
        text,
    )


def missing_value(column: Column) -> Rejection:
    """A column without a value that must have one."""
    return Rejection(
        Category.MISSING_REQUIRED, f"required column '{column.name}' has no value", column.name
    )


def describe_missing(source: str, names: Sequence[str], who: str = "its files do") -> str:
    """The warning about declared columns that the files of a source do not have."""
    listed = ", ".join(f"'{name}'" for name in names)
    what = "columns" if len(names) > 1 else "column"
    return f"source '{source}' declares {what} {listed}, which {who} not have: null"


def find_rejections(
    columns: Sequence[tuple[Column, Coerced]],
    raw: Callable[[Column, Sequence[int]], Sequence[Any]],
) -> dict[int, Rejection]:
    """The records of a batch to reject; the first column that fails is to blame.

    `raw` tells what the file holds for a column in some of the records.
    """
    rejections: dict[int, Rejection] = {}
    for column, coerced in columns:
        unfit = coerced.unfit
        if unfit is not None:
            blame = cache(partial(unfit_value, column))
            rows = [at for at in np.flatnonzero(unfit).tolist() if at not in rejections]
            texts = map(to_json_text, raw(column, rows))
            rejections.update(zip(rows, map(blame, texts), strict=True))
        if column.required and coerced.values.null_count:
            missing = np.asarray(coerced.values.is_null())
            if unfit is not None:
                missing = missing & ~unfit
            nothing = missing_value(column)
            for at in np.flatnonzero(missing).tolist():
                rejections.setdefault(at, nothing)
    return rejections


def assemble(
    spec: ReadSpec,
    schema: pa.Schema,
    start: int,
    count: int,
    values: Mapping[str, pa.Array],
    rejections: Mapping[int, Rejection],
    origin: Callable[[Sequence[int]], pa.StringArray],
) -> pa.RecordBatch:
    """A batch of `count` records from position `start` on.

    `origin` tells what the file holds for the rejected ones, as tagged maps.
    """
    delivered = {POSITION: pa.array(np.arange(start, start + count, dtype=np.int64))}
    if rejections:
        rows = sorted(rejections)
        reasons = pa.array([rejections[row].facts for row in rows], pa.string())
        delivered[REJECT] = _reject_column(spec.source, count, rows, reasons, origin(rows))
    else:
        delivered[REJECT] = pa.nulls(count, REJECT_TYPE)
    delivered = {**values, **delivered}
    return pa.record_batch([delivered[name] for name in schema.names], schema=schema)


def mark_unlike(spec: ReadSpec, schema: pa.Schema, position: int) -> pa.RecordBatch:
    """The one record that tells that others at this place do not fit the guessed types."""
    reject = {"site": spec.site_of_unlike, "inputs": "[]", "origin": None}
    values = {POSITION: pa.array([position]), REJECT: pa.array([reject], REJECT_TYPE)}
    nothing = {field.name: pa.nulls(1, field.type) for field in schema}
    return pa.record_batch({**nothing, **values}, schema=schema)


def _reject_column(
    site: int,
    count: int,
    rows: Sequence[int],
    reasons: pa.StringArray,
    origins: pa.StringArray,
) -> pa.StructArray:
    is_kept = np.ones(count, np.bool_)
    is_kept[rows] = False
    return pa.StructArray.from_arrays(
        [
            pa.repeat(pa.scalar(site, pa.int32()), count),
            _spread(reasons, count, rows),
            _spread(origins, count, rows),
        ],
        fields=list(REJECT_TYPE),
        mask=pa.array(is_kept),
    )


def _spread(texts: pa.StringArray, count: int, rows: Sequence[int]) -> pa.StringArray:
    """Texts at their rows, among empty ones."""
    lengths = np.zeros(count + 1, np.int32)
    lengths[np.asarray(rows) + 1] = pc.binary_length(texts)
    offsets = np.cumsum(lengths, dtype=np.int32)
    return pa.StringArray.from_buffers(
        count, pa.py_buffer(offsets), pa.py_buffer(join_bytes(texts))
    )


def tag_maps(records: Sequence[Mapping[str, Value]]) -> pa.StringArray:
    """Records as tagged maps."""
    return pa.array((encode(dict(record)) for record in records), pa.string())


def tag_rows(rows: pa.Table) -> pa.StringArray:
    """Rows of texts as tagged maps."""
    pieces: list[str | pa.StringArray] = []
    before = "{"
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        key = orjson.dumps(name).decode()
        pieces += (f'{before}{key}:"\\"', escape(column.combine_chunks()))
        before = '",'
    maps = pc.binary_join_element_wise(*pieces, '"}', "")
    has_nulls = any(column.null_count for column in rows.columns)
    if has_nulls or b"\\u00" in join_bytes(maps):  # control characters have their own form
        return tag_maps(rows.to_pylist())
    return maps
