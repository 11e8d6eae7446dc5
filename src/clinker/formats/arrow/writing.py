"""A frame copied to the spool: streams of Arrow one behind the other, each readable by itself."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow as pa

from clinker.cxl.failure import printable
from clinker.formats.files.spool import Spool

SHOWN = "<frame>"
"""What people call a frame where a file would have a name."""
_STREAM_BYTES, _STREAM_RECORDS = 4 << 20, 1 << 16
"""How much a stream holds at most, that a worker may read by itself."""
_NAMELESS_INDEX = "__index_level_"
"""How pandas calls what numbers its rows, unless it has a name."""


def spool_frame(frame: pa.RecordBatchReader, spool: Spool) -> Path:
    """Copy a frame to the spool, row after row.

    ValueError if it is none that records can be made of, FormatError if there is no room.
    """
    names = [name for name in frame.schema.names if not _is_nameless_index(name, frame.schema)]
    _check_names(names)
    with spool.file(SHOWN) as file:
        file.write(_stream(frame.schema.empty_table().select(names)))
        for batch in frame:
            batch.validate(full=True)
            for part in _cut(pa.Table.from_batches([batch]).select(names)):
                file.write(_stream(part))
    return file.path


def _check_names(names: list[str]) -> None:
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"it has {times} columns that are called '{printable(name)}'")


def _is_nameless_index(name: str, schema: pa.Schema) -> bool:
    if not name.startswith(_NAMELESS_INDEX):
        return False
    told = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    return name in told.get("index_columns", ())


def _cut(table: pa.Table) -> list[pa.Table]:
    size = max(1, table.nbytes)
    rows = max(1, min(_STREAM_RECORDS, _STREAM_BYTES * len(table) // size))
    return [table.slice(begin, rows) for begin in range(0, len(table), rows)]


def _stream(table: pa.Table) -> bytes:
    table = table.replace_schema_metadata().combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content
