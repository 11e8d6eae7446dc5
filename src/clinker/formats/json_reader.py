"""JSON files: one object per record, in an array, one per line, or somewhere inside a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from clinker.formats.coercion import Coercion, tagged
from clinker.formats.encodings import opened, text_start
from clinker.formats.json_records import (
    Record,
    detect_form,
    document_records,
    find,
    line_records,
    steps_of,
    unfolding,
)
from clinker.formats.read_spec import (
    WIDENED,
    FileLayout,
    FormatError,
    InputFile,
    Inventory,
    JsonDialect,
    JsonForm,
    ReadSpec,
    Split,
    delivered_schema,
)
from clinker.formats.rejecting import assemble, find_rejections
from clinker.frozen import frozen

_BLOCK_BYTES = 1 << 20
# Python's garbage collector looks at all records that are alive, so there should not be many.
_BATCH_RECORDS = 1 << 13
_BLANK = 0x20
_LF = 10


# Taking inventory


def take_inventory(
    spec: ReadSpec, dialect: JsonDialect, files: Sequence[InputFile], split_bytes: int
) -> Inventory:
    """Find out how the records are written, and cut large files between lines."""
    absent = {column.name: steps_of(column.name)[-1:] for column in spec.columns}
    surveys = [_survey(spec, dialect, file, split_bytes, absent) for file in files]
    return Inventory(
        schema=delivered_schema(spec),
        undeclared=(),
        layouts=tuple(FileLayout(form=survey.form) for survey in surveys),
        splits=tuple(split for survey in surveys for split in survey.splits),
        warnings=tuple(_warnings(spec, absent)) if any(s.splits for s in surveys) else (),
    )
