"""The file of dead-letter entries: records that were rejected, and why."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.run.tagged import decode
from clinker.cxl.values import datetime_text, text_of
from clinker.formats.common.cell_lines import CellLines
from clinker.formats.common.json_texts import nested_json
from clinker.formats.common.tagged_texts import by_tag, moment_texts, text_after_tag
from clinker.formats.common.texts import text_bytes
from clinker.formats.files.publication import Publication, Target
from clinker.formats.files.uuid7 import Uuid7Source
from clinker.frozen import frozen

_BYTES_AT_ONCE = 2 << 20
"""How much is taken out of columns at a time: as Python objects it is ten times as much."""
_PLACE_COLUMNS = {
    "_cxl_dlq_source_file": "source_file",
    "_cxl_dlq_source_name": "source_name",
    "_cxl_dlq_source_row": "source_row",
    "_cxl_dlq_stage": "node",
    "_cxl_dlq_route": "route",
    "_cxl_dlq_trigger": "trigger",
}
_REASON_COLUMNS = {
    "_cxl_dlq_error_category": "category",
    "_cxl_dlq_error_detail": "detail",
    "_cxl_dlq_triggering_field": "field",
    "_cxl_dlq_triggering_value": "value",
}


class Entry(NamedTuple):
    """A rejected record."""

    source_file: str
    source_name: str
    source_row: int | None
    node: str
    route: str
    trigger: str
    category: str
    detail: str
    field: str
    value: str
    origin: str | None
    """The fields as they came from the source: a tagged map."""


@frozen(eq=False)
class Entries:
    """Rejected records, held in columns since they can be many."""

    columns: pa.Table
    """One for each field of an entry; those whose values repeat may be dictionaries."""

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Entry]:
        for batch in self.batches():
            yield from map(Entry, *(batch[name].to_pylist() for name in Entry._fields))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All columns with their values in place."""
        return (batch.cast(_PLAIN) for batch in in_pieces(self.columns))

    def of_sources(self, names: Sequence[str]) -> Entries:
        """The entries about records of some sources."""
        is_chosen = pc.is_in(
            self.columns["source_name"].cast(pa.string()), pa.array(names, pa.string())
        )
        return Entries(self.columns.filter(is_chosen))


def in_pieces(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """The rows of a table, as many at a time as do not take too much memory."""
    rows = max(1, _BYTES_AT_ONCE * len(table) // max(1, table.nbytes))
    yield from table.to_batches(max_chunksize=rows)


_PLAIN = pa.schema(
    [(name, pa.int64() if name == "source_row" else pa.string()) for name in Entry._fields]
)


def prepare_dead_letter_file(
    publication: Publication,
    target: Target,
    entries: Entries,
    *,
    source_columns: Sequence[str],
    include_reason: bool,
    include_source_row: bool,
) -> int:
    """Prepare the file, unless there are no entries; the number of entries."""
    if not entries:
        return 0
    shown = _PLACE_COLUMNS | (_REASON_COLUMNS if include_reason else {})
    fields = source_columns if include_source_row else ()
    ids = Uuid7Source()
    header = ["_cxl_dlq_id", "_cxl_dlq_timestamp", *shown, *fields]
    with publication.prepare(target) as file:
        file.write(_lines([pa.array([name]) for name in header]))
        for batch in entries.batches():
            cells = [
                pa.array(ids.texts(len(batch))),
                pa.repeat(_now(), len(batch)),
                *(pc.cast(batch[name], pa.string()) for name in shown.values()),
                *_field_texts(batch["origin"], fields),
            ]
            file.write(_lines(cells))
            file.records += len(batch)
        return file.records


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")


def _field_texts(origins: pa.StringArray, names: Sequence[str]) -> Iterator[pa.StringArray]:
    if not names:
        return
    records = [orjson.loads(origin) if origin else {} for origin in origins.to_pylist()]
    for name in names:
        values = [record.get(name) for record in records]
        is_text = set(map(type, values)) <= {str, type(None)}
        yield _column_texts(pa.array(values, pa.string())) if is_text else _texts(values)


def _column_texts(tagged: pa.StringArray) -> pa.StringArray:
    return by_tag(
        tagged,
        {
            b'"': text_after_tag,
            b"@": moment_texts,
            b"#": text_after_tag,
            b"-0123456789NI": lambda texts: _texts(texts.to_pylist()),
        },
    )


def _texts(tagged: Sequence[Any]) -> pa.StringArray:
    return pa.array(map(_field_text, tagged), pa.string())


def _field_text(tagged: Any) -> str:
    """What a cell shows of what a tagged map holds under a key."""
    if isinstance(tagged, list | dict):
        return nested_json(tagged)
    value = decode(tagged) if isinstance(tagged, str) else tagged
    return datetime_text(value, "T") if isinstance(value, dt.datetime) else text_of(value)


def _lines(cells: Sequence[pa.StringArray]) -> bytes:
    form = CellLines(",")
    return text_bytes(form.lines([form.quoted(texts) for texts in cells], len(cells[0])))
