"""Interchanges: segments as records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from clinker.formats.common.read_spec import Inventory, ReadSpec, Split
from clinker.formats.interchange.dialect import InterchangeDialect


def read_split(
    spec: ReadSpec, dialect: InterchangeDialect, inventory: Inventory, split: Split
) -> Iterator[pa.RecordBatch]:
    raise NotImplementedError


def read_origins(
    spec: ReadSpec,
    dialect: InterchangeDialect,
    inventory: Inventory,
    split: Split,
    rows: Sequence[int],
) -> pa.StringArray:
    raise NotImplementedError
