"""Undeclared fields in files that need a header: their names, found in the records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.engine.flow.flow import REJECT, WIDENED, quoted
from clinker.engine.nodes.output import Written

_KEYS, _FIRST = "$keys", "$first"


def with_record_keys(output: Written, table: pa.Table | None) -> Written:
    """An output that knows the names of its last columns, in the order of their first record.

    Without the table of its records the engine looks through them.
    """
    if not output.keys_from_records:
        return output
    found = _sought(output) if table is None else _seen(table)
    names = dict.fromkeys(name for names in found for name in names)
    assert output.spec.widened
    widened = replace(output.spec.widened, names=tuple(names))
    return replace(output, spec=replace(output.spec, widened=widened))


def _seen(table: pa.Table) -> Iterable[Iterable[str]]:
    if REJECT in table.column_names:
        table = table.filter(pc.is_null(table.column(REJECT)))
    texts = table.column(WIDENED).drop_null().unique().to_pylist()
    return map(orjson.loads, texts)


def _sought(output: Written) -> Iterable[Iterable[str]]:
    frame = output.frame
    if REJECT in frame.columns:
        frame = frame.where(f"{quoted(REJECT)} is null")
    # The records stand in the order of the output, and ids grow along with it.
    keys = frame.selectExpr(
        f"json_object_keys({quoted(WIDENED)}) as {quoted(_KEYS)}",
        f"monotonically_increasing_id() as {quoted(_FIRST)}",
    )
    firsts = keys.groupBy(_KEYS).agg({_FIRST: "min"}).toDF(_KEYS, _FIRST).toArrow()
    return [row[_KEYS] or () for row in firsts.sort_by(_FIRST).to_pylist()]
