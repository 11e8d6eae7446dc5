"""Undeclared fields in files that need a header: their names, found in the records."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.engine.flow.flow import IS_KEPT, REJECT
from clinker.engine.flow.frame import quoted
from clinker.engine.nodes.output import Written
from clinker.engine.session.session import Session
from clinker.formats.common.read_spec import WIDENED

_KEYS, _NUMBER, _FIRST = "$keys", "$number", "$first"


def with_record_keys(session: Session, output: Written, table: pa.Table | None) -> Written:
    """An output that knows the names of its last columns, in the order of their first record.

    Without the table of its records the engine looks through them.
    """
    if not output.keys_from_records:
        return output
    keys = _sought(session, output) if table is None else _seen(table)
    names = dict.fromkeys(name for names in keys for name in names)
    assert output.spec.widened
    widened = replace(output.spec.widened, names=tuple(names))
    return replace(output, spec=replace(output.spec, widened=widened))


def _seen(table: pa.Table) -> Iterable[Iterable[str]]:
    if REJECT in table.column_names:
        table = table.filter(pc.is_null(table.column(REJECT)))
    texts = table.column(WIDENED).drop_null().unique().to_pylist()
    return map(orjson.loads, texts)


def _sought(session: Session, output: Written) -> Iterable[Iterable[str]]:
    frame = output.frame
    if REJECT in frame.names:
        frame = frame.where(IS_KEPT)
    # The records stand in the order of the output, and numbers grow along with it.
    keys = (_KEYS, f"json_object_keys({quoted(WIDENED)})")
    numbered = frame.number(_NUMBER).select([keys, (_NUMBER, quoted(_NUMBER))])
    firsts = session.table(numbered.group([_KEYS], [(_FIRST, f"min({quoted(_NUMBER)})")]))
    return [row[_KEYS] or () for row in firsts.sort_by(_FIRST).to_pylist()]
