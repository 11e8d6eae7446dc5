"""The file of dead letters: records that were rejected, and why."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from clinker.cxl.tagged import decode
from clinker.cxl.values import datetime_text, text_of
from clinker.formats.csv_writer import CsvCells
from clinker.formats.json_texts import nested_json
from clinker.formats.publication import Publication, Target
from clinker.formats.tagged_texts import by_tag, moment_texts, text_after_tag
from clinker.formats.texts import text_bytes
from clinker.formats.uuid7 import Uuid7Source
from clinker.frozen import frozen

_BYTES_AT_ONCE = 2 << 20
"""How much is taken out of columns at a time: as Python objects it is ten times as much."""
_PLACE_COLUMNS = {
    "_cxl_dlq_source_file": "source_file",
    "_cxl_dlq_source_name": "source_name",
    "_cxl_dlq_source_row": "source_row",
    "_cxl_dlq_stage": "stage",
    "_cxl_dlq_route": "route",
    "_cxl_dlq_trigger": "trigger",
}
_REASON_COLUMNS = {
    "_cxl_dlq_error_category": "category",
    "_cxl_dlq_error_detail": "detail",
    "_cxl_dlq_triggering_field": "field",
    "_cxl_dlq_triggering_value": "value",
}


class DeadLetter(NamedTuple):
    """A rejected record."""

    source_file: str
    source_name: str
    source_row: int | None
    stage: str
    route: str
    trigger: str
    category: str
    detail: str
    field: str
    value: str
    origin: str | None
    """The fields as they came from the source: a tagged map."""


@frozen(eq=False)
class DeadLetters:
    """Rejected records, held in columns since they can be many."""

    columns: pa.Table
    """One for each field of a letter; those whose values repeat may be dictionaries."""

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[DeadLetter]:
        for batch in self.batches():
            yield from map(DeadLetter, *(batch[name].to_pylist() for name in DeadLetter._fields))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """All columns with their values in place."""
        return (batch.cast(_PLAIN) for batch in in_pieces(self.columns))

    def of_sources(self, names: Sequence[str]) -> DeadLetters:
        """The letters about records of some sources."""
        is_chosen = pc.is_in(
            self.columns["source_name"].cast(pa.string()), pa.array(names, pa.string())
        )
        return DeadLetters(self.columns.filter(is_chosen))


def in_pieces(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """The rows of a table, as many at a time as do not take too much memory."""
    rows = max(1, _BYTES_AT_ONCE * len(table) // max(1, table.nbytes))
    yield from table.to_batches(max_chunksize=rows)


_PLAIN = pa.schema(
    [(name, pa.int64() if name == "source_row" else pa.string()) for name in DeadLetter._fields]
)


def stage_dead_letters(
    publication: Publication,
    target: Target,
    letters: DeadLetters,
    *,
    source_columns: Sequence[str],
    include_reason: bool,
    include_source_row: bool,
) -> int:
    """Stage the file, unless there are no letters; the number of letters."""
    if not letters:
        return 0
    shown = _PLACE_COLUMNS | (_REASON_COLUMNS if include_reason else {})
    fields = source_columns if include_source_row else ()
    ids = Uuid7Source()
    header = ["_cxl_dlq_id", "_cxl_dlq_timestamp", *shown, *fields]
    with publication.stage(target) as file:
        file.write(_lines([pa.array([name]) for name in header]))
        for batch in letters.batches():
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
    form = CsvCells(",")
    return text_bytes(form.lines([form.quoted(texts) for texts in cells], len(cells[0])))
