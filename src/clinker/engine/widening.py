"""Undeclared fields in files that need a header: their names, found in the records."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pyarrow as pa

from clinker.engine.flow import WIDENED, quoted
from clinker.engine.outputs import Written


def with_record_keys(output: Written, table: pa.Table | None) -> Written:
    """An output that knows the names of its last columns, in the order of their first record."""
    if not output.keys_from_records:
        return output
    if table is None:
        table = output.frame.selectExpr(quoted(WIDENED)).toArrow()
    names: dict[str, None] = {}
    for chunk in table.column(WIDENED).unique().to_pylist():
        names.update(dict.fromkeys(orjson.loads(chunk) if chunk else ()))
    assert output.spec.widened
    widened = replace(output.spec.widened, names=tuple(names))
    return replace(output, spec=replace(output.spec, widened=widened))
