"""Sources read: by Spark's workers, split by split, or here.

Either way it is the reader of the file format that does the work.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from clinker.engine.reading.meter import Meter
from clinker.engine.reading.tally import Tally
from clinker.formats.reading import FormatError, Inventory, ReadSpec, Split, read_split

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from clinker.engine.session.session import Session

_FAILURE = re.compile(r"clinker\.formats\.FormatError (\{.*?\}) clinker\.end", re.S)


def scan(
    session: Session,
    spec: ReadSpec,
    inventory: Inventory,
    tally: Tally | None = None,
    meter: Meter | None = None,
) -> DataFrame:
    """The records of a source, read by the workers; partitions stand in the order of splits."""

    def read(splits: Sequence[Split]) -> Iterator[pa.RecordBatch]:
        return _read(spec, inventory, splits, tally, meter)

    return session.engine.scan(session.spark, _tasks(inventory), read, inventory.delivered)


def _read(
    spec: ReadSpec,
    inventory: Inventory,
    splits: Sequence[Split],
    tally: Tally | None,
    meter: Meter | None,
) -> Iterator[pa.RecordBatch]:
    try:
        for split in splits:
            batches = read_split(spec, inventory, split)
            batches = tally.counting(split, batches) if tally else batches
            yield from meter.noting(split, batches) if meter else batches
    except FormatError as problem:
        raise RuntimeError(_as_text(problem)) from None


def format_error(problem: str) -> FormatError | None:
    """The unreadable file that made a job fail, if that was the reason, from what Spark says."""
    found = _FAILURE.search(problem)
    return FormatError(**json.loads(found[1])) if found else None


def _tasks(inventory: Inventory) -> list[tuple[Split, ...]]:
    """The splits that each task reads, every task about as much as the others."""
    total = sum(split.size for split in inventory.splits)
    tasks = -(-total // inventory.task_bytes)
    gathered: dict[int, list[Split]] = {}
    before = 0
    for split in inventory.splits:
        middle = before + split.size // 2
        gathered.setdefault(middle * tasks // total, []).append(split)
        before += split.size
    return [tuple(splits) for splits in gathered.values()]


def _as_text(problem: FormatError) -> str:
    """The form in which a failure survives the way through Spark's stack traces."""
    facts = {"message": problem.message, "path": problem.path, "help": problem.help}
    return f"clinker.formats.FormatError {json.dumps(facts)} clinker.end"
