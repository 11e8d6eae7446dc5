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
from clinker.formats.common.json_texts import write_nested
from clinker.formats.common.tagged_texts import convert_by_tag, drop_tag, show_moments
from clinker.formats.common.texts import join_bytes
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
        file.write(_join_lines([pa.array([name]) for name in header]))
        for batch in entries.batches():
            cells = [
                pa.array(ids.texts(len(batch))),
                pa.repeat(_now(), len(batch)),
                *(pc.cast(batch[name], pa.string()) for name in shown.values()),
                *_show_fields(batch["origin"], fields),
            ]
            file.write(_join_lines(cells))
            file.records += len(batch)
        return file.records


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="microseconds")


def _show_fields(origins: pa.StringArray, names: Sequence[str]) -> Iterator[pa.StringArray]:
    if not names:
        return
    records = [orjson.loads(origin) if origin else {} for origin in origins.to_pylist()]
    for name in names:
        values = [record.get(name) for record in records]
        is_text = set(map(type, values)) <= {str, type(None)}
        yield _show_column(pa.array(values, pa.string())) if is_text else _show(values)


def _show_column(tagged: pa.StringArray) -> pa.StringArray:
    return convert_by_tag(
        tagged,
        {
            b'"': drop_tag,
            b"@": show_moments,
            b"#": drop_tag,
            b"-0123456789NI": lambda texts: _show(texts.to_pylist()),
        },
    )


def _show(tagged: Sequence[Any]) -> pa.StringArray:
    return pa.array(map(_show_field, tagged), pa.string())


def _show_field(tagged: Any) -> str:
    """What a cell shows of what a tagged map holds under a key."""
    if isinstance(tagged, list | dict):
        return write_nested(tagged)
    value = decode(tagged) if isinstance(tagged, str) else tagged
    return datetime_text(value, "T") if isinstance(value, dt.datetime) else text_of(value)


def _join_lines(cells: Sequence[pa.StringArray]) -> bytes:
    form = CellLines(",")
    return join_bytes(form.join([form.quote(texts) for texts in cells], len(cells[0])))
