"""Segments given as they look in a file, as records for writers; what is written, whole or cut."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from clinker.cxl.types import STRING
from clinker.formats import FORMATS
from clinker.formats.common.rendering import render_all
from clinker.formats.common.writing import OutputColumn, Piece, WriteSpec
from clinker.formats.edifact.grammar import LEVEL_A
from clinker.formats.edifact.writer import EdifactWriteDialect
from clinker.formats.files.assembly import write_document
from clinker.formats.files.parts import write_part
from clinker.formats.interchange.columns import element_name
from clinker.formats.interchange.header import Delimiters, Header
from clinker.formats.renderer import renderer
from clinker.formats.x12.writer import X12WriteDialect

HEADER_COLUMN = OutputColumn("$doc.interchange", STRING.nullable(), hidden=True)
COMMON = {"x12": ("seg_id", "set_ref", "set_type"), "edifact": ("seg_id", "msg_ref", "msg_type")}
UNB = Header(LEVEL_A, ("UNOA:1", "S", "R", "240101:1200", "REF1"))
USUAL = Delimiters(element="*", component=":", terminator="~")
ISA = Header(
    USUAL,
    (
        *("00", " " * 10, "00", " " * 10, "ZZ", "S".ljust(15), "ZZ", "R".ljust(15)),
        *("240101", "1200", "U", "00401", "000000007", "0", "P", ":"),
    ),
)
GS = ("PO", "S", "R", "20240101", "1200", "99", "X", "004010")

Segment = tuple[str | None, ...]
"""Tag, reference, type and elements of a record."""


def x12(**options: Any) -> X12WriteDialect:
    usual: dict[str, Any] = {"header": ISA, "group_header": GS, "segment_newline": False}
    return X12WriteDialect(**usual | options)


def edifact(**options: Any) -> EdifactWriteDialect:
    usual: dict[str, Any] = {"header": UNB, "segment_newline": False}
    return EdifactWriteDialect(**usual | options)


def segment_spec(
    dialect: X12WriteDialect | EdifactWriteDialect, width: int, more: Sequence[OutputColumn] = ()
) -> WriteSpec:
    format = "x12" if isinstance(dialect, X12WriteDialect) else "edifact"
    names = [*COMMON[format], *map(element_name, range(1, width + 1))]
    return WriteSpec(
        format=FORMATS[format],
        dialect=dialect,
        columns=(*(OutputColumn(name, STRING.nullable()) for name in names), *more),
        header=None if dialect.header else HEADER_COLUMN,
    )


def segment_batch(
    spec: WriteSpec, segments: Sequence[Segment], headers: Sequence[str | None] | None = None
) -> pa.RecordBatch:
    names = [column.name for column in spec.columns]
    arrays = {
        name: pa.array([_at(segment, place) for segment in segments], pa.string())
        for place, name in enumerate(names)
    }
    if spec.header:
        assert headers is not None
        arrays[HEADER_COLUMN.name] = pa.array(headers, pa.string())
    return pa.RecordBatch.from_pydict(arrays)


def _at(segment: Segment, place: int) -> str | None:
    return segment[place] if place < len(segment) else None


def write(
    dialect: X12WriteDialect | EdifactWriteDialect,
    segments: Sequence[Segment],
    *,
    headers: Sequence[str | None] | None = None,
    pieces: int = 1,
    parts: Path | None = None,
    warnings: list[str] | None = None,
) -> str:
    """The file; with `parts` written by as many tasks as there are pieces."""
    spec = segment_spec(dialect, max((len(each) for each in segments), default=3) - 3)
    batch = segment_batch(spec, segments, headers)
    size = max(1, -(-len(batch) // pieces))
    batches = [batch.slice(begin, size) for begin in range(0, len(batch), size)]
    form = renderer(spec)
    rendered: list[Piece]
    if parts is None:
        rendered = list(render_all(form, batches))
    else:
        # Every task has its records in two batches.
        rendered = [
            write_part(parts, spec, [each.slice(0, len(each) // 2), each.slice(len(each) // 2)])
            for each in batches
        ]
    file = io.BytesIO()
    heard: list[str] = [] if warnings is None else warnings
    assert write_document(file, form, rendered, heard.append) == len(segments)
    return file.getvalue().decode()
